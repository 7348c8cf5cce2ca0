/* SPDX-License-Identifier: MIT */
/** @file CSV reader for event tables. */
#include "arch/generator/csv.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "arch/generator/fault.h"

static char *csv_load(const char *path)
{
    FILE *file = fopen(path, "rb");
    char *text = NULL;
    size_t used = 0;
    if (!file) {
        fault(path, 0, "cannot be opened");
        return NULL;
    }
    for (int c = getc(file); c != EOF; c = getc(file)) {
        text = fault_grow(text, used, 1);
        text[used++] = (char)c;
    }
    if (ferror(file))
        fault(path, 0, "cannot be read");
    (void)fclose(file);
    text = fault_grow(text, used, 1);
    text[used] = '\0';
    return text;
}

static char *csv_trim(char *text)
{
    text += strspn(text, " \t");
    for (size_t n = strlen(text); n > 0 && strchr(" \t\r", text[n - 1]); n--)
        text[n - 1] = '\0';
    return text;
}

static void csv_comment(struct csv *csv, int line, char *text)
{
    char *word = csv_trim(text), *colon = strchr(word, ':');
    if (csv->header.line || (strcmp(word, "set") != 0 && !colon))
        return;
    if (colon)
        *colon = '\0';
    csv->directives = fault_grow(csv->directives, csv->n_directives, sizeof *csv->directives);
    csv->directives[csv->n_directives++] =
        (struct csv_directive){line, word, colon ? csv_trim(colon + 1) : word + strlen(word)};
}

/** Ends a quoted cell in place; returns what follows its closing quote, or NULL if there is none. */
static char *csv_unquote(char *cell)
{
    char *from = cell + 1, *to = cell;
    for (; *from && (from[0] != '"' || from[1] == '"'); from++) {
        from += *from == '"';
        *to++ = *from;
    }
    char *rest = *from ? from + 1 : NULL;
    *to = '\0';
    return rest;
}

static void csv_record(struct csv *csv, int line, char *text)
{
    struct csv_row row = {.line = line};
    for (char *cell = text; cell;) {
        if (row.n_cells == CSV_CELLS_MAX) {
            fault(csv->path, line, "more than %d cells", CSV_CELLS_MAX);
            break;
        }
        char *end;
        if (*cell == '"') {
            end = csv_unquote(cell);
            if (!end || (*end && *end != ',')) {
                fault(csv->path, line, "a quoted cell does not end in a quote followed by a comma");
                return;
            }
        } else {
            end = cell + strcspn(cell, ",");
            if (memchr(cell, '"', (size_t)(end - cell)))
                fault(csv->path, line, "a quote inside a cell that is not quoted");
        }
        bool more = *end == ',';
        *end = '\0';
        row.cells[row.n_cells++] = cell;
        cell = more ? end + 1 : NULL;
    }
    if (!csv->header.line) {
        csv->header = row;
        return;
    }
    if (row.n_cells != csv->header.n_cells) {
        fault(csv->path, line, "%zu cells for %zu columns; quote a cell that has a comma", row.n_cells,
              csv->header.n_cells);
        return;
    }
    csv->rows = fault_grow(csv->rows, csv->n_rows, sizeof *csv->rows);
    csv->rows[csv->n_rows++] = row;
}

void csv_read(struct csv *out, const char *path)
{
    *out = (struct csv){.path = fault_copy(path), .text = csv_load(path)};
    int number = 1;
    for (char *line = out->text; line && *line; number++) {
        char *end = line + strcspn(line, "\n");
        char *next = *end ? end + 1 : end;
        *end = '\0';
        if (end > line && end[-1] == '\r')
            fault(path, number, "ends in a carriage return");
        if (*line == '#')
            csv_comment(out, number, line + 1);
        else if (*line)
            csv_record(out, number, line);
        line = next;
    }
    if (out->text && !out->header.line)
        fault(path, 0, "has no header line");
}

void csv_free(struct csv *csv)
{
    free(csv->directives);
    free(csv->rows);
    free(csv->text);
    free(csv->path);
}

const struct csv_directive *csv_directive(const struct csv *csv, const char *word)
{
    for (size_t i = 0; i < csv->n_directives; i++)
        if (strcmp(csv->directives[i].word, word) == 0)
            return &csv->directives[i];
    return NULL;
}

bool csv_header_is(const struct csv *csv, const char *header)
{
    for (size_t i = 0; i < csv->header.n_cells; i++) {
        size_t n = strlen(csv->header.cells[i]);
        if (strncmp(header, csv->header.cells[i], n) != 0)
            return false;
        header += n;
        if (*header == ',')
            header++;
        else if (*header)
            return false;
    }
    return *header == '\0';
}
