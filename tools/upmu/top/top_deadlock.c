/* SPDX-License-Identifier: MIT */
/* Deadlocks of watched processes. */
#include <stdlib.h>

#include "deadlock/deadlock.h"
#include "ui/memory.h"
#include "ui/output.h"
#include "top.h"

static void top_deadlock_free(struct top_deadlock *d)
{
    for (size_t i = 0; i < d->n_threads; i++)
        free(d->threads[i].text);
    free(d->threads);
    free(d->headline);
}

static void top_deadlock_add(struct top *t, const struct deadlock_report *r, size_t i, const struct upmu_deadlock *d)
{
    struct upmu_deadlock_thread of = {.size = sizeof of};
    t->deadlocks = memory_resize(t->deadlocks, t->n_deadlocks + 1, sizeof *t->deadlocks);
    struct top_deadlock *new = &t->deadlocks[t->n_deadlocks++];
    *new = (struct top_deadlock){.headline = deadlock_headline(d), .pid = d->pid};
    new->threads = memory_array(d->n_threads + 1, sizeof *new->threads);
    for (size_t k = 0; k < d->n_threads && upmu_deadlocks_thread_at(r->deadlocks, i, k, &of) == 0; k++) {
        char *name = deadlock_thread_name(of.tid, of.name), *wait = deadlock_wait(r, d->process, &of);
        char *location = deadlock_location(r, d->process, of.site, of.stack);
        new->threads[k].tid = of.tid;
        new->threads[k].since_ns = of.since_ns;
        new->threads[k].text = memory_format("%s %s, at %s", name, wait, location);
        new->n_threads++;
        free(name);
        free(wait);
        free(location);
    }
}

/* All deadlocks of a process directory, in the place of those that were known of it. */
static void top_deadlocks_take(struct top *t, const char *process)
{
    struct deadlock_report r = {.subject = process};
    struct upmu_deadlock d = {.size = sizeof d};
    if (upmu_deadlock_watch_take(t->watch, &r.deadlocks) < 0) {
        complain("a deadlock was found, but cannot be reported: %s", upmu_error());
        return;
    }
    r.report = (struct report){.overview = upmu_deadlocks_overview(r.deadlocks), .dir = process};
    for (size_t i = 0; i < t->n_deadlocks && upmu_deadlocks_at(r.deadlocks, 0, &d) == 0;) {
        if (t->deadlocks[i].pid != d.pid) {
            i++;
            continue;
        }
        top_deadlock_free(&t->deadlocks[i]);
        t->deadlocks[i] = t->deadlocks[--t->n_deadlocks];
    }
    for (size_t i = 0; upmu_deadlocks_at(r.deadlocks, i, &d) == 0; i++)
        if (d.certainty == UPMU_DEADLOCK_CERTAIN && !d.suppressed)
            top_deadlock_add(t, &r, i, &d);
    upmu_deadlocks_close(r.deadlocks);
}

/* Whether one of its threads has recorded events since. */
static bool top_deadlock_is_over(const struct top *t, const struct top_deadlock *d)
{
    for (size_t i = 0; i < d->n_threads; i++) {
        bool is_blocked = false;
        for (size_t k = 0; k < t->n_threads && !is_blocked; k++) {
            const struct upmu_monitor_thread *l = &t->threads[k].live;
            is_blocked = l->pid == d->pid && l->tid == d->threads[i].tid && l->wait_kind >= 0;
        }
        if (!is_blocked)
            return true;
    }
    return false;
}

void top_deadlocks_update(struct top *t)
{
    const char *process;
    for (size_t i = 0; i < t->n_deadlocks;) {
        if (!top_deadlock_is_over(t, &t->deadlocks[i])) {
            i++;
            continue;
        }
        top_deadlock_free(&t->deadlocks[i]);
        t->deadlocks[i] = t->deadlocks[--t->n_deadlocks];
    }
    if (t->watch && upmu_deadlock_watch_poll(t->watch, &process) > 0)
        top_deadlocks_take(t, process);
}

void top_deadlocks_free(struct top *t)
{
    for (size_t i = 0; i < t->n_deadlocks; i++)
        top_deadlock_free(&t->deadlocks[i]);
    free(t->deadlocks);
    t->deadlocks = NULL;
    t->n_deadlocks = 0;
}
