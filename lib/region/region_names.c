/* SPDX-License-Identifier: MIT */
/*
 * Names of regions and their ids.
 *
 * Slots of the table are only ever filled: a lookup takes no lock and is signal safe; adding a name takes the process's
 * tiny lock once. A forked child keeps the table, so that handles keep their ids.
 */
#include <string.h>
#include <sys/mman.h>

#include "base/error.h"
#include "base/opts.h"
#include "base/own_memory.h"
#include "region/region.h"

enum { SLOTS = 4 * REGION_NAMES_MAX };

struct name {
    uint64_t hash;
    uint32_t length;
    char text[UPMU_REGION_NAME_MAX + 1];
};

struct name_table {
    uint32_t count;
    uint32_t slot[SLOTS];               /**< 1 + index into names, 0 if free */
    struct name name[REGION_NAMES_MAX]; /**< pages are used in order */
};

static struct name_table *table;

int region_names_start(void)
{
    if (table)
        return 0;
    void *memory = own_memory_map(sizeof *table, MAP_NORESERVE);
    if (!memory)
        return upmu_fail(UPMU_E_NOMEM, "out of memory for the table of region names");
    table = memory;
    return 0;
}

static uint64_t name_hash(const char *text, size_t *length)
{
    uint64_t hash = 14695981039346656037u;
    const char *p = text;
    for (; *p; p++)
        hash = (hash ^ (unsigned char)*p) * 1099511628211u;
    *length = (size_t)(p - text);
    return hash;
}

/* The stored text of a name: itself, or its beginning and its hash, so that long names stay distinct. */
static const char *name_stored_text(const char *name, size_t length, uint64_t hash, char *buffer, size_t *kept)
{
    if (length <= UPMU_REGION_NAME_MAX) {
        *kept = length;
        return name;
    }
    enum { DIGITS = 16, HEAD = UPMU_REGION_NAME_MAX - DIGITS - 1 };
    memcpy(buffer, name, HEAD);
    buffer[HEAD] = '~';
    for (int i = 0; i < DIGITS; i++)
        buffer[HEAD + 1 + i] = "0123456789abcdef"[hash >> (4 * (DIGITS - 1 - i)) & 15];
    *kept = UPMU_REGION_NAME_MAX;
    return buffer;
}

/* The id of the name; 0 if it is not in the table, and *free_slot is where it belongs. Each slot is read once: a free one may be
 * filled at any time, with another name. */
static uint32_t name_search(uint64_t hash, const char *text, size_t length, uint32_t **free_slot)
{
    for (uint32_t i = (uint32_t)(hash ^ hash >> 32) % SLOTS;; i = (i + 1) % SLOTS) {
        uint32_t id = __atomic_load_n(&table->slot[i], __ATOMIC_ACQUIRE);
        if (id == 0) {
            *free_slot = &table->slot[i];
            return 0;
        }
        const struct name *n = &table->name[id - 1];
        if (n->hash == hash && n->length == length && memcmp(n->text, text, length) == 0)
            return id;
    }
}

static uint32_t add_name(uint64_t hash, const char *text, size_t length)
{
    uint32_t *slot;
    tiny_lock_take(&upmu_regions.shared->lock);
    uint32_t id = name_search(hash, text, length, &slot); /* another thread may have added it */
    if (id == 0 && table->count < REGION_NAMES_MAX) {
        struct name *n = &table->name[table->count];
        n->hash = hash;
        n->length = (uint32_t)length;
        memcpy(n->text, text, length);
        id = table->count + 1;
        region_limits_name(id, text, length);
        __atomic_store_n(slot, id, __ATOMIC_RELEASE);
        __atomic_store_n(&table->count, id, __ATOMIC_RELEASE);
    }
    tiny_lock_give(&upmu_regions.shared->lock);
    return id;
}

static uint32_t region_name_lookup(const char *name, bool make, bool *cut)
{
    char buffer[UPMU_REGION_NAME_MAX + 1];
    size_t length, kept;
    uint64_t hash = name_hash(name, &length);
    const char *text = name_stored_text(name, length, hash, buffer, &kept);
    *cut = length > UPMU_REGION_NAME_MAX;
    uint32_t *slot;
    uint32_t id = name_search(hash, text, kept, &slot);
    return id || !make ? id : add_name(hash, text, kept);
}

uint32_t region_name_id(const char *name, bool *cut)
{
    return region_name_lookup(name, true, cut);
}

uint32_t region_name_find(const char *name)
{
    bool cut;
    return table && name ? region_name_lookup(name, false, &cut) : 0;
}

const char *region_name_text(uint32_t id)
{
    return id == 0 ? "" : table->name[id - 1].text;
}

size_t region_name_length(uint32_t id)
{
    return id == 0 ? 0 : table->name[id - 1].length;
}

uint32_t region_name_count(void)
{
    return table ? __atomic_load_n(&table->count, __ATOMIC_ACQUIRE) : 0;
}

size_t upmu_region_count(void)
{
    return region_name_count();
}

int upmu_region_name_at(size_t i, const char **name)
{
    if (!name)
        return argument_null(__func__, "name");
    *name = i < region_name_count() ? region_name_text((uint32_t)i + 1) : NULL;
    return *name ? 0 : UPMU_E_END;
}
