/* SPDX-License-Identifier: MIT */
/*
 * Table of recorded call stacks.
 *
 * One table per process, without locks: a slot is claimed by its hash, filled, then published by its id. A thread that
 * finds a claimed slot that is not published yet (by another thread, or interrupted by a signal handler) continues its
 * search and may write the same stack under a second id, which costs trace space only. The memory is fixed; when it is
 * used up, events have no stack, and that is counted. Slots are spread by their hash, so that a large table would touch a page for
 * nearly every stack: the slots are in parts, each several times as large as those before it together, and used only once these
 * are full.
 *
 * A slot is retired when code of its stack is unmapped, or when its record could not be written. It is then reused under
 * another id: an id combines the slot and the number of its uses. A reader of a slot checks the id again after reading.
 */
#include "sync_trace/stack/stacks.h"

#include <string.h>

#include "base/error.h"
#include "base/own_memory.h"
#include "base/tick.h"
#include "region/recorder.h"
#include "trace/write/writer.h"

enum {
    PARTS = 4,
    PARTS_LIMITED = 3, /* where address space is limited */
    SLOTS = 1 << 18,
    SLOTS_LIMITED = 1 << 16,
    FRAMES_PER_SLOT = 16, /* on average */
    PROBES = 32,
    FILLED_MAX = UINT32_MAX / SLOTS - 1, /* so that ids do not overflow */
};

/* The first slot of each part. */
static const uint32_t part_first[PARTS + 1] = {0, 1 << 10, 1 << 13, SLOTS_LIMITED, SLOTS};

struct slot {
    uint64_t hash;  /**< claim of the slot; 0 = free */
    uint64_t tick;  /**< of the stack's record, or later */
    uint32_t id;    /**< published: 0 until the record is written */
    uint32_t first; /**< in `frames` */
    uint16_t n;
    uint16_t capacity;     /**< capacity in `frames` */
    uint16_t filled;       /**< earlier uses */
    uint8_t truncated : 1; /**< written by the thread that fills the slot, as all but the claims */
    uint8_t method : 7;    /**< enum upmu_stack_method */
    uint8_t retired;       /**< enum retirement */
};

_Static_assert(sizeof(struct slot) == 32, "two slots in a line of the cache");

enum retirement {
    IN_USE,
    RETIRED,  /**< some of its code was unmapped, or its record is missing */
    REFILLED, /**< claimed again, not published yet */
};

static struct stack_table {
    uint32_t used[PARTS];
    uint32_t frames_used;
    uint32_t unused[3];
    struct slot slots[];
} * stack_table;

/* Those of the table; in a forked child, too, where the table is zeroed. */
static uint32_t n_parts, n_frames;
static uint64_t *table_frames;

_Static_assert(sizeof(struct stack_table) == sizeof(struct slot), "slots do not cross lines of the cache");

static size_t table_bytes(uint32_t parts)
{
    uint32_t slots = part_first[parts];
    return sizeof(struct stack_table) + slots * (sizeof(struct slot) + FRAMES_PER_SLOT * sizeof(uint64_t));
}

/* Where address space is limited, it is left to the program: the table gets a small share, and has one part at least. */
int sync_stacks_start(void)
{
    enum { SHARE = 16 };
    uint64_t left = own_memory_space_left();
    uint32_t parts = left == UINT64_MAX ? PARTS : PARTS_LIMITED;
    if (stack_table)
        return 0;
    while (parts > 1 && table_bytes(parts) > left / SHARE)
        parts--;
    stack_table = own_memory_map_wiped(table_bytes(parts));
    if (!stack_table)
        return upmu_fail(UPMU_E_NOMEM, "out of memory");
    n_frames = part_first[parts] * FRAMES_PER_SLOT;
    table_frames = (uint64_t *)&stack_table->slots[part_first[parts]];
    n_parts = parts;
    return 0;
}

void sync_stacks_release(void)
{
    if (stack_table)
        own_memory_unmap(stack_table, table_bytes(n_parts));
    stack_table = NULL;
    n_parts = 0;
}

static uint64_t stack_hash(const void *const *frames, uint32_t n, bool truncated)
{
    uint64_t h = (uint64_t)n + truncated;
    for (uint32_t i = 0; i < n; i++) {
        h = (h ^ (uintptr_t)frames[i]) * 0x9e3779b97f4a7c15u;
        h ^= h >> 32;
    }
    return h ? h : 1;
}

/* Whether the slot has this stack, provided that its id does not change. ThreadSanitizer does not see atomic operations, such
 * as that on the id, within calls that block. */
__attribute__((no_sanitize("thread"))) static bool slot_has_stack(const struct slot *s, const void *const *frames,
                                                                  uint32_t n, bool truncated)
{
    if (s->n != n || (s->truncated != 0) != truncated || __atomic_load_n(&s->retired, __ATOMIC_RELAXED))
        return false;
    for (uint32_t i = 0; i < n; i++)
        if (__atomic_load_n(&table_frames[s->first + i], __ATOMIC_RELAXED) != (uintptr_t)frames[i])
            return false;
    return true;
}

#if defined(__SANITIZE_THREAD__) /* it does not support fences; each access is atomic */
#define STACKS_FENCE(order) ((void)0)
#else
#define STACKS_FENCE(order) __atomic_thread_fence(order)
#endif

/* The slot's id if it is published and has this stack, else 0. */
static uint32_t slot_match(const struct slot *s, const void *const *frames, uint32_t n, bool truncated)
{
    uint32_t id = __atomic_load_n(&s->id, __ATOMIC_ACQUIRE);
    if (id == 0 || !slot_has_stack(s, frames, n, truncated))
        return 0;
    STACKS_FENCE(__ATOMIC_ACQUIRE);
    return __atomic_load_n(&s->id, __ATOMIC_RELAXED) == id ? id : 0;
}

static uint32_t part_size(uint32_t part)
{
    return part_first[part + 1] - part_first[part];
}

static bool table_has_frames(uint32_t n)
{
    return __atomic_load_n(&stack_table->frames_used, __ATOMIC_RELAXED) <= n_frames - n;
}

/* Whether a quarter of the part's slots is free, so that searches are short, and there is space for the frames. */
static bool part_has_space(uint32_t part, uint32_t n)
{
    return __atomic_load_n(&stack_table->used[part], __ATOMIC_RELAXED) < part_size(part) / 4 * 3 && table_has_frames(n);
}

static bool slot_claim_free(uint32_t part, struct slot *s, uint64_t hash)
{
    uint64_t none = 0;
    if (!__atomic_compare_exchange_n(&s->hash, &none, hash, false, __ATOMIC_RELAXED, __ATOMIC_RELAXED))
        return false;
    __atomic_fetch_add(&stack_table->used[part], 1, __ATOMIC_RELAXED);
    return true;
}

static bool slot_may_refill(const struct slot *s, uint32_t n)
{
    return __atomic_load_n(&s->retired, __ATOMIC_RELAXED) == RETIRED && s->filled < FILLED_MAX &&
           (s->capacity >= n || table_has_frames(n));
}

static bool slot_claim_retired(struct slot *s, uint64_t hash)
{
    uint8_t retired = RETIRED;
    if (!__atomic_compare_exchange_n(&s->retired, &retired, REFILLED, false, __ATOMIC_ACQUIRE, __ATOMIC_RELAXED))
        return false;
    __atomic_store_n(&s->id, 0, __ATOMIC_RELAXED);
    STACKS_FENCE(__ATOMIC_RELEASE);
    s->filled++;
    __atomic_store_n(&s->hash, hash, __ATOMIC_RELAXED);
    return true;
}

/* The published slot of this stack with its id, or a slot just claimed for it with id 0; NULL if the part is full, or if another
 * thread has claimed the slot (`*contended`). */
static struct slot *stack_search(uint32_t part, uint64_t hash, const void *const *frames, uint32_t n, bool truncated,
                                 uint32_t *id, bool *contended)
{
    struct slot *slots = &stack_table->slots[part_first[part]], *retired = NULL;
    uint32_t size = part_size(part), at = (uint32_t)((hash >> 32) * size >> 32);
    *contended = false;
    for (uint32_t i = 0; i < PROBES; i++, at = at + 1 < size ? at + 1 : 0) {
        struct slot *s = &slots[at];
        uint64_t found = __atomic_load_n(&s->hash, __ATOMIC_RELAXED);
        *id = found == hash ? slot_match(s, frames, n, truncated) : 0;
        if (*id != 0)
            return s;
        if (!retired && slot_may_refill(s, n))
            retired = s;
        if (found == 0 && (retired || !part_has_space(part, n)))
            break;
        if (found == 0 && slot_claim_free(part, s, hash))
            return s;
    }
    *id = 0;
    bool claimed = retired && slot_claim_retired(retired, hash);
    *contended = retired && !claimed;
    return claimed ? retired : NULL;
}

/* As stack_search(), in all parts: one that has neither the stack nor space for it passes the search on. Each search that fails by
 * another thread's claim has one slot less to reuse. */
static struct slot *stack_find_slot(uint64_t hash, const void *const *frames, uint32_t n, bool truncated, uint32_t *id)
{
    struct slot *s = NULL;
    *id = 0;
    for (uint32_t part = 0; stack_table && !s && part < n_parts; part++) {
        bool contended = true;
        for (int searches = 0; contended && searches < PROBES; searches++)
            s = stack_search(part, hash, frames, n, truncated, id, &contended);
    }
    return s;
}

/* Space for the frames: that of the slot's former frames if there are not more. */
static bool stack_reserve(struct slot *s, uint32_t n)
{
    if (n <= s->capacity)
        return true;
    uint32_t first = __atomic_fetch_add(&stack_table->frames_used, n, __ATOMIC_RELAXED);
    if (first > n_frames - n) {
        __atomic_fetch_sub(&stack_table->frames_used, n, __ATOMIC_RELAXED);
        return false;
    }
    s->first = first;
    s->capacity = (uint16_t)n;
    return true;
}

static bool slot_keep_frames(struct slot *s, const void *const *frames, uint32_t n, bool truncated)
{
    if (!stack_reserve(s, n))
        return false;
    s->n = (uint16_t)n;
    s->truncated = truncated;
    for (uint32_t i = 0; i < n; i++)
        __atomic_store_n(&table_frames[s->first + i], (uintptr_t)frames[i], __ATOMIC_RELAXED);
    return true;
}

static bool write_stack(struct sync_thread *t, uint64_t tick, const struct slot *s, uint32_t id)
{
    return upmu_trace_stack_(t->stream, tick, id, t->method, s->truncated != 0, &table_frames[s->first], s->n);
}

/* Fill, write and publish a slot just claimed. @return its id; 0: failed, the slot can be reused. */
static uint32_t slot_fill(struct sync_thread *t, uint64_t tick, struct slot *s, const void *const *frames, uint32_t n,
                          bool truncated)
{
    uint32_t id = (uint32_t)(s - stack_table->slots) + s->filled * (uint32_t)SLOTS + 1;
    bool kept = slot_keep_frames(s, frames, n, truncated);
    if (!kept)
        upmu_recorder_lost_(LOSS_STACKS, 1);
    if (!kept || !write_stack(t, tick, s, id)) {
        __atomic_store_n(&s->retired, RETIRED, __ATOMIC_RELEASE);
        return 0;
    }
    /* The writer raises the tick of a late post to its thread's last event: the record may be later than `tick`, never
     * later than now. */
    s->tick = tick_now();
    s->method = t->method & 0x7f;
    __atomic_store_n(&s->retired, IN_USE, __ATOMIC_RELAXED);
    __atomic_store_n(&s->id, id, __ATOMIC_RELEASE);
    return id;
}

uint32_t sync_stack_id(struct sync_thread *t, uint64_t tick, const void *const *frames, uint32_t n, bool truncated,
                       bool *is_new)
{
    uint32_t id;
    struct slot *s = stack_find_slot(stack_hash(frames, n, truncated), frames, n, truncated, &id);
    *is_new = s && id == 0;
    if (!s) {
        upmu_recorder_lost_(LOSS_STACKS, 1);
        return 0;
    }
    if (*is_new)
        return slot_fill(t, tick, s, frames, n, truncated);
    /* Written by another thread after this event's tick: a reader in time order would get the event first. */
    return __atomic_load_n(&s->tick, __ATOMIC_RELAXED) <= tick || write_stack(t, tick, s, id) ? id : 0;
}

static void part_retire(uint32_t part, uint64_t start, uint64_t end)
{
    for (uint32_t i = part_first[part]; i < part_first[part + 1]; i++) {
        struct slot *s = &stack_table->slots[i];
        if (__atomic_load_n(&s->id, __ATOMIC_ACQUIRE) == 0)
            continue;
        for (uint32_t k = 0; k < s->n; k++) {
            uint64_t at = __atomic_load_n(&table_frames[s->first + k], __ATOMIC_RELAXED);
            uint8_t used = IN_USE;
            if (at >= start && at < end)
                (void)__atomic_compare_exchange_n(&s->retired, &used, RETIRED, false, __ATOMIC_RELAXED,
                                                  __ATOMIC_RELAXED);
        }
    }
}

void sync_stacks_retire(uint64_t start, uint64_t end)
{
    for (uint32_t part = 0; part < n_parts; part++)
        if (__atomic_load_n(&stack_table->used[part], __ATOMIC_RELAXED) > 0)
            part_retire(part, start, end);
}

uint32_t sync_stack_copy(uint32_t id, uint64_t *frames, uint32_t max, uint8_t *method, uint8_t *truncated)
{
    const struct slot *s = &stack_table->slots[(id - 1) % SLOTS];
    if (__atomic_load_n(&s->id, __ATOMIC_ACQUIRE) != id) /* its code was unmapped under a running thread */
        return 0;
    uint32_t n = s->n < max ? s->n : max;
    memcpy(frames, &table_frames[s->first], n * sizeof *frames);
    *method = s->method;
    *truncated = s->truncated || n < s->n;
    return n;
}
