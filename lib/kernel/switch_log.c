/* SPDX-License-Identifier: MIT */
/*
 * Kernel records of the calling thread's context switches and tracepoints.
 *
 * A dummy event of the thread requests the switches, so that no permission is needed beyond counting one's own user
 * mode; tracepoints need permission to trace. Each has a buffer of its own, whose mapping keeps the event alive
 * without a descriptor. The buffers are mapped writable: then the kernel never overwrites unread records, and
 * counts the dropped ones. It reports them with the next record that fits: if none follows a full buffer, a loss
 * has to be presumed.
 */
#include <errno.h>
#include <linux/perf_event.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/utsname.h>
#include <time.h>
#include <unistd.h>

#include "base/tick.h"
#include "kernel/parts.h"

#ifndef PERF_RECORD_MISC_SWITCH_OUT_PREEMPT
#define PERF_RECORD_MISC_SWITCH_OUT_PREEMPT (1 << 14) /* Linux 4.17 */
#endif

enum {
    RECORD_SWITCH = 14, /* PERF_RECORD_SWITCH, Linux 4.3 */
    POINT_SHARE = 4,    /* size of a tracepoint's buffer, relative to that of the switches */
    /* Each tracepoint record begins with flags; these mark an interrupt of the thread. */
    COMMON_FLAGS = 2,
    FLAG_HARDIRQ = 0x08,
    FLAG_SOFTIRQ = 0x10,
};

/* Fields requested with each record. */
struct sample_id {
    uint64_t time;
    uint32_t cpu, reserved;
};

struct switch_record {
    struct perf_event_header header;
    struct sample_id id;
};

struct lost_record {
    struct perf_event_header header;
    uint64_t event, lost;
    struct sample_id id;
};

struct point_record {
    struct perf_event_header header;
    struct sample_id id;
    uint32_t size;
    unsigned char raw[60]; /* the part of it that may be needed */
};

/* Before Linux 4.17 a preempted thread looks like a blocked one. */
static bool log_has_preemption(void)
{
    struct utsname name;
    unsigned major, minor;
    if (uname(&name) != 0 || sscanf(name.release, "%u.%u", &major, &minor) != 2)
        return false;
    return major > 4 || (major == 4 && minor >= 17);
}

static int log_event(const struct kernel_point_layout *point)
{
    struct perf_event_attr attr = {
        .type = point ? PERF_TYPE_TRACEPOINT : PERF_TYPE_SOFTWARE,
        .size = sizeof attr,
        .config = point ? point->id : PERF_COUNT_SW_DUMMY,
        .sample_period = point ? 1 : 0,
        .sample_type = PERF_SAMPLE_TIME | PERF_SAMPLE_CPU | (point ? PERF_SAMPLE_RAW : 0),
        .exclude_kernel = !point,
        .exclude_hv = 1,
        .sample_id_all = 1,
        .context_switch = !point,
        .use_clockid = 1,
        .clockid = CLOCK_MONOTONIC_RAW,
    };
    long fd = syscall(SYS_perf_event_open, &attr, 0, -1, -1, PERF_FLAG_FD_CLOEXEC);
    return fd < 0 ? -errno : (int)fd;
}

/* Map a buffer of the requested size, or what the limits for locked memory allow. */
static int log_map(struct kernel_ring *ring, int fd, size_t bytes)
{
    size_t page = (size_t)sysconf(_SC_PAGESIZE), pages = 1;
    while (pages * page < bytes)
        pages *= 2;
    for (; pages > 0; pages /= 2) {
        void *at = mmap(NULL, (pages + 1) * page, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
        if (at == MAP_FAILED)
            continue;
        const struct perf_event_mmap_page *head = at;
        *ring = (struct kernel_ring){
            .head = (const uint64_t *)&head->data_head, .page = at, .page_bytes = page, .data_bytes = pages * page};
        return 0;
    }
    return -errno;
}

static int log_open(struct kernel_switch_log *log, size_t bytes, const struct kernel_point_layout *point)
{
    if (!kernel_descriptor_reserve())
        return -EMFILE;
    struct kernel_ring *ring = &log->ring[log->n];
    int fd = log_event(point);
    int rc = fd < 0 ? fd : log_map(ring, fd, bytes);
    if (fd >= 0)
        close(fd); /* the mapping keeps the event alive and leaves the program its descriptors */
    kernel_descriptor_unreserve();
    if (rc < 0)
        return rc;
    if (point)
        ring->layout = *point;
    log->n++;
    return 0;
}

int kernel_switches_open(struct kernel_switch_log *log, size_t bytes, const struct kernel_point_layout *points)
{
    *log = (struct kernel_switch_log){0};
    if (kernel_files_recorded())
        return -EREMOTE;
    if (!log_has_preemption())
        return -EOPNOTSUPP;
    int rc = log_open(log, bytes, NULL);
    for (size_t i = 0; rc == 0 && points && i < KERNEL_POINTS; i++) {
        int refused = points[i].id ? log_open(log, bytes / POINT_SHARE, &points[i]) : 0;
        if (refused < 0 && log->refused == 0)
            log->refused = -refused;
    }
    return rc;
}

/* Records are aligned to words, and may wrap around the end of the buffer. */
static void log_copy(const struct kernel_ring *ring, void *out, size_t bytes)
{
    const unsigned char *data = (const unsigned char *)ring->page + ring->page_bytes;
    size_t at = (size_t)(ring->tail & (ring->data_bytes - 1)), first = ring->data_bytes - at;
    first = first < bytes ? first : bytes;
    memcpy(out, data + at, first);
    memcpy((unsigned char *)out + first, data, bytes - first);
}

/* Everything before is read: the kernel may overwrite it. */
static void log_move_tail(struct kernel_ring *ring, uint64_t bytes)
{
    struct perf_event_mmap_page *head = ring->page;
    uint64_t tail = ring->tail + bytes;
    __atomic_store_n(&ring->tail, tail, __ATOMIC_RELAXED); /* other threads check for new records */
    __atomic_store_n(&head->data_tail, tail, __ATOMIC_RELEASE);
}

static void log_decode_switch(const struct kernel_ring *ring, struct kernel_switch *out)
{
    struct switch_record r;
    log_copy(ring, &r, sizeof r);
    bool preempted = r.header.misc & PERF_RECORD_MISC_SWITCH_OUT_PREEMPT;
    *out = (struct kernel_switch){.raw_ns = r.id.time, .cpu = r.id.cpu, .kind = KERNEL_SWITCH_IN};
    if (r.header.misc & PERF_RECORD_MISC_SWITCH_OUT)
        out->kind = preempted ? KERNEL_SWITCH_PREEMPTED : KERNEL_SWITCH_OUT;
}

static void log_decode_lost(const struct kernel_ring *ring, struct kernel_switch *out)
{
    struct lost_record r;
    log_copy(ring, &r, sizeof r);
    uint64_t reported = r.lost < ring->presumed ? r.lost : ring->presumed;
    *out = (struct kernel_switch){.raw_ns = r.id.time, .cpu = r.id.cpu, .value = r.lost - reported};
    out->kind = ring->layout.id ? KERNEL_SWITCH_POINTS_LOST : KERNEL_SWITCH_LOST;
}

static uint64_t log_field(const struct point_record *r, uint16_t at, uint16_t bytes)
{
    uint32_t u32 = 0;
    uint64_t u64 = 0;
    if (bytes == sizeof u64)
        memcpy(&u64, r->raw + at, sizeof u64);
    else if (bytes == sizeof u32)
        memcpy(&u32, r->raw + at, sizeof u32);
    return bytes == sizeof u64 ? u64 : u32;
}

/* @return false for events of an interrupt that hit the thread: they are not the thread's own. */
static bool log_decode_point(const struct kernel_ring *ring, size_t size, uint32_t kind, struct kernel_switch *out)
{
    struct point_record r = {.size = 0};
    const struct kernel_point_layout *l = &ring->layout;
    log_copy(ring, &r, size < sizeof r ? size : sizeof r);
    if (r.size <= COMMON_FLAGS || r.raw[COMMON_FLAGS] & (FLAG_HARDIRQ | FLAG_SOFTIRQ))
        return false;
    *out = (struct kernel_switch){.raw_ns = r.id.time,
                                  .cpu = r.id.cpu,
                                  .kind = kind,
                                  .value = log_field(&r, l->value, l->value_bytes),
                                  .more = (uint32_t)log_field(&r, l->more, l->more_bytes)};
    return true;
}

static bool log_decode(const struct kernel_ring *ring, size_t i, const struct perf_event_header *h,
                       struct kernel_switch *out)
{
    if (h->type == PERF_RECORD_LOST && h->size >= sizeof(struct lost_record))
        log_decode_lost(ring, out);
    else if (h->type == RECORD_SWITCH && i == 0 && h->size >= sizeof(struct switch_record))
        log_decode_switch(ring, out);
    else
        return h->type == PERF_RECORD_SAMPLE && i > 0 && log_decode_point(ring, h->size, ring->layout.kind, out);
    return true;
}

/* Note whether the buffer was full at `head`: no space for a record and a loss record. */
static void log_note_full(struct kernel_ring *ring, uint64_t head)
{
    size_t record = ring->layout.id ? sizeof(struct point_record) : sizeof(struct switch_record);
    if (ring->data_bytes - (head - ring->tail) <= record + sizeof(struct lost_record))
        ring->full_at = head;
    else if (head != ring->full_at)
        ring->full_at = 0; /* it has written again, and has reported the losses */
}

/* A loss record for the time between the last record and now. */
static struct kernel_switch log_presumed_loss(const struct kernel_ring *ring)
{
    return (struct kernel_switch){.raw_ns = tick_clock_ns(CLOCK_MONOTONIC_RAW),
                                  .value = 1,
                                  .kind = ring->layout.id ? KERNEL_SWITCH_POINTS_LOST : KERNEL_SWITCH_LOST};
}

/* The first relevant record of the buffer, and its length; earlier ones are skipped. A presumed loss has no length.
 * */
static bool log_peek(struct kernel_ring *ring, size_t i, struct kernel_switch *out, size_t *bytes)
{
    uint64_t head = __atomic_load_n(ring->head, __ATOMIC_ACQUIRE);
    log_note_full(ring, head);
    while (ring->tail < head) {
        struct perf_event_header h;
        log_copy(ring, &h, sizeof h);
        uint64_t left = head - ring->tail;
        if (h.size < sizeof h || h.size > left) {
            /* The program has overwritten the buffer: its contents are invalid. */
            *out = (struct kernel_switch){.kind = KERNEL_SWITCH_LOST, .value = 1};
            *bytes = (size_t)left;
            return true;
        }
        *bytes = h.size;
        if (log_decode(ring, i, &h, out))
            return true;
        log_move_tail(ring, h.size);
    }
    if (ring->full_at == 0)
        return false;
    *bytes = 0;
    *out = log_presumed_loss(ring);
    return true;
}

static void log_skip(struct kernel_ring *ring, const struct kernel_switch *r, size_t bytes)
{
    bool loss = r->kind == KERNEL_SWITCH_LOST || r->kind == KERNEL_SWITCH_POINTS_LOST;
    if (loss)
        ring->presumed = bytes == 0 ? ring->presumed + 1 : 0;
    if (bytes == 0)
        ring->full_at = 0;
    log_move_tail(ring, bytes);
}

bool kernel_switches_next(struct kernel_switch_log *log, struct kernel_switch *out)
{
    struct kernel_switch candidate;
    size_t first = log->n, bytes = 0, candidate_bytes;
    for (size_t i = 0; i < log->n; i++) {
        if (!log_peek(&log->ring[i], i, &candidate, &candidate_bytes))
            continue;
        if (first < log->n && out->raw_ns <= candidate.raw_ns)
            continue;
        *out = candidate;
        bytes = candidate_bytes;
        first = i;
    }
    if (first == log->n)
        return false;
    log_skip(&log->ring[first], out, bytes);
    return true;
}

void kernel_switches_close(struct kernel_switch_log *log)
{
    for (size_t i = 0; i < log->n; i++)
        munmap(log->ring[i].page, log->ring[i].page_bytes + log->ring[i].data_bytes);
    *log = (struct kernel_switch_log){0};
}
