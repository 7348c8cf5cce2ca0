/* SPDX-License-Identifier: MIT */
/** @file Arithmetic over counts: + - * / and parentheses over numbers, event names and the wall time. */
#ifndef UPMU_CORE_EXPRESSION_H
#define UPMU_CORE_EXPRESSION_H

#include <stddef.h>
#include <stdint.h>

#include "core/names/event.h"

enum { EXPRESSION_NAMES_MAX = 16, EXPRESSION_STEPS_MAX = 64 };

/** What stands for the seconds of wall time in an expression. */
#define EXPRESSION_TIME "wall-time"

struct expression_step {
    char op;       /**< '#': a number, 'n': a name, 't': wall time; else an operator on the two values before it */
    uint16_t name; /**< index of the name */
    double number;
};

/** An expression in the order in which it is computed. */
struct expression {
    size_t n_segments, n_names;
    struct expression_step step[EXPRESSION_STEPS_MAX];
    char name[EXPRESSION_NAMES_MAX][EVENT_NAME_MAX]; /**< each once */
};

/**
 * Names may hold hyphens, dots and colons, and slashes as in `power/energy-pkg/`: an operator minus or slash stands between
 * blanks.
 * @return 0, or UPMU_E_INVAL with a message that says what was expected where
 */
int expression_parse(const char *text, struct expression *out);

/** @param values one per name; @return NaN where something is divided by 0 or no number */
double expression_compute(const struct expression *e, const double *values, double seconds);

#endif
