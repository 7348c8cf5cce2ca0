/* SPDX-License-Identifier: MIT */
/*
 * Cost of sync tracing for calls that are not about locks: read() and poll() that need not wait, and a read() that sleeps.
 *
 * The floor is the same call by the name that libc keeps for itself (__read, __poll), which is not wrapped. Bars are those of
 * calls that find what they ask for: they have no event, and most calls are of this kind.
 *
 * Some kernels empty the TLB at each system call (page-table isolation on a CPU without PCID). There, each page that a wrapper looks at
 * is walked to anew, whatever the wrapper computes: a row measures that, and the nanoseconds of WRAPPER_PAGES are added to the bars.
 */
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <unistd.h>

#include "bench.h"
#include "files.h"
#include "upmu/sync.h"
#include "upmu/trace.h"

enum {
    PIPE_BYTES = 32768,
    PAGE = 4096,
    FEW = 200, /* the kernel's pread() takes 431 or 449 ns, for milliseconds at a time */
    LINE = 64,
    LOADED = 16,
    WRAPPER_PAGES =
        12, /* that read() needs and __read() does not: of code, of data, of the thread, half of them after the call again */
};

ssize_t __read(int fd, void *to, size_t bytes);
ssize_t __pread64(int fd, void *to, size_t bytes, off_t at);
ssize_t __write(int fd, const void *from, size_t bytes);
int __poll(struct pollfd *fds, nfds_t n, int ms);

static const double read_added = 16, read_page = 1.12, poll_ratio = 1.12,
                    sleep_ratio = 1.05; /* nanoseconds; the rest ratios */
static char dir[4096];
static int filled[2], there[2], back[2], zero, file;
static char bytes[PIPE_BYTES];

static void fail_errno(const char *what)
{
    perror(what);
    exit(1);
}

static void fill(void *arg)
{
    (void)arg;
    if (__write(filled[1], bytes, PIPE_BYTES) != PIPE_BYTES)
        fail_errno("write");
}

static void drain(void *arg)
{
    (void)arg;
    struct pollfd one = {.fd = filled[0], .events = POLLIN};
    while (__poll(&one, 1, 0) == 1)
        if (__read(filled[0], bytes, PIPE_BYTES) < 0)
            fail_errno("read");
}

#define LOOP(name, call)                                         \
    static void name(void *arg, size_t n)                        \
    {                                                            \
        char to[PAGE];                                           \
        struct pollfd one = {.fd = filled[0], .events = POLLIN}; \
        (void)arg, (void)to, (void)one;                          \
        for (size_t i = 0; i < n; i++)                           \
            if ((call) < 1)                                      \
                fail_errno(#call);                               \
    }

LOOP(read_ours, read(filled[0], to, 1))
LOOP(read_bare, __read(filled[0], to, 1))
LOOP(page_ours, read(filled[0], to, PAGE))
LOOP(page_bare, __read(filled[0], to, PAGE))
LOOP(zero_ours, read(zero, to, 1))
LOOP(zero_bare, __read(zero, to, 1))
LOOP(file_ours, pread(file, to, 1, 0))
LOOP(file_bare, __pread64(file, to, 1, 0))
LOOP(poll_ours, poll(&one, 1, 1000))
LOOP(poll_bare, __poll(&one, 1, 1000))

/* Addresses of one another, each in a cache line of its own: in pages of their own, or all in one page. */
static void *volatile lines[2][LOADED * (PAGE + LINE) / sizeof(void *)] __attribute__((aligned(PAGE)));

static void link_lines(size_t which, size_t distance)
{
    const size_t step = distance / sizeof(void *);
    for (size_t i = 0; i + 1 < LOADED; i++)
        lines[which][i * step] = (void *)(uintptr_t)&lines[which][(i + 1) * step];
}

static void load_lines(void *arg, size_t n)
{
    char to[PAGE];
    for (size_t i = 0; i < n; i++) {
        if (__read(filled[0], to, 1) < 1)
            fail_errno("read");
        void *volatile *at = arg;
        while (*at)
            at = *at;
    }
}

/* @return the nanoseconds of each page that is needed after a system call. */
static double compare_pages(struct bench *b)
{
    const struct bench_pair pair = {.subject = {.name = "read 1 byte, load from 16 pages",
                                                .loop = load_lines,
                                                .arg = (void *)(uintptr_t)lines[0],
                                                .before = fill,
                                                .after = drain},
                                    .floor = {.name = "bare, one page",
                                              .loop = load_lines,
                                              .arg = (void *)(uintptr_t)lines[1],
                                              .before = fill,
                                              .after = drain},
                                    .n = 2000,
                                    .judge = BENCH_NOTHING};
    link_lines(0, PAGE + LINE);
    link_lines(1, LINE);
    const struct bench_row *row = bench_compare(b, &pair);
    double each = row->floor_ns * (row->ratio - 1) / (LOADED - 1);
    return each > 0 ? each : 0;
}

/* A thread that sends back each byte: both sides sleep. */
static void *echo_ours(void *arg)
{
    char byte;
    while (read(there[0], &byte, 1) == 1 && write(back[1], &byte, 1) == 1)
        continue;
    return arg;
}

static void pass_ours(void *arg, size_t n)
{
    char byte = 0;
    (void)arg;
    for (size_t i = 0; i < n; i++)
        if (write(there[1], &byte, 1) != 1 || read(back[0], &byte, 1) != 1)
            fail_errno("read");
}

static int bare_there[2], bare_back[2];

static void *echo_bare(void *arg)
{
    char byte;
    while (__read(bare_there[0], &byte, 1) == 1 && __write(bare_back[1], &byte, 1) == 1)
        continue;
    return arg;
}

static void pass_bare(void *arg, size_t n)
{
    char byte = 0;
    (void)arg;
    for (size_t i = 0; i < n; i++)
        if (__write(bare_there[1], &byte, 1) != 1 || __read(bare_back[0], &byte, 1) != 1)
            fail_errno("read");
}

/* @return a thread that runs `echo` on a CPU. */
static pthread_t echo_start(struct bench *b, int cpu, void *(*echo)(void *))
{
    pthread_t thread = pthread_self();
    if (!bench_pin(cpu) || pthread_create(&thread, NULL, echo, NULL) != 0 || !bench_pin(b->cpu))
        fail_errno("pthread_create");
    return thread;
}

/* On one CPU nothing but the call passes between two waits: no wait is shorter. */
static void compare_sleeping(struct bench *b, int cpu, const struct bench_pair *pair)
{
    if (pipe(there) != 0 || pipe(back) != 0 || pipe(bare_there) != 0 || pipe(bare_back) != 0)
        fail_errno("pipe");
    pthread_t ours = echo_start(b, cpu, echo_ours), bare = echo_start(b, cpu, echo_bare);
    (void)bench_compare(b, pair);
    close(there[1]);
    close(bare_there[1]);
    if (pthread_join(ours, NULL) != 0 || pthread_join(bare, NULL) != 0)
        fail_errno("pthread_join");
}

static void compare_all_sleeping(struct bench *b)
{
    struct bench_pair pair = {.subject = {.name = "read 1 byte, both threads sleep, one CPU", .loop = pass_ours},
                              .floor = {.name = "bare", .loop = pass_bare},
                              .n = 50,
                              .calls = 2,
                              .judge = BENCH_NOTHING};
    compare_sleeping(b, b->cpu, &pair);
    pair.subject.name = "the same, two CPUs";
    pair.judge = BENCH_RATIO;
    pair.bar = sleep_ratio;
    if (b->other >= 0)
        compare_sleeping(b, b->other, &pair);
    else
        bench_skip(b, pair.subject.name, "there is but one CPU to be used");
}

/* The waits of the recording: those that slept, and no other. */
static void count_events(struct bench *b, long switches)
{
    struct upmu_trace *trace;
    const struct upmu_trace_event *e;
    double waits = 0;
    if (upmu_trace_open(&trace, dir) < 0)
        fail_errno(upmu_error());
    while (upmu_trace_next(trace, &e) > 0)
        waits += e->kind == UPMU_TRACE_CALL_BLOCK;
    upmu_trace_close(trace);
    struct bench_row *row = bench_count(b, "waits recorded beyond voluntary context switches",
                                        waits > (double)switches ? waits - (double)switches : 0, 0);
    if (waits == 0)
        bench_fail(row, "no wait was recorded");
}

static void measure(struct bench *b)
{
    const struct upmu_sync_opts opts = {.size = sizeof opts, .trace = dir};
    struct rusage usage;
    if (upmu_sync_begin(&opts) < 0) {
        bench_skip(b, "read", "%s", upmu_error());
        return;
    }
    const struct {
        const char *name;
        void (*ours)(void *, size_t), (*bare)(void *, size_t);
        size_t n;
        enum bench_judge judge;
        double bar;
    } rows[] = {
        {"read 1 byte of a pipe, there is one", read_ours, read_bare, 2000, BENCH_ADDED, read_added},
        {"read 1 byte of /dev/zero", zero_ours, zero_bare, 2000, BENCH_ADDED, read_added},
        {"pread 1 byte of a cached file", file_ours, file_bare, FEW, BENCH_ADDED, read_added},
        {"read 4 KiB, they are there", page_ours, page_bare, PIPE_BYTES / PAGE, BENCH_RATIO, read_page},
        {"poll, ready", poll_ours, poll_bare, 2000, BENCH_RATIO, poll_ratio},
    };
    double lookups = WRAPPER_PAGES * compare_pages(b) / (b->slack > 0 ? b->slack : 1); /* which is not multiplied */
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        const struct bench_pair pair = {
            .subject = {.name = rows[i].name, .loop = rows[i].ours, .before = fill, .after = drain},
            .floor = {.name = "bare", .loop = rows[i].bare, .before = fill, .after = drain},
            .n = rows[i].n,
            .judge = rows[i].judge,
            .bar = rows[i].judge == BENCH_ADDED ? rows[i].bar + lookups : rows[i].bar};
        (void)bench_compare(b, &pair);
    }
    compare_all_sleeping(b);
    if (upmu_sync_end() < 0 || getrusage(RUSAGE_SELF, &usage) != 0)
        fail_errno(upmu_error());
    count_events(b, usage.ru_nvcsw);
}

int main(int argc, char **argv)
{
    struct bench *b = bench_start("calls", argc, argv);
    if (pipe(filled) != 0 || (zero = open("/dev/zero", O_RDONLY)) < 0 || (file = open(argv[0], O_RDONLY)) < 0)
        fail_errno("bench_calls");
    bench_folder_make(dir);
    measure(b);
    bench_folder_remove(dir);
    return bench_end(b);
}
