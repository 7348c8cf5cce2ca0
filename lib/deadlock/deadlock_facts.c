/* SPDX-License-Identifier: MIT */
/* Deadlocks as public structs. */
#include "deadlock/deadlocks.h"
#include "base/error.h"
#include "base/opts.h"

/* The call site at which an ended thread acquired the lock. */
static uint64_t facts_lock_site(const struct wait_state *s, const struct wait_state_thread *t, uint64_t lock)
{
    for (uint32_t i = 0; i < t->n_held; i++)
        if (s->file.held[t->first_held + i].lock == lock)
            return s->file.held[t->first_held + i].site;
    return 0;
}

/* Kinds with one object; the threads of the other kinds have an object each. */
static bool facts_has_object(enum wg_deadlock_kind kind)
{
    return kind != WG_CYCLE && kind != WG_JOIN_CYCLE && kind != WG_JOIN_SELF && kind != WG_ALL_ASLEEP &&
           kind != WG_CROSS_PROCESS;
}

int upmu_deadlocks_at(const struct upmu_deadlocks *d, size_t i, struct upmu_deadlock *out)
{
    if (!d || !out)
        return argument_null(__func__, d ? "out" : "deadlocks");
    if (i >= d->n_items)
        return UPMU_E_END;
    const struct dl_item *item = &d->items[i];
    const struct dl_process *p = &d->processes[item->process];
    const struct wait_state *s = &p->wait_state;
    const struct wg_deadlock *f = &s->snapshot.deadlocks[item->deadlock];
    struct upmu_deadlock ours = {
        .process = p->index,
        .pid = p->pid,
        .kind = (int32_t)f->kind,
        .certainty = (int32_t)f->certainty,
        .owner_name = "",
        .could_end = item->could_end,
        .suppressed = item->suppressed,
        .alive = p->alive,
        .n_threads = f->n,
        .n_behind = item->n_behind,
    };
    if (facts_has_object(f->kind)) {
        ours.object = f->object;
        const struct wait_file_slot *h = &s->file.threads[s->snapshot.members[f->first]].head;
        ours.object_type =
            h->object == f->object ? h->type : UPMU_OBJECT_MUTEX; /* else it is the mutex to be reacquired */
    }
    if (f->other != WG_NONE) {
        const struct wait_state_thread *t = &s->file.threads[f->other];
        ours.owner = t->head.tid;
        ours.owner_name = upmu_overview_thread_name(d->overview, p->index, t->head.tid);
        ours.owner_site = facts_lock_site(s, t, f->object);
    }
    return OPTS_GIVE(out, ours, UPMU_DEADLOCK_SIZE_V1);
}

/* Thread `k` of a deadlock, followed by those behind it; NULL. */
static const struct wait_state_thread *facts_thread(const struct upmu_deadlocks *d, size_t i, size_t k)
{
    if (i >= d->n_items)
        return NULL;
    const struct dl_item *item = &d->items[i];
    const struct wait_state *s = &d->processes[item->process].wait_state;
    const struct wg_deadlock *f = &s->snapshot.deadlocks[item->deadlock];
    if (k < f->n)
        return &s->file.threads[s->snapshot.members[f->first + k]];
    k -= f->n;
    for (size_t t = 0; t < s->file.n_threads; t++) {
        const struct wg_thread *w = &s->snapshot.threads[t];
        if (w->behind && w->deadlock == item->deadlock && k-- == 0)
            return &s->file.threads[t];
    }
    return NULL;
}

static int facts_wait_kind(const struct wait_file_slot *h)
{
    static const uint8_t of_type[] = {
        [UPMU_OBJECT_MUTEX] = UPMU_WAIT_MUTEX,       [UPMU_OBJECT_SEM] = UPMU_WAIT_SEM,
        [UPMU_OBJECT_CUSTOM] = UPMU_WAIT_CUSTOM,     [UPMU_OBJECT_RWLOCK] = UPMU_WAIT_RWLOCK,
        [UPMU_OBJECT_SPIN] = UPMU_WAIT_SPIN,         [UPMU_OBJECT_BARRIER] = UPMU_WAIT_BARRIER,
        [UPMU_OBJECT_ONCE] = UPMU_WAIT_ONCE,         [UPMU_OBJECT_FUTEX] = UPMU_WAIT_FUTEX,
        [UPMU_OBJECT_QMUTEX] = UPMU_WAIT_MUTEX,      [UPMU_OBJECT_QRWLOCK] = UPMU_WAIT_RWLOCK,
        [UPMU_OBJECT_ABSL_MUTEX] = UPMU_WAIT_RWLOCK, [UPMU_OBJECT_COND] = UPMU_WAIT_COND,
        [UPMU_OBJECT_THREAD] = UPMU_WAIT_JOIN,       [UPMU_OBJECT_CALL] = UPMU_WAIT_CHILD,
    };
    return h->type >= 0 && (size_t)h->type < sizeof of_type ? of_type[h->type] : UPMU_WAIT_MUTEX;
}

/* The holder of the object waited for, or the thread joined; of a condition variable's wait, the holder of its mutex. */
static pid_t facts_holder(const struct wait_state *s, const struct wait_state_thread *t)
{
    uint32_t at = (uint32_t)(t - s->file.threads), holder = wg_mutex_holder(&s->snapshot, at);
    if (t->head.kind == UPMU_TRACE_THREAD_JOIN)
        holder = s->snapshot.threads[at].target;
    if (holder != WG_NONE)
        return s->file.threads[holder].head.tid;
    return t->head.kind != UPMU_TRACE_COND_WAIT ? t->head.peer : 0;
}

int upmu_deadlocks_thread_at(const struct upmu_deadlocks *d, size_t i, size_t k, struct upmu_deadlock_thread *out)
{
    if (!d || !out)
        return argument_null(__func__, d ? "out" : "deadlocks");
    const struct wait_state_thread *t = facts_thread(d, i, k);
    if (!t)
        return UPMU_E_END;
    const struct wait_file_slot *h = &t->head;
    const struct upmu_deadlock_thread ours = {
        .tid = h->tid,
        .name = upmu_overview_thread_name(d->overview, d->processes[d->items[i].process].index, h->tid),
        .wait_kind = facts_wait_kind(h),
        .object_type = h->type,
        .object = h->object,
        .mutex = h->object2,
        .holder = facts_holder(&d->processes[d->items[i].process].wait_state, t),
        .shared = (h->flags & UPMU_TRACE_FLAG_SHARED) != 0,
        .timed = (h->flags & UPMU_TRACE_FLAG_TIMED) != 0,
        .since_ns = h->since_ns,
        .site = h->site,
        .stack = h->stack,
        .n_held = t->n_held,
        .n_unlisted = h->forgotten,
        .inspected = t->inspected,
    };
    return OPTS_GIVE(out, ours, UPMU_DEADLOCK_THREAD_SIZE_V1);
}

/* Whether a thread of deadlock `i`, or behind it, waits for the lock. */
static bool facts_is_wanted(const struct upmu_deadlocks *d, size_t i, uint64_t lock)
{
    const struct wait_state_thread *t;
    for (size_t k = 0; (t = facts_thread(d, i, k)) != NULL; k++)
        if ((t->head.kind == UPMU_TRACE_LOCK_BLOCK && t->head.object == lock) ||
            (t->head.kind == UPMU_TRACE_COND_WAIT && t->head.object2 == lock))
            return true;
    return false;
}

/* The stack at which thread `tid` acquired a lock, as a thread found it that waits for it; 0. */
static uint32_t facts_held_stack(const struct upmu_deadlocks *d, size_t i, uint64_t lock, pid_t tid)
{
    const struct wait_state_thread *t;
    for (size_t k = 0; (t = facts_thread(d, i, k)) != NULL; k++)
        if (t->head.kind == UPMU_TRACE_LOCK_BLOCK && t->head.object == lock && t->head.peer == tid &&
            t->head.holder_stack != 0)
            return t->head.holder_stack;
    return 0;
}

int upmu_deadlocks_held_at(const struct upmu_deadlocks *d, size_t i, size_t k, size_t h, struct upmu_deadlock_held *out)
{
    if (!d || !out)
        return argument_null(__func__, d ? "out" : "deadlocks");
    const struct wait_state_thread *t = facts_thread(d, i, k);
    if (!t || h >= t->n_held)
        return UPMU_E_END;
    const struct wait_file_held *held = &d->processes[d->items[i].process].wait_state.file.held[t->first_held + h];
    const struct upmu_deadlock_held ours = {
        .lock = held->lock,
        .shared = held->shared,
        .wanted = facts_is_wanted(d, i, held->lock),
        .site = held->site,
        .since_ns = held->since_ns,
        .stack = held->lock ? facts_held_stack(d, i, held->lock, t->head.tid) : 0,
    };
    return OPTS_GIVE(out, ours, UPMU_DEADLOCK_HELD_SIZE_V1);
}

/* ------------------------------------------------------------------------------------------------------ counts */

size_t upmu_deadlocks_count(const struct upmu_deadlocks *d)
{
    return d ? d->n_items : 0;
}

size_t upmu_deadlocks_thread_count(const struct upmu_deadlocks *d, size_t i)
{
    if (!d || i >= d->n_items)
        return 0;
    const struct dl_item *item = &d->items[i];
    return d->processes[item->process].wait_state.snapshot.deadlocks[item->deadlock].n + item->n_behind;
}

size_t upmu_deadlocks_held_count(const struct upmu_deadlocks *d, size_t i, size_t k)
{
    const struct wait_state_thread *t = d ? facts_thread(d, i, k) : NULL;
    return t ? t->n_held : 0;
}
