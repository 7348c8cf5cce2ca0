/* SPDX-License-Identifier: MIT */
/*
 * Self-check of the running kernel: software events in groups count known work.
 *
 * Kernels have counted members of a group for less time than reported (Linux 6.18 with members enabled late).
 * counters_late.c finds the cases visible in the times; this finds the others. Each event is tested as the member
 * nearest to the leader and as the last one, over two start/stop cycles.
 */
#include "core/check/self_check.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/cancel.h"
#include "base/error.h"
#include "base/own_once.h"
#include "core/check/self_check_fixed.h"

static struct self_check checks[SELF_CHECKS] = {
    {.name = "task-clock", .config = KERNEL_SW_TASK_CLOCK},
    {.name = "page-faults", .config = KERNEL_SW_PAGE_FAULTS},
    {.name = "cpu-clock", .config = KERNEL_SW_CPU_CLOCK},
    {.name = "minor-faults", .config = KERNEL_SW_MINOR_FAULTS},
    {.name = "context-switches", .config = KERNEL_SW_CONTEXT_SWITCHES},
};

static struct own_once self_check_once;

static uint64_t self_check_expected(const struct self_check *c, const struct kernel_work *work)
{
    switch (c->config) {
    case KERNEL_SW_PAGE_FAULTS:
    case KERNEL_SW_MINOR_FAULTS:
        return work->faults;
    case KERNEL_SW_CONTEXT_SWITCHES:
        return work->switches;
    default:
        return work->cpu_ns / 2; /* its clock and ours are read at different times */
    }
}

static bool self_check_cycles(struct counters *c, struct kernel_work *work)
{
    enum { CYCLES = 2 }; /* one of them with a sleep, which takes as long as all the rest */
    for (int i = 0; i < CYCLES; i++)
        if (counters_control(c, KERNEL_ENABLE) < 0 || core_kernel()->work(work, i == 0) < 0 ||
            counters_control(c, KERNEL_DISABLE) < 0)
            return false;
    return true;
}

/* The list names the events in the order of the group. */
static void self_check_note(const struct counter_list *list, const struct counters *c, const uint64_t *words,
                            const struct kernel_work *work)
{
    for (size_t i = 0; i < list->n; i++) {
        struct reading now;
        struct self_check *check = checks;
        while (check->config != list->events[i].config)
            check++;
        if (counters_reading(c, words, i, &now) < 0)
            continue;
        uint64_t expected = self_check_expected(check, work);
        if (!check->tried || now.count < check->counted)
            *check = (struct self_check){check->name, check->config, true, now.count, expected};
    }
}

static void self_check_shape(const char *names)
{
    /* cpu -1 and not `self`: the event is tested, not RUSAGE_THREAD */
    const struct counter_target target = {.cpu = -1};
    struct counter_list list;
    struct counters c = {0};
    struct kernel_work work = {0};
    if (counter_list_make(&list, names, SELF_CHECKS, true, KERNEL_BACKEND_PERF) < 0)
        return;
    void *arena = calloc(1, counters_arena(&list) + counters_words(&list) * sizeof(uint64_t));
    if (arena) {
        uint64_t *words = (uint64_t *)(void *)((unsigned char *)arena + counters_arena(&list));
        (void)counters_open(&c, &list, &target, arena);
        if (self_check_cycles(&c, &work)) {
            counters_read(&c, words);
            self_check_note(&list, &c, words, &work);
        }
        counters_close(&c, false);
    }
    free(arena);
    counter_list_free(&list);
}

static bool self_check_any_failed(void)
{
    for (size_t i = 0; i < SELF_CHECKS; i++)
        if (self_check_failed(&checks[i]))
            return true;
    return false;
}

/* The names in the order of `checks`, or in the reverse order. */
static void self_check_names(char *text, size_t size, bool reverse)
{
    size_t at = 0;
    for (size_t i = 0; i < SELF_CHECKS; i++)
        at += (size_t)snprintf(text + at, size - at, "%s%s", i ? "," : "",
                               checks[reverse ? SELF_CHECKS - 1 - i : i].name);
}

/* A kernel that does not count an event in a group fails each time; a single failure may come from a loaded machine. */
static void self_check_run(void)
{
    enum { TRIES = 3 };
    char forward[128], backward[128];
    struct kernel_work unused = {0};
    struct cancel_hold cancel;
    self_check_names(forward, sizeof forward, false);
    self_check_names(backward, sizeof backward, true);
    cancel_hold(&cancel);                           /* the work sleeps */
    if (core_kernel()->work(&unused, false) == 0) { /* warms up the memory that the work uses */
        for (int i = 0; i < TRIES && (i == 0 || self_check_any_failed()); i++) {
            for (size_t k = 0; k < SELF_CHECKS; k++)
                checks[k].tried = false;
            self_check_shape(forward);
            self_check_shape(backward);
        }
    }
    cancel_resume(&cancel);
}

const struct self_check *self_check_results(void)
{
    own_once(&self_check_once, self_check_run);
    return checks;
}

/* Whether two software events of the list share a group. */
static bool self_check_needed(const struct counter_list *list)
{
    unsigned seen = 0;
    for (size_t i = 0; i < list->n; i++)
        seen += !list->absent[i] && list->events[i].class == EVENT_SOFTWARE && list->plan.entry[i].same_as == i;
    return seen >= 2 && list->backend == KERNEL_BACKEND_PERF;
}

int self_check_list(struct counter_list *list)
{
    int rc = self_check_fixed_list(list);
    if (rc < 0 || !self_check_needed(list))
        return rc;
    const struct self_check *results = self_check_results();
    for (size_t i = 0; i < list->n; i++) {
        const struct event *e = &list->events[i];
        if (list->absent[i] || e->class != EVENT_SOFTWARE)
            continue;
        for (size_t k = 0; k < SELF_CHECKS; k++) {
            if (results[k].config != e->config || !self_check_failed(&results[k]))
                continue;
            (void)upmu_fail(UPMU_E_SYSTEM,
                            "'%s': this kernel does not count it correctly in a group (%llu of %llu in a self-check). "
                            "Count it as the only software event",
                            e->name, (unsigned long long)results[k].counted, (unsigned long long)results[k].expected);
            if (counter_list_leave_out(list, i, UPMU_E_SYSTEM) < 0)
                return UPMU_E_NOMEM;
        }
    }
    return 0;
}
