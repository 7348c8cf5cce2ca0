/* SPDX-License-Identifier: MIT */
/** @file A forked child: its own trace, and locks inherited from its parent. */
#ifndef UPMU_SYNC_FORK_H
#define UPMU_SYNC_FORK_H

#include <sys/types.h>

#include "sync_trace/state/state.h"

/** Once in a process. @return 0; UPMU_E_NOMEM. */
int sync_fork_start(void);
/** Thread id in this process of a mutex's owner, by the thread id in the mutex. */
pid_t sync_fork_owner(pid_t owner);
/** Whether there is no such thread in this process (any more). */
bool sync_fork_owner_is_gone(pid_t owner);

/** A child has ended, and the calling thread has waited for it: what it did is over. Keeps errno. */
void sync_fork_child_ended(pid_t child);

/** In a forked child whose parent recorded: begin its own trace. Called where allocating is safe: in calls that no
 *  allocator, fork handler or signal handler makes. Keeps errno. */
void sync_child_start(void);

static inline void sync_child_check(void)
{
    if (UNLIKELY(__atomic_load_n(&sync_process.recording, __ATOMIC_RELAXED) &&
                 !__atomic_load_n(&sync_gate.mode, __ATOMIC_RELAXED)))
        sync_child_start();
}

#endif
