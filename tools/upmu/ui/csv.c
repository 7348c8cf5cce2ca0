/* SPDX-License-Identifier: MIT */
/* Writer of separated values. */
#include "csv.h"

#include <stdarg.h>
#include <stdlib.h>

#include "base/text/textbuf.h"
#include "memory.h"

void csv_begin(struct csv *c, FILE *out, char separator)
{
    *c = (struct csv){.out = out, .separator = separator};
}

void csv_field(struct csv *c, const char *text)
{
    struct textbuf field = {0};

    if (c->begun)
        fputc(c->separator, c->out);
    c->begun = true;
    textbuf_csv(&field, text, c->separator);
    fputs(memory_or_exit(field.failed ? NULL : field.data), c->out);
    textbuf_free(&field);
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
