/* SPDX-License-Identifier: MIT */
/** @file Definition of struct upmu_deadlocks. */
#ifndef UPMU_DEADLOCK_DEADLOCKS_H
#define UPMU_DEADLOCK_DEADLOCKS_H

#include "base/error.h"
#include "deadlock/acquisitions.h"
#include "deadlock/suppress.h"
#include "deadlock/wait_state.h"
#include "upmu/deadlock.h"

/** A process with the wait state of its threads. */
struct dl_process {
    uint32_t index; /**< in the overview */
    char *dir;
    char *problem; /**< why its wait state could not be read, or NULL */
    pid_t pid;
    pid_t outer_pid; /**< of a live process: its id in this pid namespace; 0: not found */
    bool alive;
    bool recorded; /**< it has a wait-state file */
    struct wait_state wait_state;
};

/** A deadlock of a process. */
struct dl_item {
    uint32_t process;  /**< in `processes` */
    uint32_t deadlock; /**< in its snapshot */
    uint32_t n_behind;
    bool suppressed;
    char *could_end;
};

/** Lock-order cycles of one class with the same call sites, or with locks of the same lock classes. */
struct dl_cycle {
    uint32_t found; /**< the first of them, in `order` */
    uint32_t n_similar;
    bool suppressed;
    uint64_t sites, lock_classes; /**< hashes */
};

struct upmu_deadlocks {
    struct upmu_overview *overview;
    struct dl_process *processes;
    size_t n_processes;
    struct dl_item *items;
    size_t n_items, cap_items;
    struct suppressions suppressions;
    struct acquisition_log log;
    struct wg_order order;
    struct dl_cycle *cycles;
    size_t n_cycles, cap_cycles;
    bool has_ranks;   /**< of MPI jobs */
    bool unconfirmed; /**< deadlocks_find_across() found one of which a thread has run meanwhile */
};

static inline int deadlocks_no_memory(void)
{
    return upmu_fail(UPMU_E_NOMEM, "out of memory while searching for deadlocks");
}

/** cross_process.c: add the deadlocks of threads in several processes, and save them. @return 0; UPMU_E_NOMEM. */
int deadlocks_find_across(struct upmu_deadlocks *d);
/** Add what was found in several processes before this one ended. @return 0; UPMU_E_NOMEM. */
int deadlocks_restore_across(struct wait_state *s);
/** Whether a thread, or any, waits for an object in memory that other processes may share. */
bool deadlocks_thread_waits_for_shared(const struct wait_state *s, const struct wait_state_thread *t);
bool deadlocks_wait_for_shared(const struct wait_state *s);
/** memory_users.c: add the processes that use memory in which a thread waits, or whose end one waits
 *  for, for deadlocks_find_across(). @return 0; UPMU_E_NOMEM. */
int deadlocks_add_users(struct upmu_deadlocks *d);
/** process.c: read the wait state of a process, of which `alive`, `pid` and `outer_pid` are set, and find the blocked threads.
 *  @param dir NULL: it is not recorded
 *  @return 0; UPMU_E_NOMEM, UPMU_E_FORMAT, UPMU_E_VERSION, UPMU_E_IO. */
int deadlocks_read_wait_state(struct dl_process *p, const char *dir);
void deadlocks_process_free(struct dl_process *p);

/** lock_cycles.c: find the cycles of the log, after the last event. @return 0; UPMU_E_NOMEM. */
int deadlocks_find_cycles(struct upmu_deadlocks *d);

/** suppress_apply.c: mark the suppressed items and cycles. */
void deadlocks_suppress(struct upmu_deadlocks *d);

/** deadlocks.c: the deadlocks of a live process from `s`, which is taken over in any case, without lock-order cycles. The
 *  trace is read only if the wait-state file is incomplete. @return as upmu_deadlocks_open(). */
int deadlocks_from_wait_state(struct upmu_deadlocks **deadlocks, const char *dir, struct wait_state *s);

#endif
