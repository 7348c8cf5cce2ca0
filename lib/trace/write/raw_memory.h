/* SPDX-License-Identifier: MIT */
/**
 * @file
 * Mapping of packets without the C library's functions.
 *
 * Communication libraries (UCX below MPICH) replace mmap(), munmap() and madvise() in the whole process with functions that take locks of
 * the program, which the recorder must not call while it writes an event.
 */
#ifndef UPMU_TRACE_RAW_MEMORY_H
#define UPMU_TRACE_RAW_MEMORY_H

#include <stddef.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/types.h>
#include <unistd.h>

#include "base/sanitizer.h"

#if defined(__LP64__) && defined(SYS_mmap) && !UNDER_ASAN && !UNDER_TSAN /* which follow memory by these functions */
/** mmap() of a file, for reading and writing, shared. */
static inline void *raw_map(size_t bytes, int fd, off_t offset)
{
    return (void *)syscall(SYS_mmap, NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, (long)fd, offset);
}

/** munmap(). */
static inline void raw_unmap(void *p, size_t bytes)
{
    (void)syscall(SYS_munmap, p, bytes); /* cannot fail for a mapping of ours */
}

/** madvise(). */
static inline int raw_advise(void *p, size_t bytes, int advice)
{
    return (int)syscall(SYS_madvise, p, bytes, (long)advice);
}
#else
static inline void *raw_map(size_t bytes, int fd, off_t offset)
{
    return mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, offset);
}

static inline void raw_unmap(void *p, size_t bytes)
{
    (void)munmap(p, bytes);
}

static inline int raw_advise(void *p, size_t bytes, int advice)
{
    return madvise(p, bytes, advice);
}
#endif

#endif
