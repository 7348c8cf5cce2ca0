/* SPDX-License-Identifier: MIT */
/* Held locks that a waiter copies while their thread acquires and releases. */
#include <pthread.h>

#include "sync_trace/account/lock_sequence.h"
#include "sync_trace/state/held.h"
#include "unit/suite.h"

enum { LOCK = 0x1000, OTHER = 0x2000, INNER = 0x3000, ROUNDS = 4000000 };

static struct sync_thread holder;
static uint32_t done;

/* An acquisition is `n`: its tick and its call site belong together. */
static uintptr_t site_of(uint64_t n)
{
    return (uintptr_t)n * 3;
}

/* One acquisition after the other in the first entry, now and then with another lock below that is released first. */
static void *hold(void *arg)
{
    (void)arg;
    for (uint64_t n = 1; n <= ROUNDS; n++) {
        struct sync_held h;
        uintptr_t lock = n % 64 ? LOCK : OTHER;
        if (n % 16) {
            sync_held_push_first(&holder, lock, site_of(n), n, false);
            sync_held_pop(&holder, lock);
            continue;
        }
        sync_held_push(&holder, INNER, site_of(n), n, HELD_QUIET);
        sync_held_push(&holder, lock, site_of(n), n, HELD_QUIET);
        ck_assert(sync_held_remove(&holder, INNER, &h));
        ck_assert(sync_held_remove(&holder, lock, &h));
        ck_assert(h.since == n && holder.depth == 0);
    }
    __atomic_store_n(&done, 1, __ATOMIC_RELEASE);
    return NULL;
}

START_TEST(a_waiter_copies_one_acquisition)
{
    pthread_t thread;
    struct sync_held h;
    ck_assert_int_eq(pthread_create(&thread, NULL, hold, NULL), 0);
    while (!__atomic_load_n(&done, __ATOMIC_ACQUIRE)) {
        if (sync_held_ask(&holder, LOCK, false, &h) && h.site != site_of(h.since))
            ck_abort_msg("site %lu of another acquisition than tick %lu", (unsigned long)h.site,
                         (unsigned long)h.since);
    }
    ck_assert_int_eq(pthread_join(thread, NULL), 0);
}
END_TEST

/* A waiter that comes when its lock was released changes the entry of the next lock, at most. */
START_TEST(what_a_late_waiter_wanted_does_not_last)
{
    static struct sync_thread t;
    struct sync_held h;
    sync_held_push_first(&t, LOCK, 1, 1, false);
    sync_held_pop(&t, LOCK);
    ck_assert(!sync_held_ask(&t, LOCK, false, &h));
    t.held[0].wanted = LOCK; /* it had found the entry before */
    sync_held_push(&t, OTHER, 2, 2, HELD_QUIET);
    ck_assert_uint_eq(t.held[0].wanted, HELD_QUIET);
    ck_assert(sync_held_ask(&t, OTHER, false, &h));
    ck_assert_uint_eq(t.held[0].wanted, OTHER);
    sync_held_clear(&t);
    ck_assert_uint_eq(t.depth, 0);
    ck_assert_uint_eq(t.held[0].lock, OTHER | HELD_RELEASED);
}
END_TEST

/* A semaphore that another thread posts: its entry does not stay in the sequence of held locks. */
START_TEST(locks_that_other_threads_release_do_not_pile_up)
{
    static struct sync_thread t;
    sync_held_push(&t, LOCK, 1, 1, HELD_QUIET);
    uint64_t alone = sync_sequence_held(&t);
    for (uint64_t n = 2; n < SYNC_HELD_MAX; n++) {
        sync_held_push(&t, OTHER, site_of(n), n, HELD_QUIET);
        sync_held_push(&t, INNER, site_of(n), n, HELD_QUIET);
        __atomic_store_n(&t.held[1].lock, 0, __ATOMIC_RELAXED);
        ck_assert_uint_eq(sync_sequence_held(&t), sync_sequence_add(alone, INNER));
        ck_assert_uint_eq(t.depth, 2);
        ck_assert(t.held[1].lock == INNER && t.held[1].since == n);
        sync_held_pop(&t, INNER);
    }
    ck_assert_uint_eq(sync_sequence_held(&t), alone);
    ck_assert_uint_eq(t.forgotten, 0);
}
END_TEST

int main(void)
{
    TCase *cases = tcase_create("held");
    tcase_set_timeout(cases, 60);
    tcase_add_test(cases, a_waiter_copies_one_acquisition);
    tcase_add_test(cases, what_a_late_waiter_wanted_does_not_last);
    tcase_add_test(cases, locks_that_other_threads_release_do_not_pile_up);
    return run_suite("held", cases);
}
