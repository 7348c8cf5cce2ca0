/* SPDX-License-Identifier: MIT */
/**
 * @file
 * Common clock of the processes of a trace.
 *
 * The time of day is slewed and stepped during a recording, so processes with origins of their own would disagree about
 * the same tick. The first process of a boot stores its origin in the recording and the others use it: events of all
 * processes sort correctly.
 */
#ifndef UPMU_TRACE_ORIGIN_H
#define UPMU_TRACE_ORIGIN_H

#include "base/clock.h"

/** Read the origin from directory `dir` for the boot `boot` (text) and the tick source in use; if there is none, store
 *  `own`. An origin that cannot be read, written or trusted is no error: the result is `own`. */
void origin_share(const char *dir, const char *boot, const struct clock_triple *own, struct clock_triple *out);

#endif
