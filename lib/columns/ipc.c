/* SPDX-License-Identifier: MIT */
/*
 * Columns as an Arrow IPC stream.
 *
 * A message is a length, a header (FlatBuffers, of Arrow's Message.fbs and Schema.fbs) and a body with the buffers. `out`
 * begins at a multiple of eight, and so does each message.
 */
#include "columns/ipc.h"

#include "columns/flatbuffer.h"

/* Numbers of the schema files. */
enum { IPC_CONTINUATION = 0xffffffff, IPC_V5 = 4, IPC_SCHEMA = 1, IPC_BATCH = 3, IPC_INT = 2, IPC_UTF8 = 5 };
enum { IPC_ALIGN = 64 };

/* The fields of the table Message, in order. */
static size_t message_begin(struct textbuf *b, int type, uint64_t body, size_t *start)
{
    flat_align(b, 8);
    *start = b->len;
    flat_int(b, IPC_CONTINUATION, 4);
    flat_int(b, 0, 4); /* the length of the header, see message_end() */
    struct flat_field message[] = {
        {.bytes = 2, .value = IPC_V5},
        {.bytes = 1, .value = (uint64_t)type},
        {.bytes = FLAT_REFERENCE},
        {.bytes = 8, .value = body},
    };
    size_t root = flat_begin(b);
    flat_refer(b, root, 8);
    flat_table(b, message, sizeof message / sizeof *message);
    return message[2].at;
}

static void message_end(struct textbuf *b, size_t start)
{
    flat_align(b, 8);
    uint64_t length = b->len - start - 8;
    for (size_t i = 0; i < 4 && !b->failed; i++)
        b->data[start + 4 + i] = (char)(length >> 8 * i);
}

/* ------------------------------------------------------------------------------------------------------ schema */

/* The table Field of a column; `at` is the reference to it. */
static void schema_field(struct textbuf *b, const struct column *c, size_t at)
{
    bool text = c->type == COLUMN_TEXT;
    struct flat_field field[] = {
        {.bytes = FLAT_REFERENCE},                        /* name */
        {.bytes = 1, .value = 1},                         /* nullable */
        {.bytes = 1, .value = text ? IPC_UTF8 : IPC_INT}, /* kind of type */
        {.bytes = FLAT_REFERENCE},                        /* type */
        {.bytes = 0},                                     /* dictionary */
        {.bytes = FLAT_REFERENCE},                        /* children: readers want the vector, though it is empty */
    };
    struct flat_field type[] = {
        {.bytes = text ? 0 : 4, .value = 8 * column_width(c->type)},
        {.bytes = text ? 0 : 1, .value = c->type == COLUMN_INT32 || c->type == COLUMN_INT64},
    };
    flat_refer(b, at, 8);
    flat_table(b, field, sizeof field / sizeof *field);
    flat_refer(b, field[0].at, 4);
    flat_string(b, c->name);
    flat_refer(b, field[3].at, 8);
    flat_table(b, type, text ? 0 : 2);
    flat_refer(b, field[5].at, 4);
    flat_vector(b, 0);
}

void ipc_schema(const struct columns *cs, struct textbuf *out)
{
    size_t start, header = message_begin(out, IPC_SCHEMA, 0, &start);
    struct flat_field schema[] = {{.bytes = 2, .value = __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__},
                                  {.bytes = FLAT_REFERENCE}}; /* byte order, fields */
    flat_refer(out, header, 8);
    flat_table(out, schema, 2);
    flat_refer(out, schema[1].at, 4);
    flat_vector(out, cs->n);
    size_t first = out->len;
    for (size_t i = 0; i < cs->n; i++)
        flat_int(out, 0, FLAT_REFERENCE);
    for (size_t i = 0; i < cs->n && !out->failed; i++)
        schema_field(out, &cs->column[i], first + FLAT_REFERENCE * i);
    message_end(out, start);
}

/* ----------------------------------------------------------------------------------------------------- batches */

static size_t ipc_padded(size_t bytes)
{
    return (bytes + IPC_ALIGN - 1) & ~(size_t)(IPC_ALIGN - 1);
}

/* The buffers of a column: bits of the values present (none if all are), offsets of texts, values. */
struct ipc_buffers {
    const void *data[3];
    size_t bytes[3];
    size_t n;
};

static struct ipc_buffers ipc_buffers_of(const struct columns *cs, const struct column *c)
{
    size_t rows = cs->rows;
    struct ipc_buffers bs = {.data = {c->valid}, .bytes = {column_nulls(cs, c) > 0 ? (rows + 7) / 8 : 0}, .n = 2};
    if (c->type == COLUMN_TEXT) {
        bs = (struct ipc_buffers){.data = {c->valid, c->texts.offsets, c->texts.bytes.data},
                                  .bytes = {bs.bytes[0], (rows + 1) * sizeof(int32_t), c->texts.bytes.len},
                                  .n = 3};
        return bs;
    }
    bs.data[1] = column_values(cs, c);
    bs.bytes[1] = rows * column_width(c->type);
    return bs;
}

static uint64_t ipc_body_bytes(const struct columns *cs, size_t *n_buffers)
{
    uint64_t body = 0;
    *n_buffers = 0;
    for (size_t i = 0; i < cs->n; i++) {
        struct ipc_buffers bs = ipc_buffers_of(cs, &cs->column[i]);
        for (size_t k = 0; k < bs.n; k++)
            body += ipc_padded(bs.bytes[k]);
        *n_buffers += bs.n;
    }
    return body;
}

static void batch_header(const struct columns *cs, struct textbuf *out, size_t header, size_t n_buffers)
{
    struct flat_field batch[] = {{.bytes = 8, .value = cs->rows}, {.bytes = FLAT_REFERENCE}, {.bytes = FLAT_REFERENCE}};
    uint64_t offset = 0;
    flat_refer(out, header, 8);
    flat_table(out, batch, 3);
    flat_align(out, 8); /* the elements of both vectors are aligned to eight, their lengths before them are not */
    flat_int(out, 0, 4);
    flat_refer(out, batch[1].at, 4);
    flat_vector(out, cs->n);
    for (size_t i = 0; i < cs->n; i++) {
        flat_int(out, cs->rows, 8);
        flat_int(out, column_nulls(cs, &cs->column[i]), 8);
    }
    flat_int(out, 0, 4);
    flat_refer(out, batch[2].at, 4);
    flat_vector(out, n_buffers);
    for (size_t i = 0; i < cs->n; i++) {
        struct ipc_buffers bs = ipc_buffers_of(cs, &cs->column[i]);
        for (size_t k = 0; k < bs.n; k++) {
            flat_int(out, offset, 8);
            flat_int(out, bs.bytes[k], 8);
            offset += ipc_padded(bs.bytes[k]);
        }
    }
}

void ipc_batch(const struct columns *cs, struct textbuf *out)
{
    static const char zeros[IPC_ALIGN];
    size_t start, n_buffers;
    uint64_t body = ipc_body_bytes(cs, &n_buffers);
    size_t header = message_begin(out, IPC_BATCH, body, &start);
    batch_header(cs, out, header, n_buffers);
    message_end(out, start);
    for (size_t i = 0; i < cs->n; i++) {
        struct ipc_buffers bs = ipc_buffers_of(cs, &cs->column[i]);
        for (size_t k = 0; k < bs.n; k++) {
            textbuf_add(out, bs.bytes[k] ? bs.data[k] : zeros, bs.bytes[k]);
            textbuf_add(out, zeros, ipc_padded(bs.bytes[k]) - bs.bytes[k]);
        }
    }
}

void ipc_end(struct textbuf *out)
{
    flat_align(out, 8);
    flat_int(out, IPC_CONTINUATION, 4);
    flat_int(out, 0, 4);
}
