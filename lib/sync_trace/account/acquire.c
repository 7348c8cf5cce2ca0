/* SPDX-License-Identifier: MIT */
/* Acquisitions and releases beyond the fast path: recorded ones, failed tries. */
#include "sync_trace/account/acquire.h"

#include <errno.h>

/* Why this acquisition is recorded in other modes than all; sets the next one to test. */
static uint32_t acquire_stamp(struct sync_count *c, uint32_t mode, bool *burst)
{
    bool timed = mode == MODE_CONTENDED || mode == MODE_HOLDERS;
    bool sampled = timed && c->stamps == 0 && c->until == 0 && sync_process.sample != 0 && c->type != UPMU_OBJECT_SEM;
    *burst = c->stamps > 0;
    if (*burst)
        c->stamps--;
    if (c->until == 0)
        c->until = c->stamps > 0 ? 1 : sync_process.sample;
    return sampled ? UPMU_TRACE_FLAG_SAMPLED : 0;
}

void sync_acquired_slow(struct sync_thread *t, uint32_t mode, struct sync_count *c, uintptr_t lock, uintptr_t site,
                        int32_t result)
{
    bool burst;
    uint32_t type = c->type, sampled = acquire_stamp(c, mode, &burst);
    bool record = mode == MODE_ALL || (mode != MODE_COUNTS && (burst || sampled || result != 0));
    uint64_t counted = sampled && sync_process.counters ? HELD_COUNTED : 0;
    uint64_t tick = mode == MODE_COUNTS ? 0
                    : counted           ? sync_counters_write(t, 0, sync_key_object(lock, type))
                                        : tick_now();
    uint64_t marks = counted | (sampled ? HELD_SAMPLED : 0);
    if (type != UPMU_OBJECT_SEM)
        sync_held_push(t, lock, site, tick | marks, record ? HELD_RECORDED : HELD_QUIET);
    if (!record)
        return;
    int saved = errno;
    /* For a sample, and after a wait, the call site is enough: whole stacks are recorded for waits, and in mode all. */
    bool site_only = mode != MODE_ALL && result == 0;
    struct trace_sync e = {
        .kind = UPMU_TRACE_LOCK_ACQUIRE,
        .object_type = (int32_t)type,
        .object = sync_key_object(lock, type),
        .flags = sync_key_flags(lock, type) | sampled,
        .site = result ? site : 0, /* the stack has it; without it the event has half the size */
        .result = result,
        .stack = site_only ? sync_site_id(t, tick, site) : sync_stack(t, tick, site),
    };
    sync_write(t, tick, &e);
    errno = saved;
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
    if (!r->known || mode == MODE_OFF || mode == MODE_COUNTS)
        return r->known;
    if (mode == MODE_ALL || r->held.wanted != HELD_QUIET)
        r->tick = tick_now();
    if (r->tick != 0)
        sync_counters_write_release(t, &r->held, r->tick, sync_key_object(l->key, l->type));
    return true;
}

void sync_release_end(struct sync_thread *t, const struct lock_call *l, const struct lock_release *r, bool kept)
{
    if (!r->known)
        return;
    if (kept) {
        sync_held_push(t, r->held.lock, r->held.site, r->held.since, r->held.wanted);
        return;
    }
    if (r->tick == 0)
        return;
    int saved = errno;
    bool wanted = r->held.wanted == l->key;
    struct trace_sync e = {
        .kind = UPMU_TRACE_LOCK_RELEASE,
        .object_type = (int32_t)l->type,
        .object = sync_key_object(l->key, l->type),
        .flags = sync_key_flags(l->key, l->type) | (r->held.since & HELD_SAMPLED ? UPMU_TRACE_FLAG_SAMPLED : 0),
    };
    if (wanted) {
        e.stack = sync_stack(t, r->tick, l->site);
        sync_count_stamp(sync_count(t, l->key, l->type));
    }
    sync_write(t, r->tick, &e);
    errno = saved;
}
