/* SPDX-License-Identifier: MIT */
/* Arithmetic over counts: + - * / and parentheses over numbers, event names and the wall time. */
#include "core/formula/expression.h"

#include <ctype.h>
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"

enum { EXPRESSION_DEPTH_MAX = 16 };

struct expression_reader {
    const char *text, *at;
    struct expression *out;
    unsigned depth;
};

static int expression_sum(struct expression_reader *r);

static int expression_fail(const struct expression_reader *r, const char *expected)
{
    if (*r->at == '\0')
        return upmu_fail(UPMU_E_INVAL, "formula '%s': %s is missing at the end", r->text, expected);
    return upmu_fail(UPMU_E_INVAL, "formula '%s': %s expected at '%.24s' (column %zu)", r->text, expected, r->at,
                     (size_t)(r->at - r->text) + 1);
}

static void expression_skip_blanks(struct expression_reader *r)
{
    while (isspace((unsigned char)*r->at))
        r->at++;
}

static int expression_add(struct expression_reader *r, struct expression_step step)
{
    if (r->out->n_steps == EXPRESSION_STEPS_MAX)
        return upmu_fail(UPMU_E_INVAL, "formula '%s' has more than %d numbers, events and operators", r->text,
                         EXPRESSION_STEPS_MAX);
    r->out->step[r->out->n_steps++] = step;
    return 0;
}

/* ------------------------------------------------------------------------------------------------- operands */

static bool expression_is_name_char(char c)
{
    return isalnum((unsigned char)c) || (c != '\0' && strchr("_-.:", c));
}

/* Length of the name at `p`. "pmu/terms/" is one name if the slash follows immediately and a second one comes
 * before the next blank. */
static size_t expression_name_length(const char *p)
{
    const char *end = p;
    while (expression_is_name_char(*end))
        end++;
    if (*end != '/')
        return (size_t)(end - p);
    size_t terms = strcspn(end + 1, "/ \t()");
    if (terms == 0 || end[1 + terms] != '/')
        return (size_t)(end - p);
    end += terms + 2;
    while (expression_is_name_char(*end))
        end++;
    return (size_t)(end - p);
}

static int expression_name(struct expression_reader *r)
{
    struct expression *e = r->out;
    size_t len = expression_name_length(r->at), i = 0;
    char name[EVENT_NAME_MAX];
    if (len >= sizeof name)
        return upmu_fail(UPMU_E_INVAL, "formula '%s': the name '%.24s...' is longer than %d bytes", r->text, r->at,
                         EVENT_NAME_MAX - 1);
    memcpy(name, r->at, len);
    name[len] = '\0';
    r->at += len;
    if (strcmp(name, EXPRESSION_TIME) == 0)
        return expression_add(r, (struct expression_step){.op = 't'});
    while (i < e->n_names && strcmp(e->name[i], name) != 0)
        i++;
    if (i == EXPRESSION_NAMES_MAX)
        return upmu_fail(UPMU_E_INVAL, "formula '%s' has more than %d different events", r->text, EXPRESSION_NAMES_MAX);
    if (i == e->n_names) {
        memcpy(e->name[i], name, len + 1);
        e->n_names++;
    }
    return expression_add(r, (struct expression_step){.op = 'n', .name = (uint16_t)i});
}

static int expression_number(struct expression_reader *r)
{
    char *end;
    double number = strtod(r->at, &end);
    if (end == r->at || !isfinite(number) || expression_is_name_char(*end))
        return expression_fail(r, "a number");
    r->at = end;
    return expression_add(r, (struct expression_step){.op = '#', .number = number});
}

static int expression_operand(struct expression_reader *r)
{
    expression_skip_blanks(r);
    if (isdigit((unsigned char)*r->at))
        return expression_number(r);
    if (isalpha((unsigned char)*r->at))
        return expression_name(r);
    if (*r->at != '(')
        return expression_fail(r, "a number, an event or '('");
    if (++r->depth > EXPRESSION_DEPTH_MAX)
        return upmu_fail(UPMU_E_INVAL, "formula '%s' has parentheses more than %d levels deep", r->text,
                         EXPRESSION_DEPTH_MAX);
    r->at++;
    int rc = expression_sum(r);
    expression_skip_blanks(r);
    if (rc == 0 && *r->at != ')')
        return expression_fail(r, "')' or an operator");
    r->at += rc == 0;
    r->depth--;
    return rc;
}

/* ------------------------------------------------------------------------------------------------ operators */

/* Operands joined by operators of one precedence. */
static int expression_chain(struct expression_reader *r, const char *operators,
                            int (*operand)(struct expression_reader *r))
{
    int rc = operand(r);
    for (expression_skip_blanks(r); rc == 0 && *r->at && strchr(operators, *r->at); expression_skip_blanks(r)) {
        const char op = *r->at++;
        rc = operand(r);
        if (rc == 0)
            rc = expression_add(r, (struct expression_step){.op = op});
    }
    return rc;
}

static int expression_product(struct expression_reader *r)
{
    return expression_chain(r, "*/", expression_operand);
}

static int expression_sum(struct expression_reader *r)
{
    return expression_chain(r, "+-", expression_product);
}

int expression_parse(const char *text, struct expression *out)
{
    struct expression_reader r = {.text = text, .at = text, .out = out};
    out->n_steps = out->n_names = 0;
    int rc = expression_sum(&r);
    if (rc == 0 && *r.at != '\0')
        return expression_fail(&r, "an operator");
    return rc;
}

static double expression_apply(char op, double a, double b)
{
    switch (op) {
    case '+':
        return a + b;
    case '-':
        return a - b;
    case '*':
        return a * b;
    default:
        return b == 0 ? (double)NAN : a / b;
    }
}

double expression_compute(const struct expression *e, const double *values, double seconds)
{
    double stack[EXPRESSION_STEPS_MAX] = {0};
    size_t n = 0;
    for (size_t i = 0; i < e->n_steps; i++) {
        const struct expression_step *s = &e->step[i];
        if (s->op == '#' || s->op == 'n' || s->op == 't') {
            stack[n++] = s->op == '#' ? s->number : s->op == 't' ? seconds : values[s->name];
            continue;
        }
        n--;
        stack[n - 1] = expression_apply(s->op, stack[n - 1], stack[n]);
    }
    return isfinite(stack[0]) ? stack[0] : (double)NAN;
}
