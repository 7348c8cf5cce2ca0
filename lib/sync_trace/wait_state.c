/* SPDX-License-Identifier: MIT */
/*
 * What threads stand at, written where a reader outside the process sees it (trace/format/wait_state.h). Room: sync_trace; before it
 * every wrapper that waits, after it the recorder's file.
 *
 * Written only by threads that are about to block, and by threads that end: a thread that runs pays nothing. A thread
 * whose locks outlive it keeps its block and slot, up to a limit, so that its waiters can be told.
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "base/tick.h"
#include "region/recorder.h"
#include "sync_trace/held.h"
#include "trace/format/wait_state.h"
#include "trace/write/writer.h"

enum { KEPT_MAX = 512, NS_PER_S = 1000000000 };

_Static_assert((int)LIVE_HELD_MAX >= (int)SYNC_HELD_MAX, "all that a thread holds fits its slot");
_Static_assert(sizeof((struct sync_thread){0}.live_outer) == LIVE_HEAD_BYTES, "the head of a slot fits");

static uint64_t now_ns(void)
{
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    return (uint64_t)now.tv_sec * NS_PER_S + (uint64_t)now.tv_nsec;
}

/* CLOCK_REALTIME at a tick of about now. A thread that waits many times in a tenth of a millisecond asks the clock once:
 * for so long the pace of ticks, which may be some thousandths off just after the start, is off by less than a microsecond. */
static uint64_t ns_at(struct sync_thread *t, uint64_t tick)
{
    enum { PER_SECOND = 1 << 13 };
    uint64_t gone = tick - t->clock_tick;
    if (LIKELY(gone < sync_process.hz / PER_SECOND))
        return t->clock_ns + (uint64_t)((double)gone * sync_process.ns_per_tick);
    t->clock_tick = tick_now();
    t->clock_ns = now_ns();
    return t->clock_ns;
}

/* Threads of this process now; 1 if nobody can tell. */
static uint32_t threads_now(void)
{
    enum { FIELD = 18 }; /* of what stands behind the command's name */
    char line[1024], *p;
    FILE *f = fopen("/proc/self/stat", "re");
    size_t n = f ? fread(line, 1, sizeof line - 1, f) : 0;
    unsigned count = 1;
    if (f)
        (void)fclose(f);
    line[n] = '\0';
    p = strrchr(line, ')');
    for (int i = 0; p && i < FIELD; i++)
        p = strchr(p + 1, ' ');
    return p && sscanf(p, "%u", &count) == 1 && count > 0 ? count : 1;
}

void sync_live_start(void)
{
    struct live_header *h = upmu_recorder_live_();
    if (h)
        __atomic_store_n(&h->created, threads_now(), __ATOMIC_RELAXED);
    __atomic_store_n(&sync_gate.live, h, __ATOMIC_RELEASE);
}

void sync_live_slot(struct sync_thread *t)
{
    struct live_header *h = __atomic_load_n(&sync_gate.live, __ATOMIC_ACQUIRE);
    t->live = h ? upmu_recorder_live_slot_(sync_gate.slots) : NULL;
    if (!t->live)
        return;
    t->live_index = sync_gate.slots++;
    t->live_room = LIVE_FIRST_BYTES;
    __atomic_store_n(&h->slots, sync_gate.slots, __ATOMIC_RELEASE);
}

void sync_live_created(void)
{
    struct live_header *h = __atomic_load_n(&sync_gate.live, __ATOMIC_ACQUIRE);
    if (h)
        __atomic_fetch_add(&h->created, 1, __ATOMIC_RELAXED);
}

/* ------------------------------------------------------------------------------------------------ writing a slot */

#if defined(__SANITIZE_THREAD__) /* it knows no fences, and sees nothing of who reads the slot */
#define STORES_BEGIN() ((void)0)
#else
#define STORES_BEGIN() __atomic_thread_fence(__ATOMIC_RELEASE)
#endif

/* The odd version must be seen before what is stored after it: an ordering of the store alone would not hold back the
 * others on every CPU. Beside the slot's own thread only disown_slot() changes the version, by far more, and that may be
 * lost here: who has seen its version never finds it again, whatever the thread goes on to write. */
static void change_begin(struct live_slot *s)
{
    __atomic_store_n(&s->version, __atomic_load_n(&s->version, __ATOMIC_RELAXED) + 1, __ATOMIC_RELAXED);
    STORES_BEGIN();
}

static void change_end(struct live_slot *s)
{
    __atomic_store_n(&s->version, __atomic_load_n(&s->version, __ATOMIC_RELAXED) + 1, __ATOMIC_RELEASE);
}

static uint64_t since_ns(uint64_t since, uint64_t tick, uint64_t now)
{
    return since == 0 || since > tick ? 0 : now - (uint64_t)((double)(tick - since) * sync_process.ns_per_tick);
}

/* The call stack, unless it is the one that is there. */
static void write_stack(struct live_slot *s, uint32_t id)
{
    struct live_stack *k = live_stack(s);
    if (id == 0 || k->id == id)
        return;
    k->n = (uint16_t)sync_stack_copy(id, k->frames, &k->method, &k->truncated);
    k->id = id;
}

/* What is held, as far as there is room; `tick` and `now` are the same moment. */
static void write_held(struct sync_thread *t, uint64_t tick, uint64_t now)
{
    struct live_slot *s = t->live;
    uint32_t n = t->depth;
    if (live_bytes(n) > t->live_room && upmu_recorder_live_reserve_(t->live_index, live_bytes(n)) == 0)
        t->live_room = (uint32_t)live_bytes(n);
    struct live_held *held = live_held(s);
    uint32_t fits = (uint32_t)((t->live_room - LIVE_HELD_AT) / sizeof *held);
    uint32_t skip = n > fits ? n - fits : 0;
    for (uint32_t i = skip; i < n; i++) {
        const struct sync_held *h = &t->held[i];
        uintptr_t key = __atomic_load_n(&h->lock, __ATOMIC_RELAXED);
        bool reads = sync_key_is_reader(t, key);
        held[i - skip] = (struct live_held){
            .lock = key - reads,
            .site = h->site,
            .since_ns = since_ns(sync_held_since(h->since), tick, now),
            .shared = reads,
            .type = sync_count_type(t, key),
        };
    }
    s->n_held = n - skip;
    s->forgotten = t->forgotten + skip;
}

void sync_live_enter(struct sync_thread *t)
{
    struct live_header *h = __atomic_load_n(&sync_gate.live, __ATOMIC_ACQUIRE);
    struct live_slot *s = t->live;
    t->live_depth = 0;
    if (!s || !h)
        return;
    change_begin(s);
    s->state = LIVE_RUNS;
    s->tid = t->tid;
    s->handle = (uint64_t)t->self;
    s->n_held = 0;
    memcpy(s->name, t->name, sizeof s->name);
    change_end(s);
    __atomic_fetch_add(&h->begun, 1, __ATOMIC_RELAXED);
    __atomic_fetch_add(&sync_gate.recording, 1, __ATOMIC_RELAXED);
}

bool sync_live_leave(struct sync_thread *t)
{
    struct live_slot *s = t->live;
    if (!s)
        return false;
    __atomic_fetch_sub(&sync_gate.recording, 1, __ATOMIC_RELAXED);
    bool keep = t->depth > 0 && __atomic_fetch_add(&sync_gate.kept, 1, __ATOMIC_RELAXED) < KEPT_MAX;
    uint64_t now = now_ns();
    change_begin(s);
    s->state = keep ? LIVE_ENDED : LIVE_FREE;
    s->since_ns = now;
    s->handle = 0;
    if (keep)
        write_held(t, tick_now(), now);
    change_end(s);
    return keep;
}

/* A wait within a wait: of a signal handler, or of the calls of which a lock of the program's own is made. */
void sync_live_begin(struct sync_thread *t, uint64_t tick, const struct trace_sync *e)
{
    struct live_slot *s = t->live;
    if (UNLIKELY(sync_process.sched))
        upmu_recorder_wait_(true);
    if (!s)
        return;
    sync_guard(t); /* a signal handler that waits in between must not find half a slot */
    uint64_t now = ns_at(t, tick);
    if (t->live_depth++ == 1)
        memcpy(t->live_outer, s, sizeof t->live_outer);
    change_begin(s);
    s->state = LIVE_WAITS;
    s->peer = e->peer;
    s->kind = e->kind;
    s->type = e->object_type;
    s->flags = e->flags;
    s->stack = e->stack;
    s->object = e->object;
    s->object2 = e->object2;
    s->site = e->site;
    s->since_ns = now;
    s->owner = LIVE_OWNER_UNKNOWN;
    s->wait_no++;
    write_stack(s, e->stack);
    write_held(t, tick, now);
    change_end(s);
    uint32_t all = __atomic_load_n(&sync_gate.recording, __ATOMIC_RELAXED);
    struct live_header *h = __atomic_load_n(&sync_gate.live, __ATOMIC_ACQUIRE);
    if (t->live_depth == 1 && __atomic_add_fetch(&sync_gate.status, 1, __ATOMIC_ACQ_REL) >= all && h)
        sync_standstill(h, t, tick);
    sync_unguard(t);
}

void sync_live_owner(struct sync_thread *t, bool gone)
{
    struct live_slot *s = t->live;
    if (!s || t->live_depth == 0)
        return;
    /* One word, true from now on, in a slot that is whole: no reader is misled who sees it or does not yet. */
    __atomic_store_n(&s->owner, gone ? LIVE_OWNER_GONE : LIVE_OWNER_SEEN, __ATOMIC_RELEASE);
}

/* The wait within a wait is over. */
static void back_to_outer(struct sync_thread *t, struct live_slot *s)
{
    change_begin(s);
    if (--t->live_depth == 1) {
        uint32_t version = s->version;
        memcpy(s, t->live_outer, sizeof t->live_outer);
        __atomic_store_n(&s->version, version, __ATOMIC_RELAXED);
        write_stack(s, s->stack);
    }
    change_end(s);
}

void sync_live_end(struct sync_thread *t)
{
    struct live_slot *s = t->live;
    if (UNLIKELY(sync_process.sched))
        upmu_recorder_wait_(false);
    if (!s || t->live_depth == 0)
        return;
    sync_guard(t);
    if (LIKELY(t->live_depth == 1)) {
        t->live_depth = 0;
        __atomic_fetch_sub(&sync_gate.status, 1, __ATOMIC_RELAXED);
        /* One word again: the slot is whole before it and behind it, and of a thread that runs nothing else is read. */
        __atomic_store_n(&s->state, LIVE_RUNS, __ATOMIC_RELAXED);
        __atomic_store_n(&s->version, __atomic_load_n(&s->version, __ATOMIC_RELAXED) + 2, __ATOMIC_RELEASE);
    } else {
        back_to_outer(t, s);
    }
    sync_unguard(t);
}

/* ------------------------------------------------------------------------------------- locks that change their hands */

/* `lock` is a key, or the lock itself for whatever is held of it. */
static void disown_slot(struct live_slot *s, uintptr_t lock)
{
    enum { DISOWNED = 1 << 16 }; /* even, and no version that the thread comes to soon */
    uint32_t n = __atomic_load_n(&s->n_held, __ATOMIC_RELAXED);
    for (uint32_t i = 0; i < n && i < LIVE_HELD_MAX; i++) {
        struct live_held *h = &live_held(s)[i];
        uint64_t expected = __atomic_load_n(&h->lock, __ATOMIC_RELAXED);
        if (expected == 0 || (expected != lock && expected + h->shared != lock) ||
            !__atomic_compare_exchange_n(&h->lock, &expected, 0, false, __ATOMIC_RELAXED, __ATOMIC_RELAXED))
            continue;
        __atomic_fetch_add(&s->version, DISOWNED, __ATOMIC_RELEASE);
    }
}

/* Its own books, too, or its next wait would say it again. */
static void disown_block(struct sync_thread *t, uintptr_t lock)
{
    uint32_t n = __atomic_load_n(&t->depth, __ATOMIC_RELAXED);
    for (uint32_t i = 0; i < n && i < SYNC_HELD_MAX; i++) {
        uintptr_t expected = lock;
        (void)__atomic_compare_exchange_n(&t->held[i].lock, &expected, 0, false, __ATOMIC_RELAXED, __ATOMIC_RELAXED);
    }
}

void sync_live_disown(pid_t tid, uintptr_t lock)
{
    if (tid == 0 && __atomic_load_n(&sync_gate.kept, __ATOMIC_RELAXED) == 0)
        return;
    struct sync_thread *t = __atomic_load_n(&sync_gate.threads, __ATOMIC_ACQUIRE);
    for (; t; t = t->next) {
        uint32_t used = __atomic_load_n(&t->used, __ATOMIC_ACQUIRE);
        bool meant = tid == 0 ? used == BLOCK_KEPT : used && __atomic_load_n(&t->tid, __ATOMIC_RELAXED) == tid;
        if (!meant)
            continue;
        if (used != BLOCK_KEPT)
            disown_block(t, lock);
        if (t->live)
            disown_slot(t->live, lock);
    }
}

void sync_live_taken_away(uintptr_t lock)
{
    struct sync_held h;
    const struct sync_thread *holder = sync_held_search(lock, &h);
    uintptr_t key = lock;
    if (!holder) { /* as a reader, maybe one of several: then it does not matter which of them */
        key = lock | 1;
        holder = sync_held_search(key, &h);
    }
    sync_live_disown(holder ? __atomic_load_n(&holder->tid, __ATOMIC_RELAXED) : 0, holder ? key : lock);
}
