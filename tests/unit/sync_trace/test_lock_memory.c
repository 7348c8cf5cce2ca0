/* SPDX-License-Identifier: MIT */
/* Memory ranges that hold locks, compared with a linear list. */
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "sync_trace/state/lock_memory.h"
#include "unit/suite.h"

#define HEAP UINT64_C(0x7f1234560000)

static struct lock_memory *p;

static void begin(void)
{
    void *memory = mmap(NULL, sizeof *p, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    ck_assert(memory != MAP_FAILED);
    p = memory;
}

static void end(void)
{
    ck_assert_int_eq(munmap(p, sizeof *p), 0);
}

/* Both answers at once: the quick one may be wrongly true, never wrongly false. */
static uintptr_t next(uintptr_t from, size_t bytes)
{
    uintptr_t found = lock_memory_next(p, from, from + bytes);
    ck_assert(found == 0 || (found >= from && found < from + bytes));
    ck_assert(found == 0 || lock_memory_maybe(p, from, bytes));
    return found;
}

START_TEST(a_lock_is_found_in_the_memory_around_it_alone)
{
    const uintptr_t lock = HEAP + 0x7fc8;
    lock_memory_put(p, lock, 1);
    lock_memory_put(p, lock, 1);
    ck_assert_uint_eq(next(lock, 1), lock);
    ck_assert_uint_eq(next(lock - 100, 101), lock);
    ck_assert_uint_eq(next(lock - 100, 100), 0);
    ck_assert_uint_eq(next(lock + 1, 100), 0);
    ck_assert_uint_eq(next(lock - 1000000, 2000000), lock);
    ck_assert_uint_eq(next(lock - (UINT64_C(1) << 40), UINT64_C(1) << 41), lock);
    ck_assert(lock_memory_remove(p, lock));
    ck_assert(!lock_memory_remove(p, lock));
    ck_assert_uint_eq(next(lock - 100, 1000), 0);
    ck_assert(!lock_memory_maybe(p, lock, 1));
}
END_TEST

START_TEST(what_can_be_no_place_is_passed_over)
{
    lock_memory_put(p, 0, 1);
    lock_memory_put(p, HEAP + 1, 1);
    lock_memory_put(p, HEAP + 2, 1);
    lock_memory_put(p, UINTPTR_MAX / 4 * 4, 1);
    ck_assert_uint_eq(p->used, 0);
    ck_assert(!lock_memory_remove(p, HEAP + 1));
    ck_assert_uint_eq(lock_memory_next(p, UINTPTR_MAX - 10000, UINTPTR_MAX), 0);
    ck_assert_uint_eq(lock_memory_next(p, HEAP, HEAP), 0);
    ck_assert_uint_eq(lock_memory_next(p, HEAP + 8, HEAP), 0);
}
END_TEST

START_TEST(neighbours_are_found_in_order)
{
    enum { N = 64 };
    for (uintptr_t i = N; i-- > 0;)
        lock_memory_put(p, HEAP + 4 * i, 1);
    for (uintptr_t i = 0; i < N; i++)
        ck_assert_uint_eq(next(HEAP + 4 * i, 4096), HEAP + 4 * i);
    for (uintptr_t i = 0; i < N; i += 2)
        ck_assert(lock_memory_remove(p, HEAP + 4 * i));
    for (uintptr_t i = 0; i < N; i++)
        ck_assert_uint_eq(next(HEAP + 4 * i, 8), HEAP + 4 * (i | 1));
}
END_TEST

/* Blocks of all sizes, near each other and far apart, as allocators lay them. */
START_TEST(random_blocks_are_as_in_a_list)
{
    enum { LOCKS = 3000, BLOCKS = 20000 };
    static uintptr_t lock[LOCKS];
    static bool there[LOCKS];
    unsigned wrong = 0, found = 0;
    srand(1);
    for (int i = 0; i < LOCKS; i++) {
        uintptr_t arena = HEAP + ((uintptr_t)(rand() % 3) << 26);
        lock[i] = arena + (uintptr_t)(i * 1000 + rand() % 200 * 4);
        lock_memory_put(p, lock[i], 1);
        there[i] = true;
    }
    for (int n = 0; n < BLOCKS; n++) {
        uintptr_t from = HEAP + ((uintptr_t)(rand() % 3) << 26) + (uintptr_t)(rand() % 3000000), least = 0;
        size_t bytes = (size_t)1 << rand() % 17;
        bytes += (size_t)rand() % bytes;
        int which = -1;
        for (int i = 0; i < LOCKS; i++)
            if (there[i] && lock[i] >= from && lock[i] < from + bytes && (!least || lock[i] < least))
                least = lock[which = i];
        wrong += lock_memory_next(p, from, from + bytes) != least || (least && !lock_memory_maybe(p, from, bytes));
        found += least != 0;
        if (which >= 0 && n % 8 == 0) {
            wrong += !lock_memory_remove(p, least);
            there[which] = false;
        }
    }
    ck_assert_uint_eq(wrong, 0);
    ck_assert_uint_gt(found, BLOCKS / 10);
}
END_TEST

START_TEST(locks_of_one_heap_touch_few_pages)
{
    enum { LOCKS = 200, APART = 512, PAGES_MAX = 40, PAGE = 4096 };
    static unsigned char resident[sizeof(struct lock_memory) / PAGE + 1];
    unsigned pages = 0;
    for (uintptr_t i = 0; i < LOCKS; i++)
        lock_memory_put(p, HEAP + i * APART, (unsigned)(1 + i % 5));
    ck_assert_int_eq(mincore(p, sizeof *p, resident), 0);
    for (size_t i = 0; i < sizeof resident; i++)
        pages += resident[i] & 1;
    ck_assert_uint_le(pages, PAGES_MAX);
    for (uintptr_t i = 0; i < LOCKS; i++)
        ck_assert_uint_eq(lock_memory_thread(p, HEAP + i * APART), 1 + i % 5);
}
END_TEST

/* Numbers run full where very many locks share one; nothing is lost by that. */
START_TEST(more_locks_than_numbers_can_say)
{
    enum { N = 200000 };
    unsigned kept = 0, gone = 0;
    for (uintptr_t i = 0; i < N; i++)
        lock_memory_put(p, HEAP + 64 * i, 1);
    for (uintptr_t i = 0; i < N; i++)
        kept += lock_memory_next(p, HEAP + 64 * i, HEAP + 64 * i + 64) == HEAP + 64 * i;
    ck_assert_uint_gt(kept, N * 9 / 10);
    for (uintptr_t i = 0; i < N; i++)
        gone += lock_memory_remove(p, HEAP + 64 * i);
    ck_assert_uint_eq(gone, kept);
    ck_assert_uint_eq(lock_memory_next(p, HEAP, HEAP + (UINT64_C(1) << 30)), 0);
}
END_TEST

static void *put_and_remove(void *arg)
{
    enum { ROUNDS = 200, EACH = 16 };
    uintptr_t first = HEAP + 4 * (uintptr_t)arg; /* every second word of memory: two threads share each granule */
    uintptr_t wrong = 0;
    for (int round = 0; round < ROUNDS; round++) {
        for (uintptr_t i = 0; i < EACH; i++)
            lock_memory_put(p, first + 8 * i, 1);
        for (uintptr_t i = 0; i < EACH; i++)
            wrong += lock_memory_next(p, first + 8 * i, first + 8 * i + 4) != first + 8 * i;
        for (uintptr_t i = 0; i < EACH; i++)
            wrong += !lock_memory_remove(p, first + 8 * i);
    }
    return (void *)wrong;
}

START_TEST(threads_do_not_lose_each_others)
{
    pthread_t t[2];
    void *wrong[2];
    for (uintptr_t i = 0; i < 2; i++)
        ck_assert_int_eq(pthread_create(&t[i], NULL, put_and_remove, (void *)i), 0);
    for (int i = 0; i < 2; i++)
        ck_assert_int_eq(pthread_join(t[i], &wrong[i]), 0);
    ck_assert_ptr_null(wrong[0]);
    ck_assert_ptr_null(wrong[1]);
    ck_assert(!lock_memory_maybe(p, HEAP, 512));
}
END_TEST

START_TEST(who_has_met_a_lock_is_known_or_it_is_many)
{
    const uintptr_t lock = HEAP + 64;
    ck_assert_uint_eq(lock_memory_thread(p, lock), LOCK_MEMORY_MANY);
    lock_memory_put(p, lock, LOCK_MEMORY_NO_THREAD);
    ck_assert_uint_eq(lock_memory_thread(p, lock), LOCK_MEMORY_NO_THREAD);
    lock_memory_put(p, lock, 7);
    lock_memory_put(p, lock, LOCK_MEMORY_NO_THREAD);
    lock_memory_put(p, lock, 7);
    ck_assert_uint_eq(lock_memory_thread(p, lock), 7);
    ck_assert_uint_eq(lock_memory_thread(p, lock + 1), LOCK_MEMORY_MANY);
    lock_memory_put(p, lock, 8);
    ck_assert_uint_eq(lock_memory_thread(p, lock), LOCK_MEMORY_MANY);
    ck_assert(lock_memory_remove(p, lock));
    lock_memory_put(p, lock, 8);
    ck_assert_uint_eq(lock_memory_thread(p, lock), 8);
}
END_TEST

/* Each of so many locks is met by two threads: whichever lock took a line in between, none of them is reported as
* uncontended, except locks that kept their line from the beginning and were met by one. */
START_TEST(no_user_is_forgotten_where_lines_are_short)
{
    enum { N = 100000 };
    unsigned wrong = 0, alone = 0;
    for (uintptr_t i = 0; i < N; i++)
        lock_memory_put(p, HEAP + 256 * i, 1);
    for (uintptr_t i = 0; i < N; i++) {
        unsigned who = lock_memory_thread(p, HEAP + 256 * i);
        wrong += who != 1 && who != LOCK_MEMORY_MANY;
        alone += who == 1;
    }
    for (uintptr_t i = 0; i < N; i++)
        lock_memory_put(p, HEAP + 256 * i, 2);
    for (uintptr_t i = 0; i < N; i++)
        wrong += lock_memory_thread(p, HEAP + 256 * i) != LOCK_MEMORY_MANY;
    ck_assert_uint_eq(wrong, 0);
    ck_assert_uint_gt(alone, 1000);
}
END_TEST

int main(void)
{
    TCase *c = tcase_create("places");
    tcase_add_checked_fixture(c, begin, end);
    tcase_add_test(c, a_lock_is_found_in_the_memory_around_it_alone);
    tcase_add_test(c, what_can_be_no_place_is_passed_over);
    tcase_add_test(c, neighbours_are_found_in_order);
    tcase_add_test(c, random_blocks_are_as_in_a_list);
    tcase_add_test(c, locks_of_one_heap_touch_few_pages);
    tcase_add_test(c, more_locks_than_numbers_can_say);
    tcase_add_test(c, threads_do_not_lose_each_others);
    tcase_add_test(c, who_has_met_a_lock_is_known_or_it_is_many);
    tcase_add_test(c, no_user_is_forgotten_where_lines_are_short);
    return run_suite("lock_memory", c);
}
