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

#include "base/textbuf.h"

/** Open an object '{' or an array '['; `key` is NULL inside an array. */
void json_add_open(struct textbuf *b, const char *key, char bracket);
void json_add_close(struct textbuf *b, char bracket);
/** A line break before the next element. */
void json_add_line(struct textbuf *b);
/** A key, or the comma before an element if `key` is NULL: the caller adds the value. */
void json_add_key(struct textbuf *b, const char *key);

void json_add_uint(struct textbuf *b, const char *key, uint64_t n);
void json_add_int(struct textbuf *b, const char *key, int64_t n);
/** With 17 digits; NaN and infinity are written as null. */
void json_add_double(struct textbuf *b, const char *key, double n);
void json_add_bool(struct textbuf *b, const char *key, bool value);
/** NULL is written as null. */
void json_add_string(struct textbuf *b, const char *key, const char *text);
void json_add_null(struct textbuf *b, const char *key);

#endif
