/* SPDX-License-Identifier: MIT */
/** @file Allocation that ends the command with a message on failure. */
#ifndef UPMU_TOOL_MEMORY_H
#define UPMU_TOOL_MEMORY_H

#include <stdarg.h>
#include <stddef.h>

#include "upmu/api.h"

/** @return `p`; without memory, which is NULL, the command ends. */
void *memory_or_exit(void *p);
/** `n` elements of `size` bytes, zeroed; to be freed with free(). */
void *memory_array(size_t n, size_t size);
/** Grow (or make, from NULL) an array to `n` elements of `size` bytes; what is new is not zeroed. */
void *memory_resize(void *array, size_t n, size_t size);
/** A copy of a string. */
char *memory_copy(const char *text);
/** A formatted string. */
char *memory_format(const char *fmt, ...) UPMU_PRINTF(1, 2);
char *memory_vformat(const char *fmt, va_list ap) UPMU_PRINTF(1, 0);

#endif
