/* SPDX-License-Identifier: MIT */
/** @file Functions without unwind tables. */
#ifndef UPMU_TESTS_UNIT_OWN_WALK_WITHOUT_TABLES_H
#define UPMU_TESTS_UNIT_OWN_WALK_WITHOUT_TABLES_H

/** Calls `take` from a function that another one calls; their two return addresses, the inner one's first. */
void without_tables(void (*take)(void), void **returns);

#endif
