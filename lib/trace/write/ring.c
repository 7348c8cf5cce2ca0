/* SPDX-License-Identifier: MIT */
/*
 * Ring streams: files that keep the latest packets.
 *
 * A ring is a file of a fixed number of packets of one length. It grows packet by packet like other streams; after that the
 * oldest packet is reused in place, without a system call. The order is then given by the sequence numbers: our reader
 * uses them, and repair sorts the packets for other readers. A packet loses its magic number first and gets it back with
 * a complete head, so that concurrent readers, and readers after a kill, find no packet in between.
 *
 * Overwritten events count as discarded in later packets, and in the control file.
 */
#include <errno.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/private_table.h"
#include "trace/format/control.h"
#include "trace/write/stream.h"
#include "trace/write/writer.h"

#ifndef MADV_POPULATE_WRITE
#define MADV_POPULATE_WRITE 23 /* Linux 5.14 */
#endif

static size_t ring_size(const struct trace_stream *s)
{
    return s->slots * s->home->ring_bytes;
}

/* Map the whole ring; pages beyond the end of the file are not accessed. */
static int ring_map(void *stream)
{
    struct trace_stream *s = stream;
    int fd = stream_open(s);
    if (fd < 0)
        return fd;
    void *p = mmap(NULL, ring_size(s), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    int rc = p == MAP_FAILED ? -errno : 0;
    private_close(fd);
    if (rc != 0)
        return rc;
    /* On kernels without it each page faults; the space is reserved. */
    if (s->seq >= s->slots)
        (void)madvise(p, ring_size(s), MADV_POPULATE_WRITE);
    s->ring = p;
    return 0;
}

typedef uint64_t head_word __attribute__((may_alias));
_Static_assert(sizeof(struct ctf_packet) % sizeof(head_word) == 0, "a head is whole words");

/* Store all but the first word, which has the magic number and the unchanged start of the uuid. The stores are releases: none
 * may become visible before the magic number was cleared. */
static void ring_store_head(struct ctf_packet *p, const struct ctf_packet *head)
{
    head_word *to = (head_word *)(void *)p;
    const head_word *from = (const head_word *)(const void *)head;
    for (size_t i = 1; i < sizeof *head / sizeof *from; i++)
        __atomic_store_n(&to[i], from[i], __ATOMIC_RELEASE);
}

static void ring_reuse(struct trace_stream *s, struct ctf_packet *p, uint64_t tick)
{
    struct ctf_packet head;
    struct control_header *control = s->home->control;
    s->in_ring -= p->event_count;
    __atomic_fetch_add(&s->discarded, p->event_count, __ATOMIC_RELAXED);
    __atomic_fetch_add(&control->overwritten, p->event_count, __ATOMIC_RELAXED);
    packet_head(s, &head, s->home->ring_bytes, tick);
    __atomic_store_n(&p->magic, 0, __ATOMIC_RELAXED);
    ring_store_head(p, &head);
    __atomic_store_n(&p->magic, head.magic, __ATOMIC_RELEASE);
}

int ring_next(struct trace_stream *s, uint64_t tick, struct ctf_packet **out)
{
    int rc = s->ring ? 0 : private_table_run(ring_map, s);
    if (rc != 0)
        return rc;
    size_t offset = s->seq % s->slots * s->home->ring_bytes;
    struct ctf_packet *p = (struct ctf_packet *)(void *)(s->ring + offset);
    if (s->seq < s->slots)
        return packet_make(s, (off_t)offset, s->home->ring_bytes, tick, p, out);
    ring_reuse(s, p, tick);
    *out = p;
    return 0;
}

void ring_end(struct trace_stream *s)
{
    if (s->fresh)
        s->seq--; /* empty: the next thread reuses it */
    s->packet = NULL;
    s->pos = s->limit = NULL;
    int saved = errno;
    munmap(s->ring, ring_size(s));
    errno = saved;
    s->ring = NULL;
}
