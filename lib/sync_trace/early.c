/* SPDX-License-Identifier: MIT */
/*
 * Waits and holds from before the recording.
 *
 * A waiter stores its slot and then reads the mode; the thread that begins the recording stores the mode and then reads the
 * slots: at least one of them sees the other. A thread whose slot is being read cannot leave its call, so the lock it waits
 * for exists. Its own block, if it has one, is guarded meanwhile and belongs to the publisher.
 */
#include "sync_trace/early.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/cancel.h"
#include "base/own_memory.h"
#include "base/sanitizer.h"
#include "base/tick.h"
#include "region/recorder.h"
#include "sync_trace/account/wait.h"
#include "sync_trace/emit/event.h"
#include "sync_trace/emit/wait_state.h"
#include "sync_trace/libc/layout.h"
#include "sync_trace/state/counts.h"
#include "sync_trace/thread_life.h"
#include "trace/format/control.h"
#include "trace/write/writer.h"

enum { EARLY_SLOTS = 4096, EARLY_PROBES = 64 };

enum early_state {
    EARLY_FREE,
    EARLY_TAKEN, /**< being filled */
    EARLY_WAITS,
    EARLY_READ, /**< being published */
    EARLY_PUBLISHED,
};

struct early_slot {
    uint32_t state; /**< enum early_state */
    pid_t tid;
    pthread_t self;
    struct sync_thread *t; /**< its block; NULL: it has none */
    uintptr_t frame;       /**< stack address of the wait; 0: not known */
    struct sync_early wait;
};

/* Zeros in a forked child. */
struct early_table {
    uint32_t process;      /**< process id */
    struct tiny_lock lock; /**< held while a wait is published */
    uint32_t next;         /**< slot at which the next publication begins */
    struct early_slot slots[EARLY_SLOTS];
};

static struct early_table *early_table;
uint32_t sync_early_noted; /* a wait was noted since the last publication, or that was not of all */

#if defined(__SANITIZE_THREAD__) /* it does not support fences; the exchange before is one */
#define EARLY_FENCE() ((void)0)
#else
#define EARLY_FENCE() __atomic_thread_fence(__ATOMIC_SEQ_CST)
#endif

/* ------------------------------------------------------------------------------------------------ the table */

static struct early_table *early_table_get(void)
{
    struct early_table *table = __atomic_load_n(&early_table, __ATOMIC_ACQUIRE), *none = NULL;
    if (LIKELY(table != NULL))
        return table;
    table = own_memory_map_wiped(sizeof *table);
    if (table && !__atomic_compare_exchange_n(&early_table, &none, table, false, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE)) {
        own_memory_unmap(table, sizeof *table);
        table = none;
    }
    return table;
}

/* The calling thread's id: a system call once per thread, and in a forked child. */
static pid_t early_tid(struct early_table *table)
{
    uint32_t process = __atomic_load_n(&table->process, __ATOMIC_RELAXED);
    if (UNLIKELY(process == 0)) {
        process = (uint32_t)getpid();
        __atomic_store_n(&table->process, process, __ATOMIC_RELAXED);
    }
    if (UNLIKELY(sync_tls.process != process)) {
        sync_tls.tid = (uint32_t)syscall(SYS_gettid);
        sync_tls.process = process;
    }
    return (pid_t)sync_tls.tid;
}

static struct early_slot *early_slot_take(struct early_table *table, pid_t tid)
{
    for (uint32_t i = 0; i < EARLY_PROBES; i++) {
        struct early_slot *s = &table->slots[((uint32_t)tid + i) % EARLY_SLOTS];
        uint32_t free_slot = EARLY_FREE;
        if (__atomic_load_n(&s->state, __ATOMIC_RELAXED) == EARLY_FREE &&
            __atomic_compare_exchange_n(&s->state, &free_slot, EARLY_TAKEN, false, __ATOMIC_ACQUIRE, __ATOMIC_RELAXED))
            return s;
    }
    return NULL;
}

/* The thread leaves its slot. @return false: it is published, or in a forked child. */
static bool early_slot_leave(struct early_slot *s)
{
    uint32_t waits = EARLY_WAITS;
    if (__atomic_compare_exchange_n(&s->state, &waits, EARLY_FREE, false, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE))
        return true;
    if (waits == EARLY_READ) {
        tiny_lock_take(&early_table->lock);
        tiny_lock_give(&early_table->lock);
    }
    return false;
}

/* The slot of the calling thread, or NULL. */
static struct early_slot *early_slot_own(struct early_table *table)
{
    pid_t tid = early_tid(table);
    for (uint32_t i = 0; i < EARLY_PROBES; i++) {
        struct early_slot *s = &table->slots[((uint32_t)tid + i) % EARLY_SLOTS];
        if (__atomic_load_n(&s->state, __ATOMIC_ACQUIRE) >= EARLY_WAITS && s->tid == tid)
            return s;
    }
    return NULL;
}

/* The thread is in its wait no more. @return its block if the wait was published. */
static struct sync_thread *early_slot_end(struct early_slot *s)
{
    struct sync_thread *own = sync_tls.thread, *t = NULL;
    if (!early_slot_leave(s) && __atomic_load_n(&s->state, __ATOMIC_ACQUIRE) == EARLY_PUBLISHED) {
        t = s->t;
        __atomic_store_n(&s->state, EARLY_FREE, __ATOMIC_RELEASE);
    }
    sync_tls.early = 0;
    if (own && own->used)
        sync_unguard(own, SYNC_READY);
    else if (t)
        t = sync_thread_adopt(t);
    return t;
}

/* ------------------------------------------------------------------------------------------------ publishing */

/* As the kernel has it; "" if the thread has ended. */
static void early_read_name(pid_t tid, char name[SYNC_THREAD_NAME])
{
    char path[sizeof "/proc/self/task//comm" + 3 * sizeof tid] = "/proc/self/task/", digits[3 * sizeof tid];
    size_t n = 0, at = strlen(path);
    for (unsigned rest = (unsigned)tid; rest > 0 && n < sizeof digits; rest /= 10)
        digits[n++] = (char)('0' + rest % 10);
    while (n > 0)
        path[at++] = digits[--n];
    strcpy(path + at, "/comm");
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    ssize_t got = fd < 0 ? 0 : read(fd, name, SYNC_THREAD_NAME - 1);
    if (fd >= 0)
        close(fd);
    name[got > 0 ? got : 0] = '\0';
    name[strcspn(name, "\n")] = '\0';
}

/* The owner as sync_wait_find_holder() expects it. */
static pid_t early_owner(const struct sync_early *w)
{
    const void *lock = (const void *)sync_key_object(w->key, w->type);
    pid_t owner = -1;
    if (w->type == UPMU_OBJECT_MUTEX)
        owner = sync_mutex_owner(lock); /* an mtx_t is one, too, where the field is known */
    if (w->type == UPMU_OBJECT_RWLOCK)
        owner = sync_rwlock_writer(lock);
    return w->type == UPMU_OBJECT_RWLOCK && owner == 0 ? -1 : owner;
}

/* The event that begins the wait, of which `ended` is whether it has ended: then the lock has another holder. */
static struct trace_sync early_event(struct sync_thread *t, const struct sync_early *w, bool ended)
{
    struct trace_sync e = {
        .kind = w->kind,
        .object_type = (int32_t)w->type,
        .object = sync_key_object(w->key, w->type),
        .object2 = w->mutex,
        .flags = w->flags | sync_key_flags(w->key, w->type) | UPMU_TRACE_FLAG_BEFORE,
        .site = w->site,
    };
    if (w->kind == UPMU_TRACE_LOCK_BLOCK && w->type != UPMU_OBJECT_SEM && !ended) {
        const struct sync_wait wait = {.t = t, .lock = w->key, .type = w->type};
        pid_t owner = early_owner(w);
        bool waits_for_itself = !(w->flags & (UPMU_TRACE_FLAG_RECURSIVE | UPMU_TRACE_FLAG_ERRORCHECK));
        if (owner != t->tid || waits_for_itself) /* else it has just acquired the lock */
            sync_wait_find_holder(&wait, owner, false, &e);
    }
    if (w->kind == UPMU_TRACE_THREAD_JOIN) {
        const struct sync_thread *joined = sync_thread_by_handle((pthread_t)w->key);
        e.peer = joined ? __atomic_load_n(&joined->tid, __ATOMIC_RELAXED) : 0;
    }
    return e;
}

static void early_publish_slot(struct early_slot *s, bool ended)
{
    char name[SYNC_THREAD_NAME];
    early_read_name(s->tid, name);
    uint64_t since = sync_recording_since(); /* it has lasted at least from there on */
    struct trace_stream *stream = upmu_recorder_stream_of_(s->tid, name, since);
    struct sync_thread *t = !stream ? NULL : s->t ? s->t : sync_thread_make_for(s->tid, s->self, name);
    s->t = t;
    if (t) {
        uint64_t tick = tick_now();
        const struct trace_sync e = early_event(t, &s->wait, ended);
        bool held_then = e.holder_since <= since;                     /* otherwise by another thread at first */
        (void)upmu_trace_sync_(stream, held_then ? since : tick, &e); /* if it is lost, that is counted */
        if (s->wait.kind != UPMU_TRACE_COND_WAIT && s->wait.kind != UPMU_TRACE_THREAD_JOIN)
            __atomic_store_n(&t->waiting, s->wait.key, __ATOMIC_RELAXED);
        sync_wait_state_block_other(t, tick, &e);
    } else {
        upmu_recorder_lost_(LOSS_THREAD, 1);
    }
    if (stream)
        upmu_recorder_stream_release_(stream);
}

/* Publishes up to `most` waits, and none after so many ticks. @return whether others may be left. */
static bool early_publish_slots(struct early_table *table, uint32_t most, uint64_t ticks)
{
    uint64_t begin = tick_now();
    uint32_t first = __atomic_load_n(&table->next, __ATOMIC_RELAXED), n = 0;
    for (uint32_t i = 0; i < EARLY_SLOTS; i++) {
        struct early_slot *s = &table->slots[(first + i) % EARLY_SLOTS];
        uint32_t waits = EARLY_WAITS;
        if (__atomic_load_n(&s->state, __ATOMIC_RELAXED) != EARLY_WAITS)
            continue;
        if (n == most || (n > 0 && tick_now() - begin >= ticks)) {
            __atomic_store_n(&table->next, (first + i) % EARLY_SLOTS, __ATOMIC_RELAXED);
            return true;
        }
        tiny_lock_take(&table->lock);
        if (__atomic_compare_exchange_n(&s->state, &waits, EARLY_READ, false, __ATOMIC_ACQUIRE, __ATOMIC_RELAXED)) {
            early_publish_slot(s, false);
            __atomic_store_n(&s->state, EARLY_PUBLISHED, __ATOMIC_RELEASE);
            n++;
        }
        tiny_lock_give(&table->lock);
    }
    return false;
}

static void early_publish(struct sync_thread *t, uint32_t most, uint64_t ticks)
{
    struct early_table *table = __atomic_load_n(&early_table, __ATOMIC_ACQUIRE);
    int saved = errno;
    struct cancel_hold cancel;
    if (!control_mode_has_events(sync_mode()) || !table || !__atomic_exchange_n(&sync_early_noted, 0, __ATOMIC_SEQ_CST))
        return;
    EARLY_FENCE();
    cancel_hold(&cancel);
    sigset_t before = sync_signals_block();
    uint32_t ready = sync_guard(t);
    if (early_publish_slots(table, most, ticks))
        __atomic_store_n(&sync_early_noted, 1, __ATOMIC_RELEASE);
    sync_unguard(t, ready);
    sync_signals_restore(&before);
    errno = saved;
    cancel_resume(&cancel);
}

void sync_early_publish(struct sync_thread *t)
{
    early_publish(t, EARLY_SLOTS, UINT64_MAX);
}

void sync_early_publish_some(struct sync_thread *t)
{
    enum { SOME = 4, PER_SECOND = 2000 };
    early_publish(t, SOME, sync_process.hz / PER_SECOND);
}

/* The calling thread's wait has ended, and is not published although events are recorded by now: the thread does it. */
static void early_publish_own(struct early_slot *s)
{
    uint32_t waits = EARLY_WAITS;
    struct cancel_hold cancel;
    if (!control_mode_has_events(sync_mode()) ||
        !__atomic_compare_exchange_n(&s->state, &waits, EARLY_READ, false, __ATOMIC_ACQ_REL, __ATOMIC_RELAXED))
        return;
    cancel_hold(&cancel);
    sigset_t before = sync_signals_block();
    early_publish_slot(s, true);
    __atomic_store_n(&s->state, EARLY_PUBLISHED, __ATOMIC_RELEASE);
    sync_signals_restore(&before);
    cancel_resume(&cancel);
}

/* ----------------------------------------------------------------------------------------------- of a waiter */

/* A signal handler may have left the wait by a jump: it has no end then. @return whether it has. */
static bool early_left(void)
{
    int saved = errno;
    struct early_slot *s = early_slot_own(early_table);
    bool left = s && sync_wait_is_left(s->frame);
    struct sync_thread *t = left ? early_slot_end(s) : NULL;
    if (t) {
        __atomic_store_n(&t->waiting, 0, __ATOMIC_RELAXED);
        sync_wait_state_unblock(t);
    }
    errno = saved;
    return left;
}

bool sync_early_begin(struct sync_early *w)
{
    int saved = errno;
    struct sync_thread *t = sync_tls.thread;
    bool has_block = t && __atomic_load_n(&t->used, __ATOMIC_RELAXED);
    w->slot = 0;
    if (UNDER_TSAN) /* it does not see atomic operations within calls that block, such as those on a slot's state */
        return true;
    bool in_child = __atomic_load_n(&sync_process.recording, __ATOMIC_RELAXED) &&
                    !__atomic_load_n(&sync_gate.mode, __ATOMIC_RELAXED);       /* its recording begins with a wait */
    bool finished = __atomic_load_n(&sync_process.finished, __ATOMIC_RELAXED); /* no system call any more */
    if (sync_tls.early && !finished)
        (void)early_left();
    if (in_child || finished || sync_tls.early || sync_tls.busy || sync_tls.refused || (has_block && !sync_is_ready(t)))
        return true; /* of a signal handler, of the recorder, or at the thread's end */
    struct early_table *table = early_table_get();
    struct early_slot *s = table ? early_slot_take(table, early_tid(table)) : NULL;
    errno = saved;
    if (!s)
        return true;
    sync_tls.early = 1;
    __atomic_store_n(&sync_thread_left_early, early_left, __ATOMIC_RELAXED);
    if (has_block)
        (void)sync_guard(t);
    s->tid = (pid_t)sync_tls.tid;
    s->self = pthread_self();
    s->t = has_block ? t : NULL;
    /* The wait for a condition variable of Qt calls that of libc. */
    s->frame = w->kind == UPMU_TRACE_COND_WAIT ? 0 : (uintptr_t)__builtin_frame_address(0);
    s->wait = *w;
    w->slot = 1 + (uint32_t)(s - table->slots);
    __atomic_store_n(&s->state, EARLY_WAITS, __ATOMIC_RELEASE);
    (void)__atomic_exchange_n(&sync_early_noted, 1, __ATOMIC_SEQ_CST);
    EARLY_FENCE();
    if (LIKELY(!control_mode_has_events(sync_mode())) || !early_slot_leave(s))
        return true;
    sync_tls.early = 0;
    if (has_block)
        sync_unguard(t, SYNC_READY);
    return false;
}

struct sync_thread *sync_early_end(struct sync_early *w)
{
    if (w->slot == 0)
        return NULL;
    int saved = errno;
    struct early_slot *s = &early_table->slots[w->slot - 1];
    early_publish_own(s);
    struct sync_thread *t = early_slot_end(s);
    w->slot = 0;
    errno = saved;
    return t;
}

void sync_early_lock_end(struct sync_early *w, int32_t result)
{
    int saved = errno;
    bool won = result == 0 || result == EOWNERDEAD;
    struct sync_thread *t = sync_early_end(w);
    uint32_t mode = sync_mode();
    if (t) {
        struct sync_wait wait = {.t = t,
                                 .lock = w->key,
                                 .site = w->site,
                                 .type = w->type,
                                 .flags = w->flags | sync_key_flags(w->key, w->type),
                                 .result = result,
                                 .recorded = true};
        sync_wait_end(&wait);
    } else if (won && mode != MODE_OFF && w->type != UPMU_OBJECT_SEM && (t = sync_thread()) != NULL) {
        const struct lock_call call = {.key = w->key, .type = w->type, .site = w->site};
        sync_acquired(t, mode, &call, result);
    }
    errno = saved;
}

void sync_early_wait_begin(struct sync_early_wait *w, struct sync_wait *wait)
{
    w->wait = wait;
    w->early.slot = 0;
    if (LIKELY(wait->recorded))
        return;
    w->early = (struct sync_early){
        .kind = UPMU_TRACE_LOCK_BLOCK, .type = wait->type, .key = wait->lock, .site = wait->site, .flags = wait->flags};
    (void)sync_early_begin(&w->early); /* a mode that begins at this moment has no event of the wait */
}

void sync_early_wait_end(struct sync_early_wait *w)
{
    struct sync_wait *wait = w->wait;
    if (LIKELY(w->early.slot == 0) || !sync_early_end(&w->early))
        return;
    wait->recorded = true;
    wait->flags |= sync_key_flags(wait->lock, wait->type);
}

/* ----------------------------------------------------------------------------------------------------- holds */

/* The rate of ticks is known roughly at first: a lower bound must not be too large. */
enum { EARLY_RATE_PARTS = 256 };

/* Tick of a time by CLOCK_MONOTONIC_RAW at which recording was started, or slightly later. */
static uint64_t early_tick_of(uint64_t raw_ns)
{
    uint64_t now = tick_now(), now_ns = tick_portable();
    uint64_t own = __atomic_load_n(&sync_gate.since, __ATOMIC_RELAXED);
    uint64_t own_ns = __atomic_load_n(&sync_gate.since_raw_ns, __ATOMIC_RELAXED);
    if (raw_ns == own_ns)
        return own;
    uint64_t ns = raw_ns < now_ns ? now_ns - raw_ns : 0;
    uint64_t least_ns = ns - ns / EARLY_RATE_PARTS, ticks = (uint64_t)((double)least_ns / sync_process.ns_per_tick);
    return raw_ns < own_ns || now - ticks > own ? now - ticks : own;
}

uint64_t sync_recording_since(void)
{
    const struct control_header *control = upmu_recorder_control_();
    return early_tick_of(control ? __atomic_load_n(&control->resumed_raw_ns, __ATOMIC_ACQUIRE) : 0);
}

uint64_t sync_recording_started(uint32_t stop)
{
    const struct control_header *control = upmu_recorder_control_();
    if (!control || stop == 0)
        return 0;
    if (stop <= CONTROL_PAUSES) {
        uint64_t raw_ns = __atomic_load_n(&control->pause[stop - 1].end_raw_ns, __ATOMIC_ACQUIRE);
        return raw_ns != 0 ? early_tick_of(raw_ns) : 0;
    }
    bool ended = __atomic_load_n(&control->pauses, __ATOMIC_RELAXED) != stop ||
                 __atomic_load_n(&control->more_raw_ns, __ATOMIC_RELAXED) == 0;
    return ended ? sync_recording_since() : 0;
}

bool sync_held_before(const struct sync_thread *t, uintptr_t key, struct sync_held *h)
{
    uint64_t since = sync_recording_since(), ready = __atomic_load_n(&sync_gate.ready, __ATOMIC_RELAXED);
    since = since < ready ? ready : since;
    *h = (struct sync_held){.lock = key, .since = since};
    return since >= t->born && t->forgotten == 0;
}

void sync_release_before(struct sync_thread *t, const struct lock_call *l, uint64_t tick)
{
    int saved = errno;
    struct sync_held h;
    uint32_t mode = sync_mode();
    if (mode == MODE_OFF || mode == MODE_COUNTS || !sync_held_before(t, l->key, &h) || h.since > tick)
        return;
    struct trace_sync e = {
        .kind = UPMU_TRACE_LOCK_RELEASE,
        .object_type = (int32_t)l->type,
        .object = sync_key_object(l->key, l->type),
        .flags = sync_key_flags(l->key, l->type) | UPMU_TRACE_FLAG_BEFORE,
        .holder_since = h.since,
        .stack = sync_stack(t, tick, l->site),
    };
    sync_write(t, tick, &e);
    errno = saved;
}
