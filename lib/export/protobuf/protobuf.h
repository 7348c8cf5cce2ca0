/* SPDX-License-Identifier: MIT */
/** @file Writer of the wire format of protocol buffers, as far as needed. */
#ifndef UPMU_EXPORT_PROTOBUF_H
#define UPMU_EXPORT_PROTOBUF_H

#include <stdint.h>
#include <string.h>

#include "base/text/textbuf.h"

static inline void proto_varint(struct textbuf *b, uint64_t n)
{
    char bytes[10];
    size_t len = 0;
    for (; n >= 0x80; n >>= 7)
        bytes[len++] = (char)(n | 0x80);
    bytes[len++] = (char)n;
    textbuf_add(b, bytes, len);
}

static inline void proto_uint(struct textbuf *b, uint32_t field, uint64_t n)
{
    proto_varint(b, (uint64_t)field << 3);
    proto_varint(b, n);
}

static inline void proto_fixed64(struct textbuf *b, uint32_t field, uint64_t n)
{
    char bytes[8];
    for (size_t i = 0; i < sizeof bytes; i++)
        bytes[i] = (char)(n >> 8 * i);
    proto_varint(b, (uint64_t)field << 3 | 1);
    textbuf_add(b, bytes, sizeof bytes);
}

static inline void proto_bytes(struct textbuf *b, uint32_t field, const char *data, size_t len)
{
    proto_varint(b, (uint64_t)field << 3 | 2);
    proto_varint(b, len);
    textbuf_add(b, data, len);
}

/** A nested message, built in a buffer of its own, which is emptied. A failed buffer makes the outer one fail. */
static inline void proto_message(struct textbuf *b, uint32_t field, struct textbuf *message)
{
    b->failed |= message->failed;
    proto_bytes(b, field, message->data ? message->data : "", message->len);
    message->len = 0;
}

#endif
