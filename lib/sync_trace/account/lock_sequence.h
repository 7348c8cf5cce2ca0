/* SPDX-License-Identifier: MIT */
/**
 * @file
 * Numbers of sequences of held locks.
 *
 * The number of a sequence is a hash of its locks' keys in the order of acquisition. It is stored with the last lock, so that
 * one step computes the number of a sequence with one lock more. Two sequences share a number once in 2^60.
 */
#ifndef UPMU_SYNC_LOCK_SEQUENCE_H
#define UPMU_SYNC_LOCK_SEQUENCE_H

#include "sync_trace/state/thread.h"

/** Number of lifetimes of the locks at an address, by some of its bits: for locks that share an entry, sequences are only
 *  recorded again. 32 bits, because RISC-V has no smaller atomic addition without a library. */
enum { SYNC_GENERATIONS = 2048 };
extern uint32_t sync_generations[SYNC_GENERATIONS] __attribute__((visibility("hidden")));

static inline uint32_t *sync_generation(uintptr_t key)
{
    return &sync_generations[(key >> 3 ^ key >> 14) % SYNC_GENERATIONS];
}

/** To be called when a lock begins or ends at address `key`: sequences with that address get new numbers. */
static inline void sync_generation_next(uintptr_t key)
{
    __atomic_fetch_add(sync_generation(key), 1, __ATOMIC_RELAXED);
}

/** Number of the sequence `before` followed by `key`; never 0. */
static inline uint64_t sync_sequence_add(uint64_t before, uintptr_t key)
{
    uint64_t generation = __atomic_load_n(sync_generation(key), __ATOMIC_RELAXED);
    uint64_t h = (before ^ (key + (generation << 48))) * 0x9e3779b97f4a7c15u;
    return (h ^ h >> 29) | 1;
}

/** Number of the sequence of all locks that the thread holds; stores those of its prefixes that are not computed yet. Entries whose locks
 *  other threads have released are removed. */
uint64_t sync_sequence_held(struct sync_thread *t);

#endif
