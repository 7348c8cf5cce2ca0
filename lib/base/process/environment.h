/* SPDX-License-Identifier: MIT */
/** @file Check of the environment for unknown UPMU_ variables. */
#ifndef UPMU_BASE_ENVIRONMENT_H
#define UPMU_BASE_ENVIRONMENT_H

#include <stdbool.h>
#include <stddef.h>

struct textbuf;

/**
 * Append a message about variables of the environment that begin with UPMU_ and are unknown, with the nearest known names.
 * Nothing is appended in a process with raised privileges, which ignores all of them.
 * @param only_similar leave variables out that are not similar to a known name, and may belong to another program
 * @return their number
 */
size_t environment_unknown(struct textbuf *out, bool only_similar);

#endif
