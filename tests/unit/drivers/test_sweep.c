/* SPDX-License-Identifier: MIT */
/*
 * Every event alone and thousands of sets, on every modeled machine: no number is wrong.
 *
 *     unit_drivers_sweep RECORDINGS [SETS [MACHINE]]      SETS random sets for each machine that is settled, or for the one named
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/names/registry.h"
#include "trial.h"
#include "unit/suite.h"
#include "upmu/upmu.h"

enum {
    SETS = 1000,
    SET_MAX = 10,
    SHOWN = 5,
    RIVALS_MAX = 8,
    TEXT = 1024,
    FIRST_RUN_US = 60000,
    FIRST_TURNS_US = 10000,
    LONGEST_RUN_US = 400000
};

static const char *recordings, *only;
static unsigned n_sets = SETS;

/* A generator of our own, so that a seed means the same sets everywhere: xorshift64. */
static uint64_t next_random(uint64_t *state)
{
    *state ^= *state << 13;
    *state ^= *state >> 7;
    *state ^= *state << 17;
    return *state;
}

/* Switches and times of rusage do not advance here: there is nothing to compare. */
static bool is_for_trial(const struct registry_event *event)
{
    return event->software != KERNEL_SW_CONTEXT_SWITCHES && event->software != KERNEL_SW_CPU_MIGRATIONS &&
           event->software != KERNEL_SW_CGROUP_SWITCHES && event->software < REGISTRY_USAGE;
}

static const char *random_name(uint64_t *state)
{
    size_t n;
    const struct registry_event *events = registry_events(&n);
    for (;;) {
        const struct registry_event *event = &events[next_random(state) % n];
        if (is_for_trial(event))
            return event->name;
    }
}

/* Most sets of users are of the few events that every CPU has. */
static const char *common_name(uint64_t *state)
{
    static const char *const common[] = {"cycles",       "instructions",     "branches",   "branch-misses",
                                         "cache-misses", "cache-references", "task-clock", "page-faults"};
    return common[next_random(state) % (sizeof common / sizeof *common)];
}

static size_t add_name(char *text, size_t length, uint64_t *state)
{
    static const char *const modifiers[] = {"", "", "", "", "", "", ":u", ":u", ":k", ":uk"};
    const char *comma = length ? "," : "";
    const char *modifier = modifiers[next_random(state) % (sizeof modifiers / sizeof *modifiers)];
    unsigned what = (unsigned)(next_random(state) % 10);
    int n = what == 0 ? snprintf(text + length, TEXT - length, "%sr%x%s", comma, (unsigned)(next_random(state) & 0x3ff),
                                 modifier)
                      : snprintf(text + length, TEXT - length, "%s%s%s", comma,
                                 what < 5 ? common_name(state) : random_name(state), modifier);
    return length + (size_t)n;
}

static void random_trial(struct trial *trial, char *text, uint64_t *state)
{
    size_t n = 1 + next_random(state) % SET_MAX, length = 0;
    for (size_t i = 0; i < n; i++)
        length = add_name(text, length, state);
    *trial = (struct trial){
        .events = text,
        .load = next_random(state) % 2 ? MODEL_PHASES : MODEL_STEADY,
        .run_us = LONGEST_RUN_US / 2 + next_random(state) % (LONGEST_RUN_US / 2),
    };
    /* Turns begin soon after the start, which makes it the better place for a zero. */
    if (next_random(state) % 2 == 0)
        trial->before_us = 1 + next_random(state) % (next_random(state) % 2 ? FIRST_RUN_US : FIRST_TURNS_US);
    if (next_random(state) % 4 == 0)
        trial->flags |= UPMU_SET_NO_USER_READ;
    if (next_random(state) % 4 == 0) {
        trial->flags |= UPMU_SET_INHERIT;
        trial->child_us = LONGEST_RUN_US / 2 + next_random(state) % (LONGEST_RUN_US / 2);
    }
}

static bool begin(int i)
{
    if (only ? strcmp(only, model_machines[i].name) != 0 : model_machines[i].unsettled != NULL)
        return false;
    trial_machine(&model_machines[i], recordings);
    return true;
}

static void finish(const struct trial_sums *sums, const char *what)
{
    printf("%s: %u sets: %u exact (%u of known meaning), %u scaled, %u not counted, %u refused, "
           "%u derived, %u unverifiable zeros, %u wrong\n",
           what, sums->sets, sums->exact, sums->known, sums->scaled, sums->not_counted, sums->refused, sums->derived,
           sums->unverified, sums->wrong);
    fflush(stdout);
    ck_assert_uint_eq(sums->wrong, 0);
}

START_TEST(every_event_alone_is_true_or_refused)
{
    struct trial_sums sums = {0};
    size_t n;
    const struct registry_event *events = registry_events(&n);
    if (!begin(_i))
        return;
    for (size_t i = 0; i < n; i++) {
        char text[TEXT];
        static const char *const modifiers[] = {"", ":u", ":k"};
        for (size_t m = 0; m < sizeof modifiers / sizeof *modifiers && is_for_trial(&events[i]); m++) {
            snprintf(text, sizeof text, "%s%s", events[i].name, modifiers[m]);
            const struct trial trial = {.events = text, .load = MODEL_PHASES, .run_us = FIRST_RUN_US};
            trial_run(&trial, &sums, SHOWN);
        }
    }
    finish(&sums, model_machines[_i].name);
}
END_TEST

/* That nothing is wrong would be easy if nothing were counted. */
START_TEST(every_documented_event_is_counted)
{
    const struct model_machine *m = &model_machines[_i];
    const struct model_driver *driver = m->pmus[0].driver;
    if (!begin(_i) || m->refuses_all)
        return;
    for (size_t i = 0; i < driver->n_facts; i++) {
        struct trial_sums sums = {0};
        struct model_code code;
        const struct kernel_open raw = {.type = KERNEL_TYPE_RAW, .config = driver->facts[i].code};
        if (model_decode(&m->pmus[0], &raw, &code) == 0 && code.nothing)
            continue; /* one that this model of the family lacks */
        const struct trial trial = {.events = driver->facts[i].name, .run_us = FIRST_RUN_US};
        trial_run(&trial, &sums, SHOWN);
        ck_assert_msg(sums.known == 1 && sums.exact == 1 && sums.wrong == 0, "%s: '%s' is not counted exactly", m->name,
                      driver->facts[i].name);
    }
}
END_TEST

/* Others count on the same thread, and begin in the middle. Machines on which they cannot spoil our numbers. */
START_TEST(rivals_make_numbers_scaled_and_not_wrong)
{
    static const char *const names[] = {"Skylake", "Skylake, a guest", "Zen 3", "3A5000", "D3000"};
    struct trial_sums sums = {0};
    uint64_t state = 0x2545f491u + (unsigned)_i;
    bool among = false;
    for (size_t n = 0; n < sizeof names / sizeof *names; n++)
        among = among || strcmp(names[n], model_machines[_i].name) == 0;
    if (!among || !begin(_i))
        return;
    for (unsigned i = 0; i < n_sets; i++) {
        char text[TEXT];
        struct trial trial;
        random_trial(&trial, text, &state);
        trial.rivals = 1 + (unsigned)(next_random(&state) % RIVALS_MAX);
        trial_run(&trial, &sums, SHOWN);
    }
    finish(&sums, model_machines[_i].name);
    ck_assert_uint_gt(sums.scaled, 0);
}
END_TEST

START_TEST(sets_of_many_events_are_true_or_refused)
{
    struct trial_sums sums = {0};
    uint64_t state = 0x9e3779b9u + (unsigned)_i;
    if (!begin(_i))
        return;
    for (unsigned i = 0; i < n_sets; i++) {
        char text[TEXT];
        struct trial trial;
        random_trial(&trial, text, &state);
        trial_run(&trial, &sums, SHOWN);
    }
    finish(&sums, model_machines[_i].name);
}
END_TEST

int main(int argc, char **argv)
{
    if (argc < 2) {
        fprintf(stderr, "usage: %s RECORDINGS [SETS [MACHINE]]\n", argv[0]);
        return EXIT_FAILURE;
    }
    recordings = argv[1];
    n_sets = argc > 2 ? (unsigned)strtoul(argv[2], NULL, 10) : SETS;
    only = argc > 3 ? argv[3] : NULL;
    TCase *cases = tcase_create("sweep");
    tcase_set_timeout(cases, 100);
    tcase_add_loop_test(cases, every_event_alone_is_true_or_refused, 0, (int)model_n_machines);
    tcase_add_loop_test(cases, every_documented_event_is_counted, 0, (int)model_n_machines);
    tcase_add_loop_test(cases, sets_of_many_events_are_true_or_refused, 0, (int)model_n_machines);
    tcase_add_loop_test(cases, rivals_make_numbers_scaled_and_not_wrong, 0, (int)model_n_machines);
    return run_suite("drivers", cases);
}
