/* SPDX-License-Identifier: MIT */
/* A wait for a lock, from its holder to its result. */
#include "sync_trace/account/wait.h"

#include <errno.h>

#include "base/tick.h"
#include "sync_trace/account/count_records.h"
#include "sync_trace/account/lock_order.h"
#include "sync_trace/emit/event.h"
#include "sync_trace/emit/wait_state.h"
#include "sync_trace/stack/holder_stack.h"
#include "sync_trace/state/held.h"

/* The holder, searched among the locks of all threads. A reader waits for a writer, a writer for either. */
static struct sync_thread *wait_search_holder(const struct sync_wait *w, struct sync_held *h, struct trace_sync *e)
{
    uintptr_t lock = sync_key_object(w->lock, w->type);
    struct sync_thread *holder = sync_held_search(lock, h);
    if (holder || !sync_type_has_readers(w->type))
        return holder;
    holder = sync_held_search_all(lock + 1, h);
    e->flags |= holder ? UPMU_TRACE_FLAG_HOLDER_SHARED : 0;
    return holder;
}

void sync_wait_find_holder(const struct sync_wait *w, pid_t owner, bool outermost, struct trace_sync *e)
{
    struct sync_held h;
    struct sync_thread *holder;
    bool found;
    if (owner < 0) {
        holder = wait_search_holder(w, &h, e);
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
        e->holder_stack = sync_holder_stack(w->t, tick_now(), holder, &h);
    } else if (holder && sync_held_last(holder, sync_key_object(w->lock, w->type), &h) &&
               sync_held_since(h.since) >= __atomic_load_n(&sync_gate.since, __ATOMIC_RELAXED)) {
        e->holder_site = h.site; /* a short hold; when it began is no time of a hold that a release will end */
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
    if (w->type != UPMU_OBJECT_SEM) /* before the thread waits */
        sync_order_check(t, w->lock, w->type, w->site, w->flags & UPMU_TRACE_FLAG_TIMED);
    if (UNLIKELY(t->tried == w->lock) && !(w->flags & UPMU_TRACE_FLAG_TIMED))
        sync_order_waits(t, w->lock, w->type, w->site);
    w->flags |= sync_key_flags(w->lock, w->type);
    struct trace_sync e = {
        .kind = UPMU_TRACE_LOCK_BLOCK,
        .object_type = (int32_t)w->type,
        .object = sync_key_object(w->lock, w->type),
        .flags = w->flags,
        .site = w->site,
    };
    uint32_t before = sync_guard_as(t, SYNC_WALKS);
    if (LIKELY(before == SYNC_READY))
        sync_wait_find_holder(w, owner, outermost, &e);
    sync_unguard(t, before);
    e.stack = w->request_stack ? w->request_stack : sync_stack_then_tick(t, &tick, w->site);
    tick = w->request_stack ? tick_now() : tick;
    w->stack = e.stack;
    sync_write(t, tick, &e);
    sync_wait_state_block(t, tick, &e);
    sync_counts_write_due(t, tick);
    errno = saved;
}

static void wait_won(const struct sync_wait *w, uint64_t tick)
{
    if (w->type == UPMU_OBJECT_ONCE)
        return; /* another thread ran the function: no lock was acquired */
    struct sync_count *c = sync_count(w->t, w->lock, w->type);
    c->acquired++;
    c->contended++;
    sync_count_stamp(c);
    uint64_t counted = w->recorded && sync_option(counters) ? HELD_COUNTED : 0;
    if (w->type != UPMU_OBJECT_SEM)
        sync_held_push(w->t, w->lock, w->site, tick | counted, w->recorded ? HELD_RECORDED : HELD_QUIET);
    if (w->type != UPMU_OBJECT_SEM && w->stack != 0)
        sync_origin_known(w->t, tick | counted, w->stack);
}

void sync_wait_end(struct sync_wait *w)
{
    struct sync_thread *t = w->t;
    int saved = errno;
    bool won = w->result == 0 || w->result == EOWNERDEAD;
    uint64_t tick = w->recorded ? tick_now() : 0;
    __atomic_store_n(&t->waiting, 0, __ATOMIC_RELAXED);
    if (w->result == EOWNERDEAD)
        sync_wait_state_disown(0, w->lock);
    if (won)
        wait_won(w, tick);
    if (w->recorded) {
        sync_wait_state_unblock(t);
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
