/* SPDX-License-Identifier: MIT */
/* Known work of the calling thread, for the self-check of the kernel's software events. */
#include <errno.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

#include "kernel/parts.h"

enum { WORK_PAGES = 4, WORK_NS = 5000 };

static uint64_t work_cpu_ns(void)
{
    struct timespec ts;
    if (clock_gettime(CLOCK_THREAD_CPUTIME_ID, &ts) < 0)
        return 0;
    return (uint64_t)ts.tv_sec * 1000000000u + (uint64_t)ts.tv_nsec;
}

int kernel_work(struct kernel_work *work, bool sleep)
{
    const struct timespec shortest = {.tv_nsec = 1};
    size_t page = (size_t)sysconf(_SC_PAGESIZE);
    struct rusage before, after;
    uint64_t cpu = work_cpu_ns();
    volatile unsigned char *p =
        mmap(NULL, WORK_PAGES * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (p == MAP_FAILED)
        return -errno;
    (void)madvise((void *)(uintptr_t)p, WORK_PAGES * page, MADV_NOHUGEPAGE); /* one fault a page */
    int rc = getrusage(RUSAGE_THREAD, &before);
    for (size_t i = 0; i < WORK_PAGES; i++)
        p[i * page] = 1;
    while (work_cpu_ns() - cpu < WORK_NS)
        ;
    if (sleep)
        nanosleep(&shortest, NULL);
    cpu = work_cpu_ns() - cpu;
    if (rc == 0)
        rc = getrusage(RUSAGE_THREAD, &after);
    int err = rc < 0 ? errno : 0;
    munmap((void *)(uintptr_t)p, WORK_PAGES * page);
    if (rc < 0)
        return -err;
    work->cpu_ns += cpu;
    work->faults += (uint64_t)(after.ru_minflt - before.ru_minflt);
    work->switches += (uint64_t)(after.ru_nvcsw - before.ru_nvcsw) + (uint64_t)(after.ru_nivcsw - before.ru_nivcsw);
    return 0;
}
