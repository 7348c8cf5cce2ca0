/* SPDX-License-Identifier: MIT */
/* The less frequent ways of locks that somebody holds: tries that fail, releases that are recorded. Room: sync_trace;
 * before it the wrappers by family, after it record.c. */
#include "sync_trace/lockable.h"

#include <errno.h>

#include "trace/write/writer.h"

void lockable_tried(struct sync_thread *t, uint32_t mode, const struct lockable *l, int32_t result)
{
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

bool lockable_release(struct sync_thread *t, uint32_t mode, const struct lockable *l, struct lockable_release *r)
{
    r->tick = 0;
    r->known = sync_held_remove(t, l->key, &r->held);
    if (!r->known || mode == MODE_OFF || mode == MODE_COUNTS)
        return r->known;
    if (mode == MODE_ALL || r->held.wanted != HELD_QUIET)
        r->tick = tick_now();
    if (r->tick != 0)
        sync_count_release(t, &r->held, r->tick, sync_key_object(l->key, l->type));
    return true;
}

void lockable_released(struct sync_thread *t, const struct lockable *l, const struct lockable_release *r, bool kept)
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
