/* SPDX-License-Identifier: MIT */
/*
 * Ring streams: files that keep the latest packets.
 *
 * A ring is a file of so many packets of one length. It grows packet by packet as other streams do; once it has them all,
 * the oldest is begun anew in place, without a system call. Packets are then no longer in the order of the file: their
 * sequence numbers give it, our reader goes by them, and repair puts them in order for others. A packet begins anew by
 * losing its magic number and gets it back when its head is whole: whoever reads meanwhile, or after a kill, sees that
 * there is none.
 *
 * The events that go count as discarded in the packets from then on, and in the control file.
 */
#include <errno.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

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

/* All of it at once; what the file does not reach yet is not touched. */
static int ring_map(struct trace_stream *s)
{
    int fd = stream_open(s);
    if (fd < 0)
        return fd;
    void *p = mmap(NULL, ring_size(s), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    int rc = p == MAP_FAILED ? -errno : 0;
    close(fd);
    if (rc != 0)
        return rc;
    /* Where the kernel does not know it the pages come one by one; their space is there. */
    if (s->seq >= s->slots)
        (void)madvise(p, ring_size(s), MADV_POPULATE_WRITE);
    s->ring = p;
    return 0;
}

typedef uint64_t head_word __attribute__((may_alias));
_Static_assert(sizeof(struct ctf_packet) % sizeof(head_word) == 0, "a head is whole words");

/* All but the first word, which is the magic number and the beginning of an id that stays. No word may be seen before the
 * magic number that was taken away, and release is what orders that without a fence. */
static void store_head(struct ctf_packet *p, const struct ctf_packet *head)
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
    __atomic_fetch_add(&s->discarded, p->event_count, __ATOMIC_RELAXED);
    __atomic_fetch_add(&control->overwritten, p->event_count, __ATOMIC_RELAXED);
    packet_head(s, &head, s->home->ring_bytes, tick);
    __atomic_store_n(&p->magic, 0, __ATOMIC_RELAXED);
    store_head(p, &head);
    __atomic_store_n(&p->magic, head.magic, __ATOMIC_RELEASE);
}

int ring_next(struct trace_stream *s, uint64_t tick, struct ctf_packet **out)
{
    int rc = s->ring ? 0 : ring_map(s);
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
        s->seq--; /* nothing is in it: the next thread begins there */
    else
        s->packet->event_count = stream_packet_events(s);
    s->packet = NULL;
    s->pos = s->limit = NULL;
    int saved = errno;
    munmap(s->ring, ring_size(s));
    errno = saved;
    s->ring = NULL;
}

/* -------------------------------------------------------------------------------------------------- what is kept */

struct trace_stream *stream_for_context(struct trace_stream *s, uint64_t tick)
{
    int saved = errno;
    if (!s->slots || __atomic_load_n(&s->home->closed, __ATOMIC_RELAXED))
        return s;
    if (!s->aside)
        s->aside = stream_add(s->home, true);
    struct trace_stream *aside = s->aside;
    bool usable = aside && (aside->packet || stream_start(aside, s->tid, s->thread_name, tick) == 0);
    errno = saved;
    return usable ? aside : NULL;
}
