/* SPDX-License-Identifier: MIT */
/* Threads that stand for ever, and orders of locks that contradict each other, as JSON. Room: export. Before it: html.c;
 * after it: the page's deadlock.js. */
#include "export/html/html.h"

#include <stdio.h>

#include "base/error.h"
#include "upmu/deadlock.h"

struct dl {
    struct export_job *job;
    struct upmu_deadlocks *deadlocks;
    struct textbuf *b;
    uint32_t process;
    bool failed; /**< no memory for a place */
};

static void number(const struct dl *d, const char *key, uint64_t n)
{
    html_key(d->b, key);
    html_number(d->b, n);
}

static void string(const struct dl *d, const char *key, const char *text)
{
    html_key(d->b, key);
    html_string(d->b, text);
}

static void address(const struct dl *d, const char *key, uint64_t n)
{
    char text[24];
    snprintf(text, sizeof text, "0x%llx", (unsigned long long)n);
    string(d, key, n ? text : "");
}

static void place(struct dl *d, const char *key, uint32_t found)
{
    d->failed = d->failed || found == MAP_NONE;
    number(d, key, found == MAP_NONE ? 0 : found);
}

static void site(struct dl *d, const char *key, uint64_t at)
{
    place(d, key, html_site(d->job, d->process, at));
}

static void stack(struct dl *d, const char *key, uint32_t id)
{
    place(d, key, html_stack(d->job, d->process, id));
}

/* A moment of the page, null if it is not known. */
static void moment(const struct dl *d, const char *key, uint64_t ns)
{
    uint64_t base = d->job->html->base_ns;
    html_key(d->b, key);
    html_value(d->b, ns == 0 ? UPMU_NO_VALUE : ns > base ? ns - base : 0);
}

static void held(struct dl *d, const struct upmu_deadlock_held *h)
{
    html_open(d->b, '{');
    address(d, "lock", h->lock);
    number(d, "shared", h->shared);
    number(d, "wanted", h->wanted);
    site(d, "site", h->site);
    moment(d, "since", h->since_ns);
    html_close(d->b, '}');
}

/* ------------------------------------------------------------------------------------------------ what stands */

static void write_thread(struct dl *d, size_t i, size_t k, const struct upmu_deadlock_thread *t)
{
    struct upmu_deadlock_held h = {.size = sizeof h};
    html_open(d->b, '{');
    number(d, "tid", (uint64_t)t->tid);
    string(d, "name", t->name);
    string(d, "kind", upmu_wait_kind_name(t->wait_kind));
    address(d, "object", t->object);
    address(d, "mutex", t->mutex);
    number(d, "holder", (uint64_t)t->holder);
    number(d, "shared", t->shared);
    number(d, "timed", t->timed);
    moment(d, "since", t->since_ns);
    site(d, "site", t->site);
    stack(d, "stack", t->stack);
    number(d, "forgotten", t->n_unlisted);
    html_key(d->b, "held");
    html_open(d->b, '[');
    for (size_t n = 0; upmu_deadlocks_held_at(d->deadlocks, i, k, n, &h) == 0; n++)
        held(d, &h);
    html_close(d->b, ']');
    html_close(d->b, '}');
}

static void write_item(struct dl *d, size_t i, const struct upmu_deadlock *x)
{
    struct upmu_deadlock_thread t = {.size = sizeof t};
    d->process = x->process;
    html_open(d->b, '{');
    number(d, "process", x->process);
    number(d, "pid", (uint64_t)x->pid);
    string(d, "kind", upmu_deadlock_kind_name(x->kind));
    string(d, "certainty", upmu_deadlock_certainty_name(x->certainty));
    address(d, "object", x->object);
    number(d, "owner", (uint64_t)x->owner);
    string(d, "ownerName", x->owner_name);
    site(d, "ownerSite", x->owner_site);
    string(d, "couldEnd", x->could_end);
    number(d, "alive", x->alive);
    number(d, "caught", x->n_threads);
    html_key(d->b, "threads");
    html_open(d->b, '[');
    for (size_t k = 0; k < x->n_threads + x->n_behind && upmu_deadlocks_thread_at(d->deadlocks, i, k, &t) == 0; k++)
        write_thread(d, i, k, &t);
    html_close(d->b, ']');
    html_close(d->b, '}');
}

/* ------------------------------------------------------------------------------------------------ orders of locks */

static void write_taking(struct dl *d, size_t i, size_t k, const struct upmu_lock_acquisition *t)
{
    struct upmu_deadlock_held h = {.size = sizeof h};
    html_open(d->b, '{');
    number(d, "tid", (uint64_t)t->tid);
    moment(d, "time", t->time_ns);
    address(d, "lock", t->lock);
    number(d, "shared", t->shared);
    number(d, "tried", t->tried);
    number(d, "timed", t->timed);
    stack(d, "stack", t->stack);
    address(d, "held", t->held);
    site(d, "heldSite", t->held_site);
    html_key(d->b, "all");
    html_open(d->b, '[');
    for (size_t n = 0; upmu_deadlocks_acquisition_held_at(d->deadlocks, i, k, n, &h) == 0; n++)
        held(d, &h);
    html_close(d->b, ']');
    html_close(d->b, '}');
}

static void write_cycle(struct dl *d, size_t i, const struct upmu_lock_cycle *x)
{
    struct upmu_lock_acquisition t = {.size = sizeof t};
    d->process = x->process;
    html_open(d->b, '{');
    number(d, "process", x->process);
    string(d, "class", upmu_lock_cycle_class_name(x->class_number));
    number(d, "alike", x->n_similar);
    html_key(d->b, "takings");
    html_open(d->b, '[');
    for (size_t k = 0; upmu_deadlocks_acquisition_at(d->deadlocks, i, k, &t) == 0; k++)
        write_taking(d, i, k, &t);
    html_close(d->b, ']');
    html_close(d->b, '}');
}

static void write_all(struct dl *d)
{
    struct upmu_deadlock item = {.size = sizeof item};
    struct upmu_lock_cycle cycle = {.size = sizeof cycle};
    struct upmu_deadlocks_totals totals = {.size = sizeof totals};
    html_key(d->b, "items");
    html_open(d->b, '[');
    for (size_t i = 0; upmu_deadlocks_at(d->deadlocks, i, &item) == 0; i++)
        write_item(d, i, &item);
    html_close(d->b, ']');
    html_key(d->b, "cycles");
    html_open(d->b, '[');
    for (size_t i = 0; upmu_deadlocks_cycle_at(d->deadlocks, i, &cycle) == 0; i++)
        write_cycle(d, i, &cycle);
    html_close(d->b, ']');
    if (upmu_deadlocks_totals_read(d->deadlocks, &totals) != 0)
        return;
    number(d, "takings", totals.acquisitions);
    number(d, "incomplete", totals.incomplete);
    number(d, "cut", totals.truncated);
    number(d, "without", totals.without_wait_state);
}

int html_deadlocks_write(struct export_job *job, struct textbuf *b)
{
    struct upmu_deadlocks_opts opts = {.size = sizeof opts, .debug_dir = job->opts.debug_dir};
    struct dl d = {.job = job, .b = b};
    int rc = upmu_deadlocks_open(&d.deadlocks, job->dir, &opts);
    if (rc == UPMU_E_NOMEM)
        return rc;
    html_key(b, "deadlocks");
    html_open(b, '{');
    if (rc == 0)
        write_all(&d);
    else
        string(&d, "problem", upmu_error());
    html_close(b, '}');
    upmu_deadlocks_close(d.deadlocks);
    return d.failed ? export_no_memory() : 0;
}
