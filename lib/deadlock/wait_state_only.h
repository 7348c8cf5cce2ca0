/* SPDX-License-Identifier: MIT */
/** @file Overview of a process from its wait-state file alone, without the trace's events. */
#ifndef UPMU_DEADLOCK_WAIT_STATE_ONLY_H
#define UPMU_DEADLOCK_WAIT_STATE_ONLY_H

#include "deadlock/deadlocks.h"

/** An overview that has only what `s` names. @return 1; 0: the file is incomplete, the trace is needed; UPMU_E_NOMEM and the
 *  codes of reading metadata. */
int wait_state_overview(struct upmu_overview **overview, const char *dir, const struct wait_state *s);

#endif
