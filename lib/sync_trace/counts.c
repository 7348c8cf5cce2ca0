/* SPDX-License-Identifier: MIT */
/*
 * Exact counts per thread and lock. Room: sync_trace; before it the wrappers, after it record.c and the trace.
 *
 * A slot is found by the lock's address; a table that fills up is replaced by one twice as large. Old tables stay
 * mapped: whoever writes out the counts of all threads at exit may be reading one.
 *
 * When a lock ends its slots fall asleep, in all threads: they stay where they are and what they count goes on, but the
 * quick look does not find them. So the next lock at the address is met as one that nobody knew.
 */
#include <errno.h>
#include <sys/mman.h>

#include "base/tick.h"
#include "region/recorder.h"
#include "sync_trace/lock_memory.h"
#include "sync_trace/sync.h"
#include "trace/write/writer.h"

enum {
    PROBES = 16,
    SLOTS_MAX = 1 << 27, /* beyond what a process has memory for */
};

struct sync_counts *sync_counts_new(uint32_t slots)
{
    size_t bytes = sizeof(struct sync_counts) + slots * (sizeof(struct sync_count) + sizeof(uint64_t));
    int saved = errno;
    struct sync_counts *c = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    errno = saved;
    if (c == MAP_FAILED)
        return NULL;
    c->mask = slots - 1;
    c->written = (uint64_t *)(void *)&c->slot[slots];
    return c;
}

/* Set in the key of a slot that is asleep: no address is that large. (Where addresses have 32 bits there is no such bit,
 * and no slot sleeps.) */
static const uintptr_t asleep = sizeof(uintptr_t) > sizeof(uint32_t) ? (uintptr_t)1 << (sizeof(uintptr_t) * 8 - 1) : 0;

static uintptr_t key_of(const struct sync_count *s)
{
    return __atomic_load_n(&s->lock, __ATOMIC_ACQUIRE) & ~asleep;
}

/* The lock's slot, or the free one it may have; NULL if its neighbourhood is full. */
static struct sync_count *probe(struct sync_counts *c, uintptr_t lock)
{
    uint32_t at = (uint32_t)(lock >> 4 ^ lock >> 12);
    for (uint32_t i = 0; i < PROBES; i++) {
        struct sync_count *s = &c->slot[(at + i) & c->mask];
        if (key_of(s) == lock || s->lock == 0)
            return s;
    }
    return NULL;
}

static bool move_all(const struct sync_counts *from, struct sync_counts *to)
{
    for (uint32_t i = 0; i <= from->mask; i++) {
        if (!from->slot[i].lock)
            continue;
        struct sync_count *s = probe(to, key_of(&from->slot[i]));
        if (!s)
            return false;
        *s = from->slot[i];
        to->written[s - to->slot] = __atomic_load_n(&from->written[i], __ATOMIC_RELAXED);
        to->used++;
    }
    return true;
}

static bool grow_now(struct sync_thread *t)
{
    for (uint32_t slots = (t->counts->mask + 1) * 2; slots <= SLOTS_MAX; slots *= 2) {
        struct sync_counts *larger = sync_counts_new(slots);
        if (!larger)
            return false;
        if (move_all(t->counts, larger)) {
            __atomic_store_n(&t->counts, larger, __ATOMIC_RELEASE);
            return true;
        }
        munmap(larger, sizeof *larger + slots * (sizeof(struct sync_count) + sizeof(uint64_t)));
    }
    return false;
}

/* What a signal handler counts while all is moved would be counted in the table that is left, and a slot that another
 * thread puts to sleep would be awake in the new one. */
static bool grow(struct sync_thread *t)
{
    sigset_t before = sync_signals_away();
    tiny_lock_take(&sync_gate.lock);
    bool grown = grow_now(t);
    tiny_lock_give(&sync_gate.lock);
    sync_signals_back(&before);
    return grown;
}

/* Take a slot that is free, or the lock's own that sleeps: it is the first time that the thread meets this lock. Between
 * finding and taking it a signal handler may have taken it for a lock of its own. @return whether it is this lock's now. */
static bool take(struct sync_thread *t, struct sync_count *s, uintptr_t lock, uint32_t type)
{
    uintptr_t found = __atomic_load_n(&s->lock, __ATOMIC_RELAXED);
    bool may = found == 0 || found == (lock | asleep);
    if (!may || !__atomic_compare_exchange_n(&s->lock, &found, lock, false, __ATOMIC_RELEASE, __ATOMIC_RELAXED))
        return found == lock;
    s->until = sync_process.sample;
    s->stamps = 0;
    __atomic_store_n(&s->type, (uint16_t)type, __ATOMIC_RELEASE);
    if (found == 0)
        __atomic_fetch_add(&t->counts->used, 1, __ATOMIC_RELAXED);
    sync_lock_met(t, lock, type);
    return true;
}

/* Where the counts of locks go that no table has room for: counted as lost, never as another lock's. */
static struct sync_count *no_room(struct sync_thread *t)
{
    upmu_recorder_lost_(1);
    __atomic_store_n(&sync_gate.nowhere, 1, __ATOMIC_RELAXED);
    t->nowhere.stamps = 0;
    t->nowhere.until = 0;
    return &t->nowhere;
}

struct sync_count *sync_count_find(struct sync_thread *t, uintptr_t lock, uint32_t type)
{
    struct sync_count *s;
    do {
        s = probe(t->counts, lock);
        bool fits = s && (s->lock != 0 || t->counts->used < t->counts->mask / 2 + t->counts->mask / 4);
        while (!fits) {
            if (!grow(t))
                return s && s->lock == lock ? s : no_room(t);
            s = probe(t->counts, lock);
            fits = s != NULL;
        }
    } while (s->lock != lock && !take(t, s, lock, type));
    return s;
}

bool sync_key_is_reader(const struct sync_thread *t, uintptr_t key)
{
    const struct sync_count *s = key % 2 ? probe(t->counts, key) : NULL;
    return key % 2 && !(s && key_of(s) == key && s->type != UPMU_OBJECT_RWLOCK);
}

uint32_t sync_count_type(const struct sync_thread *t, uintptr_t key)
{
    const struct sync_count *s = probe(t->counts, key);
    return s && s->lock == key ? s->type : UPMU_OBJECT_NONE;
}

void sync_counts_clear(struct sync_thread *t)
{
    struct sync_counts *c = t->counts;
    c->used = 0;
    for (uint32_t i = 0; i <= c->mask; i++) {
        c->slot[i] = (struct sync_count){0};
        c->written[i] = 0;
    }
}

/* Record a slot unless it is recorded already; `peer` is its thread if another one writes in its name. @return whether it
 * is in the trace. What could not be written is counted as lost there, and tried again the next time. */
static bool write_slot(struct sync_counts *c, uint32_t i, struct trace_stream *stream, uint64_t now, pid_t peer)
{
    const struct sync_count *s = &c->slot[i];
    uintptr_t key = key_of(s);
    uint16_t type = __atomic_load_n(&s->type, __ATOMIC_ACQUIRE); /* none: it is being taken, and has counted nothing */
    struct trace_sync e = {
        .kind = UPMU_TRACE_LOCK_COUNTS,
        .peer = peer,
        .count = __atomic_load_n(&s->acquired, __ATOMIC_RELAXED),
        .contended = __atomic_load_n(&s->contended, __ATOMIC_RELAXED),
    };
    if (!key || !type || e.count == __atomic_load_n(&c->written[i], __ATOMIC_RELAXED))
        return true;
    e.object_type = (int32_t)type;
    e.flags = sync_key_flags(key, type);
    e.object = sync_key_object(key, type);
    if (!upmu_trace_sync_(stream, now, &e))
        return false;
    __atomic_store_n(&c->written[i], e.count, __ATOMIC_RELAXED);
    return true;
}

void sync_counts_write(struct sync_thread *t, struct trace_stream *stream)
{
    struct sync_counts *c = __atomic_load_n(&t->counts, __ATOMIC_ACQUIRE);
    uint64_t now = tick_now();
    for (uint32_t i = 0; c && i <= c->mask; i++)
        (void)write_slot(c, i, stream, now, 0);
}

static void put_to_sleep(struct sync_count *s, uintptr_t key)
{
    (void)__atomic_compare_exchange_n(&s->lock, &key, key | asleep, false, __ATOMIC_RELAXED, __ATOMIC_RELAXED);
}

/* What thread `of` has counted at the address, as a reader, too. A type that is not known is found there. */
static bool write_object(struct sync_thread *t, const struct sync_thread *of, uintptr_t object, int32_t *type)
{
    struct sync_counts *c = __atomic_load_n(&of->counts, __ATOMIC_ACQUIRE);
    uint64_t now = tick_now();
    bool all = true;
    for (uintptr_t key = object; c && key <= object + 1; key++) {
        uint32_t at = (uint32_t)(key >> 4 ^ key >> 12);
        for (uint32_t i = 0; i < PROBES; i++) {
            uint32_t slot = (at + i) & c->mask;
            uintptr_t found = __atomic_load_n(&c->slot[slot].lock, __ATOMIC_ACQUIRE);
            if (found == 0)
                break;
            if (found != key || (key != object && c->slot[slot].type != UPMU_OBJECT_RWLOCK))
                continue;
            if (*type == UPMU_OBJECT_NONE)
                *type = c->slot[slot].type;
            all &= write_slot(c, slot, t->stream, now, of == t ? 0 : __atomic_load_n(&of->tid, __ATOMIC_RELAXED));
            put_to_sleep(&c->slot[slot], key);
        }
    }
    return all;
}

/* All threads that may have counted it. */
static bool write_all(struct sync_thread *t, uintptr_t object, int32_t *type)
{
    bool all = true;
    for (struct sync_thread *of = __atomic_load_n(&sync_gate.threads, __ATOMIC_ACQUIRE); of; of = of->next) {
        if (!__atomic_load_n(&of->used, __ATOMIC_ACQUIRE))
            continue;
        all &= write_object(t, of, object, type);
        all &= __atomic_load_n(&of->nowhere.acquired, __ATOMIC_RELAXED) == 0;
    }
    return all;
}

bool sync_counts_final(struct sync_thread *t, uintptr_t object, int32_t *type)
{
    /* Without sleep threads are not asked anew who meets the next lock. */
    bool known = asleep != 0 && !__atomic_load_n(&sync_gate.nowhere, __ATOMIC_RELAXED);
    unsigned who = known ? places_who(sync_process.places, object) : PLACES_MANY;
    bool all = true;
    if (who == PLACES_NOBODY)
        return true;
    sync_guard(t); /* a signal handler that retires a lock of its own must not come here for the lock again */
    tiny_lock_take(&sync_gate.lock);
    if (who == PLACES_MANY)
        all = write_all(t, object, type);
    else if (__atomic_load_n(&sync_process.by_number[who]->used, __ATOMIC_ACQUIRE))
        all = write_object(t, sync_process.by_number[who], object, type);
    tiny_lock_give(&sync_gate.lock);
    sync_unguard(t);
    return all;
}

void sync_counts_write_sometimes(struct sync_thread *t, uint64_t now)
{
    if (now - t->flushed < sync_process.write_every)
        return;
    t->flushed = now;
    sync_counts_write(t, t->stream);
}
