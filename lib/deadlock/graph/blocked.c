/* SPDX-License-Identifier: MIT */
/*
 * Who can go on, and what the rest is caught in. Room: waitgraph; before it a picture of a process, after it a report.
 *
 * Three rounds over the same threads, from what is surest to what is least: first as if posts, signals and timeouts
 * would always come (what stands then is a matter of locks and joins alone, and certain), then with posts and signals
 * coming only from threads that can go on, then as if no timeout came. What an earlier round has found stays found.
 */
#include "deadlock/graph/blocked.h"

#include <stdlib.h>

enum round { ROUND_LOCKS, ROUND_POSTS, ROUND_TIMEOUTS };

/* ------------------------------------------------------------------------------------------------------ holders */

static int by_lock(const void *a, const void *b)
{
    const struct wg_holder *x = a, *y = b;
    if (x->lock != y->lock)
        return x->lock < y->lock ? -1 : 1;
    return x->thread < y->thread ? -1 : x->thread > y->thread;
}

/* A thread's first and its later turns with a recursive lock all stand there; what matters is that it is among them. */
static void index_holders(struct wg_picture *p)
{
    size_t n = 0;
    for (size_t i = 0; i < p->n_threads; i++)
        for (uint32_t k = 0; k < p->threads[i].n_holds; k++) {
            const struct wg_hold *h = &p->holds[p->threads[i].first_hold + k];
            p->holders[n++] = (struct wg_holder){.lock = h->lock, .thread = (uint32_t)i, .shared = h->shared};
        }
    p->n_holds = n;
    if (n > 0)
        qsort(p->holders, n, sizeof *p->holders, by_lock);
}

const struct wg_holder *wg_holders_of(const struct wg_picture *p, uint64_t lock, size_t *n)
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

/* ----------------------------------------------------------------------------------------------- who blocks whom */

static bool has_writer(const struct wg_holder *h, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (!h[i].shared)
            return true;
    return false;
}

/* A writer that waits for the lock which thread `t` wants to read, and cannot go on; WG_NONE. */
static uint32_t writer_ahead(const struct wg_picture *p, uint32_t t)
{
    if (!p->threads[t].writers_first)
        return WG_NONE;
    for (size_t i = 0; i < p->n_threads; i++) {
        const struct wg_thread *w = &p->threads[i];
        if (w->wait == WG_TAKES && w->object == p->threads[t].object && !w->moves && i != t)
            return (uint32_t)i;
    }
    return WG_NONE;
}

/* Another thread that has the semaphore, which is used as a lock, and cannot go on. Anybody could post it: this counts
 * where nobody is left who could. */
static uint32_t holder_of_post(const struct wg_picture *p, uint32_t t, const struct wg_holder *h, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        const struct wg_thread *holder = &p->threads[h[i].thread];
        if (h[i].thread != t && !holder->moves && holder->wait != WG_ENDED)
            return h[i].thread;
    }
    return WG_NONE;
}

/* Signalled or not, and at the end of its time as well, a wait for a condition variable ends with the mutex. */
uint32_t wg_retaken_from(const struct wg_picture *p, uint32_t t)
{
    const struct wg_thread *w = &p->threads[t];
    size_t n;
    const struct wg_holder *h = wg_holders_of(p, w->mutex, &n);
    for (size_t i = 0; w->wait == WG_SIGNAL && w->mutex != 0 && i < n; i++)
        if (h[i].thread != t && !p->threads[h[i].thread].moves)
            return h[i].thread;
    return WG_NONE;
}

/* A holder of what `t` waits for that cannot go on (or has ended); WG_NONE if there is none. Others come before `t`
 * itself: that a thread stands in its own way is said only where nobody else does, or it holds the lock alone. */
static uint32_t blocker(const struct wg_picture *p, uint32_t t)
{
    const struct wg_thread *w = &p->threads[t];
    if (w->wait == WG_JOINS) {
        bool stands = w->target != WG_NONE && p->threads[w->target].wait != WG_ENDED && !p->threads[w->target].moves;
        return stands ? w->target : WG_NONE;
    }
    size_t n;
    uint32_t found = WG_NONE;
    const struct wg_holder *h = wg_holders_of(p, w->object, &n);
    if (w->wait == WG_POST)
        return holder_of_post(p, t, h, n);
    if (w->wait == WG_SIGNAL)
        return wg_retaken_from(p, t);
    if (w->wait == WG_READS && !has_writer(h, n))
        return n > 0 ? writer_ahead(p, t) : WG_NONE;
    for (size_t i = 0; i < n; i++) {
        bool stands = !p->threads[h[i].thread].moves;
        if (stands && (w->wait != WG_READS || !h[i].shared) && (found == WG_NONE || found == t))
            found = h[i].thread;
    }
    return found;
}

/* --------------------------------------------------------------------------------------------- who can go on */

static bool waits_for_lock_or_end(const struct wg_thread *t)
{
    return t->wait == WG_TAKES || t->wait == WG_READS || t->wait == WG_JOINS;
}

/* Whether it waits for certain threads; `posts`: those that hold a semaphore among them. */
static bool waits_for_holder(const struct wg_thread *t, bool posts)
{
    return waits_for_lock_or_end(t) || t->wait == WG_SIGNAL || (posts && t->wait == WG_POST);
}

static bool can_move(const struct wg_picture *p, uint32_t t, enum round round, bool anybody)
{
    const struct wg_thread *w = &p->threads[t];
    if (w->wait == WG_RUNS)
        return true;
    if (w->wait == WG_ENDED || wg_retaken_from(p, t) != WG_NONE)
        return false;
    if (w->timed && (round != ROUND_TIMEOUTS || !waits_for_lock_or_end(w)))
        return true;
    if (waits_for_lock_or_end(w))
        return blocker(p, t) == WG_NONE;
    return round == ROUND_POSTS ? anybody : true;
}

/* Nobody who was found in an earlier round moves. */
static void find_movers(struct wg_picture *p, enum round round)
{
    bool anybody = false, more = true;
    for (size_t i = 0; i < p->n_threads; i++)
        p->threads[i].moves = false;
    while (more) {
        more = false;
        for (size_t i = 0; i < p->n_threads; i++) {
            struct wg_thread *t = &p->threads[i];
            if (t->moves || t->trouble != WG_NONE || !can_move(p, (uint32_t)i, round, anybody))
                continue;
            t->moves = anybody = more = true;
        }
    }
}

/* ------------------------------------------------------------------------------------------------ what it is */

static struct wg_trouble_found *new_trouble(struct wg_picture *p, enum wg_trouble kind, enum wg_certainty certainty,
                                            uint64_t object)
{
    struct wg_trouble_found *f = &p->found[p->n_found++];
    *f = (struct wg_trouble_found){
        .kind = kind, .certainty = certainty, .object = object, .other = WG_NONE, .first = (uint32_t)p->n_members};
    return f;
}

static void join_trouble(struct wg_picture *p, struct wg_trouble_found *f, uint32_t t)
{
    p->members[p->n_members++] = t;
    p->threads[t].trouble = (uint32_t)(f - p->found);
    f->n++;
}

static enum wg_trouble kind_of_cycle(const struct wg_picture *p, uint32_t start)
{
    bool joins = true;
    uint32_t t = start, n = 0;
    do {
        joins = joins && p->threads[t].wait == WG_JOINS;
        t = blocker(p, t);
        n++;
    } while (t != start);
    if (n == 1)
        return joins ? WG_JOIN_SELF : WG_SELF;
    return joins ? WG_JOIN_CYCLE : WG_CYCLE;
}

static void add_cycle(struct wg_picture *p, uint32_t start, enum wg_certainty certainty)
{
    enum wg_trouble kind = kind_of_cycle(p, start);
    struct wg_trouble_found *f = new_trouble(p, kind, certainty, p->threads[start].object);
    uint32_t t = start;
    do {
        join_trouble(p, f, t);
        t = blocker(p, t);
    } while (t != start);
}

/* The lock it waits for, or takes again at the end of its wait. */
static uint64_t lock_wanted(const struct wg_thread *t)
{
    bool takes = t->wait == WG_TAKES || t->wait == WG_READS;
    return takes ? t->object : t->wait == WG_SIGNAL ? t->mutex : 0;
}

/* One trouble per lock, however many wait for it. */
static void add_waiter_of_ended(struct wg_picture *p, uint32_t t, uint32_t ended, enum wg_certainty certainty)
{
    struct wg_trouble_found *f = new_trouble(p, WG_OWNER_ENDED, certainty, lock_wanted(&p->threads[t]));
    f->other = ended;
    for (uint32_t i = 0; i < p->n_threads; i++) {
        const struct wg_thread *w = &p->threads[i];
        if (!w->moves && w->trouble == WG_NONE && lock_wanted(w) == f->object)
            join_trouble(p, f, i);
    }
}

/* From thread to the thread in its way, until a cycle closes or the way ends. `mark` is the walk's number, so each
 * thread is walked over once. */
static void walk_from(struct wg_picture *p, uint32_t start, enum wg_certainty certainty, bool posts)
{
    uint32_t t = start, walk = start + 1;
    while (t != WG_NONE && p->threads[t].mark == 0 && p->threads[t].trouble == WG_NONE) {
        struct wg_thread *w = &p->threads[t];
        w->mark = walk;
        uint32_t next = waits_for_holder(w, posts) ? blocker(p, t) : WG_NONE;
        if (next != WG_NONE && p->threads[next].wait == WG_ENDED) {
            add_waiter_of_ended(p, t, next, certainty);
            return;
        }
        t = next;
    }
    if (t != WG_NONE && p->threads[t].mark == walk && p->threads[t].trouble == WG_NONE)
        add_cycle(p, t, certainty);
}

static void name_locks(struct wg_picture *p, enum wg_certainty certainty, bool posts)
{
    for (uint32_t i = 0; i < p->n_threads; i++)
        p->threads[i].mark = 0;
    for (uint32_t i = 0; i < p->n_threads; i++) {
        const struct wg_thread *t = &p->threads[i];
        if (!t->moves && t->trouble == WG_NONE && waits_for_holder(t, posts))
            walk_from(p, i, certainty, posts);
    }
}

/* Cycles through semaphores used as locks, where nobody is left to post them. */
static void name_post_cycles(struct wg_picture *p)
{
    size_t before = p->n_found;
    name_locks(p, WG_CERTAIN, true);
    for (size_t i = before; i < p->n_found; i++) {
        struct wg_trouble_found *f = &p->found[i];
        bool outside = p->woken_from_outside;
        for (uint32_t k = 0; k < f->n; k++)
            outside |= p->threads[p->members[f->first + k]].outside;
        f->certainty = outside ? WG_STALLED : WG_CERTAIN;
        f->silent = true;
    }
}

static enum wg_trouble kind_of_silence(enum wg_wait wait)
{
    switch (wait) {
    case WG_POST:
        return WG_NO_POST;
    case WG_SIGNAL:
        return WG_NO_SIGNAL;
    case WG_ARRIVAL:
        return WG_BARRIER_SHORT;
    default:
        return WG_NO_WAKE;
    }
}

static bool is_silent(const struct wg_thread *t)
{
    return !t->moves && t->trouble == WG_NONE && t->wait >= WG_POST;
}

/* One trouble for all who wait for the same thing in the same way. */
static void name_silences(struct wg_picture *p)
{
    for (uint32_t i = 0; i < p->n_threads; i++) {
        if (!is_silent(&p->threads[i]))
            continue;
        const struct wg_thread first = p->threads[i];
        bool outside = p->woken_from_outside || first.outside;
        struct wg_trouble_found *f =
            new_trouble(p, kind_of_silence(first.wait), outside ? WG_STALLED : WG_CERTAIN, first.object);
        f->silent = true;
        for (uint32_t k = i; k < p->n_threads; k++)
            if (is_silent(&p->threads[k]) && p->threads[k].wait == first.wait && p->threads[k].object == first.object)
                join_trouble(p, f, k);
    }
}

/* Who stands and is part of nothing waits for somebody who is. */
static void name_those_behind(struct wg_picture *p, bool posts)
{
    bool more = true;
    while (more) {
        more = false;
        for (uint32_t i = 0; i < p->n_threads; i++) {
            struct wg_thread *t = &p->threads[i];
            if (t->moves || t->trouble != WG_NONE || !waits_for_holder(t, posts))
                continue;
            uint32_t next = blocker(p, i);
            if (next == WG_NONE || p->threads[next].trouble == WG_NONE)
                continue;
            t->trouble = p->threads[next].trouble;
            t->behind = more = true;
        }
    }
}

void wg_stand(struct wg_picture *p)
{
    p->n_found = p->n_members = 0;
    for (size_t i = 0; i < p->n_threads; i++) {
        p->threads[i].trouble = WG_NONE;
        p->threads[i].behind = false;
    }
    index_holders(p);
    find_movers(p, ROUND_LOCKS);
    name_locks(p, WG_CERTAIN, false);
    name_those_behind(p, false);
    find_movers(p, ROUND_POSTS);
    name_post_cycles(p);
    name_those_behind(p, true);
    name_silences(p);
    name_those_behind(p, false);
    find_movers(p, ROUND_TIMEOUTS);
    name_locks(p, WG_BREAKABLE, false);
    name_those_behind(p, false);
}
