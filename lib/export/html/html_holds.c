/* SPDX-License-Identifier: MIT */
/* Holds of locks in the HTML page, as found by analysis/pass/holds.c. */
#include "analysis/pass/tables.h"
#include "export/html/html.h"

/* Find the pairs of thread and object whose acquisitions and releases are all recorded, by the first reading. */
int html_holds_start(struct export_job *job)
{
    const struct overview *o = &job->facts->pass;
    for (size_t i = 0; i < o->n_thread_stats; i++) {
        const struct ov_thread_stats *stats = &o->thread_stats[i];
        if (o->processes[o->objects[stats->object].process].whole && stats_holds_complete(stats) &&
            !map_put(&job->html->complete, stats->object, stats->thread, 1))
            return export_no_memory();
    }
    return 0;
}

/* Add the thread's last hold of the object to the page, if it is certain or sampled. */
static int holds_add_last(struct export_job *job, const struct overview *pass, const struct ov_thread_stats *stats,
                          uint32_t flags)
{
    struct html *h = job->html;
    bool unfinished = (flags & HTML_UNFINISHED) != 0;
    bool complete = !unfinished && map_find(&h->complete, stats->object, stats->thread) != MAP_NONE;
    const struct ov_hold *last = complete ? &stats->pair : &stats->hold;
    uint64_t begin_ns = last->begin_ns < h->base_ns ? h->base_ns : last->begin_ns;
    if (last->begin_ns == 0 || (!last->certain && !last->sampled))
        return 0;
    flags |= (last->partial ? HTML_AT_LEAST : 0) | (last->sampled ? HTML_SAMPLED : 0);
    const struct html_span span = {.begin_ns = begin_ns,
                                   .ns = last->end_ns > begin_ns ? last->end_ns - begin_ns : 0,
                                   .row_a = stats->object,
                                   .row_b = stats->thread,
                                   .what = stats->thread,
                                   .flags = flags};
    uint32_t site = html_site(job, pass->threads[stats->thread].process, last->site);
    struct html_hold *hold = site == MAP_NONE ? NULL : html_add(&h->holds, &span);
    if (!hold)
        return export_no_memory();
    hold->site = site;
    return 0;
}

/* Add the hold that ends with the event: a release, or the wait for a condition variable, which releases its mutex. */
int html_holds_event(struct export_job *job, const struct overview *pass, uint32_t thread,
                     const struct upmu_trace_event *e)
{
    bool waits = e->kind == UPMU_TRACE_COND_WAIT;
    if (!waits && e->kind != UPMU_TRACE_LOCK_RELEASE)
        return 0;
    uint32_t object = object_known(pass, e->process, waits ? e->cond.mutex : e->object);
    uint32_t stats = object == MAP_NONE ? MAP_NONE : map_find(&pass->by_thread_object, thread, object);
    return stats == MAP_NONE ? 0 : holds_add_last(job, pass, &pass->thread_stats[stats], 0);
}

/* Add the holds that last to the end of the recording. */
int html_holds_finish(struct export_job *job)
{
    const struct overview *o = &job->facts->pass;
    int rc = 0;
    for (size_t i = 0; rc == 0 && i < o->n_thread_stats; i++)
        if (o->thread_stats[i].unfinished)
            rc = holds_add_last(job, o, &o->thread_stats[i], HTML_UNFINISHED);
    return rc;
}
