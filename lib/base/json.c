/* SPDX-License-Identifier: MIT */
/* Stateless JSON writer on a text buffer. */
#include "base/json.h"

#include <math.h>
#include <string.h>

static void json_separate(struct textbuf *b)
{
    size_t n = b->len;
    while (n > 0 && b->data[n - 1] == '\n')
        n--;
    if (n > 0 && !strchr("[{:,", b->data[n - 1]))
        textbuf_add(b, ",", 1);
}

void json_add_key(struct textbuf *b, const char *key)
{
    json_separate(b);
    if (!key)
        return;
    textbuf_json(b, key);
    textbuf_add(b, ":", 1);
}

void json_add_open(struct textbuf *b, const char *key, char bracket)
{
    json_add_key(b, key);
    textbuf_add(b, &bracket, 1);
}

void json_add_close(struct textbuf *b, char bracket)
{
    textbuf_add(b, &bracket, 1);
}

void json_add_line(struct textbuf *b)
{
    json_separate(b);
    textbuf_add(b, "\n", 1);
}

void json_add_uint(struct textbuf *b, const char *key, uint64_t n)
{
    json_add_key(b, key);
    textbuf_uint(b, n);
}

void json_add_int(struct textbuf *b, const char *key, int64_t n)
{
    json_add_key(b, key);
    if (n < 0)
        textbuf_add(b, "-", 1);
    textbuf_uint(b, n < 0 ? 0u - (uint64_t)n : (uint64_t)n);
}

void json_add_double(struct textbuf *b, const char *key, double n)
{
    if (!isfinite(n)) {
        json_add_null(b, key);
        return;
    }
    json_add_key(b, key);
    textbuf_printf(b, "%.17g", n);
}

void json_add_bool(struct textbuf *b, const char *key, bool value)
{
    json_add_key(b, key);
    textbuf_add(b, value ? "true" : "false", value ? 4 : 5);
}

void json_add_string(struct textbuf *b, const char *key, const char *text)
{
    if (!text) {
        json_add_null(b, key);
        return;
    }
    json_add_key(b, key);
    textbuf_json(b, text);
}

void json_add_null(struct textbuf *b, const char *key)
{
    json_add_key(b, key);
    textbuf_add(b, "null", 4);
}
