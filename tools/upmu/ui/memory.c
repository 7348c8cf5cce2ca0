/* SPDX-License-Identifier: MIT */
/* Allocation that ends the process on failure; the libraries never do that. */
#include "memory.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "command.h"

void *memory_or_exit(void *p)
{
    if (!p) {
        fputs("upmu: out of memory\n", stderr);
        exit(EXIT_FAILED);
    }
    return p;
}

void *memory_array(size_t n, size_t size)
{
    return memory_or_exit(calloc(n ? n : 1, size));
}

void *memory_resize(void *array, size_t n, size_t size)
{
    return memory_or_exit(reallocarray(array, n ? n : 1, size));
}

char *memory_copy(const char *text)
{
    return memory_or_exit(strdup(text));
}

char *memory_vformat(const char *fmt, va_list ap)
{
    char *text = NULL;
    if (vasprintf(&text, fmt, ap) < 0)
        text = NULL;
    return memory_or_exit(text);
}

char *memory_format(const char *fmt, ...)
{
    va_list ap;
    va_start(ap, fmt);
    char *text = memory_vformat(fmt, ap);
    va_end(ap);
    return text;
}
