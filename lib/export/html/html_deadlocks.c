/* SPDX-License-Identifier: MIT */
/* Deadlocks and lock-order cycles as JSON. */
#include "export/html/html.h"

#include "base/error.h"
#include "facts/facts.h"
#include "upmu/deadlock.h"

struct dl {
    struct export_job *job;
    struct upmu_deadlocks *deadlocks;
    struct textbuf *b;
    uint32_t process;
    bool failed; /**< no memory for a site */
};

static void dl_site_index(struct dl *d, const char *key, uint32_t found)
{
    d->failed = d->failed || found == MAP_NONE;
    json_uint(d->b, key, found == MAP_NONE ? 0 : found);
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
    json_uint_if(d->b, key, ns != 0, html_since(d->job->html, ns));
}

static void dl_held(struct dl *d, const struct upmu_deadlock_held *h)
{
    json_object(d->b, NULL);
    facts_address(d->b, "lock", h->lock);
    json_uint(d->b, "shared", h->shared);
    json_uint(d->b, "wanted", h->wanted);
    dl_site(d, "site", h->site);
    dl_stack(d, "stack", h->stack);
    dl_time(d, "since", h->since_ns);
    json_object_end(d->b);
}

/* ------------------------------------------------------------------------------------------------ blocked threads */

static void dl_write_thread(struct dl *d, size_t i, size_t k, const struct upmu_deadlock_thread *t)
{
    struct upmu_deadlock_held h = {.size = sizeof h};
    json_object(d->b, NULL);
    json_uint(d->b, "tid", (uint64_t)t->tid);
    json_string(d->b, "name", t->name);
    json_string(d->b, "kind", upmu_wait_kind_name(t->wait_kind));
    facts_address(d->b, "object", t->object);
    facts_address(d->b, "mutex", t->mutex);
    json_uint(d->b, "holder", (uint64_t)t->holder);
    json_uint(d->b, "shared", t->shared);
    json_uint(d->b, "timed", t->timed);
    dl_time(d, "since", t->since_ns);
    dl_site(d, "site", t->site);
    dl_stack(d, "stack", t->stack);
    json_uint(d->b, "forgotten", t->n_unlisted);
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
    json_uint(d->b, "process", x->process);
    json_uint(d->b, "pid", (uint64_t)x->pid);
    json_string(d->b, "kind", upmu_deadlock_kind_name(x->kind));
    json_string(d->b, "certainty", upmu_deadlock_certainty_name(x->certainty));
    facts_address(d->b, "object", x->object);
    json_uint(d->b, "owner", (uint64_t)x->owner);
    json_string(d->b, "ownerName", x->owner_name);
    dl_site(d, "ownerSite", x->owner_site);
    json_string(d->b, "couldEnd", x->could_end);
    json_uint(d->b, "alive", x->alive);
    json_uint(d->b, "caught", x->n_threads);
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
    d->process = t->process;
    json_object(d->b, NULL);
    json_uint(d->b, "process", t->process);
    json_uint(d->b, "tid", (uint64_t)t->tid);
    dl_time(d, "time", t->time_ns);
    facts_address(d->b, "lock", t->lock);
    json_uint(d->b, "shared", t->shared);
    json_uint(d->b, "tried", t->tried);
    json_uint(d->b, "timed", t->timed);
    dl_stack(d, "stack", t->stack);
    facts_address(d->b, "held", t->held);
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
    json_uint(d->b, "process", x->process);
    json_string(d->b, "class", upmu_lock_cycle_class_name(x->class_number));
    json_uint(d->b, "similar", x->n_similar);
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
    json_uint(d->b, "acquisitions", totals.acquisitions);
    json_uint(d->b, "incomplete", totals.incomplete);
    json_uint(d->b, "cut", totals.truncated);
    json_uint(d->b, "without", totals.without_wait_state);
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
        json_string(b, "problem", upmu_error());
    json_object_end(b);
    rc = d.failed ? export_no_memory() : html_findings_write(job, d.deadlocks, b);
    upmu_deadlocks_close(d.deadlocks);
    return rc;
}
