/* SPDX-License-Identifier: MIT */
/* Sizes of a thread's table of counts for locks that are near each other. */
#include <pthread.h>

#include "sync_trace/state/counts.h"
#include "sync_trace/state/state.h"
#include "unit/suite.h"
#include "upmu/sync.h"

enum { LOCKS = 1 << 12, ROUNDS = 3 };

/* A block's table has at most so many slots: 4 for each of its locks, which is more than twice what a hash needs. */
static void expect_counts(const void *const *lock, uint32_t type)
{
    struct sync_thread *t = sync_tls.thread;
    ck_assert_ptr_nonnull(t);
    ck_assert_uint_lt(t->counts->mask, t->counts->used * 4);
    ck_assert_uint_eq(t->uncounted.acquired, 0);
    for (int i = 0; i < LOCKS; i++)
        ck_assert_uint_eq(sync_count(t, (uintptr_t)lock[i], type)->acquired, ROUNDS);
}

static const struct upmu_sync_opts in_memory = {.size = sizeof in_memory, .trace = UPMU_TRACE_MEMORY};

START_TEST(adjacent_spin_locks_fit_a_table_of_their_number)
{
    static pthread_spinlock_t spin[LOCKS];
    static const void *lock[LOCKS];
    ck_assert_int_eq(upmu_sync_begin(&in_memory), 0);
    for (int i = 0; i < LOCKS; i++) {
        lock[i] = (const void *)&spin[i];
        ck_assert_int_eq(pthread_spin_init(&spin[i], PTHREAD_PROCESS_PRIVATE), 0);
        for (int k = 0; k < ROUNDS; k++) {
            pthread_spin_lock(&spin[i]);
            pthread_spin_unlock(&spin[i]);
        }
    }
    expect_counts(lock, UPMU_OBJECT_SPIN);
    ck_assert_int_eq(upmu_sync_end(), 0);
}
END_TEST

START_TEST(custom_locks_of_a_byte_fit_a_table_of_their_number)
{
    static char byte[LOCKS];
    static const void *lock[LOCKS];
    ck_assert_int_eq(upmu_sync_begin(&in_memory), 0);
    for (int i = 0; i < LOCKS; i++) {
        lock[i] = &byte[i];
        for (int k = 0; k < ROUNDS; k++) {
            upmu_lock_acquired(lock[i]);
            upmu_lock_released(lock[i]);
        }
    }
    expect_counts(lock, UPMU_OBJECT_CUSTOM);
    ck_assert_int_eq(upmu_sync_end(), 0);
}
END_TEST

/* The first and another mutex with the same first place in a thread's first table. */
static pthread_mutex_t *same_first_place(pthread_mutex_t *m, uint32_t mask)
{
    int i = 1;
    while (i < LOCKS && ((sync_count_place((uintptr_t)&m[i], 0) ^ sync_count_place((uintptr_t)m, 0)) & mask) != 0)
        i++;
    ck_assert_int_lt(i, LOCKS);
    return &m[i];
}

/* Two locks in turn: each search for the second one costs as much as a pair. */
START_TEST(a_lock_that_is_searched_for_often_gets_its_first_place)
{
    enum { PAIRS = 1 << 16 };
    static pthread_mutex_t m[LOCKS];
    ck_assert_int_eq(upmu_sync_begin(&in_memory), 0);
    pthread_mutex_lock(m);
    pthread_mutex_unlock(m);
    const struct sync_thread *t = sync_tls.thread;
    pthread_mutex_t *other = same_first_place(m, t->counts->mask);
    for (int i = 0; i < PAIRS; i++) {
        pthread_mutex_lock(other);
        pthread_mutex_unlock(other);
        pthread_mutex_lock(m);
        pthread_mutex_unlock(m);
    }
    const struct sync_count *first = sync_count_first(sync_tls.thread, (uintptr_t)m, UPMU_OBJECT_MUTEX),
                            *second = sync_count_first(sync_tls.thread, (uintptr_t)other, UPMU_OBJECT_MUTEX);
    ck_assert_uint_eq(first->lock, (uintptr_t)m);
    ck_assert_uint_eq(second->lock, (uintptr_t)other);
    ck_assert_uint_eq(first->acquired, PAIRS + 1);
    ck_assert_uint_eq(second->acquired, PAIRS);
    ck_assert_int_eq(upmu_sync_end(), 0);
}
END_TEST

int main(void)
{
    TCase *cases = tcase_create("counts");
    tcase_add_test(cases, a_lock_that_is_searched_for_often_gets_its_first_place);
    tcase_add_test(cases, adjacent_spin_locks_fit_a_table_of_their_number);
    tcase_add_test(cases, custom_locks_of_a_byte_fit_a_table_of_their_number);
    return run_suite("counts", cases);
}
