/* SPDX-License-Identifier: MIT */
/* Stateless JSON writer on a text buffer. */
#include "base/text/json.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void json_separate(struct textbuf *b)
{
    size_t n = b->len;
    while (n > 0 && b->data[n - 1] == '\n')
        n--;
    if (n > 0 && !strchr("[{:,", b->data[n - 1]))
        textbuf_add(b, ",", 1);
}

void json_key(struct textbuf *b, const char *key)
{
    json_separate(b);
    if (!key)
        return;
    textbuf_json(b, key);
    textbuf_add(b, ":", 1);
}

void json_object(struct textbuf *b, const char *key)
{
    json_key(b, key);
    textbuf_add(b, "{", 1);
}

void json_object_end(struct textbuf *b)
{
    textbuf_add(b, "}", 1);
}

void json_array(struct textbuf *b, const char *key)
{
    json_key(b, key);
    textbuf_add(b, "[", 1);
}

void json_array_end(struct textbuf *b)
{
    textbuf_add(b, "]", 1);
}

void json_line(struct textbuf *b)
{
    json_separate(b);
    textbuf_add(b, "\n", 1);
}

void json_uint(struct textbuf *b, const char *key, uint64_t n)
{
    json_key(b, key);
    textbuf_uint(b, n);
}

void json_uint_if(struct textbuf *b, const char *key, bool known, uint64_t n)
{
    if (known)
        json_uint(b, key, n);
    else
        json_null(b, key);
}

void json_int(struct textbuf *b, const char *key, int64_t n)
{
    json_key(b, key);
    if (n < 0)
        textbuf_add(b, "-", 1);
    textbuf_uint(b, n < 0 ? 0u - (uint64_t)n : (uint64_t)n);
}

void json_int_if(struct textbuf *b, const char *key, bool known, int64_t n)
{
    if (known)
        json_int(b, key, n);
    else
        json_null(b, key);
}

void json_double(struct textbuf *b, const char *key, double n)
{
    if (!isfinite(n)) {
        json_null(b, key);
        return;
    }
    char text[32];
    snprintf(text, sizeof text, "%.15g", n);
    json_key(b, key);
    textbuf_printf(b, strtod(text, NULL) == n ? "%.15g" : "%.17g", n);
}

void json_bool(struct textbuf *b, const char *key, bool value)
{
    json_key(b, key);
    textbuf_add(b, value ? "true" : "false", value ? 4 : 5);
}

void json_string(struct textbuf *b, const char *key, const char *text)
{
    if (!text) {
        json_null(b, key);
        return;
    }
    json_key(b, key);
    textbuf_json(b, text);
}

void json_null(struct textbuf *b, const char *key)
{
    json_key(b, key);
    textbuf_add(b, "null", 4);
}

void json_raw(struct textbuf *b, const char *key, const char *value, size_t length)
{
    json_key(b, key);
    textbuf_add(b, value, length);
}
