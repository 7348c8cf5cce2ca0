/* SPDX-License-Identifier: MIT */
/*
 * Number of futex waits of the calling thread, including those that no wrapper sees.
 *
 * read() would cost a system call each time. Instead each call makes the kernel write an empty record to a page
 * that is overwritten endlessly: the write position, in the page before it, is readable by all threads. The mapping
 * keeps the event alive, as in switch_log.c.
 *
 * Before Linux 4.20 a tracepoint without kernel mode, which is all that unprivileged users may open, opens and
 * counts nothing. So a call that returns at once is used as a test.
 */
#include <errno.h>
#include <linux/futex.h>
#include <linux/perf_event.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/tiny_lock.h"
#include "kernel/parts.h"

#ifndef FUTEX_LOCK_PI2
#define FUTEX_LOCK_PI2 13 /* Linux 5.14 */
#endif

/* futex() has operations of all kinds and always exists. */
static const char *const futex_points[KERNEL_FUTEX_CALLS] = {
    "syscalls/sys_enter_futex", "syscalls/sys_enter_futex_waitv", /* Linux 5.16 */
    "syscalls/sys_enter_futex_wait",                              /* Linux 6.7 */
};

static int futex_find_point(const char *path, uint64_t *id)
{
    char text[4096];
    unsigned long long number;
    ssize_t n = kernel_point_format(path, text, sizeof text);
    if (n < 0)
        return (int)n;
    const char *at = strstr(text, "ID: ");
    if (!at || sscanf(at, "ID: %llu", &number) != 1)
        return -EPROTO;
    *id = number;
    return 0;
}

/* Filter for the futex() operations that wait, except those of the library's own locks, which never wait for a 0.
 * The kernel's filters compare numbers and have no masks. */
static void futex_write_filter(char *text, size_t size)
{
    static const int waiting[] = {FUTEX_WAIT, FUTEX_WAIT_BITSET, FUTEX_LOCK_PI, FUTEX_LOCK_PI2, FUTEX_WAIT_REQUEUE_PI};
    static const int options[] = {0, FUTEX_PRIVATE_FLAG, FUTEX_CLOCK_REALTIME,
                                  FUTEX_PRIVATE_FLAG | FUTEX_CLOCK_REALTIME};
    size_t at = (size_t)snprintf(text, size, "(val3 != %ld || val == 0) && (", TINY_LOCK_SIGN);
    for (size_t w = 0; w < sizeof waiting / sizeof *waiting; w++)
        for (size_t o = 0; o < sizeof options / sizeof *options; o++)
            at += (size_t)snprintf(text + at, size - at, "%sop == %d", w + o ? " || " : "", waiting[w] | options[o]);
    (void)snprintf(text + at, size - at, ")");
}

int kernel_futexes_find(struct kernel_futex_points *points)
{
    *points = (struct kernel_futex_points){.id = {0}};
    futex_write_filter(points->waits, sizeof points->waits);
    if (kernel_files_recorded())
        return -EREMOTE;
    int rc = futex_find_point(futex_points[0], &points->id[0]);
    for (size_t i = 1; rc == 0 && i < KERNEL_FUTEX_CALLS; i++) {
        rc = futex_find_point(futex_points[i], &points->id[i]);
        rc = rc == -ENOENT ? 0 : rc; /* an older kernel */
    }
    return rc;
}

/* -------------------------------------------------------------------------------------------------- one event */

static int futex_open_event(uint64_t id, bool with_kernel)
{
    struct perf_event_attr attr = {
        .type = PERF_TYPE_TRACEPOINT,
        .size = sizeof attr,
        .config = id,
        .sample_period = 1,
        .exclude_kernel = !with_kernel,
        .exclude_hv = 1,
        .watermark = 1, /* no wakeup */
        .wakeup_watermark = INT32_MAX,
    };
    long fd = syscall(SYS_perf_event_open, &attr, 0, -1, -1, PERF_FLAG_FD_CLOEXEC);
    return fd < 0 ? -errno : (int)fd;
}

/* A page mapped read-only is overwritten endlessly, so no record is lost. */
static int futex_map_event(struct kernel_futexes *f, size_t i, int fd)
{
    size_t page = (size_t)sysconf(_SC_PAGESIZE);
    void *at = mmap(NULL, 2 * page, PROT_READ, MAP_SHARED, fd, 0);
    if (at == MAP_FAILED)
        return -errno;
    const struct perf_event_mmap_page *head = at;
    f->page[i] = at;
    f->page_bytes = 2 * page;
    f->written[i] = (const uint64_t *)&head->data_head;
    return 0;
}

/* `waits`: filter of the calls to count, NULL: all. */
static int futex_count_calls(struct kernel_futexes *f, size_t i, uint64_t id, const char *waits)
{
    if (!kernel_descriptor_reserve())
        return -EMFILE;
    int fd = futex_open_event(id, true);
    if (fd == -EACCES || fd == -EPERM)
        fd = futex_open_event(id, false);
    int rc = fd < 0 ? fd : 0;
    if (rc == 0 && waits && ioctl(fd, PERF_EVENT_IOC_SET_FILTER, waits) < 0)
        rc = -errno;
    if (rc == 0)
        rc = futex_map_event(f, i, fd);
    if (fd >= 0)
        close(fd);
    kernel_descriptor_unreserve();
    return rc;
}

/* A wait for a word that has already changed, one as of the library's locks, and a call that does not wait: only
 * the first may be counted. All carry TINY_LOCK_SIGN, so that sync tracing ignores them. */
static bool futex_self_test(struct kernel_futexes *f)
{
    uint32_t word = 1;
    uint64_t before = __atomic_load_n(f->written[0], __ATOMIC_RELAXED);
    int saved = errno;
    long waited = syscall(SYS_futex, &word, FUTEX_WAIT_PRIVATE, 0, NULL, NULL, TINY_LOCK_SIGN);
    long ours = syscall(SYS_futex, &word, FUTEX_WAIT_PRIVATE, 2, NULL, NULL, TINY_LOCK_SIGN);
    long woken = syscall(SYS_futex, &word, FUTEX_WAKE_PRIVATE, 1, NULL, NULL, TINY_LOCK_SIGN);
    errno = saved;
    f->own = __atomic_load_n(f->written[0], __ATOMIC_RELAXED) - before;
    return waited == -1 && ours == -1 && woken == 0 && f->own == KERNEL_FUTEX_RECORD;
}

int kernel_futexes_open(struct kernel_futexes *f, const struct kernel_futex_points *points)
{
    size_t n = 0;
    int rc = 0;
    *f = (struct kernel_futexes){.page_bytes = 0};
    for (size_t i = 0; rc == 0 && i < KERNEL_FUTEX_CALLS; i++)
        if (points->id[i])
            rc = futex_count_calls(f, n++, points->id[i], i == 0 ? points->waits : NULL);
    if (rc == 0 && (!points->id[0] || !futex_self_test(f)))
        rc = -EPROTO;
    if (rc < 0)
        kernel_futexes_close(f);
    return rc;
}

void kernel_futexes_close(struct kernel_futexes *f)
{
    for (size_t i = 0; i < KERNEL_FUTEX_CALLS; i++)
        if (f->page[i])
            munmap(f->page[i], f->page_bytes);
    *f = (struct kernel_futexes){.page_bytes = 0};
}
