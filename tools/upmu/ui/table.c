/* SPDX-License-Identifier: MIT */
/* Aligned tables. */
#include "table.h"

#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "memory.h"
#include "shorten.h"

void table_begin(struct table *t, const struct table_column *columns, size_t n_columns)
{
    *t = (struct table){.columns = columns, .n_columns = n_columns};
}

void table_cell(struct table *t, enum output_style style, const char *fmt, ...)
{
    va_list ap;
    if (t->n_cells == t->cap) {
        t->cap = t->cap ? t->cap * 2 : 64;
        t->cells = memory_resize(t->cells, t->cap, sizeof *t->cells);
    }
    va_start(ap, fmt);
    t->cells[t->n_cells] = (struct table_cell){.text = memory_vformat(fmt, ap), .style = style};
    va_end(ap);
    t->n_cells++;
}

/* Width of each column, 0 for one without content: it is left out, title and all. */
static void table_measure(const struct table *t, size_t *widths)
{
    memset(widths, 0, sizeof *widths * t->n_columns);
    for (size_t i = 0; i < t->n_cells; i++) {
        size_t w = text_width(t->cells[i].text);
        if (w > widths[i % t->n_columns])
            widths[i % t->n_columns] = w;
    }
    for (size_t c = 0; c < t->n_columns; c++) {
        size_t w = text_width(t->columns[c].title);
        if (widths[c] > 0 && w > widths[c])
            widths[c] = w;
    }
}

/* Fit the line: the widest columns of names give way, others never do. */
static void table_fit(const struct table *t, size_t *widths, size_t space)
{
    enum { WIDTH_LEAST = 24 };
    for (;;) {
        size_t all = 0, widest = t->n_columns;
        for (size_t c = 0; c < t->n_columns; c++) {
            all += widths[c] > 0 ? widths[c] + (all > 0 ? 2 : 0) : 0;
            bool gives = t->columns[c].kind == TABLE_NAME && widths[c] > WIDTH_LEAST;
            if (gives && (widest == t->n_columns || widths[c] > widths[widest]))
                widest = c;
        }
        if (all <= space || widest == t->n_columns)
            return;
        size_t most = widths[widest] - WIDTH_LEAST, over = all - space;
        widths[widest] -= over < most ? (over + 1) / 2 : most; /* half: another column may be as wide then */
    }
}

static void table_shorten(struct table *t, const size_t *widths)
{
    for (size_t i = 0; i < t->n_cells; i++) {
        if (text_width(t->cells[i].text) <= widths[i % t->n_columns])
            continue;
        char *text = text_shortened(t->cells[i].text, widths[i % t->n_columns]);
        free(t->cells[i].text);
        t->cells[i].text = text;
    }
}

static void table_print_padded(const struct output *out, const char *text, enum output_style style, size_t before)
{
    fprintf(out->file, "%*s%s", (int)before, "", output_style(out, style));
    output_clean(out->file, text);
    fputs(style == STYLE_PLAIN ? "" : output_plain(out), out->file);
}

/* `cells` is NULL for the line of titles. */
static void table_print_row(const struct table *t, const struct table_cell *cells, const size_t *widths,
                            const struct output *out, int indent)
{
    size_t pad = 0; /* blanks owed to the left; never printed at the end of a line */

    fprintf(out->file, "%*s", indent, "");
    for (size_t c = 0; c < t->n_columns; c++) {
        if (widths[c] == 0)
            continue;
        const char *text = cells ? cells[c].text : t->columns[c].title;
        size_t space = widths[c] - text_width(text);
        size_t left = t->columns[c].kind == TABLE_NUMBER ? space : 0;
        if (text[0] == '\0') {
            pad += widths[c] + 2;
            continue;
        }
        table_print_padded(out, text, cells ? cells[c].style : STYLE_TITLE, pad + left);
        pad = space - left + 2;
    }
    fputc('\n', out->file);
}

void table_end(struct table *t, struct output *out, int indent)
{
    size_t widths[TABLE_COLUMNS_MAX];

    table_measure(t, widths);
    if (out->width > (size_t)indent) {
        table_fit(t, widths, out->width - (size_t)indent);
        table_shorten(t, widths);
    }
    if (t->n_cells > 0)
        table_print_row(t, NULL, widths, out, indent);
    for (size_t i = 0; i + t->n_columns <= t->n_cells; i += t->n_columns)
        table_print_row(t, &t->cells[i], widths, out, indent);
    for (size_t i = 0; i < t->n_cells; i++)
        free(t->cells[i].text);
    free(t->cells);
    t->cells = NULL;
}
