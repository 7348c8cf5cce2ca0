/* SPDX-License-Identifier: MIT */
/** @file Metrics, groups of metrics and files of metrics on the command line. */
#ifndef UPMU_TOOL_METRICS_H
#define UPMU_TOOL_METRICS_H

#include <stdbool.h>

/** Read the metrics of UPMU_METRICS and those of a file, or NULL. @return false after a message. */
bool metrics_load(const char *file);

/** The events of groups, comma-separated, and the names of their metrics; both from malloc.
 *  @return false after a message (no such group, or nothing of it can be computed here). */
bool metrics_of_groups(const char *groups, char **events, char **metrics);

/** Whether a comma-separated list, NULL: none, has the name, modifiers and braces aside. */
bool metrics_listed(const char *list, const char *name);

#endif
