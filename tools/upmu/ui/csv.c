/* SPDX-License-Identifier: MIT */
/* Writer of separated values. */
#include "csv.h"

#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "base/printable.h"
#include "memory.h"

void csv_begin(struct csv *c, FILE *out, char separator)
{
    *c = (struct csv){.out = out, .separator = separator};
}

void csv_field(struct csv *c, const char *text)
{
    const char special[] = {c->separator, '"', '\n', '\r', '\0'};
    bool formula = csv_is_formula(text), quoted = formula || strpbrk(text, special) != NULL;

    if (c->begun)
        fputc(c->separator, c->out);
    c->begun = true;
    fputs(formula ? "\"'" : quoted ? "\"" : "", c->out);
    while (*text) {
        char shown[PRINTABLE_MAX];
        text += printable_next(text, shown);
        fputs(strcmp(shown, "\"") == 0 ? "\"\"" : shown, c->out);
    }
    fputs(quoted ? "\"" : "", c->out);
}

void csv_format(struct csv *c, const char *fmt, ...)
{
    va_list ap;
    va_start(ap, fmt);
    char *text = memory_vformat(fmt, ap);
    va_end(ap);
    csv_field(c, text);
    free(text);
}

void csv_row_end(struct csv *c)
{
    fputc('\n', c->out);
    c->begun = false;
}

void csv_row(struct csv *c, const char *const *fields)
{
    for (; *fields; fields++)
        csv_field(c, *fields);
    csv_row_end(c);
}
