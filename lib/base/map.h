/* SPDX-License-Identifier: MIT */
/** @file Growing arrays, and a hash table from two numbers to an array index. */
#ifndef UPMU_BASE_MAP_H
#define UPMU_BASE_MAP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/** Returned by map_find() for a missing key; indices are always smaller. */
#define MAP_NONE UINT32_MAX

struct map_entry {
    uint64_t a, b;
    uint32_t value; /**< MAP_NONE: an empty entry */
};

/** All zero is an empty map. */
struct map {
    struct map_entry *entries;
    size_t n, cap; /**< cap is 0 or a power of two */
};

/** The index stored for (a, b), or MAP_NONE. */
uint32_t map_find(const struct map *m, uint64_t a, uint64_t b);

/** Store `value` for (a, b), replacing an older one. @return false without memory; the map is unchanged. */
bool map_put(struct map *m, uint64_t a, uint64_t b, uint32_t value);

void map_free(struct map *m);

/** Grow an array of `n` elements of `size` bytes and capacity `*cap` by at least one. @return the new array; NULL
 *  without memory (the old one stays valid). */
void *array_reserve(void *array, size_t n, size_t *cap, size_t size);

#endif
