/* SPDX-License-Identifier: MIT */
/** @file Calls that open files without a descriptor in the program's table. */
#ifndef UPMU_BASE_PRIVATE_TABLE_H
#define UPMU_BASE_PRIVATE_TABLE_H

#include <stdbool.h>

/**
 * Call `run(argument)`, which may open files, so that the program never sees their descriptors: open() returns the lowest
 * free number, which another thread may be about to close, reuse or rely on.
 *
 * A process with one thread calls it directly, with all signals blocked. Otherwise a short-lived thread with an empty
 * descriptor table of its own calls it on the same stack while the caller waits; it has the caller's errno, thread-local storage and
 * credentials, and descriptors that `run` leaves open are closed. Descriptors that were opened before do not exist in it. The same where `run`
 * has returned -EMFILE in a process with one thread: it is called again.
 *
 * `run` takes no lock that the caller may hold. Signal safe, keeps errno.
 *
 * @return the result of `run`, or -errno if there can be no such thread (-EAGAIN: RLIMIT_NPROC).
 */
int private_table_run(int (*run)(void *), void *argument);

/** Called before and after `run`, with all signals blocked, if it is set: what the other thread calls is not the program's, and
 *  the thread-local storage is the caller's. Each library has its own. */
extern void (*private_table_hook)(bool begins);

#endif
