/* SPDX-License-Identifier: MIT */
/* Packets of a stream: opened, filled and closed. */
#include "trace/write/raw_memory.h"
#include "trace/write/stream.h"

#include <errno.h>
#include <stddef.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/cancel.h"
#include "base/private_table.h"

/* Whether the file of the mapped packet was truncated: a store has shown it, or its head is gone, if the file has grown again
 * since. */
static bool packet_is_torn(struct trace_stream *s)
{
    const struct ctf_packet *mapped = s->packet ? s->packet : s->ended;
    __atomic_signal_fence(__ATOMIC_SEQ_CST);
    if (mapped && __atomic_load_n(&mapped->magic, __ATOMIC_RELAXED) != CTF_MAGIC)
        s->torn = true;
    __atomic_signal_fence(__ATOMIC_SEQ_CST);
    return s->torn;
}

/* The packet is finished and will not be overwritten. If its file was truncated, packet_lose() counts its events. */
static void packet_finish(struct trace_stream *s, struct ctf_packet *p)
{
    uint64_t events = stream_packet_events(s);
    p->event_count = events;
    if (packet_is_torn(s))
        return;
    if (s->slots)
        s->in_ring += events;
    else if (events != 0)
        __atomic_store_n(&s->kept, s->kept + 1, __ATOMIC_RELAXED);
}

/* It counts as written, so that readers find one missing. */
static void packet_lose(struct trace_stream *s)
{
    uint64_t events = s->packet && !s->fresh ? stream_packet_events(s) : 0;
    if (!s->slots && events != 0)
        __atomic_store_n(&s->kept, s->kept + 1, __ATOMIC_RELAXED);
    stream_lose_events(s, LOSS_TRUNCATED, events);
}

static void packet_unmap(const struct trace_stream *s, struct ctf_packet *p, size_t bytes)
{
    uintptr_t from = stream_page_of(s, p);
    raw_unmap((void *)from, (uintptr_t)p + bytes - from);
}

void packet_forget(const struct trace_stream *s)
{
    packet_unmap(s, s->packet ? s->packet : s->ended, s->mapped_bytes);
}

void packet_abandon(struct trace_stream *s)
{
    packet_lose(s);
    stream_lose_events(s, LOSS_TRUNCATED, s->in_ring);
    struct ctf_packet *mapped = s->packet ? s->packet : s->ended;
    uint8_t *ring = s->ring;
    s->packet = s->ended = NULL;
    s->ring = NULL;
    s->pos = s->limit = NULL;
    s->in_ring = 0;
    s->torn = false;
    if (ring)
        munmap(ring, s->slots * s->home->ring_bytes);
    else if (mapped)
        packet_unmap(s, mapped, s->mapped_bytes);
    stream_renew(s);
}

static size_t packet_round_up(size_t n, size_t to)
{
    return (n + to - 1) / to * to;
}

static size_t packet_next_bytes(const struct trace_stream *s, size_t bytes)
{
    bytes = packet_round_up(bytes, s->home->page_bytes);
    return bytes * 2 < s->home->packet_bytes ? bytes * 2 : s->home->packet_bytes;
}

/* What the last packet has left becomes a packet. Readers find it when that one ends before it. */
static struct ctf_packet *packet_after_ended(struct trace_stream *s, uint64_t tick, off_t *offset)
{
    struct ctf_packet *ended = s->ended, head;
    struct ctf_packet *p = (struct ctf_packet *)(void *)((uint8_t *)ended + s->ended_bytes);
    s->next_bytes = s->mapped_bytes - s->ended_bytes;
    *offset = s->offset + (off_t)s->ended_bytes;
    packet_head(s, &head, s->next_bytes, tick);
    *p = head;
    __atomic_store_n(&ended->packet_size, s->ended_bytes * 8, __ATOMIC_RELEASE);
    __atomic_signal_fence(__ATOMIC_SEQ_CST); /* a fault by a store is handled by what is mapped */
    s->ended = NULL;
    uintptr_t from = stream_page_of(s, ended), to = stream_page_of(s, p);
    if (from < to)
        raw_unmap((void *)from, to - from);
    return p;
}

static int packet_next(struct trace_stream *s, uint64_t tick, off_t *offset, struct ctf_packet **out)
{
    if (packet_is_torn(s))
        packet_abandon(s);
    if (s->ended) {
        *out = packet_after_ended(s, tick, offset);
        return 0;
    }
    *offset = s->slots    ? (off_t)(s->seq % s->slots * s->next_bytes)
              : s->packet ? s->offset + (off_t)s->mapped_bytes
                          : s->offset;
    return s->slots ? ring_next(s, tick, out) : packet_make(s, *offset, s->next_bytes, tick, NULL, out);
}

int packet_switch(struct trace_stream *s, uint64_t tick, bool fresh)
{
    int saved = errno;
    struct ctf_packet *p = NULL;
    off_t offset;
    struct cancel_hold cancel;
    /* Opening and reserving are cancellation points; recording an event must not be one. */
    cancel_hold(&cancel);
    int rc = packet_next(s, tick, &offset, &p);
    if (rc == -ENODATA) {
        s->torn = true;
        rc = packet_next(s, tick, &offset, &p);
    }
    cancel_resume(&cancel);
    errno = saved;
    if (!p) {
        __atomic_store_n(&s->home->control->refusal, (uint32_t)-rc, __ATOMIC_RELAXED);
        return rc;
    }
    struct ctf_packet *full = s->packet;
    size_t full_bytes = s->mapped_bytes, bytes = s->next_bytes;
    if (full)
        packet_finish(s, full);
    if (full && s->torn) /* since the file was opened; no reader finds the new packet behind it, which is lost, too */
        packet_lose(s);
    s->packet = p;
    s->pos = (uint8_t *)p + sizeof *p;
    s->limit = fresh ? s->pos : (uint8_t *)p + bytes;
    s->fresh = fresh;
    s->surplus = 0;
    s->mapped_bytes = bytes;
    s->offset = offset;
    s->seq++;
    if (!s->slots)
        s->next_bytes = packet_next_bytes(s, bytes);
    if (!fresh)
        s->last_tick = tick;
    /* Only now: a signal handler that does not return (exit) must not find an unmapped packet. */
    __atomic_signal_fence(__ATOMIC_SEQ_CST);
    if (full && !s->slots)
        packet_unmap(s, full, full_bytes);
    if (!fresh && s->home->packet_full)
        s->home->packet_full();
    errno = saved;
    return 0;
}

struct packet_cutting {
    struct trace_stream *stream;
    size_t keep;
};

/* By a system call: a store into a truncated file would raise a signal, and all are blocked here. */
static int packet_write_size(int fd, const struct packet_cutting *c, size_t bytes)
{
    uint64_t bits = bytes * 8;
    off_t at = c->stream->offset + (off_t)offsetof(struct ctf_packet, packet_size);
    return stream_write_at(fd, &bits, sizeof bits, at);
}

static int packet_cut_private(void *cutting)
{
    const struct packet_cutting *c = cutting;
    const struct trace_stream *s = c->stream;
    int fd = stream_open(c->stream);
    if (fd < 0)
        return fd;
    int rc = s->file_bytes < s->offset + (off_t)s->mapped_bytes ? -ENODATA : 0;
    if (rc == 0 && c->keep > 0)
        rc = packet_write_size(fd, c, c->keep);
    if (rc == 0 && ftruncate(fd, s->offset + (off_t)c->keep) != 0) {
        rc = -errno;
        if (c->keep > 0)
            (void)packet_write_size(fd, c, s->mapped_bytes); /* the space is reserved */
    }
    private_close(fd);
    return rc;
}

/* Shorten the packet at the end of the file to `keep` bytes, 0 removes it; its length and that of the file change in adjacent
 * steps. @return its length from now on; if the file cannot be opened, the packet stays whole. */
static size_t packet_cut(struct trace_stream *s, size_t keep)
{
    struct packet_cutting cutting = {s, keep};
    return private_table_run(packet_cut_private, &cutting) == 0 ? keep : s->mapped_bytes;
}

void packet_cut_ended(struct trace_stream *s)
{
    struct packet_cutting cutting = {s, s->ended_bytes};
    if (!s->ended)
        return;
    if (packet_cut_private(&cutting) == 0)
        stream_space_give(s->home, s->mapped_bytes - s->ended_bytes);
    packet_unmap(s, s->ended, s->mapped_bytes);
    s->ended = NULL;
}

/* Whether the next thread of the stream begins where the packet's content ends. */
static bool packet_leave(struct trace_stream *s, struct ctf_packet *p, size_t content)
{
    const struct stream_home *home = s->home;
    size_t keep = packet_round_up(content, STREAM_LEFT_ALIGN);
    size_t most = home->limit_bytes ? home->page_bytes : STREAM_LEFT_MAX; /* other threads may need the space */
    if (s->fresh || keep + STREAM_LEFT_MIN > s->mapped_bytes || s->mapped_bytes - keep > most ||
        __atomic_load_n(&home->closed, __ATOMIC_RELAXED))
        return false;
    s->ended = p;
    s->ended_bytes = keep;
    return true;
}

void packet_end(struct trace_stream *s)
{
    struct ctf_packet *p = s->packet;
    if (!p)
        return;
    int saved = errno;
    if (!s->fresh)
        packet_finish(s, p);
    if (s->torn) {
        packet_abandon(s);
        errno = saved;
        return;
    }
    if (s->slots) {
        ring_end(s);
        return;
    }
    const uintptr_t page = stream_page_of(s, p);
    size_t content = (size_t)(s->pos - (uint8_t *)p), within = (uintptr_t)p - page;
    s->packet = NULL;
    s->pos = s->limit = NULL;
    if (packet_leave(s, p, content)) {
        errno = saved;
        return;
    }
    /* An empty packet is removed, unless another one is in its page. */
    size_t keep = s->fresh && within == 0 ? 0 : packet_round_up(within + content, s->home->page_bytes) - within;
    struct cancel_hold cancel;
    cancel_hold(&cancel);
    if (keep != s->mapped_bytes)
        keep = packet_cut(s, keep);
    cancel_resume(&cancel);
    packet_unmap(s, p, s->mapped_bytes);
    if (keep == 0)
        s->seq--;
    stream_space_give(s->home, s->mapped_bytes - keep);
    s->offset += (off_t)keep;
    errno = saved;
}

/* The first event of a fresh packet sets its begin, and before that its end: a process killed between the two leaves an empty
 * packet, which must not end before it begins. */
static void packet_begin(struct trace_stream *s, uint64_t tick)
{
    __atomic_store_n(&s->packet->timestamp_end, tick, __ATOMIC_RELEASE);
    __atomic_store_n(&s->packet->timestamp_begin, tick, __ATOMIC_RELEASE);
    s->limit = (uint8_t *)s->packet + s->mapped_bytes;
    s->fresh = false;
    s->last_tick = tick;
}

bool packet_reserve(struct trace_stream *s, size_t need, uint64_t tick)
{
    if (s->fresh)
        packet_begin(s, tick);
    if ((size_t)(s->limit - s->pos) >= need)
        return true;
    while (!s->slots && need > s->next_bytes - sizeof(struct ctf_packet) && s->next_bytes < s->home->packet_bytes)
        s->next_bytes = packet_next_bytes(s, s->next_bytes);
    if (tick < s->retry_tick || need > s->next_bytes - sizeof(struct ctf_packet))
        return false;
    if (packet_switch(s, tick, false) == 0)
        return true;
    s->retry_tick = tick + s->home->retry_ticks;
    return false;
}
