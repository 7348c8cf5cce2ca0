/* SPDX-License-Identifier: MIT */
/* Packets of a stream: opened, filled and closed. */
#include "trace/write/raw_memory.h"
#include "trace/write/stream.h"

#include <errno.h>
#include <pthread.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/private_table.h"

/* The packet is finished and will not be overwritten. */
static void packet_finish(struct trace_stream *s, struct ctf_packet *p)
{
    p->event_count = stream_packet_events(s);
    if (p->event_count != 0 && !s->slots)
        __atomic_store_n(&s->kept, s->kept + 1, __ATOMIC_RELAXED);
}

static size_t packet_next_bytes(const struct trace_stream *s, size_t bytes)
{
    return bytes * 2 < s->home->packet_bytes ? bytes * 2 : s->home->packet_bytes;
}

int packet_switch(struct trace_stream *s, uint64_t tick, bool fresh)
{
    int saved = errno;
    struct ctf_packet *p = NULL;
    size_t bytes = s->next_bytes;
    off_t offset = s->slots    ? (off_t)(s->seq % s->slots * bytes)
                   : s->packet ? s->offset + (off_t)s->mapped_bytes
                               : s->offset;
    int cancel;
    /* Opening and reserving are cancellation points; recording an event must not be one. */
    pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &cancel);
    int rc = s->slots ? ring_next(s, tick, &p) : packet_make(s, offset, bytes, tick, NULL, &p);
    pthread_setcancelstate(cancel, NULL);
    errno = saved;
    if (!p) {
        __atomic_store_n(&s->home->control->refusal, (uint32_t)-rc, __ATOMIC_RELAXED);
        return rc;
    }
    struct ctf_packet *full = s->packet;
    size_t full_bytes = s->mapped_bytes;
    if (full)
        packet_finish(s, full);
    s->packet = p;
    s->pos = (uint8_t *)p + sizeof *p;
    s->limit = fresh ? s->pos : (uint8_t *)p + bytes;
    s->fresh = fresh;
    s->other_bytes = 0;
    s->other_events = 0;
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
        raw_unmap(full, full_bytes);
    if (!fresh && s->home->packet_full)
        s->home->packet_full();
    errno = saved;
    return 0;
}

struct packet_cutting {
    struct trace_stream *stream;
    struct ctf_packet *packet;
    size_t keep;
};

static int packet_cut_private(void *cutting)
{
    const struct packet_cutting *c = cutting;
    int rc = 0, fd = stream_open(c->stream);
    if (fd < 0)
        return fd;
    if (c->keep > 0)
        __atomic_store_n(&c->packet->packet_size, c->keep * 8, __ATOMIC_RELEASE);
    if (ftruncate(fd, c->stream->offset + (off_t)c->keep) != 0) {
        rc = -errno;
        /* It may be partly done: only the first `keep` bytes are certain to be writable. */
        if (c->keep > 0)
            __atomic_store_n(&c->packet->packet_size, c->stream->mapped_bytes * 8, __ATOMIC_RELEASE);
    }
    close(fd);
    return rc;
}

/* Shorten the packet at the end of the file to `keep` bytes, 0 removes it; its length and that of the file change in adjacent
 * steps. @return its length from now on; if the file cannot be opened, the packet stays whole. */
static size_t packet_cut(struct trace_stream *s, struct ctf_packet *p, size_t keep)
{
    struct packet_cutting cutting = {s, p, keep};
    return private_table_run(packet_cut_private, &cutting) == 0 ? keep : s->mapped_bytes;
}

void packet_end(struct trace_stream *s)
{
    struct ctf_packet *p = s->packet;
    if (!p)
        return;
    if (s->slots) {
        ring_end(s);
        return;
    }
    int saved = errno;
    size_t page = s->home->page_bytes;
    size_t content = (size_t)(s->pos - (uint8_t *)p);
    /* An empty packet is removed. */
    size_t keep = s->fresh ? 0 : (content + page - 1) / page * page;
    if (!s->fresh)
        packet_finish(s, p);
    s->packet = NULL;
    s->pos = s->limit = NULL;
    int cancel;
    pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &cancel);
    if (keep != s->mapped_bytes)
        keep = packet_cut(s, p, keep);
    pthread_setcancelstate(cancel, NULL);
    raw_unmap(p, s->mapped_bytes);
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
