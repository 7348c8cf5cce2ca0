/* SPDX-License-Identifier: MIT */
/** @file Derived metrics: lookup for plans and event lists. */
#ifndef UPMU_CORE_METRIC_H
#define UPMU_CORE_METRIC_H

#include <stdbool.h>
#include <stddef.h>

#include "core/formula/expression.h"

struct machine;
struct suggest;

/** The `index`-th way to compute a metric, of those shown whenever their events are counted. @return false past the
 *  last one */
bool metric_expression(size_t index, struct expression *out);

/** The expression that a machine uses for a metric: the first one whose events the CPU has, else the first. @return
 *  false if there is no such metric */
bool metric_find(const struct machine *m, const char *name, struct expression *out);

/** Add every name to a running "did you mean" search. */
void metric_offer(struct suggest *s);

#endif
