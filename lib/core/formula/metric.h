/* SPDX-License-Identifier: MIT */
/** @file Derived metrics, as far as planning and event lists need them. */
#ifndef UPMU_CORE_METRIC_H
#define UPMU_CORE_METRIC_H

#include <stdbool.h>
#include <stddef.h>

#include "core/formula/expression.h"

struct machine;
struct suggest;

/** The `index`-th way to compute a metric, of those that are shown whenever their events are counted. @return false past
 *  the last one */
bool metric_expression(size_t index, struct expression *out);

/**
 * The expression by which a machine computes a metric; of several the first whose events the CPU has, else the first.
 * @return false if there is no metric of this name
 */
bool metric_find(const struct machine *m, const char *name, struct expression *out);

/** Offer every name to a running "did you mean" search. */
void metric_offer(struct suggest *s);

#endif
