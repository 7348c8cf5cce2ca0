/* SPDX-License-Identifier: MIT */
/*
 * Hold times and acquisition counts of one thread for one object.
 *
 * A recording may leave out uncontended acquisitions and releases, so the release that follows an acquisition need not
 * end the same hold. Holds are therefore paired in two ways: `paired`, in order, valid if the exact counts show that no
 * event was left out; and `observed`, from the acquisition time that a waiter read from the holder to the next release,
 * valid for that one hold. `sampled` holds are flagged at both ends and always valid.
 */
#include "analysis/pass/holds.h"
#include "analysis/pass/values.h"

void hold_take(struct ov_thread_stats *stats, const struct upmu_trace_event *e, bool recursive)
{
    if (recursive && stats->begun != 0)
        stats->again++;
    else
        stats->begun = e->time_ns; /* the release of an earlier hold was left out */
    if (e->flags & UPMU_TRACE_FLAG_SAMPLED)
        stats->sample_since = e->time_ns;
    stats->taken++;
    stats->taken_since++;
    stats->shared_since += e->flags & UPMU_TRACE_FLAG_SHARED ? 1 : 0;
    stats->observed_since = 0;
    if (stats->depth++ == 0)
        stats->since = e->time_ns;
    if (stats->depth > stats->max_depth)
        stats->max_depth = stats->depth;
}

uint64_t hold_end(struct ov_thread_stats *stats)
{
    uint64_t begun = stats->again == 0 ? stats->begun : 0;
    if (stats->again > 0)
        stats->again--;
    else
        stats->begun = 0;
    return begun;
}

static void hold_end_observed(struct ov_thread_stats *stats, uint64_t time_ns)
{
    if (stats->observed_since != 0 && stats->observed_since <= time_ns)
        wait_sum_add(&stats->observed, time_ns - stats->observed_since);
    stats->observed_since = 0;
}

void hold_release(struct ov_thread_stats *stats, const struct upmu_trace_event *e)
{
    stats->released++;
    stats->release_ns = e->time_ns;
    stats->release_stack = e->stack;
    if (stats->depth > 0 && --stats->depth == 0)
        wait_sum_add(&stats->paired, e->time_ns - stats->since);
    hold_end_observed(stats, e->time_ns);
    if (!(e->flags & UPMU_TRACE_FLAG_SAMPLED))
        return;
    if (stats->sample_since != 0)
        wait_sum_add(&stats->sampled, e->time_ns - stats->sample_since);
    stats->sample_since = 0;
}

void hold_observed(struct ov_thread_stats *stats, uint64_t since_ns, uint64_t time_ns)
{
    if (since_ns != 0)
        stats->observed_since = since_ns;
    if (since_ns > stats->begun)
        stats->begun = since_ns;
    if (stats->begun == 0)
        stats->begun = time_ns;
}

void hold_pause(struct ov_thread_stats *stats, uint64_t time_ns)
{
    if (stats->depth > 0)
        wait_sum_add(&stats->paired, time_ns - stats->since);
    stats->saved_depth = stats->depth;
    stats->depth = 0;
    stats->begun = 0;
    stats->again = 0;
    hold_end_observed(stats, time_ns);
}

void hold_resume(struct ov_thread_stats *stats, uint64_t time_ns)
{
    stats->begun = time_ns;
    if (stats->saved_depth == 0)
        return;
    stats->depth = stats->saved_depth;
    stats->saved_depth = 0;
    stats->since = time_ns;
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
    return stats_holds_complete(stats) || but_one ? &stats->paired : &stats->observed;
}
