/* SPDX-License-Identifier: MIT */
/* Calls of the C library by libupmu, of which one fails. The functions of this file come before the C library's, because they
 * are in the program. */
#include "injector.h"

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <link.h>
#include <sched.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/vfs.h>
#include <unistd.h>

enum { LIBRARIES_MAX = 8, SHORT_BYTES = 7 };

static struct {
    const char *function;
    long n; /* which of its calls */
    int err;
    long calls;
} wanted;

static struct {
    uintptr_t low, high;
} libraries[LIBRARIES_MAX];
static int n_libraries;

static int library_add(struct dl_phdr_info *info, size_t size, void *arg)
{
    (void)size;
    (void)arg;
    if (!strstr(info->dlpi_name, "libupmu") || n_libraries == LIBRARIES_MAX)
        return 0;
    for (int i = 0; i < info->dlpi_phnum; i++) {
        const ElfW(Phdr) *p = &info->dlpi_phdr[i];
        if (p->p_type != PT_LOAD || !(p->p_flags & PF_X))
            continue;
        libraries[n_libraries].low = info->dlpi_addr + p->p_vaddr;
        libraries[n_libraries].high = info->dlpi_addr + p->p_vaddr + p->p_memsz;
        n_libraries++;
    }
    return 0;
}

/* Before the constructors of the libraries, which make calls, too. */
static void injector_start(void)
{
    static char function[32];
    const char *fault = getenv("FAULT");
    if (n_libraries == 0)
        dl_iterate_phdr(library_add, NULL);
    if (fault && !wanted.function && sscanf(fault, "%31[a-z0-9_]:%ld:%d", function, &wanted.n, &wanted.err) == 3)
        wanted.function = function;
}

long injector_calls(void)
{
    return __atomic_load_n(&wanted.calls, __ATOMIC_RELAXED);
}

/* Whether this call is the one that fails; errno is set then. */
static int injector_fails(const char *function, const void *caller)
{
    uintptr_t at = (uintptr_t)caller;
    int ours = 0;
    if (n_libraries == 0)
        injector_start();
    if (!wanted.function || strcmp(function, wanted.function) != 0)
        return 0;
    for (int i = 0; i < n_libraries; i++)
        ours |= at >= libraries[i].low && at < libraries[i].high;
    if (!ours || __atomic_fetch_add(&wanted.calls, 1, __ATOMIC_RELAXED) != wanted.n)
        return 0;
    errno = wanted.err;
    return 1;
}

#define FAILS(function) injector_fails(function, __builtin_return_address(0))
#define REAL(function) real_function(#function)

static void *real_function(const char *name)
{
    void *found = dlsym(RTLD_NEXT, name);
    if (!found)
        abort();
    return found;
}

int open(const char *path, int flags, ...)
{
    va_list ap;
    va_start(ap, flags);
    unsigned mode = flags & O_CREAT ? va_arg(ap, unsigned) : 0;
    va_end(ap);
    return FAILS("open") ? -1 : (int)syscall(SYS_openat, (long)AT_FDCWD, path, (long)flags, (long)mode);
}

int fstat(int fd, struct stat *st)
{
    return FAILS("fstat") ? -1 : ((int (*)(int, struct stat *))REAL(fstat))(fd, st);
}

int ftruncate(int fd, off_t length)
{
    return FAILS("ftruncate") ? -1 : ((int (*)(int, off_t))REAL(ftruncate))(fd, length);
}

int fallocate(int fd, int mode, off_t offset, off_t length)
{
    return FAILS("fallocate") ? -1 : ((int (*)(int, int, off_t, off_t))REAL(fallocate))(fd, mode, offset, length);
}

int posix_fallocate(int fd, off_t offset, off_t length)
{
    return FAILS("posix_fallocate") ? errno : ((int (*)(int, off_t, off_t))REAL(posix_fallocate))(fd, offset, length);
}

/* Errno 0 stands for a short transfer. */
ssize_t pwrite(int fd, const void *bytes, size_t n, off_t offset)
{
    if (FAILS("pwrite")) {
        if (wanted.err != 0)
            return -1;
        n = n < SHORT_BYTES ? n : SHORT_BYTES;
    }
    return ((ssize_t(*)(int, const void *, size_t, off_t))REAL(pwrite))(fd, bytes, n, offset);
}

ssize_t pwritev(int fd, const struct iovec *parts, int n, off_t offset)
{
    if (FAILS("pwritev")) {
        if (wanted.err != 0)
            return -1;
        n = 1;
    }
    return ((ssize_t(*)(int, const struct iovec *, int, off_t))REAL(pwritev))(fd, parts, n, offset);
}

int fstatfs(int fd, struct statfs *system)
{
    return FAILS("fstatfs") ? -1 : ((int (*)(int, struct statfs *))REAL(fstatfs))(fd, system);
}

ssize_t write(int fd, const void *bytes, size_t n)
{
    if (FAILS("write")) {
        if (wanted.err != 0)
            return -1;
        n = n < SHORT_BYTES ? n : SHORT_BYTES;
    }
    return ((ssize_t(*)(int, const void *, size_t))REAL(write))(fd, bytes, n);
}

ssize_t read(int fd, void *bytes, size_t n)
{
    if (FAILS("read")) {
        if (wanted.err != 0)
            return -1;
        n = n < SHORT_BYTES ? n : SHORT_BYTES;
    }
    return ((ssize_t(*)(int, void *, size_t))REAL(read))(fd, bytes, n);
}

void *mmap(void *at, size_t length, int protection, int flags, int fd, off_t offset)
{
    if (FAILS("mmap"))
        return MAP_FAILED;
    return ((void *(*)(void *, size_t, int, int, int, off_t))REAL(mmap))(at, length, protection, flags, fd, offset);
}

int madvise(void *at, size_t length, int advice)
{
    return FAILS("madvise") ? -1 : ((int (*)(void *, size_t, int))REAL(madvise))(at, length, advice);
}

int mkdir(const char *path, mode_t mode)
{
    return FAILS("mkdir") ? -1 : ((int (*)(const char *, mode_t))REAL(mkdir))(path, mode);
}

int rename(const char *from, const char *to)
{
    return FAILS("rename") ? -1 : ((int (*)(const char *, const char *))REAL(rename))(from, to);
}

int link(const char *from, const char *to)
{
    return FAILS("link") ? -1 : ((int (*)(const char *, const char *))REAL(link))(from, to);
}

char *realpath(const char *path, char *resolved)
{
    return FAILS("realpath") ? NULL : ((char *(*)(const char *, char *))REAL(realpath))(path, resolved);
}

ssize_t getrandom(void *bytes, size_t n, unsigned flags)
{
    return FAILS("getrandom") ? -1 : ((ssize_t(*)(void *, size_t, unsigned))REAL(getrandom))(bytes, n, flags);
}

int fcntl(int fd, int command, ...)
{
    va_list ap;
    va_start(ap, command);
    void *argument = va_arg(ap, void *);
    va_end(ap);
    return FAILS("fcntl") ? -1 : ((int (*)(int, int, ...))REAL(fcntl))(fd, command, argument);
}

int close(int fd)
{
    bool fails = FAILS("close");
    int rc = ((int (*)(int))REAL(close))(fd);
    if (fails)
        errno = wanted.err;
    return fails ? -1 : rc;
}

int clone(int (*f)(void *), void *stack, int flags, void *argument, ...)
{
    if (FAILS("clone"))
        return -1;
    return ((int (*)(int (*)(void *), void *, int, void *, ...))REAL(clone))(f, stack, flags, argument, NULL, NULL,
                                                                             NULL);
}

int ioctl(int fd, unsigned long request, ...)
{
    va_list ap;
    va_start(ap, request);
    void *argument = va_arg(ap, void *);
    va_end(ap);
    return FAILS("ioctl") ? -1 : ((int (*)(int, unsigned long, ...))REAL(ioctl))(fd, request, argument);
}

ssize_t readlink(const char *path, char *to, size_t n)
{
    return FAILS("readlink") ? -1 : ((ssize_t(*)(const char *, char *, size_t))REAL(readlink))(path, to, n);
}

FILE *fopen(const char *path, const char *mode)
{
    return FAILS("fopen") ? NULL : ((FILE * (*)(const char *, const char *)) REAL(fopen))(path, mode);
}

int unlink(const char *path)
{
    return FAILS("unlink") ? -1 : ((int (*)(const char *))REAL(unlink))(path);
}

int pipe2(int fd[2], int flags)
{
    return FAILS("pipe2") ? -1 : ((int (*)(int *, int))REAL(pipe2))(fd, flags);
}

/* Names of system calls that are made by number; those with a function above have its name, too. */
static const char *name_of_number(long number)
{
    static const struct {
        long number;
        const char *name;
    } names[] = {
        {SYS_perf_event_open, "perf_event_open"},
        {SYS_close_range, "close_range"},
        {SYS_read, "read"},
        {SYS_openat, "openat"},
        {SYS_mmap, "mmap"},
        {SYS_madvise, "madvise"},
        {SYS_newfstatat, "fstat"},
        {SYS_statx, "fstat"},
    };
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (names[i].number == number)
            return names[i].name;
    return "";
}

long syscall(long number, ...)
{
    va_list ap;
    long a[6];
    va_start(ap, number);
    for (int i = 0; i < 6; i++)
        a[i] = va_arg(ap, long);
    va_end(ap);
    if (FAILS(name_of_number(number)))
        return -1;
    return ((long (*)(long, ...))REAL(syscall))(number, a[0], a[1], a[2], a[3], a[4], a[5]);
}
