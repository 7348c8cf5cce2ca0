/* SPDX-License-Identifier: MIT */
/** @file Error messages of the event table generator. */
#include "arch/generator/fault.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static size_t faults;

void fault(const char *path, int line, const char *format, ...)
{
    va_list args;
    if (line > 0)
        fprintf(stderr, "%s:%d: ", path, line);
    else
        fprintf(stderr, "%s: ", path);
    va_start(args, format);
    vfprintf(stderr, format, args);
    va_end(args);
    fputc('\n', stderr);
    faults++;
}

size_t fault_count(void)
{
    return faults;
}

void *fault_grow(void *array, size_t used, size_t size)
{
    if (used != 0 && (used & (used - 1)) != 0)
        return array;
    void *grown = realloc(array, (used ? used * 2 : 1) * size);
    if (!grown) {
        fputs("event tables: out of memory\n", stderr);
        exit(2);
    }
    return grown;
}

char *fault_copy(const char *text)
{
    size_t bytes = strlen(text) + 1;
    return memcpy(fault_grow(NULL, 0, bytes), text, bytes);
}
