/* SPDX-License-Identifier: MIT */
/*
 * Search for deadlocked threads.
 *
 * Three rounds over the same threads. ROUND_LOCKS assumes that posts, signals and timeouts always come: threads
 * blocked then are deadlocked by locks and joins alone, which is certain. ROUND_POSTS admits posts and signals only
 * from threads that can continue. ROUND_TIMEOUTS assumes that no timeout expires. Deadlocks found in one round are
 * kept in the next.
 */
#include "deadlock/graph/blocked.h"

#include <stdlib.h>

enum round { ROUND_LOCKS, ROUND_POSTS, ROUND_TIMEOUTS };

/* ------------------------------------------------------------------------------------------------------ holders */

static int wg_holder_by_lock(const void *a, const void *b)
{
    const struct wg_holder *x = a, *y = b;
    if (x->lock != y->lock)
        return x->lock < y->lock ? -1 : 1;
    return x->thread < y->thread ? -1 : x->thread > y->thread;
}

/* A recursive lock is listed once for each acquisition. */
static void wg_index_holders(struct wg_snapshot *p)
{
    size_t n = 0;
    for (size_t i = 0; i < p->n_threads; i++)
        for (uint32_t k = 0; k < p->threads[i].n_holds; k++) {
            const struct wg_hold *h = &p->holds[p->threads[i].first_hold + k];
            p->holders[n++] = (struct wg_holder){.lock = h->lock, .thread = (uint32_t)i, .shared = h->shared};
        }
    p->n_holds = n;
    if (n > 0)
        qsort(p->holders, n, sizeof *p->holders, wg_holder_by_lock);
}

/* Holders of a lock: the returned element of `holders` and its successors, `*n` in all. After wg_find_blocked(). */
const struct wg_holder *wg_holders_of(const struct wg_snapshot *p, uint64_t lock, size_t *n)
{
    size_t low = 0, high = p->n_holds;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (p->holders[middle].lock < lock)
            low = middle + 1;
        else
            high = middle;
    }
    for (*n = 0; low + *n < p->n_holds && p->holders[low + *n].lock == lock;)
        ++*n;
    return p->holders + low;
}

/* ----------------------------------------------------------------------------------------------- blockers */

static bool wg_has_writer(const struct wg_holder *h, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (!h[i].shared)
            return true;
    return false;
}

/* A waiting writer of the lock that thread `t` waits to read, which cannot continue; WG_NONE. */
static uint32_t wg_writer_ahead(const struct wg_snapshot *p, uint32_t t)
{
    if (!p->threads[t].writers_first)
        return WG_NONE;
    for (size_t i = 0; i < p->n_threads; i++) {
        const struct wg_thread *w = &p->threads[i];
        if (w->wait == WG_LOCK && w->object == p->threads[t].object && !w->can_continue && i != t)
            return (uint32_t)i;
    }
    return WG_NONE;
}

/* Another thread that holds the semaphore as a lock, and cannot continue. Any thread could post it: this matters
 * only where none can. */
static uint32_t wg_semaphore_holder(const struct wg_snapshot *p, uint32_t t, const struct wg_holder *h, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        const struct wg_thread *holder = &p->threads[h[i].thread];
        if (h[i].thread != t && !holder->can_continue && holder->wait != WG_ENDED)
            return h[i].thread;
    }
    return WG_NONE;
}

/* Signaled or timed out, a condition variable's wait ends by reacquiring the mutex. */
uint32_t wg_mutex_holder(const struct wg_snapshot *p, uint32_t t)
{
    const struct wg_thread *w = &p->threads[t];
    size_t n;
    const struct wg_holder *h = wg_holders_of(p, w->mutex, &n);
    for (size_t i = 0; w->wait == WG_COND && w->mutex != 0 && i < n; i++)
        if (h[i].thread != t && !p->threads[h[i].thread].can_continue)
            return h[i].thread;
    return WG_NONE;
}

/* A thread of the processes whose end `w` waits for, if none of them can continue, so that none can end one; WG_NONE. */
static uint32_t wg_blocked_child(const struct wg_snapshot *p, const struct wg_thread *w)
{
    uint32_t found = WG_NONE;
    for (uint32_t i = w->target; i < w->target + w->n_targets; i++) {
        if (w->target_group != 0 && p->threads[i].group != w->target_group)
            continue;
        if (p->threads[i].can_continue)
            return WG_NONE;
        if (found == WG_NONE && p->threads[i].wait != WG_ENDED)
            found = i;
    }
    return found;
}

/* A holder of what `t` waits for that cannot continue (or has ended); WG_NONE if there is none. `t` itself is
 * returned only if no other thread blocks it. */
static uint32_t blocker(const struct wg_snapshot *p, uint32_t t)
{
    const struct wg_thread *w = &p->threads[t];
    if (w->wait == WG_JOIN) {
        bool target_blocked =
            w->target != WG_NONE && p->threads[w->target].wait != WG_ENDED && !p->threads[w->target].can_continue;
        return target_blocked ? w->target : WG_NONE;
    }
    if (w->wait == WG_CHILD)
        return wg_blocked_child(p, w);
    size_t n;
    uint32_t found = WG_NONE;
    const struct wg_holder *h = wg_holders_of(p, w->object, &n);
    if (w->wait == WG_SEM)
        return wg_semaphore_holder(p, t, h, n);
    if (w->wait == WG_COND)
        return wg_mutex_holder(p, t);
    if (w->wait == WG_READ_LOCK && !wg_has_writer(h, n))
        return n > 0 ? wg_writer_ahead(p, t) : WG_NONE;
    for (size_t i = 0; i < n; i++) {
        bool holder_blocked = !p->threads[h[i].thread].can_continue;
        if (holder_blocked && (w->wait != WG_READ_LOCK || !h[i].shared) && (found == WG_NONE || found == t))
            found = h[i].thread;
    }
    return found;
}

/* --------------------------------------------------------------------------------------------- threads that can
 * continue */

static bool wg_waits_for_lock_or_end(const struct wg_thread *t)
{
    return t->wait == WG_LOCK || t->wait == WG_READ_LOCK || t->wait == WG_JOIN || t->wait == WG_CHILD;
}

/* Whether it waits for particular threads; `posts`: also for the holder of a semaphore. */
static bool wg_waits_for_holder(const struct wg_thread *t, bool posts)
{
    return wg_waits_for_lock_or_end(t) || t->wait == WG_COND || (posts && t->wait == WG_SEM);
}

static bool wg_can_continue(const struct wg_snapshot *p, uint32_t t, enum round round, bool any)
{
    const struct wg_thread *w = &p->threads[t];
    if (w->wait == WG_RUNNING || w->wait == WG_UNKNOWN)
        return true;
    if (w->wait == WG_ENDED || wg_mutex_holder(p, t) != WG_NONE)
        return false;
    if (w->timed && (round != ROUND_TIMEOUTS || !wg_waits_for_lock_or_end(w)))
        return true;
    if (wg_waits_for_lock_or_end(w))
        return blocker(p, t) == WG_NONE;
    return round == ROUND_POSTS ? any : true;
}

/* Threads deadlocked in an earlier round cannot continue. */
static void wg_find_continuing(struct wg_snapshot *p, enum round round)
{
    bool any = false, more = true;
    for (size_t i = 0; i < p->n_threads; i++)
        p->threads[i].can_continue = false;
    while (more) {
        more = false;
        for (size_t i = 0; i < p->n_threads; i++) {
            struct wg_thread *t = &p->threads[i];
            if (t->can_continue || t->deadlock != WG_NONE || !wg_can_continue(p, (uint32_t)i, round, any))
                continue;
            t->can_continue = any = more = true;
        }
    }
}

/* ------------------------------------------------------------------------------------------------ deadlocks */

static struct wg_deadlock *wg_new_deadlock(struct wg_snapshot *p, enum wg_deadlock_kind kind,
                                           enum wg_certainty certainty, uint64_t object)
{
    struct wg_deadlock *f = &p->deadlocks[p->n_deadlocks++];
    *f = (struct wg_deadlock){
        .kind = kind, .certainty = certainty, .object = object, .other = WG_NONE, .first = (uint32_t)p->n_members};
    return f;
}

static void wg_join_deadlock(struct wg_snapshot *p, struct wg_deadlock *f, uint32_t t)
{
    p->members[p->n_members++] = t;
    p->threads[t].deadlock = (uint32_t)(f - p->deadlocks);
    f->n++;
}

static enum wg_deadlock_kind wg_cycle_kind(const struct wg_snapshot *p, uint32_t start)
{
    bool joins = true;
    uint32_t t = start, n = 0;
    do {
        joins = joins && p->threads[t].wait == WG_JOIN;
        t = blocker(p, t);
        n++;
    } while (t != start);
    if (n == 1)
        return joins ? WG_JOIN_SELF : WG_SELF;
    return joins ? WG_JOIN_CYCLE : WG_CYCLE;
}

static void wg_add_cycle(struct wg_snapshot *p, uint32_t start, enum wg_certainty certainty)
{
    enum wg_deadlock_kind kind = wg_cycle_kind(p, start);
    struct wg_deadlock *f = wg_new_deadlock(p, kind, certainty, p->threads[start].object);
    uint32_t t = start;
    do {
        wg_join_deadlock(p, f, t);
        t = blocker(p, t);
    } while (t != start);
}

/* The lock it waits for, or reacquires at the end of its wait. */
static uint64_t wg_wanted_lock(const struct wg_thread *t)
{
    bool takes = t->wait == WG_LOCK || t->wait == WG_READ_LOCK;
    return takes ? t->object : t->wait == WG_COND ? t->mutex : 0;
}

/* One deadlock per lock, for all its waiters. */
static void wg_add_waiter_of_ended(struct wg_snapshot *p, uint32_t t, uint32_t ended, enum wg_certainty certainty)
{
    struct wg_deadlock *f = wg_new_deadlock(p, WG_OWNER_ENDED, certainty, wg_wanted_lock(&p->threads[t]));
    f->other = ended;
    for (uint32_t i = 0; i < p->n_threads; i++) {
        const struct wg_thread *w = &p->threads[i];
        if (!w->can_continue && w->deadlock == WG_NONE && wg_wanted_lock(w) == f->object)
            wg_join_deadlock(p, f, i);
    }
}

/* Follows blockers from thread to thread until a cycle closes or the path ends. `mark` is the number of the walk,
 * so each thread is visited once. */
static void wg_walk_from(struct wg_snapshot *p, uint32_t start, enum wg_certainty certainty, bool posts)
{
    uint32_t t = start, walk = start + 1;
    while (t != WG_NONE && p->threads[t].mark == 0 && p->threads[t].deadlock == WG_NONE) {
        struct wg_thread *w = &p->threads[t];
        w->mark = walk;
        uint32_t next = wg_waits_for_holder(w, posts) ? blocker(p, t) : WG_NONE;
        if (next != WG_NONE && p->threads[next].wait == WG_ENDED) {
            wg_add_waiter_of_ended(p, t, next, certainty);
            return;
        }
        t = next;
    }
    if (t != WG_NONE && p->threads[t].mark == walk && p->threads[t].deadlock == WG_NONE)
        wg_add_cycle(p, t, certainty);
}

static void wg_add_lock_deadlocks(struct wg_snapshot *p, enum wg_certainty certainty, bool posts)
{
    for (uint32_t i = 0; i < p->n_threads; i++)
        p->threads[i].mark = 0;
    for (uint32_t i = 0; i < p->n_threads; i++) {
        const struct wg_thread *t = &p->threads[i];
        if (!t->can_continue && t->deadlock == WG_NONE && wg_waits_for_holder(t, posts))
            wg_walk_from(p, i, certainty, posts);
    }
}

/* Cycles through semaphores used as locks, where no thread can post them. */
static void wg_add_semaphore_cycles(struct wg_snapshot *p)
{
    size_t before = p->n_deadlocks;
    wg_add_lock_deadlocks(p, WG_CERTAIN, true);
    for (size_t i = before; i < p->n_deadlocks; i++) {
        struct wg_deadlock *f = &p->deadlocks[i];
        bool outside = p->woken_from_outside;
        for (uint32_t k = 0; k < f->n; k++)
            outside |= p->threads[p->members[f->first + k]].outside;
        f->certainty = outside ? WG_WAKEABLE : WG_CERTAIN;
        f->no_waker = true;
    }
}

static enum wg_deadlock_kind wg_no_waker_kind(enum wg_wait wait)
{
    switch (wait) {
    case WG_SEM:
        return WG_NO_POST;
    case WG_COND:
        return WG_NO_SIGNAL;
    case WG_BARRIER:
        return WG_BARRIER_SHORT;
    default:
        return WG_NO_WAKE;
    }
}

static bool wg_has_no_waker(const struct wg_thread *t)
{
    return !t->can_continue && t->deadlock == WG_NONE && t->wait >= WG_SEM;
}

/* The first deadlock over locks or ends of threads; WG_NONE. */
static uint32_t wg_first_of_locks(const struct wg_snapshot *p)
{
    for (uint32_t i = 0; i < p->n_deadlocks; i++)
        if (p->deadlocks[i].certainty == WG_CERTAIN && !p->deadlocks[i].no_waker)
            return i;
    return WG_NONE;
}

/* One deadlock for all threads that wait for the same object in the same way. Beside a deadlock over locks it is its
 * consequence, as far as is known: threads of that one can have been expected to post or signal. */
static void wg_add_no_waker(struct wg_snapshot *p)
{
    uint32_t cause = wg_first_of_locks(p);
    for (uint32_t i = 0; i < p->n_threads; i++) {
        if (!wg_has_no_waker(&p->threads[i]))
            continue;
        const struct wg_thread first = p->threads[i];
        bool outside = p->woken_from_outside || first.outside;
        if (cause != WG_NONE && !outside) {
            p->threads[i].deadlock = cause;
            p->threads[i].behind = true;
            continue;
        }
        struct wg_deadlock *f =
            wg_new_deadlock(p, wg_no_waker_kind(first.wait), outside ? WG_WAKEABLE : WG_CERTAIN, first.object);
        f->no_waker = true;
        for (uint32_t k = i; k < p->n_threads; k++)
            if (wg_has_no_waker(&p->threads[k]) && p->threads[k].wait == first.wait &&
                p->threads[k].object == first.object)
                wg_join_deadlock(p, f, k);
    }
}

/* Threads that all sleep, though no deadlock was found: a holder or waker is missing in the data. */
static void wg_add_all_asleep(struct wg_snapshot *p)
{
    uint32_t n = 0;
    for (size_t i = 0; i < p->n_threads; i++) {
        const struct wg_thread *t = &p->threads[i];
        if (t->wait == WG_RUNNING || t->timed || t->outside || t->deadlock != WG_NONE)
            return;
        n += t->wait != WG_ENDED;
    }
    if (!p->all_asleep || n == 0)
        return;
    struct wg_deadlock *f = wg_new_deadlock(p, WG_ALL_ASLEEP, WG_STALLED, 0);
    f->no_waker = true;
    for (uint32_t i = 0; i < p->n_threads; i++)
        if (p->threads[i].wait != WG_ENDED)
            wg_join_deadlock(p, f, i);
}

/* Blocked threads outside of all deadlocks wait for a deadlocked thread. */
static void wg_add_waiters_behind(struct wg_snapshot *p, bool posts)
{
    bool more = true;
    while (more) {
        more = false;
        for (uint32_t i = 0; i < p->n_threads; i++) {
            struct wg_thread *t = &p->threads[i];
            if (t->can_continue || t->deadlock != WG_NONE || !wg_waits_for_holder(t, posts))
                continue;
            uint32_t next = blocker(p, i);
            if (next == WG_NONE || p->threads[next].deadlock == WG_NONE)
                continue;
            t->deadlock = p->threads[next].deadlock;
            t->behind = more = true;
        }
    }
}

void wg_find_blocked(struct wg_snapshot *p)
{
    p->n_deadlocks = p->n_members = 0;
    for (size_t i = 0; i < p->n_threads; i++) {
        p->threads[i].deadlock = WG_NONE;
        p->threads[i].behind = false;
    }
    wg_index_holders(p);
    wg_find_continuing(p, ROUND_LOCKS);
    wg_add_lock_deadlocks(p, WG_CERTAIN, false);
    wg_add_waiters_behind(p, false);
    wg_find_continuing(p, ROUND_POSTS);
    wg_add_semaphore_cycles(p);
    wg_add_waiters_behind(p, true);
    wg_add_no_waker(p);
    wg_add_waiters_behind(p, false);
    wg_find_continuing(p, ROUND_TIMEOUTS);
    wg_add_lock_deadlocks(p, WG_BREAKABLE, false);
    wg_add_waiters_behind(p, false);
    wg_add_all_asleep(p);
}
