/* SPDX-License-Identifier: MIT */
/*
 * Private memory of the recorder.
 *
 * Mappings are listed in chunks, which are mapped, too, and never unmapped. Tables are sparse: the kernel is asked which of
 * their pages are there. Nothing takes a lock: a signal handler may map memory while its thread does.
 */
#include "base/own_memory.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

enum {
    CHUNK = 1024, /* mappings */
    CHUNKS = 64,
    PAGES_AT_ONCE = 4096,
};

struct own_mapping {
    void *at; /* NULL: unmapped, or not listed yet */
    size_t bytes;
};

static struct own_mapping *chunks[CHUNKS];
static uint32_t n_mappings; /* at most CHUNK * CHUNKS are listed */
static uint32_t spare;      /* 1 + the place of a mapping that was unmapped, to be used again; 0: none is known */
static bool incomplete;     /* a mapping is not in the list */

static void *memory_map(size_t bytes, int flags)
{
    int saved = errno;
    void *p = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | flags, -1, 0);
    errno = saved;
    return p == MAP_FAILED ? NULL : p;
}

static void memory_unmap(void *memory, size_t bytes)
{
    int saved = errno;
    munmap(memory, bytes);
    errno = saved;
}

static struct own_mapping *memory_chunk(uint32_t i)
{
    struct own_mapping *chunk = __atomic_load_n(&chunks[i], __ATOMIC_ACQUIRE), *none = NULL;
    if (chunk)
        return chunk;
    chunk = memory_map(CHUNK * sizeof *chunk, 0);
    if (!chunk || __atomic_compare_exchange_n(&chunks[i], &none, chunk, false, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE))
        return chunk;
    memory_unmap(chunk, CHUNK * sizeof *chunk);
    return none;
}

static void memory_list(void *p, size_t bytes)
{
    uint32_t i = __atomic_exchange_n(&spare, 0, __ATOMIC_RELAXED);
    i = i ? i - 1 : __atomic_fetch_add(&n_mappings, 1, __ATOMIC_RELAXED);
    struct own_mapping *chunk = i < CHUNK * CHUNKS ? memory_chunk(i / CHUNK) : NULL;
    if (!chunk) {
        if (i >= CHUNK * CHUNKS)
            __atomic_store_n(&n_mappings, CHUNK * CHUNKS, __ATOMIC_RELAXED);
        __atomic_store_n(&incomplete, true, __ATOMIC_RELAXED);
        return;
    }
    chunk[i % CHUNK].bytes = bytes;
    __atomic_store_n(&chunk[i % CHUNK].at, p, __ATOMIC_RELEASE);
}

void *own_memory_map(size_t bytes, int flags)
{
    void *p = memory_map(bytes, flags);
    if (p)
        memory_list(p, bytes);
    return p;
}

void *own_memory_map_wiped(size_t bytes)
{
    int saved = errno;
    void *p = memory_map(bytes, MAP_NORESERVE);
    if (p && madvise(p, bytes, MADV_WIPEONFORK) != 0) {
        memory_unmap(p, bytes);
        p = NULL;
    }
    errno = saved;
    if (p)
        memory_list(p, bytes);
    return p;
}

/* The listed mapping `i`, NULL if there is none. */
static struct own_mapping *memory_at(uint32_t i)
{
    struct own_mapping *chunk = __atomic_load_n(&chunks[i / CHUNK], __ATOMIC_ACQUIRE);
    struct own_mapping *m = chunk ? &chunk[i % CHUNK] : NULL;
    return m && __atomic_load_n(&m->at, __ATOMIC_ACQUIRE) ? m : NULL;
}

static uint32_t memory_listed(void)
{
    uint32_t n = __atomic_load_n(&n_mappings, __ATOMIC_ACQUIRE);
    return n < CHUNK * CHUNKS ? n : CHUNK * CHUNKS;
}

/* The youngest are unmapped most often: tables that did not fit. */
void own_memory_unmap(void *memory, size_t bytes)
{
    for (uint32_t i = memory_listed(); i-- > 0;) {
        struct own_mapping *m = memory_at(i);
        if (!m || m->at != memory)
            continue;
        __atomic_store_n(&m->at, NULL, __ATOMIC_RELEASE);
        __atomic_store_n(&spare, i + 1, __ATOMIC_RELAXED);
        break;
    }
    memory_unmap(memory, bytes);
}

/* Bytes of a mapping in memory. @return false if the kernel does not report it. */
static bool memory_resident(const struct own_mapping *m, size_t page, uint64_t *sum)
{
    const size_t page_min = 4096; /* an emulator's machine has larger pages than its kernel, which fills this */
    unsigned char is_there[PAGES_AT_ONCE];
    for (size_t at = 0, n; at < m->bytes; at += n) {
        size_t left = m->bytes - at;
        n = left < PAGES_AT_ONCE * page_min ? left : PAGES_AT_ONCE * page_min;
        if (mincore((char *)m->at + at, n, is_there) != 0)
            return false;
        for (size_t i = 0; i * page < n; i++)
            *sum += is_there[i] & 1 ? page : 0;
    }
    return true;
}

uint64_t own_memory_count(void)
{
    size_t page = (size_t)sysconf(_SC_PAGESIZE);
    uint64_t sum = 0;
    int saved = errno;
    bool known = !__atomic_load_n(&incomplete, __ATOMIC_RELAXED);
    for (uint32_t i = 0; known && i < memory_listed(); i++) {
        struct own_mapping *m = memory_at(i);
        if (m && (known = memory_resident(m, page, &sum)))
            __atomic_store_n(&m->at, NULL, __ATOMIC_RELAXED);
    }
    errno = saved;
    return known ? sum : OWN_MEMORY_UNKNOWN;
}

/* Pages of address space in use, the first number in statm; 0 if it cannot be read. */
static uint64_t memory_pages_mapped(void)
{
    char text[64];
    int fd = open("/proc/self/statm", O_RDONLY | O_CLOEXEC);
    ssize_t n = fd < 0 ? -1 : read(fd, text, sizeof text - 1);
    if (fd >= 0)
        close(fd);
    text[n > 0 ? n : 0] = '\0';
    return strtoull(text, NULL, 10);
}

uint64_t own_memory_space_left(void)
{
    struct rlimit limit;
    int saved = errno;
    uint64_t left = UINT64_MAX;
    if (getrlimit(RLIMIT_AS, &limit) == 0 && limit.rlim_cur != RLIM_INFINITY) {
        uint64_t used = memory_pages_mapped() * (uint64_t)sysconf(_SC_PAGESIZE);
        left = used > 0 && limit.rlim_cur > used ? limit.rlim_cur - used : 0;
    }
    errno = saved;
    return left;
}
