/* SPDX-License-Identifier: MIT */
/** @file Event names of perf stat -e. */
#ifndef UPMU_TOOL_PERF_WORDS_H
#define UPMU_TOOL_PERF_WORDS_H

#include <stddef.h>

#include "upmu/upmu.h"

/**
 * What to write after `perf stat -e` for the same counter on the same CPU: perf's name of the kernel's generic id, or the
 * PMU and its code ("cpu/config=0x1a8/u"). "" where one event of perf is not enough (absent here, a sum) or perf knows no
 * such id.
 */
void perf_name(const struct upmu_event_info *e, char *words, size_t size);

#endif
