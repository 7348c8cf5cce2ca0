/* SPDX-License-Identifier: MIT */
/*
 * Deadlocks of small programs, in every state that any interleaving of their threads reaches.
 *
 * Properties: in each state a thread that wg_find_blocked() has in a deadlock, or behind one, has no further step in any continuation; in
 * each state in which no thread has a step, all threads that have not ended are reported, as certain. Bound: all programs
 * of three threads with two actions each, which acquire one of three locks, join a thread, wait for a semaphore or post it,
 * and then release in that order; of programs that differ in the order of their threads, one.
 */
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "deadlock/graph/blocked.h"
#include "unit/suite.h"

enum { THREADS = 3, LOCKS = 3, STEPS = 4, STATES = (STEPS + 1) * (STEPS + 1) * (STEPS + 1), SEM = 100 };

/* What a thread does in its first two steps; in the last two it releases. */
enum { LOCK_FIRST, JOIN_FIRST = LOCK_FIRST + LOCKS, SEM_WAIT = JOIN_FIRST + THREADS, SEM_POST, ACTIONS };

static unsigned char program[THREADS][2];

static bool is_lock(unsigned action)
{
    return action < JOIN_FIRST;
}

static void unpack(unsigned state, unsigned pc[THREADS])
{
    for (unsigned t = 0; t < THREADS; t++, state /= STEPS + 1)
        pc[t] = state % (STEPS + 1);
}

static unsigned pack(const unsigned pc[THREADS])
{
    unsigned state = 0;
    for (unsigned t = THREADS; t-- > 0;)
        state = state * (STEPS + 1) + pc[t];
    return state;
}

/* Whether the thread holds what its step `i` acquired. */
static bool holds_step(unsigned t, unsigned i, unsigned pc)
{
    return is_lock(program[t][i]) && pc > i && pc <= i + 2;
}

static bool is_held(const unsigned pc[THREADS], unsigned lock)
{
    for (unsigned t = 0; t < THREADS; t++)
        for (unsigned i = 0; i < 2; i++)
            if (holds_step(t, i, pc[t]) && program[t][i] == lock)
                return true;
    return false;
}

static int posts_left(const unsigned pc[THREADS])
{
    int n = 0;
    for (unsigned t = 0; t < THREADS; t++)
        for (unsigned i = 0; i < 2; i++)
            if (pc[t] > i)
                n += (program[t][i] == SEM_POST) - (program[t][i] == SEM_WAIT);
    return n;
}

static bool can_step(const unsigned pc[THREADS], unsigned t)
{
    if (pc[t] == STEPS)
        return false;
    if (pc[t] >= 2)
        return true;
    unsigned action = program[t][pc[t]];
    if (is_lock(action))
        return !is_held(pc, action);
    if (action == SEM_WAIT)
        return posts_left(pc) > 0;
    return action == SEM_POST || pc[action - JOIN_FIRST] == STEPS;
}

/* Whether some continuation of a state has a further step of a thread; states are visited from the end, where nothing is left. */
static bool goes_on[STATES][THREADS], reached[STATES];

static void search(void)
{
    unsigned pc[THREADS];
    memset(goes_on, 0, sizeof goes_on);
    reached[0] = true;
    for (unsigned s = 0; s < STATES; s++) { /* a step leads to a higher number */
        unpack(s, pc);
        for (unsigned t = 0; reached[s] && t < THREADS; t++)
            if (can_step(pc, t)) {
                pc[t]++;
                reached[pack(pc)] = true;
                pc[t]--;
            }
    }
    for (unsigned s = STATES; s-- > 0;) {
        unpack(s, pc);
        for (unsigned t = 0; t < THREADS; t++) {
            if (!can_step(pc, t))
                continue;
            goes_on[s][t] = true;
            pc[t]++;
            for (unsigned other = 0; other < THREADS; other++)
                goes_on[s][other] |= goes_on[pack(pc)][other];
            pc[t]--;
        }
    }
}

/* What the recorder has of a state: threads that cannot take their step wait. @return whether there is a deadlock. */
static bool compare(unsigned state)
{
    struct wg_thread threads[THREADS];
    struct wg_hold holds[THREADS * 2];
    struct wg_holder holders[THREADS * 2];
    uint32_t members[THREADS];
    struct wg_deadlock found[THREADS];
    struct wg_snapshot s = {.threads = threads,
                            .n_threads = THREADS,
                            .holds = holds,
                            .holders = holders,
                            .members = members,
                            .deadlocks = found};
    unsigned pc[THREADS];
    unpack(state, pc);
    for (unsigned t = 0; t < THREADS; t++) {
        threads[t] = (struct wg_thread){.target = WG_NONE, .first_hold = (uint32_t)s.n_holds};
        for (unsigned i = 0; i < 2; i++)
            if (holds_step(t, i, pc[t]))
                holds[s.n_holds++] = (struct wg_hold){.lock = 1 + program[t][i]};
        threads[t].n_holds = (uint32_t)s.n_holds - threads[t].first_hold;
        if (pc[t] == STEPS)
            threads[t].wait = WG_ENDED;
        else if (can_step(pc, t))
            threads[t].wait = WG_RUNNING;
        else if (is_lock(program[t][pc[t]])) {
            threads[t].wait = WG_LOCK;
            threads[t].object = 1 + program[t][pc[t]];
        } else if (program[t][pc[t]] == SEM_WAIT) {
            threads[t].wait = WG_SEM;
            threads[t].object = SEM;
        } else {
            threads[t].wait = WG_JOIN;
            threads[t].target = program[t][pc[t]] - JOIN_FIRST;
        }
    }
    wg_find_blocked(&s);
    bool any_step = false, right = true;
    for (unsigned t = 0; t < THREADS; t++)
        any_step |= can_step(pc, t);
    for (unsigned t = 0; t < THREADS; t++) {
        bool stuck = threads[t].deadlock != WG_NONE, over = pc[t] == STEPS;
        right = right && (!stuck || over || !goes_on[state][t]) && (stuck || over || any_step);
    }
    for (size_t i = 0; i < s.n_deadlocks; i++)
        right = right && found[i].certainty == WG_CERTAIN;
    if (!right) /* an assertion for each state costs more than the search */
        ck_abort_msg("state %u of program %u%u %u%u %u%u", state, program[0][0], program[0][1], program[1][0],
                     program[1][1], program[2][0], program[2][1]);
    return s.n_deadlocks > 0;
}

START_TEST(what_is_reported_has_no_way_out_and_nothing_is_missed)
{
    unsigned long programs = 0, states = 0, deadlocks = 0;
    unsigned char *all = &program[0][0];
    memset(program, 0, sizeof program);
    for (size_t i = 0; i < sizeof program;) {
        memset(reached, 0, sizeof reached);
        if (memcmp(program[0], program[1], 2) <= 0 && memcmp(program[1], program[2], 2) <= 0) {
            search();
            programs++;
        }
        for (unsigned s = 0; s < STATES; s++) {
            states += reached[s];
            deadlocks += reached[s] && compare(s);
        }
        for (i = 0; i < sizeof program && ++all[i] == ACTIONS; i++) /* the next program */
            all[i] = 0;
    }
    printf("%lu programs, %lu states, %lu with a deadlock\n", programs, states, deadlocks);
    ck_assert_uint_eq(programs, 45760);
    ck_assert_uint_gt(deadlocks, 100000);
}
END_TEST

int main(void)
{
    TCase *cases = tcase_create("blocked_interleavings");
    tcase_add_test(cases, what_is_reported_has_no_way_out_and_nothing_is_missed);
    return run_suite("blocked_interleavings", cases);
}
