/* SPDX-License-Identifier: MIT */
/* Compile units of a file by address; a unit is read at the first lookup in it. */
#include "symbols/dwarf/dwarf_index.h"

#include <dwarf.h>
#include <stdlib.h>

#include "symbols/dwarf/dwarf_unit.h"
#include "base/map.h"
#include "base/error.h"

struct unit_range {
    uint64_t low, high;
    uint64_t reach; /* largest `high` of this and all earlier ranges */
    uint32_t unit;
};

struct dwarf_index {
    struct demangler *demangler;
    struct dwarf_sections sections;
    struct dwarf_unit *units;
    size_t n_units, cap_units;
    struct unit_range *ranges; /* sorted by low */
    size_t n_ranges, cap_ranges;
};

static int dwarf_index_no_memory(void)
{
    return upmu_fail(UPMU_E_NOMEM, "out of memory while reading debug information");
}

static int dwarf_index_add_ranges(struct dwarf_index *index, Dwarf_Die *die, uint32_t unit)
{
    Dwarf_Addr base, low, high;
    ptrdiff_t at = 0;
    while ((at = dwarf_ranges(die, at, &base, &low, &high)) > 0) {
        if (low == 0 || high <= low)
            continue; /* code that the linker dropped */
        struct unit_range *all = array_reserve(index->ranges, index->n_ranges, &index->cap_ranges, sizeof *all);
        if (!all)
            return dwarf_index_no_memory();
        index->ranges = all;
        all[index->n_ranges++] = (struct unit_range){.low = low, .high = high, .unit = unit};
    }
    return 0;
}

static int dwarf_index_add_unit(struct dwarf_index *index, Dwarf_Die *lines, Dwarf_Die *split)
{
    struct dwarf_unit *all = array_reserve(index->units, index->n_units, &index->cap_units, sizeof *all);
    if (!all)
        return dwarf_index_no_memory();
    index->units = all;
    bool is_split = dwarf_tag(split) == DW_TAG_compile_unit;
    all[index->n_units] = (struct dwarf_unit){.lines_die = *lines, .tree = is_split ? *split : *lines};
    return dwarf_index_add_ranges(index, lines, (uint32_t)index->n_units++);
}

static int dwarf_range_by_low(const void *a, const void *b)
{
    const struct unit_range *x = a, *y = b;
    return x->low < y->low ? -1 : x->low > y->low;
}

static int dwarf_index_add_units(struct dwarf_index *index, Dwarf *dwarf)
{
    Dwarf_CU *cu = NULL;
    Dwarf_Half version;
    uint8_t type;
    Dwarf_Die die, split = {0};
    int rc = 0;
    while (rc == 0 && dwarf_get_units(dwarf, cu, &cu, &version, &type, &die, &split) == 0) {
        int tag = dwarf_tag(&die);
        if (tag == DW_TAG_compile_unit || tag == DW_TAG_skeleton_unit)
            rc = dwarf_index_add_unit(index, &die, &split);
        split = (Dwarf_Die){0};
    }
    return rc;
}

int dwarf_index_open(struct dwarf_index **out, Dwarf *dwarf, struct demangler *demangler)
{
    struct dwarf_index *index = calloc(1, sizeof *index);
    uint64_t reach = 0;
    if (!index)
        return dwarf_index_no_memory();
    index->demangler = demangler;
    dwarf_sections_find(&index->sections, dwarf);
    int rc = dwarf_index_add_units(index, dwarf);
    if (rc != 0) {
        dwarf_index_close(index);
        return rc;
    }
    if (index->n_ranges > 0)
        qsort(index->ranges, index->n_ranges, sizeof *index->ranges, dwarf_range_by_low);
    for (size_t i = 0; i < index->n_ranges; i++) {
        reach = index->ranges[i].high > reach ? index->ranges[i].high : reach;
        index->ranges[i].reach = reach;
    }
    *out = index;
    return 0;
}

/* The unit that covers the address, by the shortest search backwards. */
static struct dwarf_unit *dwarf_index_unit(struct dwarf_index *index, uint64_t address)
{
    size_t low = 0, high = index->n_ranges;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (index->ranges[middle].low <= address)
            low = middle + 1;
        else
            high = middle;
    }
    for (size_t i = low; i > 0 && index->ranges[i - 1].reach > address; i--)
        if (index->ranges[i - 1].high > address)
            return &index->units[index->ranges[i - 1].unit];
    return NULL;
}

int dwarf_index_find(struct dwarf_index *index, uint64_t address, struct symbol_frame *frames, size_t max)
{
    struct dwarf_unit *unit = dwarf_index_unit(index, address);
    if (!unit)
        return 0;
    int rc = unit->read ? 0 : dwarf_unit_read(unit, &index->sections);
    return rc == 0 ? dwarf_unit_find(unit, index->demangler, address, frames, max) : rc;
}

int dwarf_index_tail_caller(struct dwarf_index *index, uint64_t address, struct symbol_frame *out)
{
    struct dwarf_unit *unit = dwarf_index_unit(index, address - 1);
    if (!unit)
        return 0;
    int rc = unit->read ? 0 : dwarf_unit_read(unit, &index->sections);
    return rc == 0 ? dwarf_unit_tail_caller(unit, index->demangler, address, out) : rc;
}

int dwarf_index_passes_on(struct dwarf_index *index, uint64_t address)
{
    struct dwarf_unit *unit = dwarf_index_unit(index, address - 1);
    if (!unit)
        return 0;
    int rc = unit->read ? 0 : dwarf_unit_read(unit, &index->sections);
    return rc == 0 ? dwarf_unit_passes_on(unit, address) : rc;
}

void dwarf_index_close(struct dwarf_index *index)
{
    if (!index)
        return;
    for (size_t i = 0; i < index->n_units; i++)
        dwarf_unit_free(&index->units[i]);
    free(index->units);
    free(index->ranges);
    free(index);
}
