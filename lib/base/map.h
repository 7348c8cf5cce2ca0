/* SPDX-License-Identifier: MIT */
/**
 * @file
 * What analysis keeps things in: arrays that grow, and a hash table from two numbers to an index into such an array.
 * Room: analysis. Before it: nothing; after it: everything here that remembers.
 */
#ifndef UPMU_ANALYSIS_MAP_H
#define UPMU_ANALYSIS_MAP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/** What map_find() gives for a key that is not there; no index is ever this large. */
#define MAP_NONE UINT32_MAX

struct map_entry {
    uint64_t a, b;
    uint32_t value; /**< MAP_NONE: an empty place */
};

/** All zero is an empty map. */
struct map {
    struct map_entry *entries;
    size_t n, cap; /**< cap is 0 or a power of two */
};

/** The index stored under (a, b), or MAP_NONE. */
uint32_t map_find(const struct map *m, uint64_t a, uint64_t b);

/** Store `value` under (a, b), in the place of an older one. @return false without memory; the map is as before. */
bool map_put(struct map *m, uint64_t a, uint64_t b, uint32_t value);

void map_free(struct map *m);

/** Room for one more element in an array of `n` elements of `size` bytes, of which `*cap` fit. The new array, NULL
 *  without memory (the old one stays valid). */
void *array_room(void *array, size_t n, size_t *cap, size_t size);

#endif
