/* SPDX-License-Identifier: MIT */
/* Acquisitions and releases beyond the fast path: recorded ones, failed tries. */
#include "sync_trace/account/acquire.h"

#include <errno.h>

/* @return UPMU_TRACE_FLAG_SAMPLED if this acquisition is sampled, else 0. Schedules the next one to test. */
static uint32_t acquire_sample_flags(struct sync_count *c, uint32_t mode, bool *burst)
{
    bool timed = mode == MODE_CONTENDED || mode == MODE_HOLDERS, due = sync_count_is_due(c);
    bool sampled = timed && c->stamps == 0 && due && sync_option(sample) != 0 && c->type != UPMU_OBJECT_SEM;
    *burst = c->stamps > 0;
    if (*burst)
        c->stamps--;
    if (due)
        sync_count_due_after(c, c->stamps > 0 ? 1 : sync_option(sample));
    return sampled ? UPMU_TRACE_FLAG_SAMPLED : 0;
}

void sync_acquired_slow(struct sync_thread *t, uint32_t mode, struct sync_count *c, uintptr_t lock, uintptr_t site,
                        int32_t result)
{
    bool burst;
    uint32_t type = c->type, sampled = acquire_sample_flags(c, mode, &burst);
    bool record = mode == MODE_ALL || (mode != MODE_COUNTS && (burst || sampled || result != 0));
    uint64_t counted = sampled && sync_option(counters) ? HELD_COUNTED : 0;
    uint64_t tick = mode == MODE_COUNTS ? 0
                    : counted           ? sync_counters_write(t, 0, sync_key_object(lock, type))
                                        : tick_now();
    uint64_t marks = counted | (sampled ? HELD_SAMPLED : 0);
    if (type != UPMU_OBJECT_SEM)
        sync_held_push(t, lock, site, tick | marks, record ? HELD_RECORDED : HELD_QUIET);
    if (!record)
        return;
    int saved = errno;
    struct trace_sync e = {
        .kind = UPMU_TRACE_LOCK_ACQUIRE,
        .object_type = (int32_t)type,
        .object = sync_key_object(lock, type),
        .flags = sync_key_flags(lock, type) | sampled,
        .result = result,
        .stack = sync_stack(t, tick, site),
    };
    if (result || e.stack == 0)
        e.site = site; /* else the stack has it; without it the event has half the size */
    if (type != UPMU_OBJECT_SEM && sync_option(depth) != 0)
        sync_origin_known(t, tick | marks, e.stack);
    sync_write(t, tick, &e);
    errno = saved;
}

int sync_acquired_unusually(struct sync_thread *t, uint32_t mode, uintptr_t key, uint32_t type, uintptr_t site)
{
    sync_acquired(t, mode, &(struct lock_call){.key = key, .type = type, .site = site}, 0);
    return 0;
}

void sync_try_failed(struct sync_thread *t, uint32_t mode, const struct lock_call *l, int32_t result)
{
    if (mode != MODE_COUNTS)
        sync_order_try_failed(t, l->key, l->site);
    if (mode != MODE_ALL)
        return;
    int saved = errno;
    uint64_t tick = tick_now();
    struct trace_sync e = {
        .kind = UPMU_TRACE_LOCK_FAILED,
        .object_type = (int32_t)l->type,
        .object = sync_key_object(l->key, l->type),
        .flags = UPMU_TRACE_FLAG_TRIED | sync_key_flags(l->key, l->type),
        .site = l->site,
        .result = result,
        .stack = sync_stack(t, tick, l->site),
    };
    sync_write(t, tick, &e);
    errno = saved;
}

bool sync_release_begin(struct sync_thread *t, uint32_t mode, const struct lock_call *l, struct lock_release *r)
{
    r->tick = 0;
    r->known = sync_held_remove(t, l->key, &r->held);
    /* A wait for it, or its acquisition, is in the trace: so is its end, even if recording was stopped meanwhile. */
    if (r->known && (mode == MODE_ALL || r->held.wanted != HELD_QUIET))
        r->tick = tick_now();
    if (r->tick != 0)
        sync_counters_write_release(t, &r->held, r->tick, sync_key_object(l->key, l->type));
    return r->known;
}

void sync_release_write(struct sync_thread *t, const struct lock_call *l, const struct sync_held *h, uint64_t tick)
{
    int saved = errno;
    bool wanted = h->wanted == l->key;
    struct trace_sync e = {
        .kind = UPMU_TRACE_LOCK_RELEASE,
        .object_type = (int32_t)l->type,
        .object = sync_key_object(l->key, l->type),
        .flags = sync_key_flags(l->key, l->type) | (h->since & HELD_SAMPLED ? UPMU_TRACE_FLAG_SAMPLED : 0),
        .site = l->type == UPMU_OBJECT_CUSTOM ? l->site : 0,
    };
    /* In mode all, the acquisition is an event, and so is all between. */
    if (sync_held_since(h->since) != 0 && (h->wanted != HELD_RECORDED || sync_mode() != MODE_ALL)) {
        e.holder_site = h->site;
        e.holder_since = sync_held_since(h->since);
    }
    if (wanted || sync_stacks_always())
        e.stack = sync_stack(t, tick, l->site);
    if (wanted)
        sync_count_stamp(sync_count(t, l->key, l->type));
    sync_write(t, tick, &e);
    errno = saved;
}

void sync_release_end(struct sync_thread *t, const struct lock_call *l, const struct lock_release *r, bool kept)
{
    if (r->known && kept)
        sync_held_push(t, r->held.lock, r->held.site, r->held.since, r->held.wanted);
    else if (r->known && r->tick != 0)
        sync_release_write(t, l, &r->held, r->tick);
}
