/* SPDX-License-Identifier: MIT */
/** @file Process id, in this pid namespace, of the process that writes a directory of a recording. */
#ifndef UPMU_DEADLOCK_INSPECT_PROCESS_H
#define UPMU_DEADLOCK_INSPECT_PROCESS_H

#include <sys/types.h>

/** `own` is its id in its own namespace. @return 0 if it is not found. */
pid_t inspect_process_of(const char *dir, pid_t own);

#endif
