/* SPDX-License-Identifier: MIT */
/** @file Event names of perf stat -e. */
#ifndef UPMU_TOOL_PERF_WORDS_H
#define UPMU_TOOL_PERF_WORDS_H

#include <stddef.h>

#include "upmu/upmu.h"

/**
 * The argument of `perf stat -e` for the same counter on the same CPU: the name of the perf generic event, or the PMU and the
 * raw encoding ("cpu/config=0x1a8/u"). "" if no single event of perf is equivalent (absent here, or a sum).
 */
void perf_name(const struct upmu_event_info *e, char *words, size_t size);

#endif
