/* SPDX-License-Identifier: MIT */
/* Writing of events, with the counters and context switches that belong to them. */
#include "sync_trace/emit/event.h"

#include <errno.h>

#include "base/tick.h"
#include "region/recorder.h"
#include "trace/format/control.h"
#include "trace/write/stream_fast.h"

uint64_t sync_counters_write(struct sync_thread *t, uint64_t tick, uintptr_t object)
{
    /* Locks of a counter backend are not the program's. */
    uint32_t before = sync_guard(t);
    sync_tls.counting = 1;
    (void)upmu_recorder_counters_(&tick, object); /* on failure the wait or hold has no counts, which reports show */
    sync_tls.counting = 0;
    sync_unguard(t, before);
    return tick ? tick : tick_now();
}

static bool event_is_wait_boundary(const struct trace_sync *e)
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

/* For an event that has a caller and no stack; freeing memory must cost little. */
static __attribute__((noinline)) uint32_t event_own_stack(struct sync_thread *t, uint64_t tick,
                                                          const struct trace_sync *e)
{
    bool wanted = e->stack == 0 && e->site != 0 && !(e->flags & UPMU_TRACE_FLAG_FREED) && sync_stacks_always();
    return wanted && sync_is_ready(t) ? sync_stack(t, tick, e->site) : e->stack;
}

/* ------------------------------------------------------------------------------------------ thresholds of waits */

void sync_limits_start(struct control_header *control)
{
    uint64_t any = 0;
    for (size_t i = 0; i < CONTROL_WAITS; i++)
        any |= control->wait_ticks[i];
    sync_option_set(limits, any != 0);
}

/* The kind of wait that an event ends; `*begins`: or begins. */
static enum control_wait event_wait_kind(const struct trace_sync *e, bool *begins)
{
    *begins = e->kind == UPMU_TRACE_LOCK_BLOCK;
    switch (e->kind) {
    case UPMU_TRACE_COND_WAIT:
    case UPMU_TRACE_COND_WAKE:
        *begins = e->kind == UPMU_TRACE_COND_WAIT;
        return CONTROL_WAIT_COND;
    case UPMU_TRACE_THREAD_JOIN:
    case UPMU_TRACE_THREAD_JOINED:
        *begins = e->kind == UPMU_TRACE_THREAD_JOIN;
        return CONTROL_WAIT_JOIN;
    case UPMU_TRACE_BARRIER_ARRIVE:
    case UPMU_TRACE_BARRIER_LEAVE:
        *begins = e->kind == UPMU_TRACE_BARRIER_ARRIVE;
        return CONTROL_WAIT_BARRIER;
    case UPMU_TRACE_FUTEX_WAIT:
    case UPMU_TRACE_FUTEX_WOKEN:
        *begins = e->kind == UPMU_TRACE_FUTEX_WAIT;
        return CONTROL_WAIT_FUTEX;
    default:
        return e->object_type == UPMU_OBJECT_SEM ? CONTROL_WAIT_SEM : CONTROL_WAIT_LOCK;
    }
}

/* Waits nest in signal handlers and in the calls that implement a custom lock. A wait that began while nothing was recorded
 * is not compared: its begin was written for the thread by another one. */
static __attribute__((noinline)) void event_check_limit(struct sync_thread *t, uint64_t tick,
                                                        const struct trace_sync *e)
{
    bool begins;
    if (!event_is_wait_boundary(e))
        return;
    enum control_wait kind = event_wait_kind(e, &begins);
    if (begins) {
        if (t->waits_open < SYNC_WAITS_TIMED)
            t->wait_begun[t->waits_open] = tick;
        t->waits_open++;
        return;
    }
    if (t->waits_open == 0 || --t->waits_open >= SYNC_WAITS_TIMED)
        return;
    struct control_header *h = upmu_recorder_control_();
    uint64_t limit = h ? h->wait_ticks[kind] : 0, begun = t->wait_begun[t->waits_open];
    if (UNLIKELY(limit != 0 && tick > begun && tick - begun > limit))
        upmu_recorder_limit_(kind, t->tid, tick, tick - begun);
}

void sync_write(struct sync_thread *t, uint64_t tick, const struct trace_sync *e)
{
    struct trace_sync with_stack;
    if (UNLIKELY(sync_option(all_stacks))) {
        with_stack = *e;
        with_stack.stack = event_own_stack(t, tick, e);
        e = &with_stack;
    }
    if (UNLIKELY(sync_option(sched)))
        upmu_recorder_switches_(tick);
    if (UNLIKELY(sync_option(counters)) && event_is_wait_boundary(e))
        (void)sync_counters_write(t, tick, e->object);
    /* What does not fit is counted as lost by the writer. */
    const bool releases = e->kind == UPMU_TRACE_LOCK_RELEASE;
    if (e->kind == UPMU_TRACE_LOCK_BLOCK || e->kind == UPMU_TRACE_LOCK_ACQUIRED || (releases && e->holder_since != 0))
        (void)stream_fast_wait(t->stream, tick, e);
    else if (releases && e->site == 0)
        (void)stream_fast_flags(t->stream, tick, UPMU_TRACE_LOCK_RELEASE, e->object_type, e->flags, e->object,
                                e->stack);
    else
        (void)upmu_trace_sync_(t->stream, tick, e);
    if (UNLIKELY(sync_option(limits))) /* the event is in the snapshot that it triggers */
        event_check_limit(t, tick, e);
}

void sync_event_flags(struct sync_thread *t, int32_t kind, int32_t type, const void *object, uintptr_t site,
                      int32_t result, uint32_t flags)
{
    int saved = errno;
    uint64_t tick = tick_now();
    struct trace_sync e = {
        .kind = kind,
        .object_type = type,
        .object = (uintptr_t)object,
        .flags = flags,
        .site = site,
        .result = result,
        .stack = flags & UPMU_TRACE_FLAG_FREED ? 0 : sync_stack(t, tick, site), /* freeing memory must cost little */
    };
    sync_write(t, tick, &e);
    errno = saved;
}

uint32_t sync_request_write(struct sync_thread *t, uint32_t type, uintptr_t key, uintptr_t site)
{
    int saved = errno;
    uint64_t tick = 0;
    struct trace_sync e = {
        .kind = UPMU_TRACE_LOCK_REQUEST,
        .object_type = (int32_t)type,
        .object = sync_key_object(key, type),
        .flags = sync_key_flags(key, type),
    };
    e.stack = sync_stack_then_tick(t, &tick, site);
    sync_write(t, tick, &e);
    errno = saved;
    return e.stack;
}
