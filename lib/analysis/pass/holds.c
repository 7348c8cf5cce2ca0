/* SPDX-License-Identifier: MIT */
/*
 * Hold times and acquisition counts of one thread for one object.
 *
 * A recording may leave out uncontended acquisitions and releases, so the release that follows an acquisition need not
 * end the same hold. Holds are therefore paired in two ways: `paired`, in order, valid if the exact counts show that no
 * event was left out; and `known`, with the begin that is in the release, or that a waiter read from the holder. Of a
 * hold that a waiter found with an unknown begin, the part since the begin of the wait is `partial`. `sampled` holds are
 * flagged at both ends and always valid. A hold that began `before` the recording has an event at its end only.
 */
#include "analysis/pass/holds.h"

#include <stdlib.h>

#include "analysis/pass/tables.h"
#include "analysis/pass/values.h"

/* From any source. */
static void hold_begin(struct ov_thread_stats *stats, uint64_t time_ns, uint64_t site)
{
    stats->begun = time_ns;
    stats->begun_site = site;
    stats->begun_partial = stats->begun_observed = stats->stuck = false;
    stats->again = 0;
}

void hold_forget(struct ov_thread_stats *stats)
{
    hold_begin(stats, 0, 0);
}

void hold_take(struct ov_thread_stats *stats, const struct upmu_trace_event *e, uint64_t site, bool nests)
{
    if (nests && stats->begun != 0)
        stats->again++;
    else
        hold_begin(stats, e->time_ns, site); /* the release of an earlier hold was left out */
    if (e->flags & UPMU_TRACE_FLAG_SAMPLED)
        stats->sample_since = e->time_ns;
    stats->taken++;
    stats->taken_since++;
    stats->shared_since += e->flags & UPMU_TRACE_FLAG_SHARED ? 1 : 0;
    if (stats->depth++ == 0) {
        stats->since = e->time_ns;
        stats->since_site = site;
    }
    if (stats->depth > stats->max_depth)
        stats->max_depth = stats->depth;
}

/* The call site's statistics; NULL without memory. */
static struct ov_call_site *hold_site(struct overview *o, const struct ov_thread_stats *stats, uint64_t address)
{
    bool last = stats->site != MAP_NONE && o->sites[stats->site].address == address;
    uint32_t site = last ? stats->site : call_site_of(o, stats->object, address);
    return site == MAP_NONE ? NULL : &o->sites[site];
}

/* How long a hold lasted while it was recorded. */
static uint64_t hold_length(const struct overview *o, const struct ov_thread_stats *stats, uint64_t begin_ns,
                            uint64_t end_ns)
{
    return recorded_ns(o, o->objects[stats->object].process, begin_ns, end_ns);
}

/* A release ends the hold that began at stats->since: both times are known, and count for the thread and the call site of the
 * acquisition. @return 0; UPMU_E_NOMEM. */
static int pair_end(struct overview *o, struct ov_thread_stats *stats, uint64_t time_ns)
{
    struct ov_call_site *site = stats->since_site ? hold_site(o, stats, stats->since_site) : NULL;
    uint64_t ns = hold_length(o, stats, stats->since, time_ns);
    stats->pair = (struct ov_hold){stats->since, time_ns, stats->since_site, true, false, false};
    wait_sum_add(&stats->paired, ns);
    if (site)
        wait_sum_add(&site->paired, ns);
    return stats->since_site && !site ? overview_no_memory() : 0;
}

/* `stats->hold` has ended, or the recording. @return 0; UPMU_E_NOMEM. */
static int hold_add(struct overview *o, struct ov_thread_stats *stats, bool partial)
{
    const struct ov_hold *h = &stats->hold;
    struct ov_call_site *site = h->site ? hold_site(o, stats, h->site) : NULL;
    uint64_t ns = hold_length(o, stats, h->begin_ns, h->end_ns);
    wait_sum_add(partial ? &stats->partial : &stats->known, ns);
    if (site)
        wait_sum_add(partial ? &site->partial : &site->known, ns);
    return h->site && !site ? overview_no_memory() : 0;
}

/* The hold that ends was acquired before the recording. */
static void hold_end_before(const struct overview *o, struct ov_thread_stats *stats, uint64_t since, uint64_t time_ns)
{
    hold_forget(stats);
    stats->hold = (struct ov_hold){.begin_ns = since, .end_ns = time_ns, .certain = true, .partial = true};
    stats->pair = stats->hold;
    wait_sum_add(&stats->before, time_ns > since ? hold_length(o, stats, since, time_ns) : 0);
}

/* The hold that ends with this event. @return 0; UPMU_E_NOMEM. */
static int hold_end(struct overview *o, struct ov_thread_stats *stats, const struct upmu_trace_event *e)
{
    bool waits = e->kind == UPMU_TRACE_COND_WAIT;
    uint64_t since = waits ? e->cond.held_since : e->lock_release.held_since;
    struct ov_hold *h = &stats->hold;
    *h = (struct ov_hold){
        .begin_ns = stats->begun,
        .end_ns = e->time_ns,
        .site = stats->begun_site,
        .certain = stats->begun_observed || since != 0,
        .partial = stats->begun_partial,
        .sampled = (e->flags & UPMU_TRACE_FLAG_SAMPLED) && !stats->begun_observed,
    };
    if (since != 0) {
        bool has_site = since == stats->begun && stats->begun_site != 0; /* from a stack: outside of wrappers */
        h->begin_ns = since;
        h->site = has_site ? stats->begun_site : waits ? e->cond.held_site : e->lock_release.held_site;
        h->partial = false;
    }
    hold_forget(stats);
    if (h->begin_ns > h->end_ns)
        h->begin_ns = 0;
    return h->certain && !h->sampled && h->begin_ns != 0 ? hold_add(o, stats, h->partial) : 0;
}

int hold_finish(struct overview *o, struct ov_thread_stats *stats, uint64_t time_ns)
{
    stats->unfinished = stats->stuck && stats->begun_observed && stats->begun <= time_ns;
    if (!stats->unfinished)
        return 0;
    stats->hold = (struct ov_hold){stats->begun, time_ns, stats->begun_site, true, stats->begun_partial, false};
    return hold_add(o, stats, true);
}

void hold_take_after(struct ov_thread_stats *stats, const struct upmu_trace_event *e, bool nests)
{
    if (nests && stats->begun != 0)
        stats->again++;
    else
        hold_forget(stats);
    if (e->flags & UPMU_TRACE_FLAG_SAMPLED)
        stats->sample_since = 0;
    stats->depth += stats->depth > 0;
}

bool hold_is_open(const struct ov_thread_stats *stats)
{
    return stats->depth > 0 || stats->begun != 0;
}

static int hold_end_by(struct overview *o, struct ov_thread_stats *stats, const struct upmu_trace_event *e)
{
    bool sampled = (e->flags & UPMU_TRACE_FLAG_SAMPLED) != 0,
         inner = stats->again > 0 && e->lock_release.held_since == 0;
    uint64_t sample_since = stats->sample_since;
    int rc = 0;
    stats->hold = stats->pair = (struct ov_hold){0};
    stats->release_ns = e->time_ns;
    stats->release_stack = e->stack;
    if (e->flags & UPMU_TRACE_FLAG_BEFORE) {
        hold_end_before(o, stats, e->lock_release.held_since, e->time_ns);
        return 0;
    }
    stats->released += !stats->resumed_before;
    stats->resumed_before = false;
    if (stats->depth > 0 && --stats->depth == 0)
        rc = pair_end(o, stats, e->time_ns);
    if (sampled && sample_since != 0)
        wait_sum_add(&stats->sampled, hold_length(o, stats, sample_since, e->time_ns));
    if (sampled)
        stats->sample_since = 0;
    if (inner)
        stats->again--;
    else if (rc == 0)
        rc = hold_end(o, stats, e);
    return rc;
}

int hold_release(struct overview *o, struct ov_thread_stats *stats, const struct upmu_trace_event *e)
{
    int rc = hold_end_by(o, stats, e);
    if (stats->awaited_since != 0 && stats->awaited_end == 0 && stats->hold.begin_ns == stats->awaited_since) {
        stats->awaited_end = stats->hold.end_ns;
        stats->awaited_stack = e->stack;
    }
    return rc;
}

void hold_observed(struct ov_thread_stats *stats, const struct upmu_trace_event *e, uint64_t site)
{
    bool known = e->lock_block.holder_since != 0;
    if (stats->awaited_since != e->lock_block.holder_since) {
        stats->awaited_since = e->lock_block.holder_since;
        stats->awaited_end = 0;
    }
    /* Later waiters find the same hold, and a hold with an acquisition event is known by that. */
    if (known ? e->lock_block.holder_since <= stats->begun && !stats->begun_partial
              : stats->begun != 0 && stats->begun_observed)
        return;
    hold_begin(stats, known ? e->lock_block.holder_since : e->time_ns, site);
    stats->begun_observed = true;
    stats->begun_partial = !known;
}

int hold_pause(struct overview *o, struct ov_thread_stats *stats, const struct upmu_trace_event *e)
{
    int rc = 0;
    stats->hold = stats->pair = (struct ov_hold){0};
    if (e->flags & UPMU_TRACE_FLAG_BEFORE && e->cond.held_since != 0) {
        hold_end_before(o, stats, e->cond.held_since, e->time_ns);
        stats->saved_depth = 1;
        stats->resumed_before = true;
        return 0;
    }
    if (stats->depth > 0)
        rc = pair_end(o, stats, e->time_ns);
    stats->saved_depth = stats->depth;
    stats->depth = 0;
    return rc == 0 ? hold_end(o, stats, e) : rc;
}

void hold_resume(struct ov_thread_stats *stats, const struct upmu_trace_event *e)
{
    hold_begin(stats, e->time_ns, e->site);
    if (stats->saved_depth > 0) {
        stats->depth = stats->saved_depth;
        stats->saved_depth = 0;
        stats->since = e->time_ns;
        stats->since_site = e->site;
    }
}

int hold_note_call(struct ov_thread *t, int kind, uint64_t begin_ns, uint64_t end_ns)
{
    if (!t->calls)
        t->calls = calloc(CALLS_KEPT, sizeof *t->calls);
    if (!t->calls)
        return overview_no_memory();
    t->calls[t->n_calls++ % CALLS_KEPT] = (struct ov_call_wait){begin_ns, end_ns, kind};
    return 0;
}

void hold_add_calls(struct overview *o, const struct ov_thread_stats *stats)
{
    const struct ov_hold *h = &stats->hold;
    const struct ov_thread *t = &o->threads[stats->thread];
    struct ov_object *object = &o->objects[stats->object];
    if (h->begin_ns == 0)
        return;
    object->timed_holds_ns += hold_length(o, stats, h->begin_ns, h->end_ns);
    for (uint64_t i = t->n_calls; i > 0 && t->n_calls - i < CALLS_KEPT; i--) {
        const struct ov_call_wait *c = &t->calls[(i - 1) % CALLS_KEPT];
        if (c->end_ns <= h->begin_ns)
            break;
        uint64_t begin = c->begin_ns > h->begin_ns ? c->begin_ns : h->begin_ns;
        uint64_t end = c->end_ns < h->end_ns ? c->end_ns : h->end_ns;
        if (end > begin)
            object->call_ns[c->kind - UPMU_WAIT_SLEEP] += hold_length(o, stats, begin, end);
    }
}

void hold_counts(struct ov_thread_stats *stats, struct ov_baseline *baseline, const struct upmu_trace_event *e)
{
    /* Counts only grow; a smaller one means that the recorder restarted. */
    bool anew = e->lock_counts.acquisitions < baseline->count;
    uint64_t more = e->lock_counts.acquisitions - (anew ? 0 : baseline->count);
    uint64_t contended =
        e->lock_counts.contended - (anew || e->lock_counts.contended < baseline->contended ? 0 : baseline->contended);
    bool clear = baseline->object == stats->object;

    *baseline = (struct ov_baseline){
        .object = stats->object, .count = e->lock_counts.acquisitions, .contended = e->lock_counts.contended};
    if (!clear) {
        /* An unknown part belongs to the lock that was at the address before: count only the recorded events. */
        stats->unclear_counts = true;
        stats->counted += stats->taken_since;
        stats->counted_contended += stats->contended_since;
        stats->shared += stats->shared_since;
        stats->taken_since = stats->shared_since = 0;
        stats->contended_since = 0;
        return;
    }
    stats->counted += more;
    stats->shared += e->flags & UPMU_TRACE_FLAG_SHARED ? more : 0;
    stats->counted_contended += contended;
    stats->has_counts = true;
    stats->taken_since = stats->shared_since = 0;
    stats->contended_since = 0;
}

uint64_t stats_acquisitions(const struct ov_thread_stats *stats)
{
    return stats->counted + stats->taken_since;
}

uint64_t stats_contended(const struct ov_thread_stats *stats)
{
    return stats->counted_contended + stats->contended_since;
}

uint64_t stats_shared(const struct ov_thread_stats *stats)
{
    return stats->shared + stats->shared_since;
}

bool stats_counts_exact(const struct ov_thread_stats *stats)
{
    if (stats->unclear_counts)
        return false;
    return stats->has_counts ? stats->taken_since == 0 : stats->taken == 0 && stats->released == 0;
}

static bool stats_acquisitions_complete(const struct ov_thread_stats *stats)
{
    return stats->has_counts && !stats->unclear_counts && stats->taken == stats->counted;
}

bool stats_holds_complete(const struct ov_thread_stats *stats)
{
    return stats_acquisitions_complete(stats) && stats->released == stats->taken;
}

const struct upmu_wait_sum *stats_holds(const struct ov_thread_stats *stats)
{
    /* At most the last release is missing: any other would have increased the depth. */
    bool but_one = stats_acquisitions_complete(stats) && stats->released + 1 == stats->taken && stats->max_depth == 1;
    return stats_holds_complete(stats) || but_one ? &stats->paired : &stats->known;
}

struct upmu_wait_sum stats_partial_holds(const struct ov_thread_stats *stats)
{
    struct upmu_wait_sum sum = stats->before;
    if (stats_holds(stats) != &stats->known)
        return sum;
    sum.count += stats->partial.count;
    sum.total_ns += stats->partial.total_ns;
    sum.max_ns = sum.max_ns > stats->partial.max_ns ? sum.max_ns : stats->partial.max_ns;
    return sum;
}
