/* SPDX-License-Identifier: MIT */
/** @file Calls of the C library by libupmu, of which one fails: FAULT=FUNCTION:N:ERRNO. */
#ifndef UPMU_TESTS_INJECTOR_H
#define UPMU_TESTS_INJECTOR_H

/** Functions that can fail, ended by NULL; those of injector.c, and the system calls made by syscall(). */
#define INJECTOR_FUNCTIONS                                                                                             \
    "open", "fstat", "ftruncate", "fallocate", "posix_fallocate", "fstatfs", "pwrite", "pwritev", "write", "read",     \
        "mmap", "madvise", "mkdir", "rename", "link", "unlink", "readlink", "realpath", "fopen", "pipe2", "getrandom", \
        "fcntl", "close", "clone", "ioctl", "perf_event_open", "close_range", "openat"

/** Calls of the function so far. */
long injector_calls(void);

#endif
