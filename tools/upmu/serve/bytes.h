/* SPDX-License-Identifier: MIT */
/** @file Growing buffer of bytes. */
#ifndef UPMU_TOOL_BYTES_H
#define UPMU_TOOL_BYTES_H

#include <stddef.h>

#include "json_read.h"

struct bytes {
    char *data;
    size_t n, cap;
};

void bytes_add(struct bytes *b, const void *data, size_t n);
/** Space for `n` more bytes at the end. @return where they go; `b->n` is the caller's to advance. */
char *bytes_reserve(struct bytes *b, size_t n);
/** Take away the first `n` bytes. */
void bytes_drop(struct bytes *b, size_t n);
/** Add a value on one line: without blanks, and whole numbers that a double cannot hold as strings. */
void bytes_add_json(struct bytes *b, struct json_slice value);
void bytes_free(struct bytes *b);

#endif
