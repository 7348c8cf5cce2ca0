/* SPDX-License-Identifier: MIT */
/*
 * Per-thread table of acquisition counts per lock.
 *
 * A table that fills up is replaced by one twice as large. Old tables stay mapped: another thread may be reading one.
 *
 * When a lock ends, its slots become dormant in all threads: they stay where they are and keep counting, but the fast path
 * does not match them. So the next lock at the address registers itself.
 */
#include "sync_trace/state/counts.h"

#include <errno.h>
#include <sys/mman.h>

#include "base/own_memory.h"
#include "region/recorder.h"
#include "sync_trace/state/lock_memory.h"

enum { SLOTS_MAX = 1 << 27 }; /* more than a process has memory for */

/* A table of few slots has a new one after so many searches, of the larger size each time; then after many times as many each. */
enum {
    SEARCHES_FIRST = 1 << 10,
    SEARCHES_MORE = 1 << 3,
    SEARCHES_MAX = 1 << 24,
    SLOTS_FEW = 1 << 10,
    SLOTS_MOVED = 1 << 12
};

static size_t counts_bytes(uint32_t slots)
{
    return sizeof(struct sync_counts) + slots * (sizeof(struct sync_count) + sizeof(uint64_t));
}

static void counts_lay_out(struct sync_counts *c, uint32_t slots)
{
    c->mask = slots - 1;
    c->patience = SEARCHES_FIRST;
    c->recorded = (uint64_t *)(void *)&c->slot[slots];
}

_Static_assert(sizeof(struct sync_counts) <= 3 * sizeof(uint64_t) && sizeof(struct sync_count) <= 4 * sizeof(uint64_t),
               "the first table fits into a block");

void sync_counts_start(struct sync_thread *t)
{
    t->counts = (struct sync_counts *)(void *)&t->counts_first[SYNC_COUNTS_SKIP];
    counts_lay_out(t->counts, SYNC_COUNTS_FIRST);
}

/* A new table of `slots`, a power of two; NULL. Keeps errno. */
static struct sync_counts *counts_new(uint32_t slots)
{
    struct sync_counts *c = own_memory_map(counts_bytes(slots), MAP_POPULATE);
    if (c)
        counts_lay_out(c, slots);
    return c;
}

/* Set in the key of a dormant slot: no address is that large. Where addresses have 32 bits there is no such bit, and no
 * slot becomes dormant. */
static const uintptr_t dormant = sizeof(uintptr_t) > sizeof(uint32_t) ? (uintptr_t)1 << (sizeof(uintptr_t) * 8 - 1) : 0;

bool sync_counts_can_be_dormant(void)
{
    return dormant != 0;
}

void sync_count_make_dormant(struct sync_count *s, uintptr_t key)
{
    (void)__atomic_compare_exchange_n(&s->lock, &key, key | dormant, false, __ATOMIC_RELAXED, __ATOMIC_RELAXED);
}

uintptr_t sync_count_key(const struct sync_count *s)
{
    return __atomic_load_n(&s->lock, __ATOMIC_ACQUIRE) & ~dormant;
}

/* The lock's slot, or the free one it may use; NULL if all its slots are used. */
static struct sync_count *count_probe(struct sync_counts *c, uintptr_t lock)
{
    for (uint32_t i = 0; i < SYNC_COUNT_PROBES; i++) {
        struct sync_count *s = &c->slot[sync_count_place(lock, i) & c->mask];
        if (sync_count_key(s) == lock || s->lock == 0)
            return s;
    }
    return NULL;
}

static bool count_move(const struct sync_counts *from, uint32_t i, struct sync_counts *to)
{
    struct sync_count *s = count_probe(to, sync_count_key(&from->slot[i]));
    if (!s)
        return false;
    if (s->lock)
        return true;
    *s = from->slot[i];
    to->recorded[s - to->slot] = __atomic_load_n(&from->recorded[i], __ATOMIC_RELAXED);
    to->used++;
    return true;
}

static bool counts_move_all(struct sync_counts *from, struct sync_counts *to, uintptr_t first)
{
    const struct sync_count *s = count_probe(from, first);
    bool moved = !s || !s->lock || count_move(from, (uint32_t)(s - from->slot), to);
    for (uint32_t i = 0; i <= from->mask && moved; i++)
        moved = !from->slot[i].lock || count_move(from, i, to);
    return moved;
}

static bool counts_replace_now(struct sync_thread *t, uint32_t slots, uintptr_t first)
{
    struct sync_counts *old = t->counts;
    for (; slots <= SLOTS_MAX; slots *= 2) {
        struct sync_counts *other = counts_new(slots);
        if (!other)
            return false;
        other->patience = old->patience;
        if (counts_move_all(old, other, first)) {
            __atomic_store_n(&t->counts, other, __ATOMIC_RELEASE);
            return true;
        }
        own_memory_unmap(other, counts_bytes(slots));
    }
    return false;
}

/* A table of `slots` or more, in which lock `first`, if it is known, has its first place. Signals and other threads are kept out: a
 * signal handler would count in the old table, and a slot that another thread makes dormant would be active in the new one. */
static bool counts_replace(struct sync_thread *t, uint32_t slots, uintptr_t first)
{
    sigset_t before = sync_signals_block();
    tiny_lock_take(&sync_gate.lock);
    bool replaced = counts_replace_now(t, slots, first);
    tiny_lock_give(&sync_gate.lock);
    sync_signals_restore(&before);
    return replaced;
}

/* Use a free slot, or the lock's own dormant one: the thread's first acquisition of this lock. In between a signal
 * handler may have used it for another lock. @return whether it is this lock's now. */
static bool count_claim(struct sync_thread *t, struct sync_count *s, uintptr_t lock, uint32_t type)
{
    uintptr_t found = __atomic_load_n(&s->lock, __ATOMIC_RELAXED);
    bool may = found == 0 || found == (lock | dormant);
    if (!may || !__atomic_compare_exchange_n(&s->lock, &found, lock, false, __ATOMIC_RELEASE, __ATOMIC_RELAXED))
        return found == lock;
    sync_count_due_after(s, sync_option(sample));
    s->stamps = 0;
    __atomic_store_n(&s->type, (uint16_t)type, __ATOMIC_RELEASE);
    if (found == 0)
        __atomic_fetch_add(&t->counts->used, 1, __ATOMIC_RELAXED);
    lock_memory_put(sync_process.lock_memory, sync_key_object(lock, type), t->number);
    return true;
}

/* Counts of locks that do not fit in any table: counted as lost, never as another lock's. */
static struct sync_count *count_no_space(struct sync_thread *t)
{
    upmu_recorder_lost_(LOSS_LOCKS, 1);
    __atomic_store_n(&sync_gate.counts_lost, 1, __ATOMIC_RELAXED);
    t->uncounted.stamps = 0;
    sync_count_due_after(&t->uncounted, 0);
    return &t->uncounted;
}

/* A known lock was searched for. @return whether there is a new table. */
static bool count_searched(struct sync_thread *t, const struct sync_count *s, uintptr_t lock)
{
    struct sync_counts *c = t->counts;
    uint32_t slots = c->mask + 1;
    if (s == &c->slot[sync_count_place(lock, 0) & c->mask] || ++c->searches < c->patience || slots > SLOTS_MOVED)
        return false;
    c->searches = 0;
    if (c->patience > SEARCHES_MAX)
        return false;
    if (slots >= SLOTS_FEW)
        c->patience *= SEARCHES_MORE;
    return counts_replace(t, slots < SLOTS_FEW ? slots * 2 : slots, lock);
}

struct sync_count *sync_count_find(struct sync_thread *t, uintptr_t lock, uint32_t type)
{
    struct sync_count *s;
    do {
        s = count_probe(t->counts, lock);
        bool fits = s && (s->lock != 0 || t->counts->used < t->counts->mask / 2 + t->counts->mask / 4);
        while (!fits) {
            if (!counts_replace(t, (t->counts->mask + 1) * 2, lock))
                return s && s->lock == lock ? s : count_no_space(t);
            s = count_probe(t->counts, lock);
            fits = s != NULL;
        }
    } while (s->lock != lock ? !count_claim(t, s, lock, type) : count_searched(t, s, lock));
    return s;
}

bool sync_key_is_reader(const struct sync_thread *t, uintptr_t key)
{
    const struct sync_count *s = key % 2 ? count_probe(t->counts, key) : NULL;
    return key % 2 && !(s && sync_count_key(s) == key && !sync_type_has_readers(s->type));
}

uint32_t sync_count_type(const struct sync_thread *t, uintptr_t key)
{
    const struct sync_count *s = count_probe(t->counts, key);
    return s && s->lock == key ? s->type : UPMU_OBJECT_NONE;
}

void sync_counts_clear(struct sync_thread *t)
{
    struct sync_counts *c = t->counts;
    c->used = 0;
    for (uint32_t i = 0; i <= c->mask; i++) {
        c->slot[i] = (struct sync_count){0};
        c->recorded[i] = 0;
    }
}
