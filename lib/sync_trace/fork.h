/* SPDX-License-Identifier: MIT */
/** @file A forked child: its own trace, and locks inherited from its parent. */
#ifndef UPMU_SYNC_FORK_H
#define UPMU_SYNC_FORK_H

#include <pthread.h>
#include <stdbool.h>
#include <sys/types.h>

#include "sync_trace/state/state.h"

/** Once in a process. @return 0; UPMU_E_NOMEM. */
int sync_fork_start(void);
/** Thread id in this process of a mutex's owner, by the thread id in the mutex. */
pid_t sync_fork_owner(pid_t owner);
/** Whether there is no such thread in this process (any more). */
bool sync_fork_owner_is_gone(pid_t owner);

/** The calling thread is about to make a child by another call than fork(). @return the tick; 0: nothing is recorded. Keeps errno. */
uint64_t sync_fork_child_begins(void);
/** posix_spawn(), before which that returned `begin`, made the child. Keeps errno. */
void sync_fork_child_spawned(pid_t child, uint64_t begin);
/** A child has ended, and the calling thread has waited for it: what it did is over. `child` 0: the command of system() or popen(),
 *  before which sync_fork_child_begins() returned `begin`. Keeps errno. */
void sync_fork_child_ended(pid_t child, uint64_t begin);

/** In a forked child whose parent recorded: begin its own trace. Called where allocating is safe: in calls that no
 *  allocator, fork handler or signal handler makes. Keeps errno. */
void sync_child_start(void);

/** Whether this is a child whose parent recorded, and which does not record yet. */
static inline bool sync_child_is_new(void)
{
    return UNLIKELY(__atomic_load_n(&sync_process.recording, __ATOMIC_RELAXED) &&
                    !__atomic_load_n(&sync_gate.mode, __ATOMIC_RELAXED));
}

static inline void sync_child_check(void)
{
    if (sync_child_is_new())
        sync_child_start();
}

/** In such a child, for a lock call that would not be safe to begin in: the result of a try, or EBUSY once it records because the
 *  call will block, or because processes may share the mutex. */
int sync_child_try(pthread_mutex_t *m);

#endif
