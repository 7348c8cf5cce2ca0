/* SPDX-License-Identifier: MIT */
/* Floors written directly on the kernel. Values read go to `sink`, so that the compiler keeps the reads. */
#include "floor.h"

#include <errno.h>
#include <linux/perf_event.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/tick.h"
#include "bench.h"

enum { GROUP_EVENTS = 4, GROUP_WORDS = 3 + 2 * GROUP_EVENTS };

static void swallow(uint64_t sink)
{
    __asm__ volatile("" ::"r"(sink));
}

/* As the library opens them: counting from the start, each read with both times and the ids. */
static int open_event(uint64_t config, int leader, bool exclude_kernel)
{
    struct perf_event_attr attr;
    memset(&attr, 0, sizeof attr);
    attr.size = sizeof attr;
    attr.type = PERF_TYPE_SOFTWARE;
    attr.config = config;
    attr.read_format =
        PERF_FORMAT_GROUP | PERF_FORMAT_ID | PERF_FORMAT_TOTAL_TIME_ENABLED | PERF_FORMAT_TOTAL_TIME_RUNNING;
    attr.exclude_kernel = exclude_kernel;
    long fd = syscall(SYS_perf_event_open, &attr, 0, -1, leader, PERF_FLAG_FD_CLOEXEC);
    return fd < 0 ? -errno : (int)fd;
}

void floor_group_close(struct floor_group *group)
{
    for (size_t i = 0; i < GROUP_EVENTS; i++)
        if (group->fd[i] >= 0)
            close(group->fd[i]);
}

int floor_group_open(struct floor_group *group)
{
    static const uint64_t events[GROUP_EVENTS] = {PERF_COUNT_SW_TASK_CLOCK, PERF_COUNT_SW_PAGE_FAULTS,
                                                  PERF_COUNT_SW_CONTEXT_SWITCHES, PERF_COUNT_SW_CPU_MIGRATIONS};
    int rc = 0;
    for (size_t i = 0; i < GROUP_EVENTS; i++)
        group->fd[i] = -1;
    for (size_t i = 0; i < GROUP_EVENTS && rc == 0; i++) {
        group->fd[i] = open_event(events[i], group->fd[0], false);
        rc = group->fd[i] < 0 ? group->fd[i] : 0;
    }
    if (rc < 0)
        floor_group_close(group);
    return rc;
}

static void must_read(int fd, uint64_t *words)
{
    if (read(fd, words, GROUP_WORDS * sizeof *words) != (ssize_t)(GROUP_WORDS * sizeof *words)) {
        perror("bench: short read of the floor's group");
        _exit(2);
    }
}

void floor_group_pairs(void *arg, size_t n)
{
    const struct floor_group *group = arg;
    uint64_t begin[GROUP_WORDS], end[GROUP_WORDS], sink = 0;
    for (size_t i = 0; i < n; i++) {
        must_read(group->fd[0], begin);
        uint64_t a = tick_now();
        bench_barrier();
        uint64_t b = tick_now();
        must_read(group->fd[0], end);
        sink += b - a + end[3] - begin[3];
    }
    swallow(sink);
}

int floor_page_open(struct floor_page *page)
{
    int fd = open_event(PERF_COUNT_SW_DUMMY, -1, true);
    if (fd < 0)
        return fd;
    void *at = mmap(NULL, (size_t)sysconf(_SC_PAGESIZE), PROT_READ, MAP_SHARED, fd, 0);
    int err = errno;
    close(fd);
    if (at == MAP_FAILED)
        return -err;
    page->sequence = &((const volatile struct perf_event_mmap_page *)at)->lock;
    return 0;
}

void floor_page_pairs(void *arg, size_t n)
{
    const struct floor_page *page = arg;
    uint64_t sink = 0;
    for (size_t i = 0; i < n; i++) {
        uint64_t before = *page->sequence, a = tick_now();
        bench_barrier();
        uint64_t b = tick_now(), after = *page->sequence;
        sink += b - a + after - before;
    }
    swallow(sink);
}

void floor_tick_pairs(void *arg, size_t n)
{
    uint64_t sink = 0;
    (void)arg;
    for (size_t i = 0; i < n; i++) {
        uint64_t a = tick_now();
        bench_barrier();
        sink += tick_now() - a;
    }
    swallow(sink);
}

uint32_t floor_gate;

static __attribute__((cold, noinline)) void floor_gate_open(void)
{
    fputs("bench: the floor's flag is set\n", stderr);
    _exit(2);
}

void floor_flag(void *arg, size_t n)
{
    (void)arg;
    for (size_t i = 0; i < n; i++) {
        if (__atomic_load_n(&floor_gate, __ATOMIC_RELAXED))
            floor_gate_open();
        bench_barrier();
        if (__atomic_load_n(&floor_gate, __ATOMIC_RELAXED))
            floor_gate_open();
    }
}

void floor_nothing(void *arg, size_t n)
{
    (void)arg;
    for (size_t i = 0; i < n; i++) {
        bench_barrier();
        bench_barrier();
    }
}
