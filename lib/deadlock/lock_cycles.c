/* SPDX-License-Identifier: MIT */
/* Cycles in the order of locks, put together by their places in the program and the kinds of their locks. Room: analysis. Before it: order_book.c and
 * the waitgraph; after it: tools, through include/upmu/deadlock.h. */
#include "deadlock/deadlocks.h"
#include "base/map.h"
#include "base/error.h"
#include "base/opts.h"

_Static_assert((int)WG_INVERSION == (int)UPMU_LOCK_INVERSION && (int)WG_GATED == (int)UPMU_LOCK_GATED &&
                   (int)WG_ONE_THREAD == (int)UPMU_LOCK_ONE_THREAD && (int)WG_ORDERED == (int)UPMU_LOCK_ORDERED &&
                   (int)WG_BROKEN == (int)UPMU_LOCK_BROKEN && (int)WG_ORDER_CLASSES == (int)UPMU_LOCK_CLASSES,
               "the waitgraph counts classes as the public header does");

const char *upmu_lock_cycle_class_name(int class_number)
{
    static const char *const names[UPMU_LOCK_CLASSES] = {"inversion", "gated", "one-thread", "ordered", "broken"};
    return class_number >= 0 && class_number < UPMU_LOCK_CLASSES ? names[class_number] : "?";
}

static const struct wg_order_cycle *found_of(const struct upmu_deadlocks *d, const struct dl_cycle *c)
{
    return &d->order.cycles[c->found];
}

static uint32_t member(const struct upmu_deadlocks *d, const struct wg_order_cycle *f, size_t k)
{
    return d->order.members[f->first + k % f->n];
}

/* The entry of taking `k` for the lock that the one before it wants; where it was taken more than once, the first. */
static uint32_t wanted_entry(const struct upmu_deadlocks *d, const struct wg_order_cycle *f, size_t k)
{
    const struct wg_taking *t = &d->book.takings[member(d, f, k)];
    uint32_t lock = d->book.takings[member(d, f, k + f->n - 1)].lock, i = 0;
    while (i + 1 < t->n_held && d->book.held[t->first_held + i].lock != lock)
        i++;
    return t->first_held + i;
}

/* -------------------------------------------------------------------------------------------------- putting together */

static uint64_t mix(uint64_t h)
{
    h = (h ^ h >> 31) * 0x9e3779b97f4a7c15u;
    return h ^ h >> 29;
}

static uint64_t site_of_taking(const struct upmu_deadlocks *d, uint32_t taking)
{
    struct upmu_trace_stack stack = {.size = sizeof stack};
    const struct book_taking *f = &d->book.facts[taking];
    bool known = upmu_overview_stack_find(d->overview, f->process, f->stack, &stack) == 0 && stack.n_frames > 0;
    return known ? stack.frames[0] : 0;
}

/* Where a cycle happens in the program: the places of its takings, whichever comes first. */
static uint64_t places_of(const struct upmu_deadlocks *d, const struct wg_order_cycle *f)
{
    uint64_t sum = mix((uint64_t)f->class * 64 + f->n);
    for (size_t k = 0; k < f->n; k++) {
        uint64_t site = site_of_taking(d, member(d, f, k)), held = d->book.sites[wanted_entry(d, f, k)].site;
        sum += mix(mix(site) + held) + d->book.facts[member(d, f, k)].process;
    }
    return sum;
}

/* A lock's kind: where it was made, with all its callers, as far as that is known; else it is the only one. */
static uint64_t kind_of(const struct upmu_deadlocks *d, uint32_t lock)
{
    const struct book_lock *l = &d->book.locks[lock];
    return mix(mix(l->made ? l->made : l->address) + 2 * (uint64_t)l->process + (l->made != 0));
}

/* Of which kinds the locks of a cycle are, each once, whichever comes first. */
static uint64_t kinds_of(const struct upmu_deadlocks *d, const struct wg_order_cycle *f)
{
    uint64_t sum = mix(f->class);
    for (size_t k = 0; k < f->n; k++) {
        uint64_t kind = kind_of(d, d->book.takings[member(d, f, k)].lock);
        bool seen = false;
        for (size_t i = 0; i < k && !seen; i++)
            seen = kind_of(d, d->book.takings[member(d, f, i)].lock) == kind;
        sum += seen ? 0 : mix(kind);
    }
    return sum;
}

static int add_cycle(struct upmu_deadlocks *d, uint32_t found)
{
    uint64_t places = places_of(d, &d->order.cycles[found]), kinds = kinds_of(d, &d->order.cycles[found]);
    for (size_t i = 0; i < d->n_cycles; i++) {
        if (d->cycles[i].places != places && d->cycles[i].kinds != kinds)
            continue;
        d->cycles[i].alike++;
        return 0;
    }
    struct dl_cycle *all = array_room(d->cycles, d->n_cycles, &d->cap_cycles, sizeof *all);
    if (!all)
        return deadlocks_no_memory();
    d->cycles = all;
    all[d->n_cycles++] = (struct dl_cycle){.found = found, .places = places, .kinds = kinds};
    return 0;
}

int deadlocks_find_cycles(struct upmu_deadlocks *d)
{
    int rc = order_book_cycles(&d->book, &d->order);
    for (size_t i = 0; rc == 0 && i < d->order.n_cycles; i++)
        rc = add_cycle(d, (uint32_t)i);
    return rc;
}

/* --------------------------------------------------------------------------------------------------------- facts */

static int give(void *out, size_t out_size, const void *ours, size_t size)
{
    if (opts_give(out, out_size, size, ours, size))
        return 0;
    return upmu_fail(UPMU_E_INVAL, "the struct to be filled has at least %zu bytes, not %zu", size, out_size);
}

int upmu_deadlocks_cycle_at(const struct upmu_deadlocks *d, size_t i, struct upmu_lock_cycle *out)
{
    if (!d || !out)
        return upmu_fail(UPMU_E_INVAL, "no deadlocks, or no place for a cycle");
    if (i >= d->n_cycles)
        return UPMU_E_NAME;
    const struct dl_cycle *c = &d->cycles[i];
    const struct wg_order_cycle *f = found_of(d, c);
    const struct book_taking *t = &d->book.facts[member(d, f, 0)];
    const struct upmu_lock_cycle ours = {
        .process = t->process,
        .pid = t->pid,
        .class_number = (int32_t)f->class,
        .suppressed = c->suppressed,
        .n_acquisitions = f->n,
        .n_similar = c->alike,
    };
    return give(out, out->size, &ours, sizeof ours);
}

int upmu_deadlocks_acquisition_at(const struct upmu_deadlocks *d, size_t i, size_t k, struct upmu_lock_acquisition *out)
{
    if (!d || !out)
        return upmu_fail(UPMU_E_INVAL, "no deadlocks, or no place for a taking");
    if (i >= d->n_cycles || k >= found_of(d, &d->cycles[i])->n)
        return UPMU_E_NAME;
    const struct wg_order_cycle *c = found_of(d, &d->cycles[i]);
    uint32_t number = member(d, c, k), entry = wanted_entry(d, c, k);
    const struct wg_taking *t = &d->book.takings[number];
    const struct book_taking *f = &d->book.facts[number];
    const struct book_lock *lock = &d->book.locks[t->lock], *held = &d->book.locks[d->book.held[entry].lock];
    const struct upmu_lock_acquisition ours = {
        .tid = f->tid,
        .time_ns = f->time_ns,
        .lock = lock->address,
        .lock_type = lock->type,
        .shared = t->shared,
        .tried = (f->flags & UPMU_TRACE_FLAG_TRIED) != 0,
        .timed = (f->flags & UPMU_TRACE_FLAG_TIMED) != 0,
        .stack = f->stack,
        .held = held->address,
        .held_type = held->type,
        .held_shared = d->book.held[entry].shared,
        .held_site = d->book.sites[entry].site,
        .n_held = t->n_held,
    };
    return give(out, out->size, &ours, sizeof ours);
}

/* Whether another taking of the cycle holds it, too, in a way that keeps the two apart; a room: more than find place. */
static bool is_gate(const struct upmu_deadlocks *d, const struct wg_order_cycle *c, size_t k,
                    const struct wg_order_held *h)
{
    uint32_t in = 1;
    for (size_t other = 0; other < c->n; other++) {
        const struct wg_taking *t = &d->book.takings[member(d, c, other)];
        for (uint32_t i = 0; other != k && i < t->n_held; i++) {
            const struct wg_order_held *o = &d->book.held[t->first_held + i];
            if (o->lock == h->lock && !(o->shared && h->shared))
                return true;
            in += o->lock == h->lock;
        }
    }
    return h->places > 0 && in > h->places;
}

int upmu_deadlocks_acquisition_held_at(const struct upmu_deadlocks *d, size_t i, size_t k, size_t h,
                                       struct upmu_deadlock_held *out)
{
    if (!d || !out)
        return upmu_fail(UPMU_E_INVAL, "no deadlocks, or no place for a lock");
    if (i >= d->n_cycles || k >= found_of(d, &d->cycles[i])->n)
        return UPMU_E_NAME;
    const struct wg_order_cycle *c = found_of(d, &d->cycles[i]);
    const struct wg_taking *t = &d->book.takings[member(d, c, k)];
    if (h >= t->n_held)
        return UPMU_E_NAME;
    const struct wg_order_held *held = &d->book.held[t->first_held + h];
    const struct upmu_deadlock_held ours = {
        .lock = d->book.locks[held->lock].address,
        .shared = held->shared,
        .wanted = is_gate(d, c, k, held),
        .site = d->book.sites[t->first_held + h].site,
    };
    return give(out, out->size, &ours, sizeof ours);
}

int upmu_deadlocks_totals_read(const struct upmu_deadlocks *d, struct upmu_deadlocks_totals *out)
{
    if (!d || !out)
        return upmu_fail(UPMU_E_INVAL, "no deadlocks, or no place for what is known of them");
    uint32_t without = 0;
    for (size_t i = 0; i < d->n_processes; i++)
        without += !d->processes[i].recorded;
    const struct upmu_deadlocks_totals ours = {.acquisitions = d->book.n_acquisitions,
                                               .incomplete = d->book.incomplete,
                                               .truncated = d->order.cut,
                                               .without_wait_state = without};
    return give(out, out->size, &ours, sizeof ours);
}
