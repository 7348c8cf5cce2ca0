/* SPDX-License-Identifier: MIT */
/*
 * Streams of a snapshot.
 *
 * The program writes while its packets are copied. What is committed is read as the reader of live traces does, a packet of a
 * ring that was overwritten meanwhile is left out and counted, and events after the cut are cut off: streams that end at
 * different moments would show states that never existed, deadlocks among them.
 */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/error.h"
#include "trace/control/snapshot.h"
#include "trace/read/decode.h"
#include "trace/read/packets.h"

/* A stream being copied. */
struct stream_copy {
    const struct meta *meta;
    const char *path;
    int from, to;
    uint64_t file_size;
    uint64_t ring; /* bytes of each packet; 0: the file grows */
    uint64_t cut;
    uint8_t *data;
    size_t capacity;
    struct upmu_value *values;
    uint64_t offset;    /* end of what was written */
    uint64_t discarded; /* of the last packet */
    uint64_t bytes;     /* written */
    uint64_t missed;
    uint64_t n;
    int code; /* of a failure with a message; 0: none */
};

/* @return 1; 0: the packet was overwritten meanwhile; -errno. */
static int stream_load(struct stream_copy *s, const struct packet *p)
{
    struct packet now;
    if (p->present > s->capacity) {
        uint8_t *grown = realloc(s->data, (size_t)p->present);
        if (!grown)
            return -ENOMEM;
        s->data = grown;
        s->capacity = (size_t)p->present;
    }
    int rc = packets_read(s->from, s->data, (size_t)p->present, p->offset);
    if (rc != 0 || s->ring == 0)
        return rc == -ENODATA ? 0 : rc < 0 ? rc : 1; /* removed at the end of its thread: it was empty */
    int state = packet_in_slot(s->from, s->file_size, p->offset, s->ring, s->meta->uuid, &now);
    if (state < 0)
        return state;
    return state == PACKET_GOOD && now.head.packet_seq_num == p->head.packet_seq_num && now.head.tid == p->head.tid;
}

/* The bytes of a packet up to the cut, and the tick of the last event in them. */
static size_t packet_cut_at(const struct stream_copy *s, const struct packet *p, uint64_t *last)
{
    struct decoded d = {.event.size = sizeof d.event};
    struct decode_cursor c = {s->data + sizeof p->head, s->data + p->present, p->head.timestamp_begin};
    *last = p->head.timestamp_begin;
    while (c.pos < c.end) {
        size_t done = (size_t)(c.pos - s->data);
        if (decode_event(s->meta, &c, &d, s->values) || c.tick > s->cut)
            return done;
        *last = c.tick;
    }
    return (size_t)p->present;
}

/* @return 1: written; 0: it is empty, or was overwritten; -errno. */
static int stream_copy_packet(struct stream_copy *s, const struct packet *p)
{
    struct ctf_packet head = p->head;
    size_t bytes = (size_t)p->present;
    if (p->content <= sizeof head || bytes <= sizeof head)
        return 0;
    int rc = stream_load(s, p);
    s->missed += rc == 0 && s->ring != 0;
    if (rc <= 0)
        return rc;
    if (head.timestamp_end > s->cut) {
        bytes = packet_cut_at(s, p, &head.timestamp_end);
        head.event_count = 0; /* as of one in use: it is counted by reading it */
    }
    if (bytes <= sizeof head || !s->data)
        return 0;
    head.content_size = bytes * 8;
    head.packet_size = (s->ring ? s->ring : bytes) * 8;
    memcpy(s->data, &head, sizeof head);
    for (size_t done = 0; done < bytes;) {
        ssize_t n = pwrite(s->to, s->data + done, bytes - done, (off_t)(s->offset + done));
        if (n < 0 && errno == EINTR)
            continue;
        if (n <= 0)
            return n < 0 ? -errno : -EIO;
        done += (size_t)n;
    }
    s->bytes += bytes;
    s->discarded = head.events_discarded;
    s->offset += head.packet_size / 8;
    s->n++;
    return 1;
}

/* The packet after `p`, which is the first if it has no size. The head of one that is being reused at the moment looks
 * damaged until it is read again. @return enum packet_state or -errno. */
static int stream_next(const struct stream_copy *s, const struct packet *p, struct packet *next)
{
    enum { TRIES = 3 };
    int state = PACKET_BAD;
    for (int i = 0; s->ring && state == PACKET_BAD && i < TRIES; i++)
        state = packet_in_ring(s->from, s->file_size, s->ring, s->meta->uuid, p->head.packet_seq_num,
                               p->size ? p->offset : UINT64_MAX, next);
    return s->ring ? state : packet_at(s->from, s->file_size, p->offset + p->size, s->meta->uuid, next);
}

static int stream_damaged(struct stream_copy *s, const struct packet *p)
{
    s->code = upmu_fail(UPMU_E_FORMAT, "\"%s\", byte %" PRIu64 ": %s", s->path, p->offset, p->wrong);
    return -EIO;
}

static int stream_copy_packets(struct stream_copy *s, struct packet *p)
{
    for (;;) {
        struct packet next;
        int state = stream_next(s, p, &next);
        if (state < 0)
            return state;
        if (state == PACKET_BAD && next.head.magic != 0) /* else a thread has ended and its file was shortened */
            return stream_damaged(s, &next);
        if (state != PACKET_GOOD || next.head.timestamp_begin > s->cut)
            return 0;
        int rc = stream_copy_packet(s, &next);
        if (rc < 0)
            return rc;
        *p = next;
    }
}

/* As `upmu repair` does: each packet of a ring gets the total of discarded events, so that a reader sees them as one gap before the
 * first event. The last packet is padded to its full length. */
static int stream_finish_ring(struct stream_copy *s)
{
    if (ftruncate(s->to, (off_t)s->offset) != 0)
        return -errno;
    for (uint64_t i = 0; i < s->n; i++) {
        off_t at = (off_t)(i * s->ring + offsetof(struct ctf_packet, events_discarded));
        if (pwrite(s->to, &s->discarded, sizeof s->discarded, at) != (ssize_t)sizeof s->discarded)
            return -errno;
    }
    return 0;
}

static int stream_open_both(struct stream_copy *s, const char *to)
{
    struct stat st;
    s->from = packets_open(s->path);
    if (s->from < 0)
        return packets_io_failed(s->path, -s->from);
    if (fstat(s->from, &st) != 0)
        return packets_io_failed(s->path, errno);
    s->file_size = (uint64_t)st.st_size;
    s->values = calloc(s->meta->n_counters + 1, sizeof *s->values);
    if (!s->values)
        return upmu_fail(UPMU_E_NOMEM, "out of memory for \"%s\"", s->path);
    s->to = open(to, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
    return s->to < 0 ? snapshot_write_failed(to, errno) : 0;
}

static int snapshot_stream(const struct snapshot_process *p, const char *path, uint64_t cut, struct upmu_snapshot *out)
{
    struct stream_copy s = {
        .meta = &p->meta, .path = path, .from = -1, .to = -1, .ring = packets_ring(path, &p->meta), .cut = cut};
    struct packet at = {.size = 0};
    char *to = NULL;
    if (asprintf(&to, "%s%s", p->to, strrchr(path, '/')) < 0)
        return upmu_fail(UPMU_E_NOMEM, "out of memory for \"%s\"", path);
    int rc = stream_open_both(&s, to);
    if (rc == 0) {
        int err = stream_copy_packets(&s, &at);
        if (err == 0 && s.ring)
            err = stream_finish_ring(&s);
        rc = s.code ? s.code : err != 0 ? snapshot_write_failed(to, -err) : 0;
    }
    if (s.from >= 0)
        close(s.from);
    if (s.to >= 0 && close(s.to) != 0 && rc == 0)
        rc = snapshot_write_failed(to, errno);
    free(s.values);
    free(s.data);
    free(to);
    out->bytes += s.bytes;
    out->packets += s.n;
    out->missed += s.missed;
    return rc;
}

static bool stream_is_aside(const char *path)
{
    size_t len = strlen(path), suffix = strlen(CTF_ASIDE_SUFFIX);
    return len > suffix && strcmp(path + len - suffix, CTF_ASIDE_SUFFIX) == 0;
}

int snapshot_streams(const struct snapshot_process *p, const struct snapshot_cut *cut, struct upmu_snapshot *out)
{
    uint64_t tick = p->meta.portable_clock ? cut->raw_ns : cut->tick;
    int rc = 0;
    /* Stacks and modules are written before the events that name them. */
    for (int aside = 0; aside <= 1; aside++)
        for (size_t i = 0; rc == 0 && i < p->streams.n; i++)
            if (stream_is_aside(p->streams.paths[i]) == (aside == 1))
                rc = snapshot_stream(p, p->streams.paths[i], tick, out);
    return rc;
}
