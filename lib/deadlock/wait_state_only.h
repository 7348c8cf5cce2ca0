/* SPDX-License-Identifier: MIT */
/** @file What threads stand at, without the trace's events. Room: analysis. Before it: status.c; after it: deadlocks.c,
 *  watch.c. */
#ifndef UPMU_ANALYSIS_AT_ONCE_H
#define UPMU_ANALYSIS_AT_ONCE_H

#include "deadlock/deadlocks.h"

/** An overview of a process that knows what `s` names, and nothing else. @return 1; 0: not all of it is known without the
 *  trace; UPMU_E_NOMEM and what reading metadata fails with. */
int at_once_overview(struct upmu_overview **overview, const char *dir, const struct wait_state *s);

/** deadlocks.c: the deadlocks of a process that lives, from `s`, which becomes theirs in any case. Without the order of locks;
 *  where not all is known without the trace, it is read. @return as upmu_deadlocks_open(). */
int deadlocks_at_once(struct upmu_deadlocks **deadlocks, const char *dir, struct wait_state *s);

#endif
