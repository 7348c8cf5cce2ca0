/* SPDX-License-Identifier: MIT */
/*
 * Sections of bytes, compressed as one zlib stream, in base64.
 *
 * A section is the length of its name in a byte, the name, the number of its values and of its bytes in 32 bits each,
 * little-endian, and the bytes.
 */
#include "export/html/html.h"

#include <string.h>

#include "base/error.h"

static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

static void pack_base64_group(struct textbuf *out, const unsigned char *in, size_t n)
{
    unsigned bits = (unsigned)in[0] << 16 | (n > 1 ? (unsigned)in[1] << 8 : 0) | (n > 2 ? in[2] : 0);
    char group[4] = {digits[bits >> 18], digits[bits >> 12 & 63], n > 1 ? digits[bits >> 6 & 63] : '=',
                     n > 2 ? digits[bits & 63] : '='};
    textbuf_add(out, group, sizeof group);
}

static int pack_base64(struct export_job *job, const unsigned char *in, size_t n)
{
    struct html *h = job->html;
    for (size_t i = 0; i < n; i++) {
        h->rest[h->n_rest++] = in[i];
        if (h->n_rest < sizeof h->rest)
            continue;
        pack_base64_group(&job->out, h->rest, h->n_rest);
        h->n_rest = 0;
    }
    return export_flush(job);
}

static int pack_deflate(struct export_job *job, const void *data, size_t len, int flush)
{
    struct html *h = job->html;
    unsigned char out[16384];
    const unsigned char *at = data;
    int rc = 0, done = Z_OK;
    do { /* zlib counts in unsigned int */
        size_t part = len < (size_t)1 << 30 ? len : (size_t)1 << 30;
        h->z.next_in = (unsigned char *)(uintptr_t)at;
        h->z.avail_in = (unsigned)part;
        at += part;
        len -= part;
        do {
            h->z.next_out = out;
            h->z.avail_out = sizeof out;
            done = deflate(&h->z, len > 0 ? Z_NO_FLUSH : flush);
            if (done == Z_STREAM_ERROR)
                return upmu_fail(UPMU_E_IO, "cannot compress the data of the page");
            rc = pack_base64(job, out, sizeof out - h->z.avail_out);
        } while (rc == 0 && h->z.avail_out == 0);
    } while (rc == 0 && len > 0);
    return rc;
}

int html_pack_start(struct export_job *job)
{
    struct html *h = job->html;
    if (deflateInit(&h->z, Z_DEFAULT_COMPRESSION) != Z_OK)
        return export_no_memory();
    h->packing = true;
    return 0;
}

static void pack_put32(unsigned char *to, uint64_t n)
{
    for (int i = 0; i < 4; i++)
        to[i] = (unsigned char)(n >> 8 * i);
}

int html_pack_section(struct export_job *job, const char *name, size_t count, const struct textbuf *bytes)
{
    enum { NAME_MAX_BYTES = 64 };
    unsigned char head[1 + NAME_MAX_BYTES + 8];
    size_t n = strlen(name);
    if (bytes->failed)
        return export_no_memory();
    if (n > NAME_MAX_BYTES || bytes->len > UINT32_MAX || count > UINT32_MAX)
        return upmu_fail(UPMU_E_NOMEM, "the recording is too large for one page. Export a time window.");
    head[0] = (unsigned char)n;
    for (size_t i = 0; i < n; i++)
        head[1 + i] = (unsigned char)name[i];
    pack_put32(head + 1 + n, count);
    pack_put32(head + 5 + n, bytes->len);
    int rc = pack_deflate(job, head, 9 + n, Z_NO_FLUSH);
    return rc == 0 && bytes->len > 0 ? pack_deflate(job, bytes->data, bytes->len, Z_NO_FLUSH) : rc;
}

int html_pack_end(struct export_job *job)
{
    struct html *h = job->html;
    int rc = pack_deflate(job, "", 0, Z_FINISH);
    if (rc == 0 && h->n_rest > 0)
        pack_base64_group(&job->out, h->rest, h->n_rest);
    h->n_rest = 0;
    return rc;
}

void html_varint(struct textbuf *b, uint64_t n)
{
    char bytes[10];
    size_t len = 0;
    for (; n > 127; n >>= 7)
        bytes[len++] = (char)(n | 128);
    bytes[len++] = (char)n;
    textbuf_add(b, bytes, len);
}
