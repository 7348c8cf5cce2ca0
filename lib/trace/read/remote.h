/* SPDX-License-Identifier: MIT */
/** @file Control of a running process from outside. */
#ifndef UPMU_TRACE_REMOTE_H
#define UPMU_TRACE_REMOTE_H

#include <sys/types.h>

/** The directory into which process `pid` writes, to be freed. @return 0; UPMU_E_GONE, UPMU_E_PERM, UPMU_E_STATE,
 *  UPMU_E_IO, UPMU_E_NOMEM. */
int remote_find(pid_t pid, char **dir);

#endif
