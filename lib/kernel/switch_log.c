/* SPDX-License-Identifier: MIT */
/*
 * The kernel's records of the calling thread's switches. Room: kernel. Before it: the kernel, which writes them into a
 * buffer shared with us while the thread leaves its CPU and comes back; after it: core, which puts them into the trace.
 *
 * A dummy event of the thread itself asks for them, so that no right is needed that counting one's own user mode does not
 * need. The buffer is mapped writable: then the kernel never overwrites what was not read, and counts what did not fit.
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

#include "kernel/parts.h"

#ifndef PERF_RECORD_MISC_SWITCH_OUT_PREEMPT
#define PERF_RECORD_MISC_SWITCH_OUT_PREEMPT (1 << 14) /* Linux 4.17 */
#endif

enum { RECORD_SWITCH = 14 }; /* PERF_RECORD_SWITCH, Linux 4.3 */

/* What we ask for behind each record. */
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

/* Before Linux 4.17 a thread that was preempted looks like one that waits. */
static bool preemption_is_told(void)
{
    struct utsname name;
    unsigned major, minor;
    if (uname(&name) != 0 || sscanf(name.release, "%u.%u", &major, &minor) != 2)
        return false;
    return major > 4 || (major == 4 && minor >= 17);
}

static int log_event(void)
{
    struct perf_event_attr attr = {
        .type = PERF_TYPE_SOFTWARE,
        .size = sizeof attr,
        .config = PERF_COUNT_SW_DUMMY,
        .sample_type = PERF_SAMPLE_TIME | PERF_SAMPLE_CPU,
        .exclude_kernel = 1,
        .exclude_hv = 1,
        .sample_id_all = 1,
        .context_switch = 1,
        .use_clockid = 1,
        .clockid = CLOCK_MONOTONIC_RAW,
    };
    long fd = syscall(SYS_perf_event_open, &attr, 0, -1, -1, PERF_FLAG_FD_CLOEXEC);
    return fd < 0 ? -errno : (int)fd;
}

/* As large as asked for, or as the limits for locked memory still allow. */
static int log_map(struct kernel_switch_log *log, int fd, size_t bytes)
{
    size_t page = (size_t)sysconf(_SC_PAGESIZE), pages = 1;
    while (pages * page < bytes)
        pages *= 2;
    for (; pages > 0; pages /= 2) {
        void *at = mmap(NULL, (pages + 1) * page, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
        if (at == MAP_FAILED)
            continue;
        const struct perf_event_mmap_page *head = at;
        *log = (struct kernel_switch_log){
            .head = (const uint64_t *)&head->data_head, .page = at, .page_bytes = page, .data_bytes = pages * page};
        return 0;
    }
    return -errno;
}

int kernel_switches_open(struct kernel_switch_log *log, size_t bytes)
{
    *log = (struct kernel_switch_log){0};
    if (kernel_files_recorded())
        return -EREMOTE;
    if (!preemption_is_told())
        return -EOPNOTSUPP;
    if (!kernel_descriptor_reserve())
        return -EMFILE;
    int fd = log_event();
    int rc = fd < 0 ? fd : log_map(log, fd, bytes);
    if (fd >= 0)
        close(fd); /* the mapping keeps the event alive, and the program its descriptors */
    kernel_descriptor_unreserve();
    return rc;
}

/* Records begin and end on words, and may go round the end of the buffer. */
static void take_bytes(const struct kernel_switch_log *log, uint64_t from, void *out, size_t bytes)
{
    const unsigned char *data = (const unsigned char *)log->page + log->page_bytes;
    size_t at = (size_t)(from & (log->data_bytes - 1)), first = log->data_bytes - at;
    first = first < bytes ? first : bytes;
    memcpy(out, data + at, first);
    memcpy((unsigned char *)out + first, data, bytes - first);
}

static bool take_switch(const struct kernel_switch_log *log, struct kernel_switch *out)
{
    struct switch_record r;
    take_bytes(log, log->tail, &r, sizeof r);
    bool preempted = r.header.misc & PERF_RECORD_MISC_SWITCH_OUT_PREEMPT;
    *out = (struct kernel_switch){.raw_ns = r.id.time, .cpu = r.id.cpu, .kind = KERNEL_SWITCH_IN};
    if (r.header.misc & PERF_RECORD_MISC_SWITCH_OUT)
        out->kind = preempted ? KERNEL_SWITCH_PREEMPTED : KERNEL_SWITCH_OUT;
    return true;
}

static bool take_lost(const struct kernel_switch_log *log, struct kernel_switch *out)
{
    struct lost_record r;
    take_bytes(log, log->tail, &r, sizeof r);
    *out = (struct kernel_switch){.raw_ns = r.id.time, .cpu = r.id.cpu, .kind = KERNEL_SWITCH_LOST, .lost = r.lost};
    return true;
}

/* Read to here: the kernel may write there again. */
static void move_tail(struct kernel_switch_log *log, uint64_t tail)
{
    struct perf_event_mmap_page *head = log->page;
    __atomic_store_n(&log->tail, tail, __ATOMIC_RELAXED); /* others look whether there is something */
    __atomic_store_n(&head->data_tail, tail, __ATOMIC_RELEASE);
}

bool kernel_switches_next(struct kernel_switch_log *log, struct kernel_switch *out)
{
    uint64_t head = __atomic_load_n(log->head, __ATOMIC_ACQUIRE);
    bool found = false;
    while (!found && log->tail < head) {
        struct perf_event_header h;
        take_bytes(log, log->tail, &h, sizeof h);
        uint64_t left = head - log->tail;
        if (h.size < sizeof h || h.size > left) {
            /* Nobody but the kernel writes here: if somebody did, nothing of it can be believed. */
            *out = (struct kernel_switch){.kind = KERNEL_SWITCH_LOST, .lost = 1};
            move_tail(log, head);
            return true;
        }
        if (h.type == RECORD_SWITCH && h.size >= sizeof(struct switch_record))
            found = take_switch(log, out);
        else if (h.type == PERF_RECORD_LOST && h.size >= sizeof(struct lost_record))
            found = take_lost(log, out);
        move_tail(log, log->tail + h.size);
    }
    return found;
}

void kernel_switches_close(struct kernel_switch_log *log)
{
    if (log->page)
        munmap(log->page, log->page_bytes + log->data_bytes);
    *log = (struct kernel_switch_log){0};
}
