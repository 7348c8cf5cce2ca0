/* SPDX-License-Identifier: MIT */
/**
 * @file
 * Batches of rows in columns, in the memory layout of Arrow.
 *
 * A batch is filled row by row and then handed over, by the C data interface (columns_to_array()) or as bytes of an IPC
 * stream (ipc.h). All values of a batch are in one block of memory, which its arrays share.
 */
#ifndef UPMU_COLUMNS_COLUMNS_H
#define UPMU_COLUMNS_COLUMNS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/text/textbuf.h"
#include "upmu/arrow.h"

enum column_type {
    COLUMN_INT32,
    COLUMN_UINT32,
    COLUMN_INT64,
    COLUMN_UINT64,
    COLUMN_WORD, /**< one of a fixed list of words, stored as an index of 8 bits */
    COLUMN_NAME, /**< text of few different values: a dictionary for each batch, an index of 32 bits */
    COLUMN_TEXT, /**< text of any values */
};

/** Texts with the offset of each; the end of the last one is the last offset. */
struct column_texts {
    struct textbuf bytes;
    int32_t *offsets;
    size_t n, cap;
};

struct column {
    char *name;
    enum column_type type;
    bool sparse;    /**< null unless column_set() is called for the row; else present unless column_null() is */
    bool used;      /**< not sparse, or some row of the batch is not null; `values` of other columns are not written */
    uint8_t *valid; /**< a bit for each row of the batch, set unless it is null */
    void *values;   /**< numbers, or indices into `texts` */
    struct column_texts texts; /**< words, or what the rows of the batch have */
    struct column_slot *slots; /**< COLUMN_NAME: hash table of `texts` */
    size_t n_slots;
};

/** All zero: no columns. */
struct columns {
    struct column *column;
    size_t n, cap;
    size_t rows, max_rows; /**< of the batch */
    char *block;           /**< memory of the batch; NULL before its first row */
    const void *zeros;     /**< in `block`: values of the columns that are not used */
    bool failed;           /**< out of memory: set permanently */
};

/** Add a column before the first row. `name` is copied. Most rows of a sparse column are null. @return its number. */
size_t columns_add(struct columns *cs, const char *name, enum column_type type, bool sparse);
/** Add the next word of a COLUMN_WORD, before the first row; at most 127. */
void columns_add_word(struct columns *cs, size_t column, const char *word);
/** Start a batch of at most `max_rows`. @return false without memory. */
bool columns_begin(struct columns *cs, size_t max_rows);
/** End a row: each column that is not sparse has had one value. */
static inline void columns_end_row(struct columns *cs)
{
    cs->rows++;
}

/** The value of the current row is missing. */
static inline void column_null(const struct columns *cs, size_t i)
{
    struct column *c = &cs->column[i];
    if (!c->sparse)
        c->valid[cs->rows / 8] &= (uint8_t) ~(1u << cs->rows % 8);
}

/** Clear the values of a sparse column, before its first row that is not null. */
void column_use(struct column *c, size_t max_rows);

/** The value of the current row of a sparse column is there; called before it is stored. */
static inline void column_set(const struct columns *cs, size_t i)
{
    struct column *c = &cs->column[i];
    if (!c->sparse)
        return;
    if (!c->used)
        column_use(c, cs->max_rows);
    c->valid[cs->rows / 8] |= (uint8_t)(1u << cs->rows % 8);
}

/** The values of the batch, 0 where they are null in a sparse column. */
static inline const void *column_values(const struct columns *cs, const struct column *c)
{
    return c->used ? c->values : cs->zeros;
}

/** The values of a column of numbers that are 0 are missing: for all rows of the batch, after the last one, in place of column_null().
 *  The column is not sparse. */
void column_null_zeros(const struct columns *cs, size_t i);
/** Number of missing values in the batch. */
size_t column_nulls(const struct columns *cs, const struct column *c);

static inline void column_int32(const struct columns *cs, size_t i, int32_t value)
{
    ((int32_t *)cs->column[i].values)[cs->rows] = value;
}

static inline void column_uint32(const struct columns *cs, size_t i, uint32_t value)
{
    ((uint32_t *)cs->column[i].values)[cs->rows] = value;
}

static inline void column_int64(const struct columns *cs, size_t i, int64_t value)
{
    ((int64_t *)cs->column[i].values)[cs->rows] = value;
}

static inline void column_uint64(const struct columns *cs, size_t i, uint64_t value)
{
    ((uint64_t *)cs->column[i].values)[cs->rows] = value;
}

/** Word number `word` of a COLUMN_WORD; null if there is none. */
static inline void column_word(const struct columns *cs, size_t i, int64_t word)
{
    bool known = word >= 0 && (size_t)word < cs->column[i].texts.n;
    if (known)
        column_set(cs, i);
    else
        column_null(cs, i);
    ((int8_t *)cs->column[i].values)[cs->rows] = (int8_t)(known ? word : 0);
}

/** Text of a COLUMN_NAME, as column_text(); not NULL. */
void column_name(struct columns *cs, size_t i, const char *text);
/** Text of a COLUMN_NAME or COLUMN_TEXT; bytes that are not UTF-8 become U+FFFD. "" is a text, NULL is null. */
void column_text(struct columns *cs, size_t i, const char *text);

/** Bytes of text in the batch. */
size_t columns_text_bytes(const struct columns *cs);
/** Bytes of a value; 0 for COLUMN_TEXT. */
size_t column_width(enum column_type type);

/** Hand the batch over as an Arrow struct array. @return 0 or ENOMEM. */
int columns_to_array(struct columns *cs, struct ArrowArray *out);
/** The type of all batches. @return 0 or ENOMEM. */
int columns_to_schema(const struct columns *cs, struct ArrowSchema *out);

void columns_free(struct columns *cs);

#endif
