/* SPDX-License-Identifier: MIT */
/* Growing buffer of bytes. */
#include "bytes.h"

#include <stdlib.h>
#include <string.h>

#include "ui/memory.h"

char *bytes_reserve(struct bytes *b, size_t n)
{
    enum { LEAST = 512 };
    if (b->cap - b->n < n) {
        size_t cap = b->n + n > b->cap * 2 ? b->n + n : b->cap * 2;
        b->cap = cap > LEAST ? cap : LEAST;
        b->data = memory_resize(b->data, b->cap, 1);
    }
    return b->data + b->n;
}

void bytes_add(struct bytes *b, const void *data, size_t n)
{
    if (n == 0)
        return;
    memcpy(bytes_reserve(b, n), data, n);
    b->n += n;
}

void bytes_drop(struct bytes *b, size_t n)
{
    if (n == 0)
        return;
    b->n -= n;
    memmove(b->data, b->data + n, b->n);
    if (b->n == 0)
        bytes_free(b);
}

void bytes_free(struct bytes *b)
{
    free(b->data);
    *b = (struct bytes){0};
}

static bool is_blank(char c)
{
    return c == ' ' || c == '\n' || c == '\t' || c == '\r';
}

/* Whether it is a whole number of so many digits that a double might round it. */
static bool is_long_integer(const char *text, size_t n)
{
    enum { SAFE_DIGITS = 15 };
    size_t sign = text[0] == '-';
    for (size_t i = sign; i < n; i++)
        if (text[i] < '0' || text[i] > '9')
            return false;
    return n - sign > SAFE_DIGITS;
}

void bytes_add_json(struct bytes *b, struct json_slice value)
{
    const char *at = value.text, *end = value.text + value.length;
    while (at < end) {
        const char *begin = at;
        if (*at == '"') {
            for (at++; *at != '"'; at++)
                at += *at == '\\';
            at++;
            bytes_add(b, begin, (size_t)(at - begin));
        } else if (is_blank(*at)) {
            at++;
        } else if (strchr("{}[]:,", *at)) {
            bytes_add(b, at++, 1);
        } else {
            while (at < end && !is_blank(*at) && !strchr("{}[]:,", *at))
                at++;
            bool quoted = is_long_integer(begin, (size_t)(at - begin));
            bytes_add(b, "\"", quoted);
            bytes_add(b, begin, (size_t)(at - begin));
            bytes_add(b, "\"", quoted);
        }
    }
}
