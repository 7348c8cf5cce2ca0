/* SPDX-License-Identifier: MIT */
/*
 * How long a thread held an object. Room: analysis. Before it: objects.c; after it: facts.c.
 *
 * A recording may leave out acquisitions and releases that nobody waited for. Then the next release recorded after an
 * acquisition need not be its own, and the time between them means nothing. So holds are paired in two ways: in order,
 * which is right only if the exact counts show that nothing was left out; and from the moment of acquisition that a
 * waiter learned of the holder to the release after it, which is right for that one hold. A hold that neither way is
 * certain of is not told. Beside that stand the samples: one in so many acquisitions without contention says that it is
 * one, and so does its release, whatever else was left out.
 */
#include "analysis/pass/overview.h"

void hold_take(struct ov_use *use, const struct upmu_trace_event *e, bool recursive)
{
    if (recursive && use->begun != 0)
        use->again++;
    else
        use->begun = e->time_ns; /* the release of the hold before was left out, if there was one */
    if (e->flags & UPMU_TRACE_FLAG_SAMPLED)
        use->sample_since = e->time_ns;
    use->taken++;
    use->taken_since++;
    use->shared_since += e->flags & UPMU_TRACE_FLAG_SHARED ? 1 : 0;
    use->told_since = 0;
    if (use->depth++ == 0)
        use->since = e->time_ns;
    if (use->depth > use->max_depth)
        use->max_depth = use->depth;
}

uint64_t hold_begun(struct ov_use *use)
{
    uint64_t begun = use->again == 0 ? use->begun : 0;
    if (use->again > 0)
        use->again--;
    else
        use->begun = 0;
    return begun;
}

static void end_told(struct ov_use *use, uint64_t time_ns)
{
    if (use->told_since != 0 && use->told_since <= time_ns)
        wait_sum_add(&use->told, time_ns - use->told_since);
    use->told_since = 0;
}

void hold_release(struct ov_use *use, const struct upmu_trace_event *e)
{
    use->released++;
    use->release_ns = e->time_ns;
    use->release_stack = e->stack;
    if (use->depth > 0 && --use->depth == 0)
        wait_sum_add(&use->paired, e->time_ns - use->since);
    end_told(use, e->time_ns);
    if (!(e->flags & UPMU_TRACE_FLAG_SAMPLED))
        return;
    if (use->sample_since != 0)
        wait_sum_add(&use->sampled, e->time_ns - use->sample_since);
    use->sample_since = 0;
}

void hold_told(struct ov_use *use, uint64_t since_ns, uint64_t time_ns)
{
    if (since_ns != 0)
        use->told_since = since_ns;
    if (since_ns > use->begun)
        use->begun = since_ns;
    if (use->begun == 0)
        use->begun = time_ns;
}

/* A condition variable's wait gives the mutex back, however often it was taken. */
void hold_pause(struct ov_use *use, uint64_t time_ns)
{
    if (use->depth > 0)
        wait_sum_add(&use->paired, time_ns - use->since);
    use->saved_depth = use->depth;
    use->depth = 0;
    use->begun = 0;
    use->again = 0;
    end_told(use, time_ns);
}

void hold_resume(struct ov_use *use, uint64_t time_ns)
{
    use->begun = time_ns;
    if (use->saved_depth == 0)
        return;
    use->depth = use->saved_depth;
    use->saved_depth = 0;
    use->since = time_ns;
}

void hold_counts(struct ov_use *use, struct ov_tally *tally, const struct upmu_trace_event *e)
{
    /* Counts only grow; a smaller one means that the recorder began anew. */
    bool anew = e->count < tally->count;
    uint64_t more = e->count - (anew ? 0 : tally->count);
    uint64_t contended = e->contended - (anew || e->contended < tally->contended ? 0 : tally->contended);
    bool clear = tally->object == use->object;

    *tally = (struct ov_tally){.object = use->object, .count = e->count, .contended = e->contended};
    if (!clear) {
        /* Part of it belongs to a lock that was there before, how much nobody knows: what was seen is certain. */
        use->unclear_counts = true;
        use->counted += use->taken_since;
        use->counted_contended += use->contended_since;
        use->shared += use->shared_since;
        use->taken_since = use->shared_since = 0;
        use->contended_since = 0;
        return;
    }
    use->counted += more;
    use->shared += e->flags & UPMU_TRACE_FLAG_SHARED ? more : 0;
    use->counted_contended += contended;
    use->has_counts = true;
    use->taken_since = use->shared_since = 0;
    use->contended_since = 0;
}

uint64_t use_acquisitions(const struct ov_use *use)
{
    return use->counted + use->taken_since;
}

uint64_t use_contended(const struct ov_use *use)
{
    return use->counted_contended + use->contended_since;
}

uint64_t use_shared(const struct ov_use *use)
{
    return use->shared + use->shared_since;
}

bool use_counts_exact(const struct ov_use *use)
{
    if (use->unclear_counts)
        return false;
    return use->has_counts ? use->taken_since == 0 : use->taken == 0 && use->released == 0;
}

static bool all_taken_recorded(const struct ov_use *use)
{
    return use->has_counts && !use->unclear_counts && use->taken == use->counted;
}

bool use_holds_complete(const struct ov_use *use)
{
    return all_taken_recorded(use) && use->released == use->taken;
}

const struct upmu_wait_sum *use_holds(const struct ov_use *use)
{
    /* One release may be missing, the last: had it been another one, the depth would have shown it. */
    bool but_one = all_taken_recorded(use) && use->released + 1 == use->taken && use->max_depth == 1;
    return use_holds_complete(use) || but_one ? &use->paired : &use->told;
}
