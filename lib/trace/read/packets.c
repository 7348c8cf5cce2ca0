/* SPDX-License-Identifier: MIT */
/* Packets of a stream. */
#include "trace/read/packets.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "base/error.h"
#include "trace/format/control.h"

int packets_io_failed(const char *path, int err)
{
    const char *text = strerrordesc_np(err);
    return upmu_fail(err == ENOMEM ? UPMU_E_NOMEM : UPMU_E_IO, "\"%s\": %s", path, text ? text : "unknown error");
}

int packets_open(const char *path)
{
    return control_open_at(AT_FDCWD, path);
}

int packets_read(int fd, void *buffer, size_t len, uint64_t offset)
{
    uint8_t *p = buffer;
    while (len > 0) {
        ssize_t n = pread(fd, p, len, (off_t)offset);
        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0)
            return -errno;
        if (n == 0)
            return -ENODATA;
        p += n;
        len -= (size_t)n;
        offset += (uint64_t)n;
    }
    return 0;
}

/* Offset of the first data at or after `offset`, without reading the holes of a sparse file; `end` if there is none. */
static uint64_t packets_data(int fd, uint64_t offset, uint64_t end)
{
    off_t at = offset < end ? lseek(fd, (off_t)offset, SEEK_DATA) : -1;
    if (at < 0)
        return offset < end && errno != ENXIO ? offset : end; /* a file system without SEEK_DATA has no holes */
    return (uint64_t)at < end ? (uint64_t)at : end;
}

/* Whether all bytes from `offset` to the end are zero. @return 1, 0 or -errno. */
static int packets_only_zeros(int fd, uint64_t offset, uint64_t end)
{
    uint8_t chunk[16384] = {0};
    while ((offset = packets_data(fd, offset, end)) < end) {
        size_t len = end - offset < sizeof chunk ? (size_t)(end - offset) : sizeof chunk;
        int rc = packets_read(fd, chunk, len, offset);
        if (rc != 0)
            return rc;
        if (chunk[0] != 0 || memcmp(chunk, chunk + 1, len - 1) != 0)
            return 0;
        offset += len;
    }
    return 1;
}

static int packet_bad(struct packet *p, const char *what)
{
    p->wrong = what;
    return PACKET_BAD;
}

/* No magic number: a packet being initialized has zeros after its head, anything else is damage. */
static int packet_check_unmarked(int fd, uint64_t file_size, struct packet *p)
{
    uint64_t behind = file_size - p->offset < sizeof p->head ? p->offset : p->offset + sizeof p->head;
    int zeros = packets_only_zeros(fd, behind, file_size);
    if (zeros < 0)
        return zeros;
    return zeros ? PACKET_UNFINISHED : packet_bad(p, "no packet begins here");
}

static int packet_check_head(struct packet *p, uint64_t file_size, const uint8_t *uuid)
{
    const struct ctf_packet *h = &p->head;
    uint64_t rest = file_size - p->offset;
    if (h->magic != CTF_MAGIC)
        return packet_bad(p, "no packet begins here");
    if (memcmp(h->uuid, uuid, sizeof h->uuid) != 0)
        return packet_bad(p, "the packet is of another trace");
    if (h->stream_id != 0)
        return packet_bad(p, "the packet has an unknown stream class");
    if (h->content_size % 8 != 0 || h->packet_size % 8 != 0)
        return packet_bad(p, "packet sizes are not whole bytes");
    p->content = h->content_size / 8;
    p->size = h->packet_size / 8;
    if (p->content < sizeof *h || p->size < p->content)
        return packet_bad(p, "packet sizes contradict each other");
    if (p->size > CTF_PACKET_BYTES_MAX)
        return packet_bad(p, "the packet is longer than the limit");
    if (h->timestamp_end < h->timestamp_begin)
        return packet_bad(p, "a packet ends before it begins");
    p->present = p->content < rest ? p->content : rest;
    return PACKET_GOOD;
}

int packet_at(int fd, uint64_t file_size, uint64_t offset, const uint8_t *uuid, struct packet *out)
{
    memset(out, 0, sizeof *out);
    out->offset = offset;
    if (offset == file_size)
        return PACKET_NONE;
    if (offset > file_size)
        return packet_bad(out, "the file ends within a packet");
    if (file_size - offset < sizeof out->head)
        return packet_check_unmarked(fd, file_size, out);
    int rc = packets_read(fd, &out->head, sizeof out->head, offset);
    if (rc != 0)
        return rc;
    if (out->head.magic == 0) {
        int unmarked = packet_check_unmarked(fd, file_size, out);
        if (unmarked != PACKET_BAD)
            return unmarked;
        /* Data follows: the writer may have written the head and events meanwhile. */
        rc = packets_read(fd, &out->head, sizeof out->head, offset);
        if (rc != 0 || out->head.magic == 0)
            return rc != 0 ? rc : unmarked;
        out->wrong = NULL;
    }
    if (out->head.event_count == 0) {
        /* The writer may use it at this moment. The first event sets the begin and then the content, so a begin read after the
         * content matches it. */
        uint64_t content = out->head.content_size;
        rc = packets_read(fd, &out->head, sizeof out->head, offset);
        if (rc != 0)
            return rc;
        out->head.content_size = content;
    }
    return packet_check_head(out, file_size, uuid);
}

/* ------------------------------------------------------------------------------------------------------- rings */

uint64_t packets_ring(const char *path, const struct meta *m)
{
    size_t len = strlen(path), suffix = sizeof CTF_ASIDE_SUFFIX - 1;
    bool aside = len > suffix && strcmp(path + len - suffix, CTF_ASIDE_SUFFIX) == 0;
    return aside ? 0 : m->ring_bytes;
}

int packet_in_slot(int fd, uint64_t file_size, uint64_t offset, uint64_t bytes, const uint8_t *uuid, struct packet *out)
{
    struct ctf_packet first;
    memset(out, 0, sizeof *out);
    out->offset = offset;
    if (file_size < sizeof out->head || offset > file_size - sizeof out->head)
        return PACKET_UNFINISHED;
    int rc = packets_read(fd, &first, sizeof first, offset);
    if (rc != 0)
        return rc;
    if (first.magic == 0)
        return PACKET_UNFINISHED;
    int state = packet_at(fd, file_size, offset, uuid, out);
    /* It is being reused. The content of a head that has the number of `first` is not older than that number, since a writer
     * stores the words of a head in their order. */
    if ((state == PACKET_BAD && out->head.magic == 0) ||
        (state == PACKET_GOOD && out->head.packet_seq_num != first.packet_seq_num))
        return PACKET_UNFINISHED;
    return state == PACKET_GOOD && out->size > bytes ? packet_bad(out, "the packet is longer than a slot of its ring")
                                                     : state;
}

uint64_t packets_next_slot(int fd, uint64_t offset, uint64_t file_size, uint64_t bytes)
{
    uint64_t next = offset + bytes, data = packets_data(fd, next, file_size);
    return data < file_size ? data - data % bytes : file_size;
}

int packet_in_ring(int fd, uint64_t file_size, uint64_t bytes, const uint8_t *uuid, uint64_t after, uint64_t offset,
                   struct packet *out)
{
    struct packet p;
    bool any = offset == UINT64_MAX;
    int state = PACKET_NONE;
    if (!any) {
        uint64_t next = offset + bytes < file_size ? offset + bytes : 0;
        state = packet_in_slot(fd, file_size, next, bytes, uuid, out);
        if (state < 0 || state == PACKET_BAD || (state == PACKET_GOOD && out->head.packet_seq_num == after + 1))
            return state;
        /* An older packet there: its writer, which uses the slots in turn, is still in the one at `offset`. */
        if (state == PACKET_GOOD && out->head.packet_seq_num <= after)
            return PACKET_NONE;
    }
    bool found = false;
    for (uint64_t at = 0; at < file_size; at = packets_next_slot(fd, at, file_size, bytes)) {
        state = packet_in_slot(fd, file_size, at, bytes, uuid, &p);
        if (state < 0 || state == PACKET_BAD) {
            *out = p;
            return state;
        }
        uint64_t seq = p.head.packet_seq_num;
        if (state != PACKET_GOOD || (!any && seq <= after) || (found && seq >= out->head.packet_seq_num))
            continue;
        *out = p;
        found = true;
    }
    return found ? PACKET_GOOD : PACKET_NONE;
}
