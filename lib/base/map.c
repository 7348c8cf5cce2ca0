/* SPDX-License-Identifier: MIT */
/* Growing arrays, and a hash table with open addressing. */
#include "base/map.h"

#include <stdlib.h>

enum { MAP_LEAST = 64 };

/* Addresses differ in their middle bits and ids in their low ones: mix all bits. */
static size_t map_hash(uint64_t a, uint64_t b)
{
    uint64_t h = (a ^ (b * 0x9e3779b97f4a7c15u)) * 0xbf58476d1ce4e5b9u;
    h ^= h >> 32;
    h *= 0x94d049bb133111ebu;
    return (size_t)(h ^ h >> 29);
}

/* The entry of the key, or the empty one for it; the map must not be full. */
static struct map_entry *map_entry_of(const struct map *m, uint64_t a, uint64_t b)
{
    for (size_t i = map_hash(a, b);; i++) {
        struct map_entry *e = &m->entries[i & (m->cap - 1)];
        if (e->value == MAP_NONE || (e->a == a && e->b == b))
            return e;
    }
}

uint32_t map_find(const struct map *m, uint64_t a, uint64_t b)
{
    return m->cap ? map_entry_of(m, a, b)->value : MAP_NONE;
}

static bool map_grow(struct map *m)
{
    struct map bigger = {.n = m->n, .cap = m->cap ? m->cap * 2 : MAP_LEAST};
    bigger.entries = calloc(bigger.cap, sizeof *bigger.entries);
    if (!bigger.entries)
        return false;
    for (size_t i = 0; i < bigger.cap; i++)
        bigger.entries[i].value = MAP_NONE;
    for (size_t i = 0; i < m->cap; i++)
        if (m->entries[i].value != MAP_NONE)
            *map_entry_of(&bigger, m->entries[i].a, m->entries[i].b) = m->entries[i];
    free(m->entries);
    *m = bigger;
    return true;
}

bool map_put(struct map *m, uint64_t a, uint64_t b, uint32_t value)
{
    /* At most three quarters are used, which keeps searches short. */
    if (m->n >= m->cap / 4 * 3 && !map_grow(m))
        return false;
    struct map_entry *e = map_entry_of(m, a, b);
    m->n += e->value == MAP_NONE;
    *e = (struct map_entry){.a = a, .b = b, .value = value};
    return true;
}

void map_free(struct map *m)
{
    free(m->entries);
    *m = (struct map){0};
}

void *array_reserve(void *array, size_t n, size_t *cap, size_t size)
{
    if (n < *cap)
        return array;
    size_t want = *cap ? *cap * 2 : 16;
    void *grown = want < MAP_NONE ? reallocarray(array, want, size) : NULL;
    if (grown)
        *cap = want;
    return grown;
}
