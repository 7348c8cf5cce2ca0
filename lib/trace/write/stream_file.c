/* SPDX-License-Identifier: MIT */
/*
 * The file of a stream: created, reopened and grown by a packet. What opens a file is run by private_table_run().
 *
 * Space is reserved first, then the file grows, its pages are made, then the packet is mapped and its pages become writable (where the
 * kernel can): a full disk is an error code here and never a SIGBUS in the program. Page faults inside a system call are
 * not counted in the program's page-fault counters.
 *
 * The file grows and gets the packet's head in two adjacent system calls, before the slow mapping. A process killed during
 * the mapping leaves an empty packet, valid for all readers; killed between the two calls it leaves a tail of zeros, which
 * our reader ignores and repair cuts off.
 */
#include "trace/write/raw_memory.h"
#include "trace/write/stream.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/file_pages.h"
#include "base/own_memory.h"
#include "base/private_table.h"

#ifndef MADV_POPULATE_WRITE
#define MADV_POPULATE_WRITE 23 /* Linux 5.14 */
#endif

/* @return descriptor or -errno. */
static int stream_make_file(struct trace_stream *s)
{
    struct stat st = {0};
    int fd = private_open(s->path, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
    if (fd < 0)
        return -errno;
    s->has_file = private_fstat(fd, &st) == 0;
    int rc = s->has_file ? fd : -errno;
    if (rc < 0)
        private_close(fd);
    s->dev = st.st_dev;
    s->ino = st.st_ino;
    s->file_bytes = 0;
    return rc;
}

static size_t stream_path_bytes(const struct stream_home *home)
{
    return strlen(home->dir) + sizeof "/stream_4294967295" CTF_ASIDE_SUFFIX;
}

static void stream_name(struct trace_stream *s, unsigned number, bool aside)
{
    snprintf(s->path, stream_path_bytes(s->home), "%s/stream_%04u%s", s->home->dir, number,
             aside ? CTF_ASIDE_SUFFIX : "");
}

void stream_renew(struct trace_stream *s)
{
    stream_name(s, __atomic_fetch_add(&s->home->next_number, 1, __ATOMIC_RELAXED), s->home->ring_slots && !s->slots);
    s->has_file = false;
    s->offset = 0;
    s->seq = 0;
}

/* At the end of the first one of some streams that are mapped at a time. */
struct stream_chunk {
    uint32_t n, used; /**< atomic: may exceed `n` */
};

/* Memory of a stream, of the last chunk or a new one. Of two that are made at a time, one is forgotten with what it has left. */
static void *stream_memory(struct stream_home *home, size_t bytes, unsigned number)
{
    enum { STREAMS_AT_ONCE = 8 };
    struct stream_chunk *c = __atomic_load_n(&home->chunk, __ATOMIC_ACQUIRE);
    size_t stride = (bytes + sizeof *c + home->page_bytes - 1) / home->page_bytes * home->page_bytes;
    uint32_t n = number < 1 ? 1 : number < STREAMS_AT_ONCE ? number : STREAMS_AT_ONCE;
    uint32_t i = c ? __atomic_fetch_add(&c->used, 1, __ATOMIC_RELAXED) : 0;
    if (c && i < c->n)
        return (char *)(c + 1) - stride + i * stride;
    char *at = own_memory_map(n * stride, 0);
    if (!at && n > 1)
        at = own_memory_map((n = 1) * stride, 0);
    if (at && n > 1) {
        c = (struct stream_chunk *)(void *)(at + stride) - 1;
        *c = (struct stream_chunk){.n = n, .used = 1};
        __atomic_store_n(&home->chunk, c, __ATOMIC_RELEASE);
    }
    return at;
}

struct trace_stream *stream_new(struct stream_home *home, unsigned number, bool aside)
{
    const size_t align = _Alignof(struct stream_left);
    size_t left = (sizeof(struct trace_stream) + stream_path_bytes(home) + align - 1) / align * align;
    size_t bytes = left + sizeof(struct stream_left);
    struct trace_stream *s = stream_memory(home, bytes, number);
    if (!s)
        return NULL;
    s->left = (struct stream_left *)(void *)((char *)s + left);
    s->home = home;
    s->used = 1;
    s->slots = aside ? 0 : home->ring_slots;
    stream_name(s, number, aside);
    return s;
}

/* Reopen the file and verify its identity: the program may have changed its root or moved the directory. */
int stream_open(struct trace_stream *s)
{
    struct stat st;
    if (!s->has_file)
        return stream_make_file(s); /* on failure each packet tries again; events without one are lost */
    int fd = private_open(s->path, O_RDWR | O_NOFOLLOW | O_CLOEXEC, 0);
    if (fd < 0)
        return -errno;
    if (private_fstat(fd, &st) == 0 && st.st_dev == s->dev && st.st_ino == s->ino) {
        s->file_bytes = st.st_size;
        return fd;
    }
    private_close(fd);
    return -ESTALE;
}

bool stream_size_allowed(off_t end)
{
    struct rlimit limit;
    return getrlimit(RLIMIT_FSIZE, &limit) == 0 && (limit.rlim_cur == RLIM_INFINITY || (rlim_t)end <= limit.rlim_cur);
}

int stream_write_at(int fd, const void *bytes, size_t n, off_t offset)
{
    const char *from = bytes;
    while (n > 0) {
        ssize_t done = pwrite(fd, from, n, offset);
        if (done < 0 && errno == EINTR)
            continue;
        if (done <= 0)
            return done < 0 ? -errno : -EIO;
        from += done;
        offset += done;
        n -= (size_t)done;
    }
    return 0;
}

/* For file systems without fallocate: writing zeros allocates the space. */
static int reserve_by_writing(int fd, off_t offset, size_t bytes)
{
    static const char zeros[4096];
    int rc = 0;
    for (size_t done = 0; rc == 0 && done < bytes; done += sizeof zeros)
        rc =
            stream_write_at(fd, zeros, bytes - done < sizeof zeros ? bytes - done : sizeof zeros, offset + (off_t)done);
    return rc;
}

static int reserve(int fd, off_t offset, size_t bytes)
{
    int rc;
    do {
        rc = fallocate(fd, FALLOC_FL_KEEP_SIZE, offset, (off_t)bytes) == 0 ? 0 : -errno;
    } while (rc == -EINTR);
    return rc == -EOPNOTSUPP || rc == -ENOSYS ? reserve_by_writing(fd, offset, bytes) : rc;
}

/* The two calls must stay adjacent. */
static int grow(int fd, off_t offset, const struct ctf_packet *head)
{
    if (ftruncate(fd, offset + (off_t)(head->packet_size / 8)) != 0)
        return -errno;
    return stream_write_at(fd, head, sizeof *head, offset);
}

static int map_packet(int fd, off_t offset, size_t bytes, struct ctf_packet *at, struct ctf_packet **out)
{
    void *p = at ? at : raw_map(bytes, fd, offset);
    if (p == MAP_FAILED)
        return -errno;
    /* EINVAL: a kernel without it; each page then faults. Other errors mean that there is no space. */
    int rc = raw_advise(p, bytes, MADV_POPULATE_WRITE) == 0 || errno == EINVAL ? 0 : -errno;
    if (rc == 0)
        *out = p;
    else if (!at)
        raw_unmap(p, bytes);
    return rc;
}

void packet_head(const struct trace_stream *s, struct ctf_packet *p, size_t bytes, uint64_t tick)
{
    struct clock_triple now;
    clock_sample(&now);
    *p = (struct ctf_packet){
        .magic = CTF_MAGIC,
        .timestamp_begin = tick,
        .timestamp_end = tick,
        .content_size = sizeof *p * 8,
        .packet_size = bytes * 8,
        .packet_seq_num = s->seq,
        .events_discarded = s->discarded,
        .tid = s->tid,
        .clock_width = now.width,
        .clock_tick = now.tick,
        .clock_raw = now.raw_ns,
        .clock_monotonic = now.monotonic_ns,
        .clock_realtime = now.realtime_ns,
    };
    memcpy(p->uuid, s->home->uuid, sizeof p->uuid);
    for (size_t i = 0; i < sizeof s->thread_name / sizeof *s->thread_name; i++) {
        uint64_t word = __atomic_load_n(&s->thread_name[i], __ATOMIC_RELAXED);
        memcpy(p->thread_name + i * sizeof word, &word, sizeof word);
    }
}

struct packet_request {
    struct trace_stream *stream;
    off_t offset;
    size_t bytes;
    uint64_t tick;
    struct ctf_packet *at, **out;
};

static int packet_make_private(void *request)
{
    const struct packet_request *r = request;
    const size_t page = r->stream->home->page_bytes;
    struct ctf_packet head;
    int fd = stream_open(r->stream);
    if (fd < 0)
        return fd;
    int rc = r->stream->file_bytes < r->offset ? -ENODATA : 0;
    if (rc == 0)
        rc = reserve(fd, r->offset, r->bytes);
    packet_head(r->stream, &head, r->bytes, r->tick);
    if (rc == 0)
        rc = grow(fd, r->offset, &head);
    if (rc == 0)
        file_pages_make(fd, r->offset + (off_t)page, r->bytes - page); /* grow() has made the first one */
    if (rc == 0)
        rc = map_packet(fd, r->offset, r->bytes, r->at, r->out);
    if (rc != 0 && rc != -ENODATA && ftruncate(fd, r->offset) != 0)
        rc = -errno;
    private_close(fd);
    return rc;
}

int packet_make(struct trace_stream *s, off_t offset, size_t bytes, uint64_t tick, struct ctf_packet *at,
                struct ctf_packet **out)
{
    struct packet_request request = {s, offset, bytes, tick, at, out};
    if (!stream_size_allowed(offset + (off_t)bytes))
        return -EFBIG;
    if (!stream_space_take(s->home, bytes))
        return -ENOBUFS;
    int rc = private_table_run(packet_make_private, &request);
    if (rc != 0)
        stream_space_give(s->home, bytes);
    return rc;
}
