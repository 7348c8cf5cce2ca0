/* SPDX-License-Identifier: MIT */
/* Deadlocks and lock-order cycles as JSON. */
#include "export/html/html.h"

#include <stdio.h>

#include "base/error.h"
#include "upmu/deadlock.h"

struct dl {
    struct export_job *job;
    struct upmu_deadlocks *deadlocks;
    struct textbuf *b;
    uint32_t process;
    bool failed; /**< no memory for a site */
};

static void number(const struct dl *d, const char *key, uint64_t n)
{
    json_add_uint(d->b, key, n);
}

static void string(const struct dl *d, const char *key, const char *text)
{
    html_string(d->b, key, text);
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

/* A time on the page, null if it is not known. */
static void moment(const struct dl *d, const char *key, uint64_t ns)
{
    uint64_t base = d->job->html->base_ns;
    html_value(d->b, key, ns == 0 ? UPMU_NO_VALUE : ns > base ? ns - base : 0);
}

static void held(struct dl *d, const struct upmu_deadlock_held *h)
{
    json_add_open(d->b, NULL, '{');
    address(d, "lock", h->lock);
    number(d, "shared", h->shared);
    number(d, "wanted", h->wanted);
    site(d, "site", h->site);
    moment(d, "since", h->since_ns);
    json_add_close(d->b, '}');
}

/* ------------------------------------------------------------------------------------------------ what stands */

static void write_thread(struct dl *d, size_t i, size_t k, const struct upmu_deadlock_thread *t)
{
    struct upmu_deadlock_held h = {.size = sizeof h};
    json_add_open(d->b, NULL, '{');
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
    json_add_open(d->b, "held", '[');
    for (size_t n = 0; upmu_deadlocks_held_at(d->deadlocks, i, k, n, &h) == 0; n++)
        held(d, &h);
    json_add_close(d->b, ']');
    json_add_close(d->b, '}');
}

static void write_item(struct dl *d, size_t i, const struct upmu_deadlock *x)
{
    struct upmu_deadlock_thread t = {.size = sizeof t};
    d->process = x->process;
    json_add_open(d->b, NULL, '{');
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
    json_add_open(d->b, "threads", '[');
    for (size_t k = 0; k < x->n_threads + x->n_behind && upmu_deadlocks_thread_at(d->deadlocks, i, k, &t) == 0; k++)
        write_thread(d, i, k, &t);
    json_add_close(d->b, ']');
    json_add_close(d->b, '}');
}

/* ------------------------------------------------------------------------------------------------ orders of locks */

static void write_acquisition(struct dl *d, size_t i, size_t k, const struct upmu_lock_acquisition *t)
{
    struct upmu_deadlock_held h = {.size = sizeof h};
    json_add_open(d->b, NULL, '{');
    number(d, "tid", (uint64_t)t->tid);
    moment(d, "time", t->time_ns);
    address(d, "lock", t->lock);
    number(d, "shared", t->shared);
    number(d, "tried", t->tried);
    number(d, "timed", t->timed);
    stack(d, "stack", t->stack);
    address(d, "held", t->held);
    site(d, "heldSite", t->held_site);
    json_add_open(d->b, "all", '[');
    for (size_t n = 0; upmu_deadlocks_acquisition_held_at(d->deadlocks, i, k, n, &h) == 0; n++)
        held(d, &h);
    json_add_close(d->b, ']');
    json_add_close(d->b, '}');
}

static void write_cycle(struct dl *d, size_t i, const struct upmu_lock_cycle *x)
{
    struct upmu_lock_acquisition t = {.size = sizeof t};
    d->process = x->process;
    json_add_open(d->b, NULL, '{');
    number(d, "process", x->process);
    string(d, "class", upmu_lock_cycle_class_name(x->class_number));
    number(d, "alike", x->n_similar);
    json_add_open(d->b, "acquisitions", '[');
    for (size_t k = 0; upmu_deadlocks_acquisition_at(d->deadlocks, i, k, &t) == 0; k++)
        write_acquisition(d, i, k, &t);
    json_add_close(d->b, ']');
    json_add_close(d->b, '}');
}

static void write_all(struct dl *d)
{
    struct upmu_deadlock item = {.size = sizeof item};
    struct upmu_lock_cycle cycle = {.size = sizeof cycle};
    struct upmu_deadlocks_totals totals = {.size = sizeof totals};
    json_add_open(d->b, "items", '[');
    for (size_t i = 0; upmu_deadlocks_at(d->deadlocks, i, &item) == 0; i++)
        write_item(d, i, &item);
    json_add_close(d->b, ']');
    json_add_open(d->b, "cycles", '[');
    for (size_t i = 0; upmu_deadlocks_cycle_at(d->deadlocks, i, &cycle) == 0; i++)
        write_cycle(d, i, &cycle);
    json_add_close(d->b, ']');
    if (upmu_deadlocks_totals_read(d->deadlocks, &totals) != 0)
        return;
    number(d, "acquisitions", totals.acquisitions);
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
    json_add_open(b, "deadlocks", '{');
    if (rc == 0)
        write_all(&d);
    else
        string(&d, "problem", upmu_error());
    json_add_close(b, '}');
    upmu_deadlocks_close(d.deadlocks);
    return d.failed ? export_no_memory() : 0;
}
