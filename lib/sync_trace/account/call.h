/* SPDX-License-Identifier: MIT */
/**
 * @file
 * Calls that may wait for something else than a lock.
 *
 * Most of these calls do not wait: a read() finds its data. Whether one has waited is known afterwards only, so the wait-state
 * slot shows the call while it lasts, and both events of a wait are written when the call has returned.
 */
#ifndef UPMU_SYNC_CALL_H
#define UPMU_SYNC_CALL_H

#include <limits.h>

#include "base/sanitizer.h"
#include "base/tick.h"
#include "sync_trace/emit/wait_state.h"
#include "sync_trace/libc/switched.h"
#include "sync_trace/thread_life.h"
#include "trace/format/control.h"
#include "trace/format/wait_state.h"

/** `rc` of a call that has not returned: its thread was canceled. */
#define SYNC_CALL_CANCELED LONG_MIN

struct sync_call {
    struct sync_thread *t; /**< NULL: not recorded */
    uint64_t tick;         /**< of its begin; without `t`: number of the stop in which it began, 0: none */
    uintptr_t site;
    long rc;      /**< what the function returned, -1: errno has the cause */
    int error;    /**< of a function that returns an error number */
    int fd;       /**< -1: none */
    int16_t call; /**< enum upmu_call */
    uint16_t flags;
};

/** The calling thread's block, or NULL if it cannot record now. A call by the recorder itself, or by a signal handler that
 *  interrupted it, is not recorded. Wrappers of calls that are often short are jumps then: a return after a system call costs
 *  5 to 26 ns where the kernel disorders the CPU's stack of return addresses. */
static inline struct sync_thread *sync_call_thread(void)
{
    uint32_t mode = sync_mode();
    /* ThreadSanitizer does not see atomic operations within its own versions of these calls. */
    if (UNDER_TSAN || mode == MODE_OFF || UNLIKELY(mode == MODE_COUNTS) ||
        !__atomic_load_n(&sync_process.calls, __ATOMIC_RELAXED))
        return NULL;
    struct sync_thread *t = sync_tls.thread;
    if (LIKELY(t != NULL))
        return LIKELY(sync_is_ready(t)) ? t : NULL;
    return sync_thread_make();
}

/** Without a recorded thread: number of the stop that recording is in; 0: in none. */
static inline uint32_t sync_call_stop(void)
{
    const uint32_t *mode = __atomic_load_n(&sync_gate.mode, __ATOMIC_RELAXED);
    if (LIKELY(mode == NULL) || UNDER_TSAN || __atomic_load_n(mode, __ATOMIC_RELAXED) != MODE_OFF ||
        !__atomic_load_n(&sync_process.calls, __ATOMIC_RELAXED))
        return 0;
    const char *header = (const char *)mode - offsetof(struct control_header, mode);
    return __atomic_load_n(&((const struct control_header *)(const void *)header)->pauses, __ATOMIC_RELAXED);
}

static inline bool sync_call_is_shown(const struct wait_file_slot *s)
{
    return s && (s->state == WAIT_FILE_CALL || s->state == WAIT_FILE_CHILD);
}

/* The slot shows the call, unless it shows a wait for a lock that a signal handler has interrupted. */
static inline void sync_call_show(struct sync_thread *t, const struct sync_call *c)
{
    struct wait_file_slot *s = t->wait_slot;
    t->calls.tick = c->tick;
    if (UNLIKELY(!s || (t->wait_depth > 0 && !sync_wait_state_forget_left(t))))
        return;
    uint64_t since = sync_wait_state_ns(t, c->tick);
    if (c->call == UPMU_CALL_CHILD) /* the child may wait for what the thread holds */
        sync_wait_state_held(t, c->tick, since);
    uint32_t version = __atomic_load_n(&s->version, __ATOMIC_RELAXED);
    __atomic_store_n(&s->version, version + 1, __ATOMIC_RELAXED);
    SYNC_STORES_BEGIN();
    s->state = c->call == UPMU_CALL_CHILD ? WAIT_FILE_CHILD : WAIT_FILE_CALL;
    s->object = SCHEMA_CALL_OBJECT(c->call, 0, c->fd);
    s->flags = c->flags;
    s->site = c->site;
    s->since_ns = since;
    __atomic_store_n(&s->version, version + 2, __ATOMIC_RELEASE);
}

static inline void sync_call_hide(struct sync_thread *t)
{
    struct wait_file_slot *s = t->wait_slot;
    if (UNLIKELY(!s || t->wait_depth > 0))
        return;
    __atomic_store_n(&s->state, WAIT_FILE_RUNNING, __ATOMIC_RELAXED);
    __atomic_store_n(&s->version, __atomic_load_n(&s->version, __ATOMIC_RELAXED) + 2, __ATOMIC_RELEASE);
}

/** Note what may end another thread's wait: a descriptor that is written to, or a signal that is sent (negative). */
static inline void sync_call_note_write(struct sync_thread *t, uint64_t tick, int64_t target)
{
    struct sync_call_write *w = &t->calls.writes[t->calls.n_writes++ % SYNC_CALL_WRITES];
    __atomic_store_n(&w->target, target, __ATOMIC_RELAXED);
    __atomic_store_n(&w->tick, tick, __ATOMIC_RELEASE);
}

/** Begin a call, which may not be recorded: `t` NULL. */
static inline __attribute__((always_inline)) struct sync_call sync_call_begin_of(struct sync_thread *t, int call,
                                                                                 int fd, uint32_t flags, uintptr_t site)
{
    struct sync_call c;
    c.t = t;
    c.tick = t ? tick_now() : sync_call_stop();
    c.site = site;
    c.rc = SYNC_CALL_CANCELED;
    c.error = 0;
    c.fd = fd;
    c.call = (int16_t)call;
    c.flags = (uint16_t)flags;
    if (!t) {
        if (c.tick != 0)
            sync_switched_arm();
        return c;
    }
    if (call == UPMU_CALL_WRITE && fd >= 0)
        sync_call_note_write(c.t, c.tick, fd);
    sync_call_show(c.t, &c);
    sync_switched_arm();
    return c;
}

static inline __attribute__((always_inline)) struct sync_call sync_call_begin(int call, int fd, uint32_t flags,
                                                                              uintptr_t site)
{
    return sync_call_begin_of(sync_call_thread(), call, fd, flags, site);
}

/** The thread may have been switched out: record the call if it slept. By value, so that a call needs no memory
 *  for what only this needs. Keeps errno. */
__attribute__((cold)) void sync_call_was_switched(struct sync_call c);

/** The same of a call that began while recording was stopped: if it was started meanwhile, the call counts from there on. */
__attribute__((cold)) void sync_call_was_stopped(struct sync_call c);

/** Also when the thread is canceled. */
static inline __attribute__((always_inline)) void sync_call_end(struct sync_call *c)
{
    if (!c->t) {
        if (UNLIKELY(c->tick != 0) && sync_switched())
            sync_call_was_stopped(*c);
        return;
    }
    sync_call_hide(c->t);
    if (UNLIKELY(sync_switched()))
        sync_call_was_switched(*c);
}

/** A call in progress; it ends with the scope. */
#define SYNC_CALL struct sync_call __attribute__((cleanup(sync_call_end)))

/** A thread that is still in a call at the end of the process: its wait, which does not end, into a stream of the calling
 *  thread. */
void sync_call_write_open(const struct sync_thread *t, struct trace_stream *stream);
/** Tick of the begin of that wait; UINT64_MAX: there is none. */
uint64_t sync_call_open_since(const struct sync_thread *t);

#endif
