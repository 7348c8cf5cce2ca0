/* SPDX-License-Identifier: MIT */
/* Width of text on a terminal, and long names shortened in the middle: both ends of a C++ name matter. */
#include "shorten.h"

#include <string.h>

#include "base/text/printable.h"
#include "memory.h"
#include "text/columns.h"

static const char gap[] = "...";

/* The character at `text` and its width. @return its bytes. */
static size_t text_next(const char *text, size_t *width)
{
    char shown[PRINTABLE_MAX];
    size_t n = printable_next(text, shown);
    *width = memcmp(shown, text, n) == 0 ? columns_of(utf8_code(text, n)) : strlen(shown);
    return n;
}

size_t text_width(const char *text)
{
    size_t width = 0, one;
    for (; *text; width += one)
        text += text_next(text, &one);
    return width;
}

char *text_shortened(const char *text, size_t width)
{
    size_t all = text_width(text), keep = width > sizeof gap - 1 ? width - (sizeof gap - 1) : 0, one;
    const char *head = text, *tail = text;
    if (all <= width)
        return memory_copy(text);
    for (size_t at = 0; *head; at += one) {
        size_t n = text_next(head, &one);
        if (at + one > (keep + 1) / 2)
            break;
        head += n;
    }
    for (size_t left = all; *tail && left > keep / 2; left -= one)
        tail += text_next(tail, &one);
    /* No mark of a character that is left out. */
    for (size_t n; *tail && (n = text_next(tail, &one), one == 0); tail += n)
        ;
    return memory_format("%.*s%s%s", (int)(head - text), text, gap, tail);
}
