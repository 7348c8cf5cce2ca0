/* SPDX-License-Identifier: MIT */
/**
 * @file
 * Common clock of the processes of a trace.
 *
 * Each process could take its own first moment, but the time of day is slewed and stepped while a recording grows, and
 * two processes started an hour apart would then disagree about the same tick. So the first process of a boot leaves
 * its moment in the recording, and the others take it over: one line for all, and their events sort truly.
 */
#ifndef UPMU_TRACE_ORIGIN_H
#define UPMU_TRACE_ORIGIN_H

#include "base/clock.h"

/** The recording's moment in directory `dir` for the boot `boot` (text) and the tick source in use; `own` is left there
 *  if there is none. What cannot be read, written or trusted is no error: then it is `own`. */
void origin_share(const char *dir, const char *boot, const struct clock_triple *own, struct clock_triple *out);

#endif
