/* SPDX-License-Identifier: MIT */
/** @file CSV reader for event tables: records, comments and directives, each with its line. */
#ifndef UPMU_ARCH_GENERATOR_CSV_H
#define UPMU_ARCH_GENERATOR_CSV_H

#include <stdbool.h>
#include <stddef.h>

enum { CSV_CELLS_MAX = 16 };

struct csv_row {
    int line;
    size_t n_cells;
    char *cells[CSV_CELLS_MAX];
};

/** A comment `# word: value` before the header line. */
struct csv_directive {
    int line;
    const char *word, *value;
};

struct csv {
    char *path;
    char *text; /**< the file; cells and directives point into it */
    struct csv_row header;
    struct csv_row *rows;
    size_t n_rows;
    struct csv_directive *directives;
    size_t n_directives;
};

/** Read a file; errors go to fault(). The caller releases `out` with csv_free() in either case. */
void csv_read(struct csv *out, const char *path);
void csv_free(struct csv *csv);

/** A directive by its word, or NULL. */
const struct csv_directive *csv_directive(const struct csv *csv, const char *word);

/** Whether the header is exactly these words, joined by commas. */
bool csv_header_is(const struct csv *csv, const char *header);

#endif
