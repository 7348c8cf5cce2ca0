/* SPDX-License-Identifier: MIT */
/**
 * @file
 * A scheduler of two actors, over all interleavings of their steps.
 *
 * An actor calls interleave() before each step that the other one could see. The code under test is compiled into the test with its
 * atomic operations, or its system calls, replaced by ones that do so. Steps happen one after the other: reordering by a CPU is not part
 * of the search, so a test states which order the code's memory orders promise.
 */
#ifndef UPMU_TESTS_UNIT_INTERLEAVE_H
#define UPMU_TESTS_UNIT_INTERLEAVE_H

#include <stdbool.h>
#include <stdio.h>
#include <ucontext.h>

#include "unit/suite.h"

enum { INTERLEAVE_ACTORS = 2, INTERLEAVE_STACK_BYTES = 262144, INTERLEAVE_STEPS_MAX = 512 };

/** One search. */
struct interleave_search {
    void (*actor[INTERLEAVE_ACTORS])(void);
    void (*begin)(void); /**< before each interleaving */
    void (*judge)(void); /**< after each */
    int switches_max;    /**< bound: times the other actor than before continues where both can */
};

/** At a step where both can run: by default the actor of the step before. */
struct interleave_choice {
    int actor;
    bool other; /**< the other one: both were tried */
};

static struct {
    ucontext_t scheduler, actor[INTERLEAVE_ACTORS];
    char stacks[INTERLEAVE_ACTORS][INTERLEAVE_STACK_BYTES];
    bool done[INTERLEAVE_ACTORS];
    const struct interleave_search *search;
    struct interleave_choice path[INTERLEAVE_STEPS_MAX];
    int running; /**< 1 + actor; 0: the scheduler */
} interleaving;

/** The end of a step of the running actor; nothing outside a search. */
static void interleave(void)
{
    if (interleaving.running > 0)
        swapcontext(&interleaving.actor[interleaving.running - 1], &interleaving.scheduler);
}

static void interleave_actor(void)
{
    int i = interleaving.running - 1;
    interleaving.search->actor[i]();
    interleaving.done[i] = true;
}

static void interleave_begin(int i)
{
    ucontext_t *a = &interleaving.actor[i];
    interleaving.done[i] = false;
    getcontext(a);
    a->uc_stack.ss_sp = interleaving.stacks[i];
    a->uc_stack.ss_size = INTERLEAVE_STACK_BYTES;
    a->uc_link = &interleaving.scheduler;
    makecontext(a, interleave_actor, 0);
}

/* One interleaving: the first `n` choices are given. @return the number of choices. */
static int interleave_run(int n)
{
    int choices = 0;
    struct interleave_choice *path = interleaving.path;
    for (int i = 0; i < INTERLEAVE_ACTORS; i++)
        interleave_begin(i);
    while (!interleaving.done[0] || !interleaving.done[1]) {
        int next = interleaving.done[0] ? 1 : 0;
        if (!interleaving.done[0] && !interleaving.done[1]) {
            ck_assert_int_lt(choices, INTERLEAVE_STEPS_MAX);
            if (choices == n) {
                path[n] = (struct interleave_choice){choices > 0 ? path[n - 1].actor : 0, false};
                n++;
            }
            next = path[choices++].actor;
        }
        interleaving.running = next + 1;
        swapcontext(&interleaving.scheduler, &interleaving.actor[next]);
        interleaving.running = 0;
    }
    return choices;
}

static int interleave_switches(int n)
{
    int sum = 0;
    for (int i = 0; i < n; i++)
        sum += interleaving.path[i].other;
    return sum;
}

/** All interleavings within the bound. @return how many. */
static unsigned long interleave_all(const struct interleave_search *search)
{
    unsigned long runs = 0;
    int n = 0;
    interleaving.search = search;
    do {
        search->begin();
        n = interleave_run(n);
        search->judge();
        runs++;
        while (n > 0 && (interleaving.path[n - 1].other || interleave_switches(n - 1) >= search->switches_max))
            n--;
        if (n > 0)
            interleaving.path[n - 1] = (struct interleave_choice){1 - interleaving.path[n - 1].actor, true};
    } while (n > 0);
    printf("%lu interleavings\n", runs);
    return runs;
}

#endif
