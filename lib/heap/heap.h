/* SPDX-License-Identifier: MIT */
/** @file Sampled allocations of the heap: state of the process and its threads, live blocks, and events. */
#ifndef UPMU_HEAP_STATE_H
#define UPMU_HEAP_STATE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define LIKELY(x) __builtin_expect(!!(x), 1)
#define UNLIKELY(x) __builtin_expect(!!(x), 0)

/** State of a thread. */
struct heap_tls {
    uint64_t left;   /**< bytes to allocate before the next sample */
    uint64_t random; /**< state of the generator; 0: the thread has allocated nothing so far */
    uint32_t busy;   /**< it is in the recorder: what it allocates is not sampled */
};
extern _Thread_local struct heap_tls heap_tls __attribute__((tls_model("initial-exec"), visibility("hidden")));

/** State of the process; a forked child inherits it. */
struct heap_process {
    uint32_t on;     /**< recording */
    uint32_t forks;  /**< of which this process is the child */
    uint32_t waits;  /**< it is a forked child that libupmu_sync does not record so far */
    uint64_t period; /**< mean number of bytes between two samples */
};
extern struct heap_process heap_process __attribute__((visibility("hidden")));

/* sample.c: called for an allocation of more than `heap_tls.left`, or with blocks that may be sampled. They keep errno. */

/** The thread has allocated `bytes` at `address`, called from `site`; NULL: it failed. */
void heap_sample(void *address, size_t bytes, uintptr_t site);

/** A sampled block. */
struct heap_block {
    uintptr_t address; /**< 0: none */
    uint64_t bytes;
    uint64_t weight; /**< bytes allocated that it represents */
    uint32_t forks;  /**< it was allocated in the process with this number of forks */
};
/** Take the block out of the live ones before it is freed. @return its fields, with address 0 if it was not sampled. */
struct heap_block heap_take(void *address);
/** It was not freed after all. */
void heap_put_back(const struct heap_block *block);
/** It was freed by a call from `site`. */
void heap_freed(const struct heap_block *block, uintptr_t site);

/* blocks.c: the sampled blocks that are live. Lock-free, async-signal-safe, right in a forked child. */

enum { HEAP_FILTER_BITS = 14, HEAP_FILTER_BYTES = 1 << HEAP_FILTER_BITS };
/** Live blocks by a part of their hash: bytes, so that it fits into the nearest cache beside the program's own data. */
union heap_filter {
    uint8_t bytes[HEAP_FILTER_BYTES];
    uint32_t words[HEAP_FILTER_BYTES / sizeof(uint32_t)];
};
extern union heap_filter heap_filter __attribute__((visibility("hidden")));

static inline uint64_t heap_hash(uintptr_t address)
{
    return (uint64_t)(address >> 4) * UINT64_C(0x9e3779b97f4a7c15);
}

static inline size_t heap_filter_index(uint64_t hash)
{
    return (size_t)(hash >> (64 - HEAP_FILTER_BITS));
}

/** Whether the block may be sampled: no for all but a few of the others. */
static inline bool heap_blocks_maybe(const void *address)
{
    return __atomic_load_n(&heap_filter.bytes[heap_filter_index(heap_hash((uintptr_t)address))], __ATOMIC_RELAXED) != 0;
}

/** From now on the block may be sampled, as far as heap_blocks_maybe() is concerned. */
void heap_blocks_suspect(const void *address);
/** @return false: too many blocks near it are live. */
bool heap_blocks_put(const struct heap_block *block);
/** Remove and return a block; one thread at most gets it. */
bool heap_blocks_take(uintptr_t address, struct heap_block *out);

#endif
