/* SPDX-License-Identifier: MIT */
/** @file Self-check of the running kernel: software events in groups count known work. */
#ifndef UPMU_CORE_SELF_CHECK_H
#define UPMU_CORE_SELF_CHECK_H

#include "core/set/counters.h"

/** What one event counted of known work in the worst group shape. */
struct self_check {
    const char *name;
    uint32_t config; /**< enum kernel_software */
    bool tried;      /**< it could be opened and the work was done */
    uint64_t counted, expected;
};

enum { SELF_CHECKS = 5 };

/** Whether the event counted too little. */
static inline bool self_check_failed(const struct self_check *c)
{
    return c->tried && c->counted < c->expected;
}

/** The results on this kernel, SELF_CHECKS of them; computed at the first call of a process, in about half a
 *  millisecond. */
const struct self_check *self_check_results(void);

/** Mark the software events as absent that this kernel does not count in groups (refused, with the reason), if the
 *  list has such groups. @return 0 or UPMU_E_NOMEM. */
int self_check_list(struct counter_list *list);

#endif
