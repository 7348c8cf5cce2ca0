/* SPDX-License-Identifier: MIT */
/* Region names and their numbers: one number per text, from any thread, up to the limit. */
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "region/region.h"
#include "unit/suite.h"

static void set_up(void)
{
    struct upmu_region_opts opts = {.size = sizeof opts, .events = "none"};
    ck_assert_int_eq(upmu_region_setup(&opts), 0);
}

static uint32_t id_of(const char *name)
{
    bool cut;
    uint32_t id = region_name_id(name, &cut);
    ck_assert(!cut);
    return id;
}

START_TEST(one_number_for_one_text)
{
    char copy[] = "alpha";
    uint32_t alpha = id_of("alpha"), beta = id_of("beta");
    ck_assert_uint_ne(alpha, 0);
    ck_assert_uint_ne(alpha, beta);
    ck_assert_uint_eq(id_of(copy), alpha);
    ck_assert_uint_eq(region_name_find(copy), alpha);
    ck_assert_uint_eq(region_name_find("gamma"), 0);
    ck_assert_uint_eq(region_name_find(NULL), 0);
    ck_assert_str_eq(region_name_text(alpha), "alpha");
    ck_assert_uint_eq(region_name_length(beta), 4);
    ck_assert_uint_eq(region_name_count(), 2);
    const char *name;
    ck_assert_int_eq(upmu_region_name_at(0, &name), 0);
    ck_assert_str_eq(name, "alpha");
    ck_assert_int_eq(upmu_region_name_at(2, &name), UPMU_E_END);
    ck_assert_ptr_null(name);
    ck_assert_uint_eq(upmu_region_count(), 2);
}
END_TEST

START_TEST(a_buffer_used_again_is_another_region)
{
    char name[16] = "first";
    ck_assert_int_eq(upmu_region_begin(name), 0);
    ck_assert_int_eq(upmu_region_end(name), 0);
    strcpy(name, "second");
    ck_assert_int_eq(upmu_region_begin(name), 0);
    ck_assert_int_eq(upmu_region_end(name), 0);
    struct upmu_region_stats s = {.size = sizeof s};
    ck_assert_int_eq(upmu_region_stats_read("first", UPMU_ALL_THREADS, &s), 0);
    ck_assert_uint_eq(s.count, 1);
    ck_assert_int_eq(upmu_region_stats_read("second", UPMU_ALL_THREADS, &s), 0);
    ck_assert_uint_eq(s.count, 1);
}
END_TEST

START_TEST(names_up_to_255_bytes_are_kept_whole)
{
    char name[300];
    bool cut;
    memset(name, 'n', sizeof name);
    name[UPMU_REGION_NAME_MAX] = '\0';
    uint32_t id = region_name_id(name, &cut);
    ck_assert(!cut);
    ck_assert_str_eq(region_name_text(id), name);
    name[UPMU_REGION_NAME_MAX] = 'n';
    name[UPMU_REGION_NAME_MAX + 1] = '\0';
    uint32_t longer = region_name_id(name, &cut);
    ck_assert(cut);
    ck_assert_uint_ne(longer, id);
    ck_assert_uint_eq(region_name_length(longer), UPMU_REGION_NAME_MAX);
}
END_TEST

START_TEST(names_of_4_kb_that_differ_at_their_end_stay_apart)
{
    static char one[4096], other[4096];
    bool cut;
    memset(one, 'x', sizeof one - 1);
    memcpy(other, one, sizeof one);
    other[sizeof other - 2] = 'y';
    uint32_t a = region_name_id(one, &cut), b = region_name_id(other, &cut);
    ck_assert_uint_ne(a, 0);
    ck_assert_uint_ne(a, b);
    ck_assert_uint_eq(region_name_id(one, &cut), a);
    ck_assert_uint_eq(region_name_find(other), b);
    ck_assert_str_ne(region_name_text(a), region_name_text(b));
}
END_TEST

START_TEST(the_table_fills_and_what_is_in_it_goes_on)
{
    char name[32];
    struct upmu_region_health health = {.size = sizeof health};
    for (int i = 0; i < REGION_NAMES_MAX; i++) {
        snprintf(name, sizeof name, "region %d", i);
        ck_assert_uint_ne(id_of(name), 0);
    }
    ck_assert_uint_eq(region_name_count(), REGION_NAMES_MAX);
    ck_assert_uint_eq(id_of("one too many"), 0);
    ck_assert_int_eq(upmu_region_begin("one too many"), UPMU_E_LIMIT);
    ck_assert_int_eq(upmu_region_end("one too many"), UPMU_E_STATE);
    ck_assert_int_eq(upmu_region_begin("region 2047"), 0);
    ck_assert_int_eq(upmu_region_end("region 2047"), 0);
    ck_assert_int_eq(upmu_region_health_read(&health), 0);
    ck_assert_uint_eq(health.names_refused, 1);
    ck_assert_uint_eq(health.end_without_begin, 0);
}
END_TEST

START_TEST(every_name_can_be_entered_in_one_thread)
{
    char name[32];
    struct upmu_region_stats s = {.size = sizeof s};
    for (int round = 0; round < 2; round++)
        for (int i = 0; i < REGION_NAMES_MAX; i++) {
            snprintf(name, sizeof name, "region %d", i);
            ck_assert_int_eq(upmu_region_begin(name), 0);
            ck_assert_int_eq(upmu_region_end(name), 0);
        }
    for (int i = 0; i < REGION_NAMES_MAX; i++) {
        snprintf(name, sizeof name, "region %d", i);
        ck_assert_int_eq(upmu_region_stats_read(name, UPMU_ALL_THREADS, &s), 0);
        ck_assert_uint_eq(s.count, 2);
    }
}
END_TEST

enum { THREADS = 8, NAMES = 1500 };

static uint32_t seen[THREADS][NAMES];
static pthread_barrier_t together;

/* All threads want the same names at the same time, half of them from the other end. */
static void *insert_all(void *arg)
{
    size_t thread = (size_t)(uintptr_t)arg;
    char name[32];
    bool cut;
    pthread_barrier_wait(&together);
    for (size_t i = 0; i < NAMES; i++) {
        size_t which = thread & 1 ? NAMES - 1 - i : i;
        snprintf(name, sizeof name, "shared %zu", which);
        seen[thread][which] = region_name_id(name, &cut);
    }
    return NULL;
}

START_TEST(threads_that_meet_a_name_at_once_get_the_same_number)
{
    pthread_t threads[THREADS];
    static bool taken[REGION_NAMES_MAX + 1];
    pthread_barrier_init(&together, NULL, THREADS);
    for (uintptr_t i = 0; i < THREADS; i++)
        ck_assert_int_eq(pthread_create(&threads[i], NULL, insert_all, (void *)i), 0);
    for (int i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
    ck_assert_uint_eq(region_name_count(), NAMES);
    for (int n = 0; n < NAMES; n++) {
        char name[32];
        snprintf(name, sizeof name, "shared %d", n);
        ck_assert_uint_ne(seen[0][n], 0);
        ck_assert(!taken[seen[0][n]]);
        taken[seen[0][n]] = true;
        ck_assert_str_eq(region_name_text(seen[0][n]), name);
        for (int t = 1; t < THREADS; t++)
            ck_assert_uint_eq(seen[t][n], seen[0][n]);
    }
    pthread_barrier_destroy(&together);
}
END_TEST

enum { SLOTS = 4 * REGION_NAMES_MAX, PAIRS = 2000, CANDIDATES = 6 * SLOTS };

/* Pairs of names for which the search begins at the same place: one is added, the other never. */
static int added[PAIRS], never_added[PAIRS];
static unsigned next_pair;

static const char *numbered_name(int number)
{
    static _Thread_local char name[16];
    snprintf(name, sizeof name, "n%d", number);
    return name;
}

static size_t first_slot(const char *name)
{
    uint64_t hash = 14695981039346656037u;
    for (; *name; name++)
        hash = (hash ^ (unsigned char)*name) * 1099511628211u;
    return (uint32_t)(hash ^ hash >> 32) % SLOTS;
}

static void make_pairs(void)
{
    static int first[SLOTS];
    int n = 0;
    for (int i = 1; i < CANDIDATES && n < PAIRS; i++) {
        int *before = &first[first_slot(numbered_name(i))];
        if (*before > 0) {
            added[n] = *before;
            never_added[n++] = i;
        }
        *before = *before == 0 ? i : -1;
    }
    ck_assert_int_eq(n, PAIRS);
}

static void *find_names_never_added(void *arg)
{
    uintptr_t wrong = 0;
    (void)arg;
    pthread_barrier_wait(&together);
    for (unsigned pair; (pair = __atomic_load_n(&next_pair, __ATOMIC_RELAXED)) < PAIRS;)
        wrong += region_name_find(numbered_name(never_added[pair])) != 0;
    return (void *)wrong;
}

START_TEST(a_name_that_is_added_meanwhile_is_not_taken_for_another)
{
    pthread_t finder;
    void *wrong;
    make_pairs();
    pthread_barrier_init(&together, NULL, 2);
    ck_assert_int_eq(pthread_create(&finder, NULL, find_names_never_added, NULL), 0);
    pthread_barrier_wait(&together);
    for (unsigned pair = 0; pair < PAIRS; pair++) {
        ck_assert_uint_ne(id_of(numbered_name(added[pair])), 0);
        __atomic_store_n(&next_pair, pair + 1, __ATOMIC_RELAXED);
        usleep(1); /* the finder continues with the next pair */
    }
    pthread_join(finder, &wrong);
    ck_assert_uint_eq((uintptr_t)wrong, 0);
}
END_TEST

int main(void)
{
    TCase *cases = tcase_create("region names");
    tcase_add_checked_fixture(cases, set_up, NULL);
    tcase_add_test(cases, one_number_for_one_text);
    tcase_add_test(cases, a_buffer_used_again_is_another_region);
    tcase_add_test(cases, names_up_to_255_bytes_are_kept_whole);
    tcase_add_test(cases, names_of_4_kb_that_differ_at_their_end_stay_apart);
    tcase_add_test(cases, the_table_fills_and_what_is_in_it_goes_on);
    tcase_add_test(cases, every_name_can_be_entered_in_one_thread);
    tcase_add_test(cases, a_name_that_is_added_meanwhile_is_not_taken_for_another);
    tcase_add_test(cases, threads_that_meet_a_name_at_once_get_the_same_number);
    tcase_set_timeout(cases, 60);
    return run_suite("region names", cases);
}
