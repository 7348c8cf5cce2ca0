/* SPDX-License-Identifier: MIT */
/** @file Self-check of a virtual PMU: number of counters that work at the same time. */
#ifndef UPMU_CORE_SELF_CHECK_COUNTERS_H
#define UPMU_CORE_SELF_CHECK_COUNTERS_H

/** General counters that count known work at the same time, of `claimed`; `claimed` if that cannot be tested.
 *  Computed at the first call of a process, in about two milliseconds. */
unsigned self_check_counters(unsigned claimed);

#endif
