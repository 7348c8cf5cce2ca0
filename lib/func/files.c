/* SPDX-License-Identifier: MIT */
/*
 * Mapped files of a recording.
 *
 * A store into a hole on a full disk, or beyond the end of a file, would kill the process: space is reserved before. The
 * program never sees the descriptors.
 */
#include "func/files.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

#include "base/file_pages.h"
#include "base/own_memory.h"
#include "base/private_table.h"
#include "func/state.h"

static uint32_t files_callers; /* threads that make system calls */
static uint32_t files_finished;

bool func_calls_begin(void)
{
    __atomic_fetch_add(&files_callers, 1, __ATOMIC_SEQ_CST);
    if (!__atomic_load_n(&files_finished, __ATOMIC_SEQ_CST))
        return true;
    func_calls_end();
    return false;
}

void func_calls_end(void)
{
    __atomic_fetch_sub(&files_callers, 1, __ATOMIC_RELEASE);
}

void func_calls_finish(void)
{
    enum { TRIES = 200, PAUSE_US = 500 };
    __atomic_store_n(&files_finished, 1, __ATOMIC_SEQ_CST);
    for (int i = 0; i < TRIES && __atomic_load_n(&files_callers, __ATOMIC_SEQ_CST) > 0; i++)
        usleep(PAUSE_US);
}

static int files_open(const char *name, int flags)
{
    char path[PATH_MAX + 32];
    if (snprintf(path, sizeof path, "%s/%s", func_process.dir, name) >= (int)sizeof path)
        return -ENAMETOOLONG;
    int fd = open(path, O_RDWR | O_NOFOLLOW | O_CLOEXEC | flags, 0600);
    return fd < 0 ? -errno : fd;
}

/* Beyond the limit on the size of files the kernel would send SIGXFSZ. */
static int files_reserve(int fd, size_t from, size_t to)
{
    struct rlimit limit;
    if (getrlimit(RLIMIT_FSIZE, &limit) == 0 && limit.rlim_cur != RLIM_INFINITY && to > limit.rlim_cur)
        return -EFBIG;
    int rc;
    do
        rc = posix_fallocate(fd, (off_t)from, (off_t)(to - from));
    while (rc == EINTR);
    return -rc;
}

struct file_order {
    const char *name;
    size_t bytes, from, to;
    void *mapped; /**< NULL: reserve only */
    bool window;  /**< map what was reserved of a file that may be there */
};

static int files_run(void *arg)
{
    struct file_order *o = arg;
    int fd = files_open(o->name, o->window ? O_CREAT : o->bytes ? O_CREAT | O_EXCL : 0);
    int rc = fd < 0 ? fd : files_reserve(fd, o->from, o->to);
    if (rc == 0 && o->bytes) {
        off_t from = o->window ? (off_t)o->from : 0;
        if (o->window)
            file_pages_make(fd, from, o->bytes);
        int flags = MAP_SHARED | (o->window ? MAP_POPULATE : MAP_NORESERVE);
        o->mapped = mmap(NULL, o->bytes, PROT_READ | PROT_WRITE, flags, fd, from);
        rc = o->mapped == MAP_FAILED ? -errno : 0;
        if (rc == 0 && !o->window) /* else the kernel reads the sparse file ahead: it clears read_ahead_kb of pages */
            (void)madvise(o->mapped, o->bytes, MADV_RANDOM);
    }
    if (fd >= 0)
        close(fd);
    return rc;
}

/* @return 0 or -errno. */
static int files_order(struct file_order *o)
{
    if (!func_calls_begin())
        return -EPERM;
    int rc = private_table_run(files_run, o);
    func_calls_end();
    return rc;
}

void *func_file_map(const char *name, size_t bytes, size_t ready)
{
    struct file_order o = {.name = name, .bytes = bytes, .to = ready};
    if (!func_process.to_trace)
        return own_memory_map_wiped(bytes);
    int rc = files_order(&o);
    if (rc < 0)
        errno = -rc;
    return rc < 0 ? NULL : o.mapped;
}

bool func_file_reserve(const char *name, size_t from, size_t to)
{
    struct file_order o = {.name = name, .from = from, .to = to};
    return !func_process.to_trace || files_order(&o) == 0;
}

void *func_file_window(const char *name, size_t from, size_t bytes)
{
    struct file_order o = {.name = name, .bytes = bytes, .from = from, .to = from + bytes, .window = true};
    return files_order(&o) == 0 ? o.mapped : NULL;
}
