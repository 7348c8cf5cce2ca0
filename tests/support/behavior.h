/* SPDX-License-Identifier: MIT */
/** @file Checks and skips of the behavior programs, and measurements of the program made without libupmu. */
#ifndef UPMU_TESTS_BEHAVIOUR_H
#define UPMU_TESTS_BEHAVIOUR_H

#include <dirent.h>
#include <errno.h>
#include <linux/perf_event.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "support/region_stats.h"
#include "support/sanitizer.h"
#include "upmu/region.h"
#include "upmu/upmu.h"

#define SANITIZED_ADDRESS UNDER_ADDRESS_SANITIZER
#define SANITIZED_THREAD UNDER_THREAD_SANITIZER
/** A sanitizer's own memory, faults and threads are in the numbers too. */
#define SANITIZED (SANITIZED_ADDRESS || SANITIZED_THREAD)

/** Faults of a sanitizer's own memory (shadow, fake stacks) while a few pages are touched. */
enum { SANITIZER_FAULTS = SANITIZED ? 8 : 0 };

/** The function is compiled as it would be without a sanitizer: it touches exactly the memory it names. */
#define UNINSTRUMENTED __attribute__((noinline, unused, no_sanitize("address", "thread", "undefined")))

enum { EXIT_SKIPPED = 77 };

static inline void UPMU_PRINTF(4, 5) __attribute__((noreturn))
check_failed(const char *file, int line, const char *condition, const char *fmt, ...)
{
    va_list ap;
    fprintf(stderr, "%s:%d: FAILED: %s: ", file, line, condition);
    va_start(ap, fmt);
    vfprintf(stderr, fmt, ap);
    va_end(ap);
    fprintf(stderr, "%s%s\n", upmu_error()[0] ? "; last message: " : "", upmu_error());
    _exit(1);
}

/** The condition holds, or the program prints the message with its numbers and exits. */
#define CHECK(condition, ...) ((condition) ? (void)0 : check_failed(__FILE__, __LINE__, #condition, __VA_ARGS__))

static inline void UPMU_PRINTF(1, 2) __attribute__((noreturn)) skip(const char *fmt, ...)
{
    va_list ap;
    printf("skipped, because ");
    va_start(ap, fmt);
    vprintf(fmt, ap);
    va_end(ap);
    printf("\n");
    exit(EXIT_SKIPPED);
}

/* ------------------------------------------------------------------------------------------- what may be counted */

/** What the kernel grants this program, found out without libupmu. */
enum rights {
    RIGHTS_NONE, /**< no event at all */
    RIGHTS_USER, /**< user mode only */
    RIGHTS_ALL,
};

static inline int raw_event(uint64_t config, bool exclude_kernel)
{
    struct perf_event_attr attr;
    memset(&attr, 0, sizeof attr);
    attr.size = sizeof attr;
    attr.type = PERF_TYPE_SOFTWARE;
    attr.config = config;
    attr.exclude_kernel = exclude_kernel;
    return (int)syscall(SYS_perf_event_open, &attr, 0, -1, -1, PERF_FLAG_FD_CLOEXEC);
}

/** Sets errno with RIGHTS_NONE. */
static inline enum rights rights_here(void)
{
    int fd = raw_event(PERF_COUNT_SW_PAGE_FAULTS, false);
    enum rights rights = RIGHTS_ALL;
    if (fd < 0) {
        fd = raw_event(PERF_COUNT_SW_PAGE_FAULTS, true);
        rights = RIGHTS_USER;
    }
    if (fd < 0)
        return RIGHTS_NONE;
    close(fd);
    return rights;
}

/** An event that this kernel refuses outright has no number, and a status code that fits the errno. */
static inline void check_denied(int status, int cause, int err)
{
    if (err == ENOSYS) {
        CHECK(status == UPMU_UNSUPPORTED, "%s", upmu_status_name(status));
        CHECK(cause == UPMU_E_NO_SYSCALL, "%s", upmu_strerror(cause));
        return;
    }
    CHECK(status == UPMU_REFUSED, "%s", upmu_status_name(status));
    CHECK(cause == UPMU_E_PERM || cause == UPMU_E_SECCOMP, "%s", upmu_strerror(cause));
}

static inline void check_no_number(const struct upmu_value *v)
{
    CHECK(v->value == UPMU_NO_VALUE, "%llu", (unsigned long long)v->value);
    CHECK(v->status != UPMU_EXACT && v->status != UPMU_SCALED, "%s", upmu_status_name(v->status));
}

/* ------------------------------------------------------------------------------------------------ known work */

/** Memory that is there and has never been touched: each page will be one fault, whatever the kernel thinks of huge
 *  ones. */
static inline unsigned char *fresh_pages(size_t n)
{
    size_t bytes = n * (size_t)sysconf(_SC_PAGESIZE);
    unsigned char *p = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    CHECK(p != MAP_FAILED, "%zu pages", n);
    (void)madvise(p, bytes, MADV_NOHUGEPAGE); /* a kernel without huge pages has nothing to refuse */
    return p;
}

/** Write to each of n pages, and to no other memory. */
UNINSTRUMENTED static void touch_pages(volatile unsigned char *p, size_t n, size_t page)
{
    for (size_t i = 0; i < n; i++)
        p[i * page] = 1;
}

static inline void free_pages(unsigned char *p, size_t n)
{
    munmap(p, n * (size_t)sysconf(_SC_PAGESIZE));
}

static inline uint64_t nanoseconds(clockid_t id)
{
    struct timespec ts;
    clock_gettime(id, &ts);
    return (uint64_t)ts.tv_sec * 1000000000u + (uint64_t)ts.tv_nsec;
}

/** Keep the CPU busy until `ns` of the thread's CPU time have passed. */
static inline void burn(uint64_t ns)
{
    uint64_t start = nanoseconds(CLOCK_THREAD_CPUTIME_ID);
    while (nanoseconds(CLOCK_THREAD_CPUTIME_ID) - start < ns)
        ;
}

/** Let `ns` of wall time pass. */
static inline void pass(uint64_t ns)
{
    uint64_t start = nanoseconds(CLOCK_MONOTONIC_RAW);
    while (nanoseconds(CLOCK_MONOTONIC_RAW) - start < ns)
        ;
}

/** Sleep, which is one context switch at least. */
static inline void sleep_briefly(void)
{
    const struct timespec t = {.tv_nsec = 100000};
    nanosleep(&t, NULL);
}

/** Context switches of the calling thread as the kernel accounts them. */
static inline uint64_t switches_so_far(void)
{
    struct rusage usage;
    CHECK(getrusage(RUSAGE_THREAD, &usage) == 0, "getrusage");
    return (uint64_t)usage.ru_nvcsw + (uint64_t)usage.ru_nivcsw;
}

/* --------------------------------------------------------------------------------------------- what the process holds */

/** Entries of a folder of /proc/self. */
static inline size_t entries(const char *path)
{
    size_t n = 0;
    DIR *dir = opendir(path);
    CHECK(dir != NULL, "%s", path);
    while (readdir(dir))
        n++;
    closedir(dir);
    return n - 3; /* ., .. and the folder's own descriptor */
}

static inline size_t open_descriptors(void)
{
    return entries("/proc/self/fd");
}

static inline size_t mappings(void)
{
    size_t n = 0;
    int c;
    FILE *f = fopen("/proc/self/maps", "re");
    CHECK(f != NULL, "/proc/self/maps");
    while ((c = getc(f)) != EOF)
        n += c == '\n';
    fclose(f);
    return n;
}

/** Resident memory of the process, in kB. */
static inline size_t resident_kb(void)
{
    unsigned long total, resident;
    FILE *f = fopen("/proc/self/statm", "re");
    CHECK(f != NULL && fscanf(f, "%lu %lu", &total, &resident) == 2, "/proc/self/statm");
    fclose(f);
    return resident * (size_t)sysconf(_SC_PAGESIZE) / 1024;
}

/* ------------------------------------------------------------------------------------------------ libupmu in short */

static inline void regions_on(const char *events)
{
    struct upmu_region_opts opts = {.size = sizeof opts, .events = events};
    int rc = upmu_region_setup(&opts);
    CHECK(rc == 0, "%s", events ? events : "(default)");
}

static inline struct test_region region_of(const char *name, pid_t thread)
{
    struct test_region s;
    int rc = test_region_read(name, thread, &s);
    CHECK(rc == 0, "%s in %d", name, (int)thread);
    return s;
}

static inline uint64_t region_count(const char *name)
{
    return region_of(name, UPMU_ALL_THREADS).count;
}

static inline struct upmu_region_health health_now(void)
{
    struct upmu_region_health h = {.size = sizeof h};
    CHECK(upmu_region_health_read(&h) == 0, "health");
    return h;
}

static inline pid_t own_tid(void)
{
    return (pid_t)syscall(SYS_gettid);
}

static inline pthread_t start_thread(void *(*work)(void *), void *arg)
{
    pthread_t thread;
    int err = pthread_create(&thread, NULL, work, arg);
    CHECK(err == 0, "pthread_create: %s", strerror(err));
    return thread;
}

static inline void *join_thread(pthread_t thread)
{
    void *result;
    CHECK(pthread_join(thread, &result) == 0, "pthread_join");
    return result;
}

/** An instance begun and ended at once. */
static inline void instance(const char *name)
{
    CHECK(upmu_region_begin(name) == 0, "%s", name);
    CHECK(upmu_region_end(name) == 0, "%s", name);
}

#endif
