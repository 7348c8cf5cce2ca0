/* SPDX-License-Identifier: MIT */
/*
 * From what a wrapper has seen to events. Room: sync_trace; before it the wrappers, after it the trace writer.
 *
 * A stack's record never comes after an event that names it: an event's tick is taken after the unwinding where the
 * moment may wait for it (the beginning of a wait), and a stack gets the tick of its event where it may not (a release).
 */
#include <errno.h>

#include "base/tick.h"
#include "region/recorder.h"
#include "sync_trace/held.h"
#include "sync_trace/lock_order.h"
#include "trace/write/stream_fast.h"
#include "trace/write/writer.h"

uint64_t sync_count_now(struct sync_thread *t, uint64_t tick, uintptr_t object)
{
    /* A backend may have locks of its own: they are not the program's. */
    uint32_t ready = __atomic_load_n(&t->ready, __ATOMIC_RELAXED);
    sync_guard(t);
    sync_tls.counting = 1;
    (void)upmu_recorder_counters_(&tick, object); /* without them the wait or hold is not counted, and that is said */
    sync_tls.counting = 0;
    if (ready)
        sync_unguard(t);
    return tick ? tick : tick_now();
}

/* What begins and ends waits. */
static bool is_counted(const struct trace_sync *e)
{
    switch (e->kind) {
    case UPMU_TRACE_LOCK_BLOCK:
    case UPMU_TRACE_LOCK_ACQUIRED:
    case UPMU_TRACE_COND_WAIT:
    case UPMU_TRACE_COND_WAKE:
    case UPMU_TRACE_THREAD_JOIN:
    case UPMU_TRACE_THREAD_JOINED:
    case UPMU_TRACE_BARRIER_ARRIVE:
    case UPMU_TRACE_BARRIER_LEAVE:
    case UPMU_TRACE_FUTEX_WAIT:
    case UPMU_TRACE_FUTEX_WOKEN:
        return true;
    case UPMU_TRACE_LOCK_FAILED:
        return !(e->flags & UPMU_TRACE_FLAG_TRIED);
    default:
        return false;
    }
}

void sync_write(struct sync_thread *t, uint64_t tick, const struct trace_sync *e)
{
    if (UNLIKELY(sync_process.sched))
        upmu_recorder_switches_(tick);
    if (UNLIKELY(sync_process.counters) && is_counted(e))
        (void)sync_count_now(t, tick, e->object);
    /* What does not fit is counted as lost by the writer itself. */
    if (e->kind == UPMU_TRACE_LOCK_BLOCK || e->kind == UPMU_TRACE_LOCK_ACQUIRED)
        (void)stream_fast_wait(t->stream, tick, e);
    else if (e->kind == UPMU_TRACE_LOCK_RELEASE && e->site == 0)
        (void)stream_fast_flags(t->stream, tick, UPMU_TRACE_LOCK_RELEASE, e->object_type, e->flags, e->object,
                                e->stack);
    else
        (void)upmu_trace_sync_(t->stream, tick, e);
}

uint32_t sync_site_find(struct sync_thread *t, uint64_t tick, uintptr_t site)
{
    const void *frame = (const void *)site;
    sync_guard(t);
    t->method = UPMU_STACK_NONE;
    (void)sync_modules_meet(t, &frame, 1);
    uint32_t id = sync_stack_id(t, tick, &frame, 1, true);
    sync_unguard(t);
    uintptr_t key = sync_site_key(site);
    if (id)
        t->sites[(site ^ site >> 6) % SYNC_SITES] = (struct sync_site){.key = key, .id = id};
    return id;
}

static uint32_t whole_stack(struct sync_thread *t, uint64_t *tick, uintptr_t site)
{
    int saved = errno;
    sync_guard(t);
    uint32_t id = sync_stack_here(t, tick, site);
    sync_unguard(t);
    errno = saved;
    return id;
}

uint32_t sync_stack(struct sync_thread *t, uint64_t tick, uintptr_t site)
{
    return sync_process.depth == 0 ? sync_site_id(t, tick, site) : whole_stack(t, &tick, site);
}

uint32_t sync_stack_first(struct sync_thread *t, uint64_t *tick, uintptr_t site)
{
    *tick = sync_process.depth == 0 ? tick_now() : 0;
    return *tick ? sync_site_id(t, *tick, site) : whole_stack(t, tick, site);
}

void sync_event_flags(struct sync_thread *t, int32_t kind, int32_t type, const void *object, uintptr_t site,
                      int32_t result, uint32_t flags)
{
    int saved = errno;
    if (kind == UPMU_TRACE_LOCK_INIT || kind == UPMU_TRACE_LOCK_DESTROY) {
        sync_order_forget((uintptr_t)object);
        sync_note_end((uintptr_t)object);
        sync_live_disown(0, (uintptr_t)object); /* what an ended thread held there is gone */
    }
    if (kind == UPMU_TRACE_LOCK_INIT || type == UPMU_OBJECT_COND) /* what is counted is met where it is */
        sync_lock_met(NULL, (uintptr_t)object, (uint32_t)type);
    if (kind == UPMU_TRACE_LOCK_DESTROY)
        flags |= sync_lock_ended(t, (uintptr_t)object, &type) ? UPMU_TRACE_FLAG_FINAL : 0;
    uint64_t tick = tick_now();
    struct trace_sync e = {
        .kind = kind,
        .object_type = type,
        .object = (uintptr_t)object,
        .flags = flags,
        .site = site,
        .result = result,
        .stack =
            flags & UPMU_TRACE_FLAG_FREED ? 0 : sync_stack(t, tick, site), /* giving memory back is to cost little */
    };
    sync_write(t, tick, &e);
    errno = saved;
}

uint32_t sync_request_tell(struct sync_thread *t, uint32_t type, uintptr_t key, uintptr_t site)
{
    int saved = errno;
    uint64_t tick = 0;
    struct trace_sync e = {
        .kind = UPMU_TRACE_LOCK_REQUEST,
        .object_type = (int32_t)type,
        .object = sync_key_object(key, type),
        .flags = sync_key_flags(key, type),
    };
    e.stack = sync_stack_first(t, &tick, site);
    sync_write(t, tick, &e);
    errno = saved;
    return e.stack;
}

/* -------------------------------------------------------------------------------------------- waits */

/* Who has the lock, among the locks all threads hold. A reader waits for a writer, a writer for either. */
static struct sync_thread *search(const struct sync_wait *w, struct sync_held *h, struct trace_sync *e)
{
    uintptr_t lock = sync_key_object(w->lock, w->type);
    struct sync_thread *holder = sync_held_search(lock, h);
    if (holder || w->type != UPMU_OBJECT_RWLOCK)
        return holder;
    holder = sync_held_search_all(lock + 1, h);
    e->flags |= holder ? UPMU_TRACE_FLAG_HOLDER_SHARED : 0;
    return holder;
}

static void find_holder(const struct sync_wait *w, pid_t owner, bool outermost, struct trace_sync *e)
{
    struct sync_held h;
    struct sync_thread *holder;
    bool found;
    if (owner < 0) {
        holder = search(w, &h, e);
        found = holder != NULL;
        e->peer = found ? holder->tid : 0;
    } else {
        holder = owner ? sync_thread_by_tid(owner) : NULL;
        found = holder && sync_held_ask(holder, sync_key_object(w->lock, w->type), outermost, &h);
        e->peer = owner;
    }
    if (found) {
        e->holder_site = h.site;
        e->holder_since = sync_held_since(h.since);
    }
}

void sync_wait_begin(struct sync_wait *w, uint32_t mode, pid_t owner, bool outermost)
{
    struct sync_thread *t = w->t;
    int saved = errno;
    uint64_t tick = 0;
    w->result = ECANCELED;
    w->recorded = mode != MODE_COUNTS;
    __atomic_store_n(&t->waiting, w->lock, __ATOMIC_RELAXED);
    if (!w->recorded)
        return;
    if (w->type != UPMU_OBJECT_SEM) /* what this thread is about to wait for is told before it does */
        sync_order(t, w->lock, w->type, w->site, w->flags & UPMU_TRACE_FLAG_TIMED);
    w->flags |= sync_key_flags(w->lock, w->type);
    struct trace_sync e = {
        .kind = UPMU_TRACE_LOCK_BLOCK,
        .object_type = (int32_t)w->type,
        .object = sync_key_object(w->lock, w->type),
        .flags = w->flags,
        .site = w->site,
    };
    sync_guard(t);
    find_holder(w, owner, outermost, &e);
    sync_unguard(t);
    e.stack = w->asked ? w->asked : sync_stack_first(t, &tick, w->site);
    tick = w->asked ? tick_now() : tick;
    sync_write(t, tick, &e);
    sync_live_begin(t, tick, &e);
    sync_counts_write_sometimes(t, tick);
    errno = saved;
}

static void wait_won(const struct sync_wait *w, uint64_t tick)
{
    if (w->type == UPMU_OBJECT_ONCE)
        return; /* another thread ran the function: nothing was taken */
    struct sync_count *c = sync_count(w->t, w->lock, w->type);
    c->acquired++;
    c->contended++;
    sync_count_stamp(c);
    uint64_t counted = w->recorded && sync_process.counters ? HELD_COUNTED : 0;
    if (w->type != UPMU_OBJECT_SEM)
        sync_held_push(w->t, w->lock, w->site, tick | counted, w->recorded ? HELD_RECORDED : HELD_QUIET);
}

void sync_wait_end(struct sync_wait *w)
{
    struct sync_thread *t = w->t;
    int saved = errno;
    bool won = w->result == 0 || w->result == EOWNERDEAD;
    uint64_t tick = w->recorded ? tick_now() : 0;
    __atomic_store_n(&t->waiting, 0, __ATOMIC_RELAXED);
    if (w->result == EOWNERDEAD)
        sync_live_disown(0, w->lock);
    if (won)
        wait_won(w, tick);
    if (w->recorded) {
        sync_live_end(t);
        struct trace_sync e = {
            .kind = won ? UPMU_TRACE_LOCK_ACQUIRED : UPMU_TRACE_LOCK_FAILED,
            .object_type = (int32_t)w->type,
            .object = sync_key_object(w->lock, w->type),
            .flags = w->flags,
            .site = w->site,
            .result = w->result,
        };
        sync_write(t, tick, &e);
    }
    errno = saved;
}

/* ------------------------------------------------------------------------------------- without a wait */

/* What this acquisition is recorded for, besides mode all; then the next one to look at is fixed. */
static uint32_t take_stamp(struct sync_count *c, uint32_t mode, bool *burst)
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

void sync_taken_slow(struct sync_thread *t, uint32_t mode, struct sync_count *c, uintptr_t lock, uintptr_t site,
                     int32_t result)
{
    bool burst;
    uint32_t type = c->type, sampled = take_stamp(c, mode, &burst);
    bool record = mode == MODE_ALL || (mode != MODE_COUNTS && (burst || sampled || result != 0));
    uint64_t counted = sampled && sync_process.counters ? HELD_COUNTED : 0;
    uint64_t tick = mode == MODE_COUNTS ? 0 : counted ? sync_count_now(t, 0, sync_key_object(lock, type)) : tick_now();
    uint64_t marks = counted | (sampled ? HELD_SAMPLED : 0);
    if (type != UPMU_OBJECT_SEM)
        sync_held_push(t, lock, site, tick | marks, record ? HELD_RECORDED : HELD_QUIET);
    if (!record)
        return;
    int saved = errno;
    /* Of a sample, and of what follows a wait, the place is enough: whole stacks are those of waits, and of mode all. */
    bool placed = mode != MODE_ALL && result == 0;
    struct trace_sync e = {
        .kind = UPMU_TRACE_LOCK_ACQUIRE,
        .object_type = (int32_t)type,
        .object = sync_key_object(lock, type),
        .flags = sync_key_flags(lock, type) | sampled,
        .site = result ? site : 0, /* the stack has it; without, the event takes half the room */
        .result = result,
        .stack = placed ? sync_site_id(t, tick, site) : sync_stack(t, tick, site),
    };
    sync_write(t, tick, &e);
    errno = saved;
}
