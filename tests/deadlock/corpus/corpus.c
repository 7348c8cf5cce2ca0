/* SPDX-License-Identifier: MIT */
/* All cases of the deadlock corpus. */
#include "cases.h"

const struct dl_case *const dl_cases[] = {cases_cycles,     cases_blocked, cases_rwlocks,  cases_quiet,  cases_order,
                                          cases_semaphores, cases_forked,  cases_standard, cases_mixed,  cases_crossing,
                                          cases_nested,     cases_lives,   cases_late,     cases_orders, NULL};
