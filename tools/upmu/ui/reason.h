/* SPDX-License-Identifier: MIT */
/** @file Reasons of the library, printed once for several events. */
#ifndef UPMU_TOOL_REASON_H
#define UPMU_TOOL_REASON_H

/** The reason without the event's own name in front ("cycles: no PMU ..." becomes "no PMU ..."), so that what is the
 *  same for several events also reads the same. Points into `reason`. */
const char *reason_body(const char *reason, const char *event);

#endif
