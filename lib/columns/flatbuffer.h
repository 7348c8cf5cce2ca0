/* SPDX-License-Identifier: MIT */
/**
 * @file
 * Writer of FlatBuffers, the encoding of Arrow's message headers.
 *
 * Written front to back: a table is written with empty references, which are filled in when what they refer to is written.
 * Offsets are relative, so a message may begin at any multiple of eight in the buffer.
 */
#ifndef UPMU_COLUMNS_FLATBUFFER_H
#define UPMU_COLUMNS_FLATBUFFER_H

#include <stddef.h>
#include <stdint.h>

#include "base/text/textbuf.h"

/** A field of a table, in the order of the schema. */
struct flat_field {
    size_t bytes;   /**< 1, 2, 4 or 8; 0: the field is absent */
    uint64_t value; /**< of a reference: 0, until flat_refer() */
    size_t at;      /**< out: where it was written */
};

enum { FLAT_REFERENCE = 4 };

/** Begin a message: its root reference. @return where it is, for flat_refer(). */
size_t flat_begin(struct textbuf *b);
/** Write a table and its vtable. */
void flat_table(struct textbuf *b, struct flat_field *fields, size_t n);
/** Let the reference at `at` refer to what is written next, aligned to `align`. */
void flat_refer(struct textbuf *b, size_t at, size_t align);
/** Write a string with its length. */
void flat_string(struct textbuf *b, const char *text);
/** Write the length of a vector, whose elements follow. */
void flat_vector(struct textbuf *b, size_t n);
/** Write an integer, little-endian. */
void flat_int(struct textbuf *b, uint64_t value, size_t bytes);
/** Fill up to a multiple of `align`. */
void flat_align(struct textbuf *b, size_t align);

#endif
