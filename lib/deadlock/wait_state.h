/* SPDX-License-Identifier: MIT */
/** @file Wait state of a process: blocked threads, lock holders, and what else could end a wait. */
#ifndef UPMU_DEADLOCK_WAIT_STATE_H
#define UPMU_DEADLOCK_WAIT_STATE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "analysis/wait_state_file.h"
#include "base/text/textbuf.h"
#include "deadlock/graph/blocked.h"
#include "deadlock/inspect/inspect_threads.h"

/** What could end a wait beside the recorded threads. */
struct wait_state_wakers {
    bool known;        /**< the process was inspected while its threads were blocked */
    bool asleep;       /**< and all waiting threads slept: none was woken and has only not run yet */
    uint64_t asked_ns; /**< time of the inspection */
    uint64_t caught;   /**< signals with a handler of the program, bit n-1 for signal n */
    uint32_t timers;
    uint32_t unknown;   /**< threads that are not recorded, and not inspected */
    uint32_t inspected; /**< threads that are not recorded, but inspected */
    bool inside;        /**< the objects waited for are in private memory of the process */
    bool same_memory;   /**< another process has the memory of this one: it could end each wait */
};

struct wait_state {
    struct wait_state_file file;
    struct wait_state_wakers wakers;
    struct kernel_view kernel;   /**< of a live process that was inspected */
    bool all_asleep;             /**< restored: every thread slept, and nothing was known that could wake one */
    struct wg_snapshot snapshot; /**< thread `i` is file.threads[i]; one more that runs may follow */
};

/** Read the wait-state file of a process's directory. @return as wait_state_file_read(). The struct must be freed in any
 *  case. */
int wait_state_read(struct wait_state *s, const char *dir);
/** Find all deadlocks.
 *  @param pid a live process, in which another one with the same memory is searched for; else 0
 *  @return 0; UPMU_E_NOMEM. */
int wait_state_find_blocked(struct wait_state *s, pid_t pid);
void wait_state_free(struct wait_state *s);

/** A hash that changes when any thread of the deadlock resumes (or any thread at all if `no_waker`), and differs between
 *  deadlocks. */
uint64_t wait_state_signature(const struct wait_state *s, const struct wg_deadlock *d);

/** A hash that stays the same as long as the deadlock lasts, whatever other threads do. */
uint64_t wait_state_identity(const struct wait_state *s, const struct wg_deadlock *d);

/* Notes for later readers of the file. Those with a result return 0, or UPMU_E_IO, also if there is no file. */

/** Save the wakers that were found while the threads slept. */
int wait_state_save_wakers(const struct wait_state *s, const char *dir);
/** Save which threads of an inspected process have left the waits of their slots, and which have not. */
void wait_state_save_left(const struct wait_state *s, const char *dir);
/** A time at which a process is about to be found alive. */
struct alive_time {
    uint64_t raw_ns, real_ns; /**< CLOCK_MONOTONIC_RAW, CLOCK_REALTIME */
};
struct alive_time alive_time_now(void);
/** Save that the process was alive at that time. */
int wait_state_save_alive(const char *dir, const struct alive_time *at);

/** Add a held lock to a thread. @return 1; UPMU_E_NOMEM. */
int wait_state_add_held(struct wait_state *s, struct wait_state_thread *t, uint64_t lock);
/** Add a thread that holds nothing. @return NULL without memory. */
struct wait_state_thread *wait_state_add_thread(struct wait_state *s, const struct wait_file_slot *head);
/** Whether a thread is known to hold the lock. */
bool wait_state_is_held(const struct wait_state *s, uint64_t lock);
/** Whether the wait ends when the thread acquires the lock, or acquires it at its end: its slot shows the wait until the thread runs, and
 *  by then the thread may have the lock. */
bool wait_state_slot_acquires(const struct wait_file_slot *h, uint64_t lock);
/** The thread that lives with that id; NULL. */
struct wait_state_thread *wait_state_thread_with(struct wait_state *s, int tid);
/** Of signals with a handler those that could end a wait, bit n-1 for signal n. */
uint64_t wait_state_waking_signals(uint64_t caught);

/* kernel_waits.c */

/** Inspect the live process `pid` and add what its slots lack: threads and waits that are not recorded, and holders of
 *  locks acquired before the recording began. @return 0; UPMU_E_GONE, UPMU_E_NOMEM. */
int wait_state_inspect(struct wait_state *s, pid_t pid);

/* inspected_file.c */

/** Save what an inspection has found, once it is confirmed; without inspected threads or holders nothing is written. */
void wait_state_save_inspected(const struct wait_state *s, const char *dir);
/** Whether such a file was saved. */
bool wait_state_was_inspected(const char *dir);
/** Add what an inspection found before the process ended. */
void wait_state_restore_inspected(struct wait_state *s, const char *dir);

/* wakers.c */

/** Inspect the live process `pid`: signal handlers, timers, all that wait_state_inspect() adds, and threads that were woken
 *  but have not updated their slot, which count as running. @return 0, also if it is gone; UPMU_E_NOMEM. */
int wait_state_read_wakers(struct wait_state *s, pid_t pid);
/** Describe what could end a deadlock that is not certain. */
void wait_state_wakers_text(const struct wait_state *s, const struct wg_deadlock *d, struct textbuf *out);

#endif
