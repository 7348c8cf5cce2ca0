/* SPDX-License-Identifier: MIT */
/*
 * Held locks read by a waiter, over all interleavings of the atomic operations of both threads.
 *
 * Property: what sync_held_ask() returns is the call site and the tick of one and the same acquisition of that lock; a lock that
 * is held all the time is found, unless the holder is stopped while it moves entries. Bound: one waiter, one question, the scenarios below;
 * where entries move, three switches beside those at the end of an actor. All stores
 * of the holder release and all loads of the waiter acquire, so that sequential interleavings are all that can be seen.
 *
 * The code under test is compiled here with its atomic operations replaced by ones that first return to the scheduler.
 */
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "unit/interleave.h"

// NOLINTBEGIN(clang-diagnostic-reserved-identifier)
#define __atomic_store_n(p, v, order) (interleave(), (void)(*(p) = (v)))
#define __atomic_load_n(p, order) (interleave(), *(p))
// NOLINTEND(clang-diagnostic-reserved-identifier)
#include "sync_trace/state/held.c" // NOLINT(bugprone-suspicious-include)
#undef __atomic_store_n
#undef __atomic_load_n

struct sync_gate sync_gate;

enum { L = 0x1000, M = 0x2000, ANY = INTERLEAVE_STEPS_MAX, SWITCHES = 3 };

static struct sync_thread thread;
static struct scene {
    void (*holder)(void);
    uintptr_t first, second, asked; /* acquired before, if not 0 */
    bool always;                    /* the lock is held all the time */
    bool released;                  /* the waiter asks for the acquisition that it has released */
} scene;
static struct sync_held answer;
static bool found, moving; /* moving: entries move when the waiter gives up */

static void push(uintptr_t lock, unsigned number)
{
    sync_held_push(&thread, lock, 100 + number, number, 0);
}

static void begin(void)
{
    memset(&thread, 0, sizeof thread.held + offsetof(struct sync_thread, held));
    push(scene.first, 1);
    if (scene.second)
        push(scene.second, 2);
}

static void holder(void)
{
    scene.holder();
}

static void waiter(void)
{
    found = scene.released ? sync_held_last(&thread, scene.asked, &answer)
                           : sync_held_ask(&thread, scene.asked, false, &answer);
    moving = thread.version % 2;
}

/* Odd acquisitions are of L, even ones of M; the site has the number of the tick. */
static void judge(void)
{
    ck_assert(!scene.always || found || moving);
    if (found)
        ck_assert_msg(answer.site == 100 + answer.since && answer.since % 2 == (scene.asked == L),
                      "site %lu and tick %lu", (unsigned long)answer.site, (unsigned long)answer.since);
}

static unsigned long explore(struct scene of, int switches_max)
{
    const struct interleave_search search = {{holder, waiter}, begin, judge, switches_max};
    scene = of;
    return interleave_all(&search);
}

static void one_after_the_other(void)
{
    sync_held_pop(&thread, L);
    push(M, 4);
}

static void again_and_another(void)
{
    sync_held_pop(&thread, L);
    push(L, 3);
    sync_held_pop(&thread, L);
}

static void out_of_order(void)
{
    struct sync_held gone;
    (void)sync_held_remove(&thread, L, &gone);
}

START_TEST(a_waiter_gets_one_acquisition)
{
    ck_assert_uint_gt(explore((struct scene){one_after_the_other, L, 0, L, false, false}, ANY), 500);
    ck_assert_uint_gt(explore((struct scene){one_after_the_other, L, 0, M, false, false}, ANY), 500);
    ck_assert_uint_gt(explore((struct scene){again_and_another, L, 0, L, false, false}, ANY), 500);
}
END_TEST

START_TEST(a_lock_that_moves_is_found)
{
    ck_assert_uint_gt(explore((struct scene){out_of_order, L, M, M, true, false}, SWITCHES), 500);
    ck_assert_uint_gt(explore((struct scene){out_of_order, L, M, L, false, false}, SWITCHES), 100);
}
END_TEST

/* One that is held, or after which another lock was acquired, is not given. */
START_TEST(a_waiter_gets_the_acquisition_that_was_released)
{
    ck_assert_uint_gt(explore((struct scene){again_and_another, L, 0, L, false, true}, ANY), 100);
    ck_assert_uint_gt(explore((struct scene){one_after_the_other, L, 0, L, false, true}, ANY), 100);
    ck_assert_uint_gt(explore((struct scene){out_of_order, L, M, L, false, true}, SWITCHES), 100);
    begin();
    waiter();
    ck_assert(!found);
    out_of_order(); /* the place that becomes free is that of M, which is held */
    waiter();
    ck_assert(!found);
    scene = (struct scene){NULL, L, 0, L, true, true};
    begin();
    sync_held_pop(&thread, L);
    waiter();
    judge();
    ck_assert_uint_eq(answer.since, 1);
    push(M, 4);
    waiter();
    ck_assert(!found);
    push(L, 5);
    sync_held_pop(&thread, L);
    waiter();
    judge();
    ck_assert_uint_eq(answer.since, 5);
    sync_held_pop(&thread, M);
    push(M, 6); /* now what is behind it is older */
    waiter();
    ck_assert(!found);
}
END_TEST

int main(void)
{
    TCase *cases = tcase_create("held_interleavings");
    tcase_add_test(cases, a_waiter_gets_one_acquisition);
    tcase_add_test(cases, a_lock_that_moves_is_found);
    tcase_add_test(cases, a_waiter_gets_the_acquisition_that_was_released);
    return run_suite("held_interleavings", cases);
}
