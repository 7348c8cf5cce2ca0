/* SPDX-License-Identifier: MIT */
/** @file A growing text buffer for reports and metadata: no stdio, no surprise on low memory. Room: base. */
#ifndef UPMU_BASE_TEXTBUF_H
#define UPMU_BASE_TEXTBUF_H

#include <stdbool.h>
#include <stddef.h>

#include "base/printable.h"
#include "upmu/api.h"

/** All zero is an empty buffer. After a failed allocation `failed` stays set and nothing more is added. */
struct textbuf {
    char *data; /**< NUL-terminated once anything was added */
    size_t len;
    size_t cap;
    bool failed;
};

void textbuf_printf(struct textbuf *b, const char *fmt, ...) UPMU_PRINTF(2, 3);
void textbuf_add(struct textbuf *b, const char *data, size_t len);
/** Add `s` for a terminal: see base/printable.h. */
void textbuf_clean(struct textbuf *b, const char *s);
/** Add `s` as a JSON string with its quotes; bytes that are not UTF-8 become U+FFFD, what a terminal obeys is escaped. */
void textbuf_json(struct textbuf *b, const char *s);
/** Add `s` as a CSV field (RFC 4180): quoted only where needed. What a terminal obeys is escaped but for line breaks and tabs;
 *  a field that a spreadsheet would execute begins with an apostrophe. */
void textbuf_csv(struct textbuf *b, const char *s);
/** Write everything to a descriptor, continuing short and interrupted writes. @return 0 or -errno. */
int textbuf_write(const struct textbuf *b, int fd);
void textbuf_free(struct textbuf *b);

#endif
