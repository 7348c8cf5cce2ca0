/* SPDX-License-Identifier: MIT */
/*
 * Rings of the kernel, and writing their records to the file.
 *
 * The rings are mapped writable: the kernel then never overwrites unread records, and counts those without space, which it
 * reports with the next record that fits.
 */
#include <errno.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#include "base/process/host_clock.h"
#include "sampling/sampling.h"

enum { RING_PAGES_MIN = 2, INTERVAL_MIN_MS = 1, INTERVAL_MAX_MS = 100 };

struct lost_record {
    struct perf_event_header header;
    uint64_t id, lost;
};

struct task_record {
    struct perf_event_header header;
    uint32_t pid, ppid, tid, ptid;
};

uint64_t sampling_raw_now(void)
{
    struct timespec ts;
    clock_gettime(CLOCK_MONOTONIC_RAW, &ts);
    return (uint64_t)ts.tv_sec * 1000000000 + (uint64_t)ts.tv_nsec;
}

/* ------------------------------------------------------------------------------------------------------ the file */

/* @return bytes written. */
static size_t write_at(int fd, const void *data, size_t bytes, uint64_t offset)
{
    size_t done = 0;
    while (done < bytes) {
        ssize_t n = pwrite(fd, (const char *)data + done, bytes - done, (off_t)(offset + done));
        if (n < 0 && errno == EINTR)
            continue;
        if (n <= 0)
            break;
        done += (size_t)n;
    }
    return done;
}

/* A part of a record would make the rest unreadable: what was not written as a whole is overwritten by the next write. */
void sampling_write(struct upmu_sampler *s, const void *data, size_t bytes)
{
    if (write_at(s->fd, data, bytes, s->offset) == bytes) {
        s->offset += bytes;
        return;
    }
    s->write_failed = true;
    s->header.unwritten += bytes;
    (void)!ftruncate(s->fd, (off_t)s->offset); /* else the reader finds the damage */
}

void sampling_write_header(struct upmu_sampler *s)
{
    s->header.end_raw_ns = host_clock_raw_ns();
    if (write_at(s->fd, &s->header, sizeof s->header, 0) != sizeof s->header)
        s->write_failed = true;
}

/* ----------------------------------------------------------------------------------------------------- the rings */

int sampling_ring_map(struct upmu_sampler *s, size_t cpu, int fd)
{
    size_t page = (size_t)sysconf(_SC_PAGESIZE), pages = RING_PAGES_MIN;
    while (pages * page < s->ring_bytes)
        pages *= 2;
    for (; pages >= RING_PAGES_MIN; pages /= 2) {
        void *at = mmap(NULL, (pages + 1) * page, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
        if (at == MAP_FAILED)
            continue;
        s->rings[cpu] =
            (struct sampling_ring){.page = at, .page_bytes = page, .data_bytes = pages * page, .tail = 0, .fd = fd};
        s->ring_bytes = pages * page;
        return 0;
    }
    return -errno;
}

void sampling_rings_unmap(struct upmu_sampler *s)
{
    for (size_t i = 0; i < s->n_rings; i++)
        if (s->rings[i].page)
            munmap(s->rings[i].page, s->rings[i].page_bytes + s->rings[i].data_bytes);
}

/* Copy bytes of the ring from position `at`, which may wrap around. */
static void ring_copy(const struct sampling_ring *r, uint64_t at, void *out, size_t bytes)
{
    const char *data = (const char *)r->page + r->page_bytes;
    size_t from = (size_t)(at & (r->data_bytes - 1)), first = r->data_bytes - from;
    first = first < bytes ? first : bytes;
    memcpy(out, data + from, first);
    memcpy((char *)out + first, data, bytes - first);
}

/* A new thread inherits the event, so that attaching must not open another one. */
static void ring_note_task(struct upmu_sampler *s, const struct sampling_ring *r, uint64_t at)
{
    struct task_record task;
    ring_copy(r, at, &task, sizeof task);
    if (task.header.type == PERF_RECORD_EXIT) {
        sampling_unpin(s, (pid_t)task.tid);
        return;
    }
    sampling_pin(s, (pid_t)task.ptid);
    if (s->header.flags & SAMPLING_ATTACHED)
        (void)map_put(&s->forked, task.tid, 0, 0); /* without memory a thread may be sampled twice while attaching */
}

/* Count samples and losses among the records from the tail to `head`. @return the end of the last complete record. */
static uint64_t ring_count(struct upmu_sampler *s, const struct sampling_ring *r, uint64_t head)
{
    uint64_t at = r->tail;
    while (at < head) {
        struct perf_event_header h;
        struct lost_record lost;
        ring_copy(r, at, &h, sizeof h);
        if (h.size < sizeof h || h.size > head - at)
            break;
        if (h.type == PERF_RECORD_SAMPLE) {
            s->samples++;
        } else if (h.type == PERF_RECORD_LOST && h.size >= sizeof lost) {
            ring_copy(r, at, &lost, sizeof lost);
            s->lost += lost.lost;
        } else if ((h.type == PERF_RECORD_FORK || h.type == PERF_RECORD_EXIT) && h.size >= sizeof(struct task_record)) {
            ring_note_task(s, r, at);
        }
        at += h.size;
    }
    return at;
}

static void ring_drain(struct upmu_sampler *s, struct sampling_ring *r)
{
    uint64_t head = __atomic_load_n(&r->page->data_head, __ATOMIC_ACQUIRE);
    size_t bytes = (size_t)(head - r->tail);
    s->fullest = bytes > s->fullest ? bytes : s->fullest;
    if (bytes == 0)
        return;
    size_t whole = (size_t)(ring_count(s, r, head) - r->tail), from = (size_t)(r->tail & (r->data_bytes - 1));
    const char *data = (const char *)r->page + r->page_bytes;
    size_t first = r->data_bytes - from < whole ? r->data_bytes - from : whole;
    uint64_t failed = s->header.unwritten;
    sampling_write(s, data + from, first);
    if (s->header.unwritten == failed) {
        sampling_write(s, data, whole - first);
        if (s->header.unwritten != failed) { /* the first part ends within a record */
            s->offset -= first;
            s->header.unwritten += first;
        }
    } else {
        s->header.unwritten += whole - first;
    }
    r->tail = head;
    __atomic_store_n(&r->page->data_tail, head, __ATOMIC_RELEASE);
}

void sampling_rings_drain(struct upmu_sampler *s)
{
    s->fullest = 0;
    for (size_t i = 0; i < s->n_rings; i++)
        if (s->rings[i].page)
            ring_drain(s, &s->rings[i]);
    if (s->fullest > s->ring_bytes / 8)
        s->interval_ms /= 2;
    else if (s->fullest < s->ring_bytes / 32)
        s->interval_ms *= 2;
    s->interval_ms = s->interval_ms < INTERVAL_MIN_MS ? INTERVAL_MIN_MS : s->interval_ms;
    s->interval_ms = s->interval_ms > INTERVAL_MAX_MS ? INTERVAL_MAX_MS : s->interval_ms;
    sampling_write_header(s);
}
