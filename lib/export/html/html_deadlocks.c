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

static void dl_number(const struct dl *d, const char *key, uint64_t n)
{
    json_uint(d->b, key, n);
}

static void dl_string(const struct dl *d, const char *key, const char *text)
{
    html_string(d->b, key, text);
}

static void dl_address(const struct dl *d, const char *key, uint64_t n)
{
    char text[24];
    snprintf(text, sizeof text, "0x%llx", (unsigned long long)n);
    dl_string(d, key, n ? text : "");
}

static void dl_site_index(struct dl *d, const char *key, uint32_t found)
{
    d->failed = d->failed || found == MAP_NONE;
    dl_number(d, key, found == MAP_NONE ? 0 : found);
}

static void dl_site(struct dl *d, const char *key, uint64_t at)
{
    dl_site_index(d, key, html_site(d->job, d->process, at));
}

static void dl_stack(struct dl *d, const char *key, uint32_t id)
{
    dl_site_index(d, key, html_stack(d->job, d->process, id));
}

/* A time on the page, null if it is not known. */
static void dl_time(const struct dl *d, const char *key, uint64_t ns)
{
    uint64_t base = d->job->html->base_ns;
    html_value(d->b, key, ns == 0 ? UPMU_NO_VALUE : ns > base ? ns - base : 0);
}

static void dl_held(struct dl *d, const struct upmu_deadlock_held *h)
{
    json_object(d->b, NULL);
    dl_address(d, "lock", h->lock);
    dl_number(d, "shared", h->shared);
    dl_number(d, "wanted", h->wanted);
    dl_site(d, "site", h->site);
    dl_time(d, "since", h->since_ns);
    json_object_end(d->b);
}

/* ------------------------------------------------------------------------------------------------ blocked threads */

static void dl_write_thread(struct dl *d, size_t i, size_t k, const struct upmu_deadlock_thread *t)
{
    struct upmu_deadlock_held h = {.size = sizeof h};
    json_object(d->b, NULL);
    dl_number(d, "tid", (uint64_t)t->tid);
    dl_string(d, "name", t->name);
    dl_string(d, "kind", upmu_wait_kind_name(t->wait_kind));
    dl_address(d, "object", t->object);
    dl_address(d, "mutex", t->mutex);
    dl_number(d, "holder", (uint64_t)t->holder);
    dl_number(d, "shared", t->shared);
    dl_number(d, "timed", t->timed);
    dl_time(d, "since", t->since_ns);
    dl_site(d, "site", t->site);
    dl_stack(d, "stack", t->stack);
    dl_number(d, "forgotten", t->n_unlisted);
    json_array(d->b, "held");
    for (size_t n = 0; upmu_deadlocks_held_at(d->deadlocks, i, k, n, &h) == 0; n++)
        dl_held(d, &h);
    json_array_end(d->b);
    json_object_end(d->b);
}

static void dl_write_deadlock(struct dl *d, size_t i, const struct upmu_deadlock *x)
{
    struct upmu_deadlock_thread t = {.size = sizeof t};
    d->process = x->process;
    json_object(d->b, NULL);
    dl_number(d, "process", x->process);
    dl_number(d, "pid", (uint64_t)x->pid);
    dl_string(d, "kind", upmu_deadlock_kind_name(x->kind));
    dl_string(d, "certainty", upmu_deadlock_certainty_name(x->certainty));
    dl_address(d, "object", x->object);
    dl_number(d, "owner", (uint64_t)x->owner);
    dl_string(d, "ownerName", x->owner_name);
    dl_site(d, "ownerSite", x->owner_site);
    dl_string(d, "couldEnd", x->could_end);
    dl_number(d, "alive", x->alive);
    dl_number(d, "caught", x->n_threads);
    json_array(d->b, "threads");
    for (size_t k = 0; k < x->n_threads + x->n_behind && upmu_deadlocks_thread_at(d->deadlocks, i, k, &t) == 0; k++)
        dl_write_thread(d, i, k, &t);
    json_array_end(d->b);
    json_object_end(d->b);
}

/* ------------------------------------------------------------------------------------------------ lock-order cycles */

static void dl_write_acquisition(struct dl *d, size_t i, size_t k, const struct upmu_lock_acquisition *t)
{
    struct upmu_deadlock_held h = {.size = sizeof h};
    json_object(d->b, NULL);
    dl_number(d, "tid", (uint64_t)t->tid);
    dl_time(d, "time", t->time_ns);
    dl_address(d, "lock", t->lock);
    dl_number(d, "shared", t->shared);
    dl_number(d, "tried", t->tried);
    dl_number(d, "timed", t->timed);
    dl_stack(d, "stack", t->stack);
    dl_address(d, "held", t->held);
    dl_site(d, "heldSite", t->held_site);
    dl_stack(d, "heldStack", t->held_stack);
    json_array(d->b, "all");
    for (size_t n = 0; upmu_deadlocks_acquisition_held_at(d->deadlocks, i, k, n, &h) == 0; n++)
        dl_held(d, &h);
    json_array_end(d->b);
    json_object_end(d->b);
}

static void dl_write_cycle(struct dl *d, size_t i, const struct upmu_lock_cycle *x)
{
    struct upmu_lock_acquisition t = {.size = sizeof t};
    d->process = x->process;
    json_object(d->b, NULL);
    dl_number(d, "process", x->process);
    dl_string(d, "class", upmu_lock_cycle_class_name(x->class_number));
    dl_number(d, "similar", x->n_similar);
    json_array(d->b, "acquisitions");
    for (size_t k = 0; upmu_deadlocks_acquisition_at(d->deadlocks, i, k, &t) == 0; k++)
        dl_write_acquisition(d, i, k, &t);
    json_array_end(d->b);
    json_object_end(d->b);
}

static void dl_write_all(struct dl *d)
{
    struct upmu_deadlock item = {.size = sizeof item};
    struct upmu_lock_cycle cycle = {.size = sizeof cycle};
    struct upmu_deadlocks_totals totals = {.size = sizeof totals};
    json_array(d->b, "items");
    for (size_t i = 0; upmu_deadlocks_at(d->deadlocks, i, &item) == 0; i++)
        dl_write_deadlock(d, i, &item);
    json_array_end(d->b);
    json_array(d->b, "cycles");
    for (size_t i = 0; upmu_deadlocks_cycle_at(d->deadlocks, i, &cycle) == 0; i++)
        dl_write_cycle(d, i, &cycle);
    json_array_end(d->b);
    if (upmu_deadlocks_totals_read(d->deadlocks, &totals) != 0)
        return;
    dl_number(d, "acquisitions", totals.acquisitions);
    dl_number(d, "incomplete", totals.incomplete);
    dl_number(d, "cut", totals.truncated);
    dl_number(d, "without", totals.without_wait_state);
}

int html_deadlocks_write(struct export_job *job, struct textbuf *b)
{
    struct upmu_deadlocks_opts opts = {.size = sizeof opts, .debug_dir = job->opts.debug_dir};
    struct dl d = {.job = job, .b = b};
    int rc = upmu_deadlocks_open(&d.deadlocks, job->dir, &opts);
    if (rc == UPMU_E_NOMEM)
        return rc;
    json_object(b, "deadlocks");
    if (rc == 0)
        dl_write_all(&d);
    else
        dl_string(&d, "problem", upmu_error());
    json_object_end(b);
    rc = d.failed ? export_no_memory() : html_findings_write(job, d.deadlocks, b);
    upmu_deadlocks_close(d.deadlocks);
    return rc;
}
