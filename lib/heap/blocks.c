/* SPDX-License-Identifier: MIT */
/*
 * Table of the sampled blocks that are live.
 *
 * A block is in one of the WINDOW slots from its hash on. A slot is claimed by its address, after its other fields were written
 * under the address CLAIMED, and freed by the address 0; so no lock is held that a forked child could inherit. The filter has the
 * number of live blocks for each part of the hash: free() of a block that is not sampled reads one byte.
 */
#include "heap/heap.h"

enum { TABLE_BITS = 16, WINDOW = 32, CLAIMED = 1 };

static struct {
    uintptr_t address;
    uint64_t bytes, weight;
    uint32_t forks;
} table[(1u << TABLE_BITS) + WINDOW];

union heap_filter heap_filter;

/* By a whole word, since some machines lack atomic bytes. No byte overflows: the table has less than 40 slots for it. */
static void filter_add(uint64_t hash, uint32_t n)
{
    const size_t i = heap_filter_index(hash), lane = i % sizeof(uint32_t);
    const bool low_first = __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__;
    const unsigned shift = 8 * (unsigned)(low_first ? lane : sizeof(uint32_t) - 1 - lane);
    __atomic_fetch_add(&heap_filter.words[i / sizeof(uint32_t)], n << shift, __ATOMIC_ACQ_REL);
}

void heap_blocks_suspect(const void *address)
{
    filter_add(heap_hash((uintptr_t)address), 1);
}

bool heap_blocks_put(const struct heap_block *block)
{
    uint64_t hash = heap_hash(block->address);
    size_t home = hash >> (64 - TABLE_BITS);
    for (size_t i = home; i < home + WINDOW; i++) {
        uintptr_t empty = 0;
        if (!__atomic_compare_exchange_n(&table[i].address, &empty, CLAIMED, 0, __ATOMIC_ACQUIRE, __ATOMIC_RELAXED))
            continue;
        table[i].bytes = block->bytes;
        table[i].weight = block->weight;
        table[i].forks = block->forks;
        filter_add(hash, 1);
        __atomic_store_n(&table[i].address, block->address, __ATOMIC_RELEASE);
        return true;
    }
    return false;
}

bool heap_blocks_take(uintptr_t address, struct heap_block *out)
{
    uint64_t hash = heap_hash(address);
    size_t home = hash >> (64 - TABLE_BITS);
    for (size_t i = home; i < home + WINDOW; i++) {
        uintptr_t seen = address;
        if (__atomic_load_n(&table[i].address, __ATOMIC_RELAXED) != address ||
            !__atomic_compare_exchange_n(&table[i].address, &seen, CLAIMED, 0, __ATOMIC_ACQUIRE, __ATOMIC_RELAXED))
            continue;
        *out = (struct heap_block){address, table[i].bytes, table[i].weight, table[i].forks};
        filter_add(hash, (uint32_t)-1);
        __atomic_store_n(&table[i].address, 0, __ATOMIC_RELEASE);
        return true;
    }
    return false;
}
