/* SPDX-License-Identifier: MIT */
/* Writer of FlatBuffers. */
#include "columns/flatbuffer.h"

#include <string.h>

void flat_int(struct textbuf *b, uint64_t value, size_t bytes)
{
    char little[8];
    for (size_t i = 0; i < bytes; i++)
        little[i] = (char)(value >> 8 * i);
    textbuf_add(b, little, bytes);
}

static void flat_patch(struct textbuf *b, size_t at, uint64_t value, size_t bytes)
{
    for (size_t i = 0; i < bytes && !b->failed; i++)
        b->data[at + i] = (char)(value >> 8 * i);
}

void flat_align(struct textbuf *b, size_t align)
{
    static const char zeros[64];
    if (b->len % align)
        textbuf_add(b, zeros, align - b->len % align);
}

size_t flat_begin(struct textbuf *b)
{
    flat_align(b, 8);
    size_t at = b->len;
    flat_int(b, 0, FLAT_REFERENCE);
    return at;
}

void flat_refer(struct textbuf *b, size_t at, size_t align)
{
    flat_align(b, align);
    flat_patch(b, at, b->len - at, FLAT_REFERENCE);
}

/* The reference to the table must be filled by flat_refer(b, at, 8) right before: the vtable lies behind the table. */
void flat_table(struct textbuf *b, struct flat_field *fields, size_t n)
{
    size_t table = b->len;
    flat_int(b, 0, 4); /* offset of the vtable, below */
    for (size_t i = 0; i < n; i++) {
        if (fields[i].bytes == 0)
            continue;
        flat_align(b, fields[i].bytes);
        fields[i].at = b->len;
        flat_int(b, fields[i].value, fields[i].bytes);
    }
    size_t end = b->len;
    flat_align(b, 2);
    flat_patch(b, table, table - b->len, 4);
    flat_int(b, 4 + 2 * n, 2);
    flat_int(b, end - table, 2);
    for (size_t i = 0; i < n; i++)
        flat_int(b, fields[i].bytes ? fields[i].at - table : 0, 2);
}

void flat_vector(struct textbuf *b, size_t n)
{
    flat_int(b, n, 4);
}

void flat_string(struct textbuf *b, const char *text)
{
    size_t len = strlen(text);
    flat_vector(b, len);
    textbuf_add(b, text, len + 1);
}
