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
#include <stdio.h>
#include <string.h>
#include <ucontext.h>

#include "unit/suite.h"

void interleave(void);
// NOLINTBEGIN(bugprone-reserved-identifier)
#define __atomic_store_n(p, v, order) (interleave(), (void)(*(p) = (v)))
#define __atomic_load_n(p, order) (interleave(), *(p))
// NOLINTEND(bugprone-reserved-identifier)
#include "sync_trace/state/held.c" // NOLINT(bugprone-suspicious-include)
#undef __atomic_store_n
#undef __atomic_load_n

struct sync_gate sync_gate;

enum { HOLDER, WAITER, ACTORS, STACK_BYTES = 65536, STEPS_MAX = 256, SWITCHES = 3, L = 0x1000, M = 0x2000 };

static struct sync_thread thread;
static ucontext_t scheduler, actor[ACTORS];
static char stacks[ACTORS][STACK_BYTES];
static bool done[ACTORS];
static int running = -1;
static void (*scenario)(void);
static struct sync_held answer;
static uintptr_t asked;
static bool found, moving; /* moving: entries move when the waiter gives up */

void interleave(void)
{
    if (running >= 0)
        swapcontext(&actor[running], &scheduler);
}

static void push(uintptr_t lock, unsigned number)
{
    sync_held_push(&thread, lock, 100 + number, number, 0);
}

static void holder(void)
{
    scenario();
    done[HOLDER] = true;
}

static void waiter(void)
{
    found = sync_held_ask(&thread, asked, false, &answer);
    moving = thread.version % 2;
    done[WAITER] = true;
}

static void begin_actor(int i, void (*f)(void))
{
    done[i] = false;
    getcontext(&actor[i]);
    actor[i].uc_stack.ss_sp = stacks[i];
    actor[i].uc_stack.ss_size = STACK_BYTES;
    actor[i].uc_link = &scheduler;
    makecontext(&actor[i], f, 0);
}

/* At a step where both can run: by default the actor of the step before. */
struct choice {
    int actor;
    bool other; /* the other one: both were tried */
};

static int switches(const struct choice *path, int n)
{
    int sum = 0;
    for (int i = 0; i < n; i++)
        sum += path[i].other;
    return sum;
}

/* One run: `path` chooses the actor of each step where both can run. @return the number of choices made. */
static int run_path(struct choice path[STEPS_MAX], int n)
{
    int choices = 0;
    begin_actor(HOLDER, holder);
    begin_actor(WAITER, waiter);
    while (!done[HOLDER] || !done[WAITER]) {
        int next = done[HOLDER] ? WAITER : HOLDER;
        if (!done[HOLDER] && !done[WAITER]) {
            ck_assert_int_lt(choices, STEPS_MAX);
            if (choices == n) {
                path[n] = (struct choice){choices > 0 ? path[n - 1].actor : HOLDER, false};
                n++;
            }
            next = path[choices++].actor;
        }
        running = next;
        swapcontext(&scheduler, &actor[next]);
        running = -1;
    }
    return choices;
}

/* All interleavings of `scenario` with a question for `lock`, after the acquisition of `first` and, if not 0, `second`. */
static unsigned long explore(void (*of)(void), uintptr_t first, uintptr_t second, uintptr_t lock, bool always,
                             int switches_max)
{
    struct choice path[STEPS_MAX];
    unsigned long runs = 0;
    int n = 0;
    scenario = of;
    asked = lock;
    do {
        memset(&thread, 0, sizeof thread.held + offsetof(struct sync_thread, held));
        push(first, 1);
        if (second)
            push(second, 2);
        n = run_path(path, n);
        runs++;
        ck_assert(!always || found || moving);
        /* Odd acquisitions are of L, even ones of M; the site has the number of the tick. */
        if (found)
            ck_assert_msg(answer.site == 100 + answer.since && answer.since % 2 == (lock == L),
                          "run %lu: site %lu and tick %lu", runs, (unsigned long)answer.site,
                          (unsigned long)answer.since);
        while (n > 0 && (path[n - 1].other || switches(path, n - 1) >= switches_max))
            n--;
        if (n > 0)
            path[n - 1] = (struct choice){1 - path[n - 1].actor, true};
    } while (n > 0);
    printf("%lu interleavings\n", runs);
    return runs;
}

static void one_after_the_other(void)
{
    sync_held_pop(&thread);
    push(M, 4);
}

static void again_and_another(void)
{
    sync_held_pop(&thread);
    push(L, 3);
    sync_held_pop(&thread);
}

static void out_of_order(void)
{
    struct sync_held gone;
    (void)sync_held_remove(&thread, L, &gone);
}

START_TEST(a_waiter_gets_one_acquisition)
{
    ck_assert_uint_gt(explore(one_after_the_other, L, 0, L, false, STEPS_MAX), 500);
    ck_assert_uint_gt(explore(one_after_the_other, L, 0, M, false, STEPS_MAX), 500);
    ck_assert_uint_gt(explore(again_and_another, L, 0, L, false, STEPS_MAX), 500);
}
END_TEST

START_TEST(a_lock_that_moves_is_found)
{
    ck_assert_uint_gt(explore(out_of_order, L, M, M, true, SWITCHES), 500);
    ck_assert_uint_gt(explore(out_of_order, L, M, L, false, SWITCHES), 100);
}
END_TEST

int main(void)
{
    TCase *cases = tcase_create("held_interleavings");
    tcase_add_test(cases, a_waiter_gets_one_acquisition);
    tcase_add_test(cases, a_lock_that_moves_is_found);
    return run_suite("held_interleavings", cases);
}
