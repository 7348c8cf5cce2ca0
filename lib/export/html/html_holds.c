/* SPDX-License-Identifier: MIT */
/*
 * Holds of locks whose begin and end are certain.
 *
 * The rules are those of lib/analysis/pass/holds.c: holds are paired in order if the first reading found that all
 * events of a thread and a lock were recorded; else only holds observed by a waiter, up to the next release, and
 * sampled holds are shown.
 */
#include "export/html/html.h"

#include "analysis/pass/tables.h"

#include <stdlib.h>

static struct html_stats *holds_stats(const struct html *h, uint32_t object, uint32_t thread)
{
    uint32_t at = map_find(&h->by_thread_object, object, thread);
    return at == MAP_NONE ? NULL : &h->thread_stats[at];
}

int html_holds_start(struct export_job *job)
{
    const struct overview *o = &job->facts->pass;
    struct html *h = job->html;
    h->thread_stats = calloc(o->n_thread_stats + 1, sizeof *h->thread_stats);
    if (!h->thread_stats)
        return export_no_memory();
    for (size_t i = 0; i < o->n_thread_stats; i++) {
        const struct ov_thread_stats *use = &o->thread_stats[i];
        uint32_t process = o->objects[use->object].process;
        h->thread_stats[i].complete = o->processes[process].whole && stats_holds_complete(use);
        if (!map_put(&h->by_thread_object, use->object, use->thread, (uint32_t)i))
            return export_no_memory();
    }
    return 0;
}

static int holds_add(struct export_job *job, uint32_t object, uint32_t thread, uint64_t begin_ns, uint64_t end_ns,
                     uint32_t site, uint32_t flags)
{
    struct html *h = job->html;
    if (begin_ns < h->base_ns)
        begin_ns = h->base_ns;
    struct html_hold *hold = html_add(&h->holds, &(struct html_span){.begin_ns = begin_ns,
                                                                     .ns = end_ns > begin_ns ? end_ns - begin_ns : 0,
                                                                     .row_a = object,
                                                                     .row_b = thread,
                                                                     .what = thread,
                                                                     .flags = flags});
    if (!hold)
        return export_no_memory();
    hold->site = site;
    return 0;
}

/* A waiter observed the hold; later ones observe the same. */
int html_holds_wait(struct export_job *job, const struct span *wait, bool ends)
{
    struct html_stats *use = wait->holder == MAP_NONE ? NULL : holds_stats(job->html, wait->what, wait->holder);
    if (!use)
        return 0;
    if (ends) {
        use->stuck = use->stuck || !wait->finished;
        return 0;
    }
    if (use->observed && wait->holder_since == 0)
        return 0;
    use->observed = true;
    use->observed_at_least = wait->holder_since == 0;
    use->observed_since = wait->holder_since ? wait->holder_since : wait->begin_ns;
    use->observed_site = html_site(job, export_thread(job, wait->holder)->process, wait->holder_site);
    return use->observed_site == MAP_NONE ? export_no_memory() : 0;
}

static uint32_t holds_event_site(struct export_job *job, const struct overview *pass, const struct upmu_trace_event *e)
{
    return html_site(job, e->process, call_site_address(pass, e));
}

static int holds_begin(struct export_job *job, const struct overview *pass, struct html_stats *use,
                       const struct upmu_trace_event *e)
{
    use->observed = false;
    if (use->depth++ > 0 && !(e->flags & UPMU_TRACE_FLAG_SAMPLED))
        return 0;
    use->site = holds_event_site(job, pass, e);
    if (use->depth == 1)
        use->since = e->time_ns;
    if (e->flags & UPMU_TRACE_FLAG_SAMPLED)
        use->sample_since = e->time_ns;
    return use->site == MAP_NONE ? export_no_memory() : 0;
}

/* The part of an ending hold that is certain. */
static int holds_end(struct export_job *job, uint32_t object, uint32_t thread, struct html_stats *use, uint64_t now,
                     uint32_t flags)
{
    int rc = 0;
    if (use->complete) {
        if (use->depth == 0)
            rc = holds_add(job, object, thread, use->since, now, use->site, 0);
    } else if ((flags & UPMU_TRACE_FLAG_SAMPLED) && use->sample_since != 0) {
        rc = holds_add(job, object, thread, use->sample_since, now, use->site, HTML_SAMPLED);
    } else if (use->observed && use->observed_since <= now) {
        rc = holds_add(job, object, thread, use->observed_since, now, use->observed_site,
                       use->observed_at_least ? HTML_AT_LEAST : 0);
    }
    use->observed = use->stuck = false;
    if (flags & UPMU_TRACE_FLAG_SAMPLED)
        use->sample_since = 0;
    return rc;
}

static int holds_release(struct export_job *job, uint32_t object, uint32_t thread, struct html_stats *use,
                         const struct upmu_trace_event *e)
{
    if (use->depth == 0)
        return use->complete ? 0 : holds_end(job, object, thread, use, e->time_ns, e->flags);
    use->depth--;
    return use->depth > 0 && use->complete ? 0 : holds_end(job, object, thread, use, e->time_ns, e->flags);
}

/* A condition variable's wait releases the mutex, however often it was acquired, and reacquires it at its end. */
static int holds_pause(struct export_job *job, uint32_t object, uint32_t thread, struct html_stats *use, uint64_t now)
{
    bool held = use->depth > 0;
    use->saved_depth = use->depth;
    use->depth = 0;
    return held || !use->complete ? holds_end(job, object, thread, use, now, 0) : 0;
}

static void holds_resume(struct html_stats *use, uint64_t now)
{
    if (use->saved_depth == 0)
        return;
    use->depth = use->saved_depth;
    use->saved_depth = 0;
    use->since = now;
}

static bool holds_is_cond_wait(int kind)
{
    return kind == UPMU_TRACE_COND_WAIT || kind == UPMU_TRACE_COND_WAKE;
}

int html_holds_event(struct export_job *job, const struct overview *pass, uint32_t thread,
                     const struct upmu_trace_event *e)
{
    uint32_t object = object_known(pass, e->process, holds_is_cond_wait(e->kind) ? e->cond.mutex : e->object);
    if (object == MAP_NONE || pass->objects[object].type == UPMU_OBJECT_SEM)
        return 0;
    struct html_stats *use = holds_stats(job->html, object, thread);
    if (!use)
        return 0;
    switch (e->kind) {
    case UPMU_TRACE_LOCK_ACQUIRED:
    case UPMU_TRACE_LOCK_ACQUIRE:
        /* A once object is waited for, but never held. */
        if (e->kind == UPMU_TRACE_LOCK_ACQUIRED && e->object_type == UPMU_OBJECT_ONCE)
            return 0;
        return holds_begin(job, pass, use, e);
    case UPMU_TRACE_LOCK_RELEASE:
        return holds_release(job, object, thread, use, e);
    case UPMU_TRACE_COND_WAIT:
        return holds_pause(job, object, thread, use, e->time_ns);
    case UPMU_TRACE_COND_WAKE:
        holds_resume(use, e->time_ns);
        return 0;
    default:
        return 0;
    }
}

/* A thread still waits for it: it is held to the end. */
int html_holds_finish(struct export_job *job)
{
    const struct overview *o = &job->facts->pass;
    const struct html *h = job->html;
    int rc = 0;
    for (size_t i = 0; rc == 0 && i < o->n_thread_stats; i++) {
        const struct html_stats *use = &h->thread_stats[i];
        if (use->observed && use->stuck)
            rc = holds_add(job, o->thread_stats[i].object, o->thread_stats[i].thread, use->observed_since, o->end_ns,
                           use->observed_site, HTML_UNFINISHED | (use->observed_at_least ? HTML_AT_LEAST : 0));
    }
    return rc;
}
