/* SPDX-License-Identifier: MIT */
/*
 * Writing of the wait-state file (trace/format/wait_state.h).
 *
 * Only threads that are about to block, or that end, write: a running thread pays nothing. A thread that ends with locks
 * held keeps its block and slot, up to a limit, so that its waiters can be reported.
 */
#include "sync_trace/emit/wait_state.h"

#include <errno.h>
#include <signal.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include "base/private_table.h"
#include "base/tick.h"
#include "region/recorder.h"
#include "sync_trace/emit/all_blocked.h"
#include "sync_trace/stack/stacks.h"
#include "sync_trace/state/counts.h"
#include "sync_trace/state/held.h"
#include "trace/format/wait_state.h"
#include "trace/write/writer.h"

enum { KEPT_MAX = 512 };

_Static_assert((int)WAIT_FILE_HELD_MAX >= (int)SYNC_HELD_MAX, "all that a thread holds fits its slot");
_Static_assert((int)WAIT_FILE_FRAMES_MAX >= (int)SYNC_FRAMES_MAX, "and every call stack");
_Static_assert(sizeof((struct sync_thread){0}.wait_outer) == WAIT_FILE_HEAD_BYTES, "the head of a slot fits");

uint64_t sync_wait_state_clock(struct sync_thread *t)
{
    uint32_t before = sync_guard_as(t, SYNC_WALKS); /* a handler in between has no use for half of it */
    t->clock_tick = tick_now();
    t->clock_ns = tick_clock_ns(CLOCK_REALTIME);
    sync_unguard(t, before);
    return t->clock_ns;
}

/* Threads of this process now; 1 if unknown. */
static uint32_t process_thread_count(void)
{
    enum { FIELD = 18 }; /* after the command's name */
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

void sync_wait_state_start(void)
{
    struct wait_file_header *h = upmu_recorder_wait_file_();
    if (h)
        __atomic_store_n(&h->created, process_thread_count(), __ATOMIC_RELAXED);
    __atomic_store_n(&sync_gate.wait_states, h, __ATOMIC_RELEASE);
}

void sync_wait_state_slot_new(struct sync_thread *t)
{
    struct wait_file_header *h = __atomic_load_n(&sync_gate.wait_states, __ATOMIC_ACQUIRE);
    t->wait_slot = h ? upmu_recorder_wait_file_slot_(sync_gate.slots) : NULL;
    if (!t->wait_slot)
        return;
    t->wait_slot_index = sync_gate.slots++;
    t->wait_slot_bytes = WAIT_FILE_FIRST_BYTES;
    __atomic_store_n(&h->slots, sync_gate.slots, __ATOMIC_RELEASE);
}

void sync_wait_state_thread_created(void)
{
    struct wait_file_header *h = __atomic_load_n(&sync_gate.wait_states, __ATOMIC_ACQUIRE);
    if (h)
        __atomic_fetch_add(&h->created, 1, __ATOMIC_RELAXED);
}

/* ------------------------------------------------------------------------------------------------ writing a slot */

/* The odd version must be visible before the stores that follow: an ordering of that store alone would not hold them
 * back on every CPU. Apart from the slot's own thread only slot_remove_lock() changes the version, by far more. That change
 * may be lost here: a reader of the version before it does not find it again in any case. */
static void slot_change_begin(struct wait_file_slot *s)
{
    __atomic_store_n(&s->version, __atomic_load_n(&s->version, __ATOMIC_RELAXED) + 1, __ATOMIC_RELAXED);
    SYNC_STORES_BEGIN();
}

static void slot_change_end(struct wait_file_slot *s)
{
    __atomic_store_n(&s->version, __atomic_load_n(&s->version, __ATOMIC_RELAXED) + 1, __ATOMIC_RELEASE);
}

static uint64_t held_since_ns(uint64_t since, uint64_t tick, uint64_t now)
{
    return since == 0 || since > tick ? 0 : now - (uint64_t)((double)(tick - since) * sync_process.ns_per_tick);
}

/* The call stack, unless the slot has it already. */
static void slot_write_stack(struct wait_file_slot *s, uint32_t id)
{
    struct wait_file_stack *k = wait_file_stack(s);
    if (id == 0 || k->id == id)
        return;
    k->n = (uint16_t)sync_stack_copy(id, k->frames, WAIT_FILE_FRAMES_MAX, &k->method, &k->truncated);
    k->id = id;
}

/* Likewise of the acquisition that the thread waits for. */
static void slot_write_holder_stack(struct wait_file_slot *s, uint32_t id)
{
    struct wait_file_holder_stack *k = wait_file_holder_stack(s);
    if (LIKELY(id == 0 || k->id == id))
        return;
    k->n = (uint16_t)sync_stack_copy(id, k->frames, WAIT_FILE_HOLDER_FRAMES_MAX, &k->method, &k->truncated);
    k->id = id;
}

/* The locks held, as many as fit; `tick` and `now` are the same time. */
static void slot_write_held(struct sync_thread *t, uint64_t tick, uint64_t now)
{
    struct wait_file_slot *s = t->wait_slot;
    uint32_t n = t->depth;
    if (wait_file_bytes(n) > t->wait_slot_bytes &&
        upmu_recorder_wait_file_reserve_(t->wait_slot_index, wait_file_bytes(n)) == 0)
        t->wait_slot_bytes = (uint32_t)wait_file_bytes(n);
    struct wait_file_held *held = wait_file_held(s);
    uint32_t fits = (uint32_t)((t->wait_slot_bytes - WAIT_FILE_HELD_AT) / sizeof *held);
    uint32_t skip = n > fits ? n - fits : 0;
    for (uint32_t i = skip; i < n; i++) {
        const struct sync_held *h = &t->held[i];
        uintptr_t key = __atomic_load_n(&h->lock, __ATOMIC_RELAXED);
        bool reads = sync_key_is_reader(t, key);
        held[i - skip] = (struct wait_file_held){
            .lock = key - reads,
            .site = h->site,
            .since_ns = held_since_ns(sync_held_since(h->since), tick, now),
            .shared = reads,
            .type = sync_count_type(t, key),
        };
    }
    s->n_held = n - skip;
    s->forgotten = t->forgotten + skip;
}

void sync_wait_state_held(struct sync_thread *t, uint64_t tick, uint64_t now)
{
    slot_change_begin(t->wait_slot);
    slot_write_held(t, tick, now);
    slot_change_end(t->wait_slot);
}

/* By the words of a name: a reader, or a thread that gives it another one meanwhile, may see halves of two. */
static void slot_copy_name(uint64_t *to, const uint64_t *from)
{
    for (size_t i = 0; i < SYNC_THREAD_NAME / sizeof *to; i++)
        __atomic_store_n(&to[i], __atomic_load_n(&from[i], __ATOMIC_RELAXED), __ATOMIC_RELAXED);
}

static void slot_write_name(struct sync_thread *t)
{
    slot_copy_name((uint64_t *)(void *)t->wait_slot->name, t->name);
}

void sync_wait_state_name(struct sync_thread *t, const char *name)
{
    uint64_t words[SYNC_THREAD_NAME / sizeof(uint64_t)] = {0};
    memcpy(words, name, strnlen(name, SYNC_THREAD_NAME - 1));
    slot_copy_name(t->name, words);
    if (t->wait_slot)
        slot_write_name(t);
}

void sync_wait_state_name_read(const struct sync_thread *t, char name[SYNC_THREAD_NAME])
{
    uint64_t words[SYNC_THREAD_NAME / sizeof(uint64_t)];
    slot_copy_name(words, t->name);
    memcpy(name, words, SYNC_THREAD_NAME);
}

void sync_wait_state_enter(struct sync_thread *t)
{
    struct wait_file_header *h = __atomic_load_n(&sync_gate.wait_states, __ATOMIC_ACQUIRE);
    struct wait_file_slot *s = t->wait_slot;
    t->wait_depth = 0;
    t->waits_open = 0;
    if (!s || !h)
        return;
    slot_change_begin(s);
    s->state = WAIT_FILE_RUNNING;
    s->tid = t->tid;
    s->handle = (uint64_t)t->self;
    s->n_held = 0;
    slot_write_name(t);
    slot_change_end(s);
    __atomic_fetch_add(&h->begun, 1, __ATOMIC_RELAXED);
    __atomic_fetch_add(&sync_gate.threads_recorded, 1, __ATOMIC_RELAXED);
}

bool sync_wait_state_leave(struct sync_thread *t)
{
    struct wait_file_slot *s = t->wait_slot;
    if (!s)
        return false;
    __atomic_fetch_sub(&sync_gate.threads_recorded, 1, __ATOMIC_RELAXED);
    if (t->wait_depth > 0) /* it left a wait by longjmp() */
        __atomic_fetch_sub(&sync_gate.threads_blocked, 1, __ATOMIC_RELAXED);
    bool keep = t->depth > 0 && __atomic_fetch_add(&sync_gate.kept, 1, __ATOMIC_RELAXED) < KEPT_MAX;
    uint64_t now = tick_clock_ns(CLOCK_REALTIME);
    slot_change_begin(s);
    s->state = keep ? WAIT_FILE_ENDED : WAIT_FILE_FREE;
    s->since_ns = now;
    s->handle = 0;
    if (keep)
        slot_write_held(t, tick_now(), now);
    slot_change_end(s);
    return keep;
}

void sync_wait_state_left(const struct sync_thread *t)
{
    struct wait_file_header *h = __atomic_load_n(&sync_gate.wait_states, __ATOMIC_ACQUIRE);
    uint32_t all = __atomic_load_n(&sync_gate.threads_recorded, __ATOMIC_SEQ_CST);
    if (t->wait_slot && h && all > 0 && __atomic_load_n(&sync_gate.threads_blocked, __ATOMIC_ACQUIRE) >= all)
        sync_all_blocked(h, t, tick_now());
}

/* For private_table_run(). */
static int wait_read_filtered(void *filtered)
{
    *(bool *)filtered = upmu_recorder_filtered_();
    return 0;
}

/* Whether the thread is certainly not on a signal handler's alternate stack. A filter of system calls may not allow to ask. */
static bool wait_is_on_usual_stack(void)
{
    stack_t alternate;
    bool filtered = true;
    (void)private_table_run(wait_read_filtered, &filtered);
    return !filtered && sigaltstack(NULL, &alternate) == 0 && !(alternate.ss_flags & SS_ONSTACK);
}

/*
 * A signal handler runs deeper in the stack than the wait that it interrupts, by more than the frame that the kernel makes, or on
 * a stack of its own.
 */
bool sync_wait_is_left(uintptr_t frame)
{
    enum { SIGNAL_FRAME = 512, DISTANCE_MAX = 1 << 20 };
    int saved = errno;
    bool above = (uintptr_t)__builtin_frame_address(0) + SIGNAL_FRAME - frame < SIGNAL_FRAME + DISTANCE_MAX;
    bool left = above && wait_is_on_usual_stack();
    errno = saved;
    return left;
}

/* Locks of libraries and of the program, conditions of Qt, and variables that a function initializes wait by calls that are recorded. */
static bool wait_has_nested_calls(const struct trace_sync *e)
{
    static const bool is_simple[] = {
        [UPMU_OBJECT_MUTEX] = true,   [UPMU_OBJECT_RWLOCK] = true, [UPMU_OBJECT_SEM] = true,
        [UPMU_OBJECT_BARRIER] = true, [UPMU_OBJECT_FUTEX] = true,  [UPMU_OBJECT_THREAD] = true,
    };
    return (size_t)e->object_type >= sizeof is_simple || !is_simple[e->object_type];
}

bool sync_wait_state_forget_left(struct sync_thread *t)
{
    if (!sync_wait_is_left(t->wait_frame))
        return false;
    t->wait_depth = t->waits_open = 0;
    __atomic_fetch_sub(&sync_gate.threads_blocked, 1, __ATOMIC_RELAXED);
    return true;
}

void sync_wait_state_end_left(struct sync_thread *t)
{
    struct wait_file_slot *s = t->wait_slot;
    if (s && t->wait_depth > 0 && sync_is_ready(t) && sync_wait_state_forget_left(t)) {
        __atomic_store_n(&s->state, WAIT_FILE_RUNNING, __ATOMIC_RELAXED);
        __atomic_store_n(&s->version, __atomic_load_n(&s->version, __ATOMIC_RELAXED) + 2, __ATOMIC_RELEASE);
    }
}

/* Waits nest: in a signal handler, or in the calls that implement a custom lock. */
static void slot_write_wait(struct sync_thread *t, uint64_t tick, const struct trace_sync *e)
{
    struct wait_file_slot *s = t->wait_slot;
    uint64_t now = sync_wait_state_ns(t, tick);
    if (t->wait_depth++ == 1)
        memcpy(t->wait_outer, s, sizeof t->wait_outer);
    slot_change_begin(s);
    s->state = WAIT_FILE_BLOCKED;
    s->peer = e->peer;
    s->kind = e->kind;
    s->type = e->object_type;
    s->flags = e->flags;
    s->stack = e->stack;
    s->holder_stack = e->holder_stack;
    s->object = e->object;
    s->object2 = e->object2;
    s->site = e->site;
    s->since_ns = now;
    s->owner = WAIT_FILE_OWNER_UNKNOWN;
    s->wait_no++;
    slot_write_stack(s, e->stack);
    slot_write_holder_stack(s, e->holder_stack);
    slot_write_held(t, tick, now);
    slot_change_end(s);
}

void sync_wait_state_block_other(struct sync_thread *t, uint64_t tick, const struct trace_sync *e)
{
    if (!t->wait_slot)
        return;
    t->wait_frame = 0;
    slot_write_wait(t, tick, e);
    __atomic_fetch_add(&sync_gate.threads_blocked, 1, __ATOMIC_ACQ_REL);
}

void sync_wait_state_block(struct sync_thread *t, uint64_t tick, const struct trace_sync *e)
{
    if (UNLIKELY(sync_option(sched)))
        upmu_recorder_wait_(true);
    if (!t->wait_slot || UNLIKELY(!sync_is_ready(t)))
        return; /* in the latter case a signal handler may have interrupted a change of the slot */
    uint32_t before = sync_guard_as(t, SYNC_WALKS);
    if (UNLIKELY(t->wait_depth != 0) && sync_wait_state_forget_left(t))
        t->wait_begun[t->waits_open++] = tick; /* of the one that begins */
    if (t->wait_depth == 0)
        t->wait_frame = wait_has_nested_calls(e) ? 0 : (uintptr_t)__builtin_frame_address(0);
    slot_write_wait(t, tick, e);
    uint32_t all = __atomic_load_n(&sync_gate.threads_recorded, __ATOMIC_RELAXED);
    struct wait_file_header *h = __atomic_load_n(&sync_gate.wait_states, __ATOMIC_ACQUIRE);
    if (t->wait_depth == 1 && __atomic_add_fetch(&sync_gate.threads_blocked, 1, __ATOMIC_ACQ_REL) >= all && h)
        sync_all_blocked(h, t, tick);
    sync_unguard(t, before);
}

void sync_wait_state_owner_seen(struct sync_thread *t, bool gone)
{
    struct wait_file_slot *s = t->wait_slot;
    if (!s || t->wait_depth == 0 || !sync_is_ready(t))
        return;
    /* One word of a complete slot, true from now on: readers may or may not see it. */
    __atomic_store_n(&s->owner, gone ? WAIT_FILE_OWNER_GONE : WAIT_FILE_OWNER_SEEN, __ATOMIC_RELEASE);
}

/* The inner of two nested waits has ended: the slot has the outer one again. Its version is not copied: with that of the outer
 * wait, for however short a time, a reader would take the inner one's stack for the outer one's. */
static void slot_restore_outer(struct sync_thread *t, struct wait_file_slot *s)
{
    slot_change_begin(s);
    if (--t->wait_depth == 1) {
        enum { REST = offsetof(struct wait_file_slot, state) };
        memcpy((char *)s + REST, (const char *)t->wait_outer + REST, sizeof t->wait_outer - REST);
        slot_write_name(t);
        slot_write_stack(s, s->stack);
        slot_write_holder_stack(s, s->holder_stack);
    }
    slot_change_end(s);
}

void sync_wait_state_unblock(struct sync_thread *t)
{
    struct wait_file_slot *s = t->wait_slot;
    if (UNLIKELY(sync_option(sched)))
        upmu_recorder_wait_(false);
    if (!s || t->wait_depth == 0 || UNLIKELY(!sync_is_ready(t)))
        return;
    uint32_t before = sync_guard_as(t, SYNC_WALKS);
    if (LIKELY(t->wait_depth == 1)) {
        t->wait_depth = 0;
        __atomic_fetch_sub(&sync_gate.threads_blocked, 1, __ATOMIC_RELAXED);
        /* One word of a complete slot again: of a running thread nothing else is read. */
        __atomic_store_n(&s->state, WAIT_FILE_RUNNING, __ATOMIC_RELAXED);
        __atomic_store_n(&s->version, __atomic_load_n(&s->version, __ATOMIC_RELAXED) + 2, __ATOMIC_RELEASE);
    } else {
        slot_restore_outer(t, s);
    }
    sync_unguard(t, before);
}

/* --------------------------------------------------------------------------------- locks that change their holder */

/* `lock` is a key, or the lock's address for any key of it. */
static void slot_remove_lock(struct wait_file_slot *s, uintptr_t lock)
{
    enum { DISOWNED = 1 << 16 }; /* even, and far from the next versions of the thread */
    uint32_t n = __atomic_load_n(&s->n_held, __ATOMIC_RELAXED);
    for (uint32_t i = 0; i < n && i < WAIT_FILE_HELD_MAX; i++) {
        struct wait_file_held *h = &wait_file_held(s)[i];
        uint64_t expected = __atomic_load_n(&h->lock, __ATOMIC_RELAXED);
        if (expected == 0 || (expected != lock && expected + h->shared != lock) ||
            !__atomic_compare_exchange_n(&h->lock, &expected, 0, false, __ATOMIC_RELAXED, __ATOMIC_RELAXED))
            continue;
        __atomic_fetch_add(&s->version, DISOWNED, __ATOMIC_RELEASE);
    }
}

/* The block, too, or the thread's next wait would write the lock again. */
static void block_remove_lock(struct sync_thread *t, uintptr_t lock)
{
    uint32_t n = __atomic_load_n(&t->depth, __ATOMIC_RELAXED);
    for (uint32_t i = 0; i < n && i < SYNC_HELD_MAX; i++) {
        uintptr_t expected = lock;
        (void)__atomic_compare_exchange_n(&t->held[i].lock, &expected, 0, false, __ATOMIC_RELAXED, __ATOMIC_RELAXED);
    }
}

void sync_wait_state_disown(pid_t tid, uintptr_t lock)
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
            block_remove_lock(t, lock);
        if (t->wait_slot)
            slot_remove_lock(t->wait_slot, lock);
    }
}

void sync_wait_state_disown_holder(uintptr_t lock)
{
    struct sync_held h;
    const struct sync_thread *holder = sync_held_search(lock, &h);
    uintptr_t key = lock;
    if (!holder) { /* a reader, perhaps one of several: any of them will do */
        key = lock | 1;
        holder = sync_held_search(key, &h);
    }
    sync_wait_state_disown(holder ? __atomic_load_n(&holder->tid, __ATOMIC_RELAXED) : 0, holder ? key : lock);
}
