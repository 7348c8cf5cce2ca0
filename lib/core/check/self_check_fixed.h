/* SPDX-License-Identifier: MIT */
/** @file Self-check of the fixed counters, on families with `fixed_doubt`. */
#ifndef UPMU_CORE_SELF_CHECK_FIXED_H
#define UPMU_CORE_SELF_CHECK_FIXED_H

#include <stdbool.h>
#include <stdint.h>

#include "core/set/counters.h"

struct self_check_fixed {
    bool failed; /**< tested, and the count is impossible */
    uint64_t counted, cpu_ns;
};

/** The result; computed at the first call of a process, in a few microseconds. */
const struct self_check_fixed *self_check_fixed_result(void);

/** Mark the events as absent that a fixed counter may count, if the self-check failed (refused, with the reason).
 *  @return 0 or UPMU_E_NOMEM. */
int self_check_fixed_list(struct counter_list *list);

#endif
