/* SPDX-License-Identifier: MIT */
/*
 * Each distinct call stack is written once and named by a number. Room: sync_trace; before it unwind.c, after it the
 * trace writer.
 *
 * One table for the process, without locks: a slot is claimed by its hash, filled, then published by its id. Whoever
 * meets a claimed slot that is not published yet (another thread is at it, or a signal handler interrupted it) looks
 * further and may write the same stack under a second id, which costs room and nothing else. The memory is fixed; when
 * it is used up, events have no stack, and that is counted.
 */
#include <string.h>

#include "base/error.h"
#include "base/tick.h"
#include "core/recorder.h"
#include "sync_trace/sync.h"
#include "trace/writer.h"

enum {
    SLOTS = 1 << 16,
    SLOTS_USED_MAX = SLOTS / 4 * 3,
    FRAMES_TOTAL = 1 << 20,
    PROBES = 32,
};

struct slot {
    uint64_t hash;  /**< claimed by this; 0 = free */
    uint64_t tick;  /**< that of the stack's record, or a later one */
    uint32_t id;    /**< published: 0 until the record is written */
    uint32_t first; /**< in `frames` */
    uint16_t n;
    uint8_t truncated;
    uint8_t method;  /**< enum upmu_stack_method */
    uint8_t retired; /**< what lay at some of its addresses is not mapped any more: it stays, and is not met again */
};

struct stack_table {
    uint32_t used;
    uint32_t frames_used;
    struct slot slots[SLOTS];
    uint64_t frames[FRAMES_TOTAL];
};

static struct stack_table *table;

int sync_stacks_start(void)
{
    table = sync_map_wiped(sizeof *table);
    return table ? 0 : upmu_fail(UPMU_E_NOMEM, "out of memory");
}

static uint64_t hash_of(const void *const *frames, uint32_t n, bool truncated)
{
    uint64_t h = n + truncated;
    for (uint32_t i = 0; i < n; i++) {
        h = (h ^ (uintptr_t)frames[i]) * 0x9e3779b97f4a7c15u;
        h ^= h >> 32;
    }
    return h ? h : 1;
}

static bool same(const struct slot *s, const void *const *frames, uint32_t n, bool truncated)
{
    if (s->n != n || (s->truncated != 0) != truncated || __atomic_load_n(&s->retired, __ATOMIC_RELAXED))
        return false;
    for (uint32_t i = 0; i < n; i++)
        if (table->frames[s->first + i] != (uintptr_t)frames[i])
            return false;
    return true;
}

/* The published slot of this stack, or a slot just claimed for it (`*fresh`); NULL if there is no room. */
static struct slot *find(uint64_t hash, const void *const *frames, uint32_t n, bool truncated, bool *fresh)
{
    *fresh = false;
    for (uint32_t i = 0; i < PROBES; i++) {
        struct slot *s = &table->slots[(hash + i) % SLOTS];
        uint64_t found = __atomic_load_n(&s->hash, __ATOMIC_RELAXED);
        if (found == hash && __atomic_load_n(&s->id, __ATOMIC_ACQUIRE) && same(s, frames, n, truncated))
            return s;
        if (found != 0 || __atomic_load_n(&table->used, __ATOMIC_RELAXED) >= SLOTS_USED_MAX)
            continue;
        if (__atomic_compare_exchange_n(&s->hash, &found, hash, false, __ATOMIC_RELAXED, __ATOMIC_RELAXED)) {
            __atomic_fetch_add(&table->used, 1, __ATOMIC_RELAXED);
            *fresh = true;
            return s;
        }
    }
    return NULL;
}

static bool keep_frames(struct slot *s, const void *const *frames, uint32_t n, bool truncated)
{
    uint32_t first = __atomic_fetch_add(&table->frames_used, n, __ATOMIC_RELAXED);
    if (first > FRAMES_TOTAL - n) {
        __atomic_fetch_sub(&table->frames_used, n, __ATOMIC_RELAXED);
        return false;
    }
    s->first = first;
    s->n = (uint16_t)n;
    s->truncated = truncated;
    for (uint32_t i = 0; i < n; i++) {
        table->frames[first + i] = (uintptr_t)frames[i];
        sync_modules_note((uintptr_t)frames[i]);
    }
    return true;
}

static bool write_stack(struct sync_thread *t, uint64_t tick, const struct slot *s, uint32_t id)
{
    return upmu_trace_stack_(t->stream, tick, id, t->method, s->truncated != 0, &table->frames[s->first], s->n);
}

uint32_t sync_stack_id(struct sync_thread *t, uint64_t tick, const void *const *frames, uint32_t n, bool truncated)
{
    bool fresh;
    struct slot *s = find(hash_of(frames, n, truncated), frames, n, truncated, &fresh);
    if (!s || (fresh && !keep_frames(s, frames, n, truncated))) {
        upmu_recorder_lost_(1);
        return 0;
    }
    uint32_t id = (uint32_t)(s - table->slots) + 1;
    /* Another thread may have written it a moment after our event: a reader in time order would meet the event first. */
    if (!fresh && s->tick <= tick)
        return id;
    if (!write_stack(t, tick, s, id))
        return 0;
    if (fresh) {
        /* A post that is told of late has an earlier tick than its thread's last event, and the writer raises it to that: who
         * goes by it must not think that the record is older than it is. All ticks that are written lie before now. */
        s->tick = tick_now();
        s->method = (uint8_t)t->method;
        __atomic_store_n(&s->id, id, __ATOMIC_RELEASE);
    }
    return id;
}

void sync_stacks_retire(uint64_t start, uint64_t end)
{
    for (uint32_t i = 0; i < SLOTS; i++) {
        struct slot *s = &table->slots[i];
        if (__atomic_load_n(&s->id, __ATOMIC_ACQUIRE) == 0)
            continue;
        for (uint32_t k = 0; k < s->n; k++)
            if (table->frames[s->first + k] >= start && table->frames[s->first + k] < end)
                __atomic_store_n(&s->retired, 1, __ATOMIC_RELAXED);
    }
}

uint32_t sync_stack_copy(uint32_t id, uint64_t *frames, uint8_t *method, uint8_t *truncated)
{
    const struct slot *s = &table->slots[id - 1];
    memcpy(frames, &table->frames[s->first], s->n * sizeof *frames);
    *method = s->method;
    *truncated = s->truncated;
    return s->n;
}
