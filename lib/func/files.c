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

#include "base/private_table.h"
#include "func/state.h"

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
};

static int files_run(void *arg)
{
    struct file_order *o = arg;
    int fd = files_open(o->name, o->bytes ? O_CREAT | O_EXCL : 0);
    int rc = fd < 0 ? fd : files_reserve(fd, o->from, o->to);
    if (rc == 0 && o->bytes) {
        o->mapped = mmap(NULL, o->bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_NORESERVE, fd, 0);
        rc = o->mapped == MAP_FAILED ? -errno : 0;
    }
    if (fd >= 0)
        close(fd);
    return rc;
}

void *func_file_map(const char *name, size_t bytes, size_t ready)
{
    struct file_order o = {.name = name, .bytes = bytes, .to = ready};
    if (!func_process.to_trace)
        return func_map_wiped(bytes);
    int rc = private_table_run(files_run, &o);
    if (rc < 0)
        errno = -rc;
    return rc < 0 ? NULL : o.mapped;
}

bool func_file_reserve(const char *name, size_t from, size_t to)
{
    struct file_order o = {.name = name, .from = from, .to = to};
    return !func_process.to_trace || private_table_run(files_run, &o) == 0;
}
