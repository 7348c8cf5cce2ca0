/* SPDX-License-Identifier: MIT */
/**
 * @file
 * Waits and holds from before the recording.
 *
 * A thread that is about to block while nothing is recorded, or only counts, notes its wait in a table of the process. When
 * events begin, these waits are published: each thread gets a block, a slot of the wait-state file, and the event that begins its
 * wait, with UPMU_TRACE_FLAG_BEFORE. The thread itself records the end. Uncontended calls are not affected: whether a lock
 * is taken is read from the lock, without a try.
 */
#ifndef UPMU_SYNC_EARLY_H
#define UPMU_SYNC_EARLY_H

#include "sync_trace/account/acquire.h"
#include "sync_trace/account/wait.h"
#include "sync_trace/state/thread.h"

/** A wait that begins while nothing is recorded. */
struct sync_early {
    int32_t kind;  /**< enum upmu_trace_kind of the event that begins it */
    uint32_t type; /**< enum upmu_object_type */
    uintptr_t key; /**< see sync_key_object(); of a join, the thread's handle */
    uintptr_t mutex;
    uintptr_t site;
    uint32_t flags;
    uint32_t slot; /**< in the table, from 1 on; 0: it is not noted */
};

/** Note that the thread is about to block. @return false if events are recorded by now: record the call as usual. Keeps errno. */
bool sync_early_begin(struct sync_early *w);
/** To be called when the call has returned. @return the thread's block if the wait was published and its end must be recorded; NULL. Keeps errno. */
struct sync_thread *sync_early_end(struct sync_early *w);
/** The same for a lock: records that it was acquired, or `result`. */
void sync_early_lock_end(struct sync_early *w, int32_t result);

/** A wait for a lock in mode counts, which has no event either. */
struct sync_early_wait {
    struct sync_early early;
    struct sync_wait *wait;
};

/** After sync_wait_begin(&wait): note the wait if it is not recorded. Keeps errno. */
void sync_early_wait_begin(struct sync_early_wait *w, struct sync_wait *wait);
/** Before sync_wait_end(), also when the thread is canceled: if events began meanwhile, the end is one. May be called again. Keeps
 *  errno. */
void sync_early_wait_end(struct sync_early_wait *w);

/** Publish the waits noted so far: recording is on. `t`: the calling thread's block. Keeps errno. */
void sync_early_publish(struct sync_thread *t);
/** The same of a few of them. */
void sync_early_publish_some(struct sync_thread *t);
extern uint32_t sync_early_noted __attribute__((visibility("hidden")));

/** Publish noted waits: recording that `upmu ctl` starts does not publish them itself. The caller may hold locks of the program, and
 *  a wait takes up to a millisecond: the others follow in later calls, or their threads publish them when they end. */
static inline void sync_early_check(struct sync_thread *t)
{
    if (UNLIKELY(__atomic_load_n(&sync_early_noted, __ATOMIC_RELAXED) != 0))
        sync_early_publish_some(t);
}

/** Tick from which on calls are recorded, or slightly later. */
uint64_t sync_recording_since(void);
/** Tick at which the stop with this number (`pauses` of the control file) has ended, or slightly later; 0: it lasts. */
uint64_t sync_recording_started(uint32_t stop);

/** Whether the thread acquired the lock that it releases before the recording began. @param h out, that hold, since the begin of the
 *  recording */
bool sync_held_before(const struct sync_thread *t, uintptr_t key, struct sync_held *h);
/** Record the release of a lock acquired before the recording, at `tick`, read before the call. Not for locks of another thread.
 *  Keeps errno. */
void sync_release_before(struct sync_thread *t, const struct lock_call *l, uint64_t tick);

#endif
