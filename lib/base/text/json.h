/* SPDX-License-Identifier: MIT */
/**
 * @file
 * Stateless JSON writer on a text buffer.
 *
 * Commas are added where the buffer ends with a value; line breaks in between are allowed. A document that begins behind
 * other text is opened with textbuf_add(b, "{", 1).
 */
#ifndef UPMU_BASE_JSON_H
#define UPMU_BASE_JSON_H

#include <stdbool.h>
#include <stdint.h>

#include "base/text/textbuf.h"

/* `key` is NULL inside an array. */
void json_object(struct textbuf *b, const char *key);
void json_object_end(struct textbuf *b);
void json_array(struct textbuf *b, const char *key);
void json_array_end(struct textbuf *b);
/** A line break before the next element. */
void json_line(struct textbuf *b);
/** A key, or the comma before an element if `key` is NULL: the caller adds the value. */
void json_key(struct textbuf *b, const char *key);

void json_uint(struct textbuf *b, const char *key, uint64_t n);
void json_int(struct textbuf *b, const char *key, int64_t n);
/** A number, or null unless it is known. */
void json_uint_if(struct textbuf *b, const char *key, bool known, uint64_t n);
void json_int_if(struct textbuf *b, const char *key, bool known, int64_t n);
/** With as many digits as the number needs; NaN and infinity are written as null. */
void json_double(struct textbuf *b, const char *key, double n);
void json_bool(struct textbuf *b, const char *key, bool value);
/** NULL is written as null. */
void json_string(struct textbuf *b, const char *key, const char *text);
void json_null(struct textbuf *b, const char *key);
/** A value that is JSON already. */
void json_raw(struct textbuf *b, const char *key, const char *value, size_t length);

#endif
