/* SPDX-License-Identifier: MIT */
/** @file Growing text buffer for reports and metadata, without stdio. */
#ifndef UPMU_BASE_TEXTBUF_H
#define UPMU_BASE_TEXTBUF_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/text/printable.h"
#include "upmu/api.h"

/** All zero is an empty buffer. After a failed allocation `failed` stays set and nothing more is added. */
struct textbuf {
    char *data; /**< NUL-terminated if not NULL */
    size_t len;
    size_t cap;
    bool failed;
    bool mapped; /**< set by the caller: no memory by malloc(), whose state is the program's */
};

void textbuf_printf(struct textbuf *b, const char *fmt, ...) UPMU_PRINTF(2, 3);
void textbuf_add(struct textbuf *b, const char *data, size_t len);
/** Add strings, with NULL behind the last: faster than textbuf_printf(). */
void textbuf_join(struct textbuf *b, ...) __attribute__((sentinel));
/** Add a decimal number: faster than textbuf_printf(). */
void textbuf_uint(struct textbuf *b, uint64_t n);
/** Add `s` as a quoted JSON string; bytes that are not UTF-8 become U+FFFD, terminal controls are escaped. */
void textbuf_json(struct textbuf *b, const char *s);
/** Add `s` as a CSV field (RFC 4180) of a row whose fields are separated by `separator`, quoted only if necessary. Terminal
 *  controls are escaped except line breaks and tabs; a field that a spreadsheet would execute is prefixed with an apostrophe. */
void textbuf_csv(struct textbuf *b, const char *s, char separator);
/** Write everything to a descriptor, continuing after short and interrupted writes. @return 0 or -errno. */
int textbuf_write(const struct textbuf *b, int fd);
void textbuf_free(struct textbuf *b);

#endif
