/* SPDX-License-Identifier: MIT */
/** @file Error messages of the event table generator: FILE:LINE: what is wrong. */
#ifndef UPMU_ARCH_GENERATOR_FAULT_H
#define UPMU_ARCH_GENERATOR_FAULT_H

#include <stddef.h>

/** Print an error of a file; `line` 0 = of the file as a whole. The run continues, so that one run shows all errors. */
void fault(const char *path, int line, const char *format, ...) __attribute__((format(printf, 3, 4)));

/** Errors so far. */
size_t fault_count(void);

/** A copy of a text; ends the program without memory. */
char *fault_copy(const char *text);

/** An array with space for one more item of `size` bytes; ends the program without memory. Grows at powers of two. */
void *fault_grow(void *array, size_t used, size_t size);

#endif
