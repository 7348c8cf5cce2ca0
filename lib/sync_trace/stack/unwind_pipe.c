/* SPDX-License-Identifier: MIT */
/* The pipe of libunwind. */
#include "sync_trace/stack/unwind_pipe.h"

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/process/loaded_module.h"
#include "base/private_table.h"
#include "base/spare.h"

static struct {
    int fd[2]; /**< 0: not known */
    dev_t dev;
    ino_t ino;
    bool learned;
    struct loaded_module_range library;
    uint32_t gone; /* atomic */
} unwind_pipe;

struct sync_unwind_pipe sync_unwind_pipe = {-1, -1};

static bool pipe_end_is(int fd, dev_t dev, ino_t ino)
{
    struct stat st;
    return private_fstat(fd, &st) == 0 && S_ISFIFO(st.st_mode) && st.st_dev == dev && st.st_ino == ino;
}

/* Whether the functions that libunwind calls are the wrappers in this library: versions of it write by syscall(). */
static bool pipe_calls_are_wrapped(void)
{
    static const char *const names[] = {"read", "write", "syscall"};
    struct loaded_module_range own = {.address = (uintptr_t)&unwind_pipe};
    bool wrapped = loaded_module_find(&own);
    for (size_t i = 0; wrapped && i < sizeof names / sizeof *names; i++) {
        uint64_t called = (uintptr_t)dlsym(RTLD_DEFAULT, names[i]);
        wrapped = called >= own.start && called < own.end;
    }
    return wrapped;
}

void sync_unwind_pipe_raise(int fd[2], uintptr_t site)
{
    struct rlimit limit;
    int saved = errno, low[2] = {fd[0], fd[1]};
    if (site < unwind_pipe.library.start || site >= unwind_pipe.library.end || unwind_pipe.fd[1] != 0 ||
        getrlimit(RLIMIT_NOFILE, &limit) != 0)
        return;
    int base = spare_descriptors_from(limit.rlim_cur), reads = fcntl(low[0], F_DUPFD_CLOEXEC, base),
        writes = fcntl(low[1], F_DUPFD_CLOEXEC, base);
    if (reads >= 0 && writes >= 0) {
        unwind_pipe.fd[0] = fd[0] = reads;
        unwind_pipe.fd[1] = fd[1] = writes;
        reads = low[0];
        writes = low[1];
    }
    if (reads >= 0)
        close(reads);
    if (writes >= 0)
        close(writes);
    errno = saved;
}

/* If they were not raised, the numbers are the lowest free ones: those that a pipe made before the walk has. */
bool sync_unwind_pipe_learn(bool (*walk)(void), const void *libunwind)
{
    struct stat st;
    int fd[2];
    bool probed = pipe2(fd, O_CLOEXEC) == 0;
    if (probed) {
        close(fd[0]);
        close(fd[1]);
    }
    unwind_pipe.library.address = (uintptr_t)libunwind;
    bool found = loaded_module_find(&unwind_pipe.library);
    if (!walk())
        return false;
    if (unwind_pipe.fd[1] != 0)
        memcpy(fd, unwind_pipe.fd, sizeof fd);
    else if (!probed)
        return true;
    if (private_fstat(fd[0], &st) != 0 || !pipe_end_is(fd[0], st.st_dev, st.st_ino) ||
        !pipe_end_is(fd[1], st.st_dev, st.st_ino))
        return true;
    memcpy(unwind_pipe.fd, fd, sizeof fd);
    unwind_pipe.dev = st.st_dev;
    unwind_pipe.ino = st.st_ino;
    unwind_pipe.learned = true;
    if (found && pipe_calls_are_wrapped())
        sync_unwind_pipe = (struct sync_unwind_pipe){.reads = fd[0], .writes = fd[1]};
    return true;
}

static bool pipe_check(void)
{
    int saved = errno;
    bool intact = pipe_end_is(unwind_pipe.fd[0], unwind_pipe.dev, unwind_pipe.ino) &&
                  pipe_end_is(unwind_pipe.fd[1], unwind_pipe.dev, unwind_pipe.ino);
    errno = saved;
    if (!intact)
        __atomic_store_n(&unwind_pipe.gone, 1, __ATOMIC_RELAXED);
    return intact;
}

bool sync_unwind_pipe_is_intact(void)
{
    if (!unwind_pipe.learned)
        return true;
    if (__atomic_load_n(&unwind_pipe.gone, __ATOMIC_RELAXED))
        return false;
    return sync_unwind_pipe.reads >= 0 || pipe_check();
}

bool sync_unwind_pipe_refuses(uintptr_t site)
{
    return site >= unwind_pipe.library.start && site < unwind_pipe.library.end &&
           (__atomic_load_n(&unwind_pipe.gone, __ATOMIC_RELAXED) || !pipe_check());
}
