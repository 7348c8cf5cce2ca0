/* SPDX-License-Identifier: MIT */
/*
 * Exact counts per thread and lock. Room: sync_trace; before it the wrappers, after it record.c and the trace.
 *
 * A slot is found by the lock's address; a table that fills up is replaced by one twice as large. Old tables stay
 * mapped: whoever writes out the counts of all threads at exit may be reading one.
 */
#include <errno.h>
#include <sys/mman.h>

#include "base/tick.h"
#include "core/recorder.h"
#include "sync_trace/sync.h"
#include "trace/writer.h"

enum {
    PROBES = 16,
    SLOTS_MAX = 1 << 20,
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

/* The lock's slot, or the free one it may have; NULL if its neighbourhood is full. */
static struct sync_count *probe(struct sync_counts *c, uintptr_t lock)
{
    uint32_t at = (uint32_t)(lock >> 4 ^ lock >> 12);
    for (uint32_t i = 0; i < PROBES; i++) {
        struct sync_count *s = &c->slot[(at + i) & c->mask];
        if (s->lock == lock || s->lock == 0)
            return s;
    }
    return NULL;
}

static bool move_all(const struct sync_counts *from, struct sync_counts *to)
{
    for (uint32_t i = 0; i <= from->mask; i++) {
        if (!from->slot[i].lock)
            continue;
        struct sync_count *s = probe(to, from->slot[i].lock);
        if (!s)
            return false;
        *s = from->slot[i];
        to->written[s - to->slot] = from->written[i];
        to->used++;
    }
    return true;
}

static bool grow(struct sync_thread *t)
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

/* Where the counts of locks go that no table has room for: counted as lost, never as another lock's. */
static struct sync_count *no_room(struct sync_thread *t)
{
    upmu_recorder_lost_(1);
    t->nowhere.stamps = 0;
    return &t->nowhere;
}

struct sync_count *sync_count_find(struct sync_thread *t, uintptr_t lock, uint32_t type)
{
    struct sync_count *s = probe(t->counts, lock);
    bool fits = s && (s->lock == lock || t->counts->used < t->counts->mask / 2 + t->counts->mask / 4);
    while (!fits) {
        if (!grow(t))
            return s && s->lock == lock ? s : no_room(t);
        s = probe(t->counts, lock);
        fits = s != NULL;
    }
    if (s->lock == 0) {
        s->type = type;
        __atomic_store_n(&s->lock, lock, __ATOMIC_RELEASE);
        t->counts->used++;
    }
    return s;
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

void sync_counts_write(struct sync_thread *t, struct trace_stream *stream)
{
    struct sync_counts *c = __atomic_load_n(&t->counts, __ATOMIC_ACQUIRE);
    uint64_t now = tick_now();
    for (uint32_t i = 0; c && i <= c->mask; i++) {
        const struct sync_count *s = &c->slot[i];
        struct trace_sync e = {
            .kind = UPMU_TRACE_LOCK_COUNTS,
            .object = __atomic_load_n(&s->lock, __ATOMIC_ACQUIRE),
            .count = __atomic_load_n(&s->acquired, __ATOMIC_RELAXED),
            .contended = __atomic_load_n(&s->contended, __ATOMIC_RELAXED),
        };
        if (!e.object || e.count == c->written[i])
            continue;
        e.object_type = (int32_t)s->type;
        e.flags = sync_key_flags(e.object, s->type);
        e.object = sync_key_object(e.object, s->type);
        /* What could not be written is counted as lost there, and tried again the next time. */
        if (upmu_trace_sync_(stream, now, &e))
            c->written[i] = e.count;
    }
}

void sync_counts_write_sometimes(struct sync_thread *t, uint64_t now)
{
    if (now - t->flushed < sync_process.write_every)
        return;
    t->flushed = now;
    sync_counts_write(t, t->stream);
}
