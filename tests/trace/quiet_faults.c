/* SPDX-License-Identifier: MIT */
/* Page faults of a recorded program: the same count as without recording.
 *
 * The pages of a new packet are made writable inside a system call, where faults are not counted. */
#include <errno.h>
#include <ftw.h>
#include <linux/perf_event.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/tick.h"
#include "trace/write/writer.h"

static int skip(const char *why, const char *detail)
{
    printf("skipped, because %s: %s\n", why, detail);
    return 77;
}

static int open_page_faults(void)
{
    struct perf_event_attr attr = {
        .size = sizeof attr,
        .type = PERF_TYPE_SOFTWARE,
        .config = PERF_COUNT_SW_PAGE_FAULTS,
        .exclude_kernel = 1,
        .exclude_hv = 1,
    };
    return (int)syscall(SYS_perf_event_open, &attr, 0, -1, -1, PERF_FLAG_FD_CLOEXEC);
}

static uint64_t count(int fd)
{
    uint64_t n;
    if (read(fd, &n, sizeof n) != (ssize_t)sizeof n) {
        perror("read");
        exit(1);
    }
    return n;
}

/* Whether the kernel can make pages writable on request. */
static int can_populate(void)
{
    size_t page = (size_t)sysconf(_SC_PAGESIZE);
    void *p = mmap(NULL, page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    int can = p != MAP_FAILED && madvise(p, page, 23 /* MADV_POPULATE_WRITE */) == 0;
    if (p != MAP_FAILED)
        munmap(p, page);
    return can;
}

static int remove_entry(const char *path, const struct stat *st, int type, struct FTW *ftw)
{
    (void)st;
    (void)type;
    (void)ftw;
    return remove(path);
}

/* Faults counted while the trace grows by some thousand pages. */
static uint64_t faults_of_recording(const char *dir, int fd)
{
    struct trace_writer *w;
    struct trace_stream *s;
    struct trace_config config = {.dir = dir};
    if (trace_writer_open(&w, &config) != 0 || trace_stream_acquire(w, 1, "x", &s) != 0) {
        fprintf(stderr, "FAILED: %s\n", upmu_error());
        exit(1);
    }
    trace_mark(s, tick_now(), "warm", 4);
    uint64_t before = count(fd);
    for (int i = 0; i < 100000; i++)
        if (!trace_mark(s, tick_now(), "a hundred thousand of these are a few megabytes of trace", 56))
            exit(1);
    uint64_t faults = count(fd) - before;
    trace_stream_release(s);
    trace_writer_close(w);
    return faults;
}

int main(void)
{
    enum { MOST = 20 }; /* code pages seen for the first time */
    const char *tmp = getenv("TMPDIR");
    char dir[4096];
    if (!can_populate())
        return skip("this kernel has no MADV_POPULATE_WRITE", "Linux 5.14");
    int fd = open_page_faults();
    if (fd < 0)
        return skip("page faults cannot be counted here", strerror(errno));
    snprintf(dir, sizeof dir, "%s/upmu-faults-XXXXXX", tmp ? tmp : "/tmp");
    if (!mkdtemp(dir))
        return 1;
    uint64_t faults = faults_of_recording(dir, fd);
    nftw(dir, remove_entry, 16, FTW_DEPTH | FTW_PHYS);
    printf("%llu page faults were counted\n", (unsigned long long)faults);
    return faults <= MOST ? 0 : 1;
}
