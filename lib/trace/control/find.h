/* SPDX-License-Identifier: MIT */
/** @file Directory into which a process records. */
#ifndef UPMU_TRACE_CONTROL_FIND_H
#define UPMU_TRACE_CONTROL_FIND_H

#include <sys/types.h>

/** The directory into which process `pid` writes, to be freed. @return 0; UPMU_E_GONE, UPMU_E_PERM, UPMU_E_STATE,
 *  UPMU_E_IO, UPMU_E_NOMEM. */
int control_find(pid_t pid, char **dir);

#endif
