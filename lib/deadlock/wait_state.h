/* SPDX-License-Identifier: MIT */
/** @file Wait state of a process: blocked threads, lock holders, and what else could end a wait. */
#ifndef UPMU_DEADLOCK_WAIT_STATE_H
#define UPMU_DEADLOCK_WAIT_STATE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "analysis/wait_state_file.h"
#include "base/textbuf.h"
#include "deadlock/graph/blocked.h"

/** What could end a wait beside the recorded threads. */
struct wait_state_wakers {
    bool known;        /**< the process was inspected while its threads were blocked */
    bool asleep;       /**< and all waiting threads slept: none was woken and has only not run yet */
    uint64_t asked_ns; /**< time of the inspection */
    uint64_t caught;   /**< signals with a handler of the program, bit n-1 for signal n */
    uint32_t timers;
    uint32_t unknown; /**< threads that are not recorded */
    bool inside;      /**< the objects waited for are in private memory of the process */
};

struct wait_state {
    struct wait_state_file file;
    struct wait_state_wakers wakers;
    struct wg_snapshot snapshot; /**< thread `i` is file.threads[i]; one more that runs may follow */
};

/** Read the wait-state file of a process's directory. @return as wait_state_file_read(). The struct must be freed in any
 *  case. */
int wait_state_read(struct wait_state *s, const char *dir);
/** Find all deadlocks. @return 0; UPMU_E_NOMEM. */
int wait_state_find_blocked(struct wait_state *s);
void wait_state_free(struct wait_state *s);

/** A hash that changes when any thread of the deadlock resumes (or any thread at all if `no_waker`), and differs between
 *  deadlocks. */
uint64_t wait_state_signature(const struct wait_state *s, const struct wg_deadlock *d);

/* Notes for later readers of the file. Each returns 0, or UPMU_E_IO, also if there is no file. */

/** Save the wakers that were found while the threads slept. */
int wait_state_save_wakers(const struct wait_state *s, const char *dir);
/** A time at which a process is about to be found alive. */
struct alive_time {
    uint64_t raw_ns, real_ns; /**< CLOCK_MONOTONIC_RAW, CLOCK_REALTIME */
};
struct alive_time alive_time_now(void);
/** Save that the process was alive at that time. */
int wait_state_save_alive(const char *dir, const struct alive_time *at);

/* wakers.c */

/** Inspect the live process: signal handlers, timers, threads that are not recorded, and threads that were woken but have
 *  not updated their slot, which count as running. */
void wait_state_read_wakers(struct wait_state *s);
/** Of signals with a handler those that could end a wait, bit n-1 for signal n. */
uint64_t wait_state_waking_signals(uint64_t caught);
/** Describe what could end a stalled deadlock. */
void wait_state_wakers_text(const struct wait_state *s, const struct wg_deadlock *d, struct textbuf *out);

#endif
