/* SPDX-License-Identifier: MIT */
/** @file Reader of the wait-state file of a process (trace/format/wait_state.h). */
#ifndef UPMU_ANALYSIS_WAIT_STATE_FILE_H
#define UPMU_ANALYSIS_WAIT_STATE_FILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "trace/format/wait_state.h"

/** A consistent copy of a thread's slot. */
struct wait_state_thread {
    struct wait_file_slot head;                 /**< without the locks held */
    struct wait_file_stack stack;               /**< of a thread that waits; valid if its number is that of `head` */
    struct wait_file_holder_stack holder_stack; /**< likewise, that of its `holder_stack` */
    uint32_t first_held, n_held;
    /** It was about to wait, and pauses (WAIT_FILE_PAUSED): the state is RUNNING, and these are the locks held, of which `n_held`
     *  counts none. */
    bool paused;
    uint32_t paused_held;
    off_t at;       /**< of the slot in the file */
    bool left;      /**< the kernel shows it elsewhere than in the wait of its slot */
    bool waits;     /**< the kernel shows it there */
    bool inspected; /**< its wait was not recorded: it is as the kernel shows it */
    /** Before the process ended it was part of a deadlock that was found in several processes together: the number of it, its
     *  kind (enum wg_deadlock_kind), and how many threads of this process are part of it. 0: none. */
    uint32_t several, several_kind, several_threads;
};

struct wait_state_file {
    struct wait_file_header header;
    struct wait_state_thread *threads; /**< those that run, wait, or have ended while holding locks */
    size_t n_threads, cap_threads;
    struct wait_file_held *held;
    size_t n_held, cap_held;
};

/** Read the file in the directory of a process. @return 1; 0: there is no file; UPMU_E_NOMEM, UPMU_E_FORMAT, UPMU_E_VERSION,
 *  UPMU_E_IO. The struct must be freed in any case. */
int wait_state_file_read(struct wait_state_file *f, const char *dir);
void wait_state_file_free(struct wait_state_file *f);

/** Of a process that has ended: threads that were about to wait for a lock wait for it. */
void wait_state_file_end_pauses(struct wait_state_file *f);

/** The thread has left the wait that its slot shows: it runs, or waits for something else. */
void wait_state_thread_runs(struct wait_state_thread *t);

/** Of a process that has ended: threads that an observer found to have left their waits. */
void wait_state_file_end_left(struct wait_state_file *f);

/** Whether the thread is in a call that may wait. */
static inline bool wait_state_is_call(const struct wait_file_slot *slot)
{
    return slot->state == WAIT_FILE_CALL || slot->state == WAIT_FILE_CHILD;
}

/** The CALL_BLOCK that such a slot stands for. */
struct upmu_trace_event;
void wait_state_call_event(const struct wait_file_slot *slot, uint32_t process, struct upmu_trace_event *out);

int wait_state_no_memory(void);
int wait_state_io_failed(const char *path, int err);

#endif
