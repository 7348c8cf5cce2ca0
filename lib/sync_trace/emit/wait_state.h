/* SPDX-License-Identifier: MIT */
/** @file Writing of the wait-state file: what each thread waits for and holds (trace/format/wait_state.h). */
#ifndef UPMU_SYNC_WAIT_STATE_H
#define UPMU_SYNC_WAIT_STATE_H

#include "sync_trace/state/thread.h"

struct trace_sync;

/** Orders the odd version of a slot before the stores that follow. */
#if defined(__SANITIZE_THREAD__) /* it does not support fences, and does not see the readers */
#define SYNC_STORES_BEGIN() ((void)0)
#else
#define SYNC_STORES_BEGIN() __atomic_thread_fence(__ATOMIC_RELEASE)
#endif

/** Read CLOCK_REALTIME, and the tick with it. @return it. */
uint64_t sync_wait_state_clock(struct sync_thread *t);

/** CLOCK_REALTIME at a tick of about now. A thread that waits many times within a tenth of a millisecond reads the clock once:
 *  for that long, even a tick rate that is wrong by some thousandths, as at the start, is off by less than a microsecond. */
static inline uint64_t sync_wait_state_ns(struct sync_thread *t, uint64_t tick)
{
    enum { PER_SECOND = 1 << 13 };
    uint64_t ns = __atomic_load_n(&t->clock_ns, __ATOMIC_RELAXED);
    __atomic_signal_fence(__ATOMIC_SEQ_CST); /* if a signal handler reads the clock here, `gone` is negative */
    uint64_t gone = tick - __atomic_load_n(&t->clock_tick, __ATOMIC_RELAXED);
    if (LIKELY(gone < sync_process.hz / PER_SECOND))
        return ns + (gone * sync_process.ns_factor >> SYNC_NS_BITS);
    return sync_wait_state_clock(t);
}

/** Tracing begins: make the file. */
void sync_wait_state_start(void);
/** A new block: give it a slot. Under sync_gate.lock. */
void sync_wait_state_slot_new(struct sync_thread *t);
/** A thread has the block now. */
void sync_wait_state_enter(struct sync_thread *t);
/** The thread is named: by itself or another one. */
void sync_wait_state_name(struct sync_thread *t, const char *name);
void sync_wait_state_name_read(const struct sync_thread *t, char name[SYNC_THREAD_NAME]);
/** The thread ends. @return true if it holds locks, and the block must be kept as it is. */
bool sync_wait_state_leave(struct sync_thread *t);
/** After that: if all others wait, this is recorded as by the last that began to wait. */
void sync_wait_state_left(const struct sync_thread *t);
/** The program has created a thread. */
void sync_wait_state_thread_created(void);
/** The thread is about to wait; `e` is the event that begins the wait, `tick` is about now. */
void sync_wait_state_block(struct sync_thread *t, uint64_t tick, const struct trace_sync *e);
/** The same of another thread, which is blocked: the block belongs to the caller. */
void sync_wait_state_block_other(struct sync_thread *t, uint64_t tick, const struct trace_sync *e);
/** Show the locks held in the slot, which the thread has; `tick` and `now` are the same time. */
void sync_wait_state_held(struct sync_thread *t, uint64_t tick, uint64_t now);
/** Whether the calling thread has left the wait that began at this stack address by a jump, so that no end of it comes. false: it runs in
 *  a signal handler that interrupted the wait, or deeper in the stack than a frame of one. Keeps errno. */
bool sync_wait_is_left(uintptr_t frame);
/** If the calling thread has left its outermost wait, that is over. @return whether it has. */
bool sync_wait_state_forget_left(struct sync_thread *t);
/** The process ends in this thread: a wait that it has left by a jump is over. */
void sync_wait_state_end_left(struct sync_thread *t);
/** The wait is over. */
void sync_wait_state_unblock(struct sync_thread *t);
/** The lock is no longer held by thread `tid`, which did not release it itself; 0: by no thread that has ended. */
void sync_wait_state_disown(pid_t tid, uintptr_t lock);
/** The same if the owner is unknown: by the thread that is recorded as its holder. */
void sync_wait_state_disown_holder(uintptr_t lock);
/** After the wait began, the mutex was still owned by its peer; `gone`: the peer is not a thread of this process. */
void sync_wait_state_owner_seen(struct sync_thread *t, bool gone);

#endif
