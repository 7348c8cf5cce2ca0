/* SPDX-License-Identifier: MIT */
/** @file Loops of region pairs over the public API, and the check that each pair was measured. */
#ifndef BENCH_SUBJECT_H
#define BENCH_SUBJECT_H

#include <stddef.h>

#include "bench.h"

/** Four software events any kernel has. */
#define SUBJECT_FOUR_EVENTS "task-clock,page-faults,context-switches,cpu-migrations"
/** Time alone. */
#define SUBJECT_NO_EVENTS "none"

/** Names of the regions that the loops run. */
#define SUBJECT_HANDLE_REGION "by handle"
#define SUBJECT_STRING_REGION "by string"

/** n pairs; `arg` is not used. */
void subject_handle_pairs(void *arg, size_t n);
void subject_string_pairs(void *arg, size_t n);

/** Switch regions on. `events`: as in upmu_region_opts. Ends the child with status 2 if that fails. */
void subject_set_up(const char *events);

/** Mark the row failed unless the region has instances, none of them open, and each of `events` events has a value for
 *  every instance. */
void subject_check(struct bench_row *row, const char *region, size_t events);

#endif
