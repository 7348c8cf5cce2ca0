/* SPDX-License-Identifier: MIT */
/** @file Arithmetic over counts: + - * / and parentheses over numbers, event names and the wall time. */
#ifndef UPMU_CORE_EXPRESSION_H
#define UPMU_CORE_EXPRESSION_H

#include <stddef.h>
#include <stdint.h>

#include "core/names/event.h"

enum { EXPRESSION_NAMES_MAX = 16, EXPRESSION_STEPS_MAX = 64 };

/** The name of the wall time in seconds in an expression. */
#define EXPRESSION_TIME "wall-time"

struct expression_step {
    char op;       /**< '#': a number, 'n': a name, 't': wall time; else an operator on the two values before it */
    uint16_t name; /**< index of the name */
    double number;
};

/** A parsed expression in postfix order. */
struct expression {
    size_t n_steps, n_names;
    struct expression_step step[EXPRESSION_STEPS_MAX];
    char name[EXPRESSION_NAMES_MAX][EVENT_NAME_MAX]; /**< without duplicates */
};

/** Parse an expression. Names may contain hyphens, dots, colons, and slashes as in `power/energy-pkg/`: a minus or
 *  a division needs blanks on both sides. @return 0, or UPMU_E_INVAL with a message that names what was expected
 *  and where */
int expression_parse(const char *text, struct expression *out);

/** @param values one per name; @return NaN after a division by 0 or with a NaN operand */
double expression_compute(const struct expression *e, const double *values, double seconds);

#endif
