/* SPDX-License-Identifier: MIT */
/*
 * Static variables of a file by address, and the members in them.
 *
 * There is no index of variables by address, so units are read one after another. Types are skipped; a limit on the number
 * of entries bounds the time for files of hundreds of megabytes, of which a variable may then have no members.
 */
#include "symbols/dwarf/dwarf_variables.h"

#include <dwarf.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "symbols/wrappers.h"

enum { VISITED_MAX = 4 << 20, VARIABLE_DEPTH_MAX = 50, DIMENSIONS_MAX = 8 };

static int variables_no_memory(void)
{
    return upmu_fail(UPMU_E_NOMEM, "out of memory while reading debug information");
}

/* -------------------------------------------------------------------------------------------------- variables */

/* The address of a variable that has a fixed one. */
static bool variable_address(Dwarf_Die *die, uint64_t *address)
{
    Dwarf_Attribute location, split;
    Dwarf_Op *ops;
    size_t n;
    Dwarf_Addr at;
    if (!dwarf_attr(die, DW_AT_location, &location) || dwarf_getlocation(&location, &ops, &n) != 0 || n != 1)
        return false;
    *address = ops[0].number;
    if (ops[0].atom == DW_OP_addr)
        return true;
    bool indexed = (ops[0].atom == DW_OP_addrx || ops[0].atom == DW_OP_GNU_addr_index) &&
                   dwarf_getlocation_attr(&location, &ops[0], &split) == 0 && dwarf_formaddr(&split, &at) == 0;
    *address = indexed ? at : 0;
    return indexed;
}

static int variables_add(struct dwarf_variables *v, Dwarf_Die *die, Dwarf_Die *function)
{
    uint64_t address;
    if (!variable_address(die, &address) || map_find(&v->by_address, 0, address) != MAP_NONE)
        return 0;
    struct dwarf_variable *all = array_reserve(v->all, v->n, &v->cap, sizeof *all);
    if (!all)
        return variables_no_memory();
    v->all = all;
    all[v->n] = (struct dwarf_variable){.die = *die, .in_function = function != NULL};
    if (function)
        all[v->n].function = *function;
    return map_put(&v->by_address, 0, address, (uint32_t)v->n++) ? 0 : variables_no_memory();
}

static int variables_walk(struct dwarf_variables *v, Dwarf_Die *parent, Dwarf_Die *function, unsigned depth)
{
    Dwarf_Die die;
    int rc = 0;
    if (depth > VARIABLE_DEPTH_MAX || dwarf_child(parent, &die) != 0)
        return 0;
    do {
        int tag = dwarf_tag(&die);
        if (tag == DW_TAG_variable)
            rc = variables_add(v, &die, function);
        else if (tag == DW_TAG_namespace || tag == DW_TAG_module || tag == DW_TAG_lexical_block)
            rc = variables_walk(v, &die, function, depth + 1);
        else if (tag == DW_TAG_subprogram)
            rc = variables_walk(v, &die, &die, depth + 1);
    } while (rc == 0 && ++v->visited < VISITED_MAX && dwarf_siblingof(&die, &die) == 0);
    return rc;
}

/* Reads the next unit. */
static int variables_read_unit(struct dwarf_variables *v, Dwarf *dwarf)
{
    Dwarf_Half version;
    uint8_t type;
    Dwarf_Die die, split = {0};
    v->all_read = v->visited >= VISITED_MAX || dwarf_get_units(dwarf, v->unit, &v->unit, &version, &type, &die, &split);
    if (v->all_read)
        return 0;
    bool is_split = dwarf_tag(&split) == DW_TAG_compile_unit;
    return variables_walk(v, is_split ? &split : &die, NULL, 0);
}

/* -------------------------------------------------------------------------------------------------------- types */

static bool variable_type(Dwarf_Die *die, Dwarf_Die *type)
{
    Dwarf_Attribute attribute;
    return dwarf_attr_integrate(die, DW_AT_type, &attribute) && dwarf_formref_die(&attribute, type);
}

static uint64_t type_size(Dwarf_Die *type)
{
    Dwarf_Word size;
    return dwarf_aggregate_size(type, &size) == 0 ? size : 0;
}

/* The numbers of elements of each dimension. @return how many dimensions, 0 if one is not known. */
static size_t array_dimensions(Dwarf_Die *array, uint64_t counts[DIMENSIONS_MAX])
{
    Dwarf_Die die;
    Dwarf_Attribute attribute;
    Dwarf_Word number;
    size_t n = 0;
    if (dwarf_child(array, &die) != 0)
        return 0;
    do {
        if (dwarf_tag(&die) != DW_TAG_subrange_type)
            continue;
        bool is_count = dwarf_hasattr(&die, DW_AT_count);
        if (n == DIMENSIONS_MAX || !dwarf_attr(&die, is_count ? DW_AT_count : DW_AT_upper_bound, &attribute) ||
            dwarf_formudata(&attribute, &number) != 0)
            return 0;
        counts[n++] = number + !is_count;
    } while (dwarf_siblingof(&die, &die) == 0);
    return n;
}

/* Appends the indices of the element at `*offset`, which becomes the offset in that element. */
static bool path_index(Dwarf_Die *array, Dwarf_Die *element, uint64_t *offset, struct textbuf *path)
{
    uint64_t counts[DIMENSIONS_MAX], size = type_size(element), inner;
    size_t n = array_dimensions(array, counts);
    if (n == 0 || size == 0)
        return false;
    uint64_t index = *offset / size;
    *offset %= size;
    for (size_t i = 0; i < n; i++) {
        inner = 1;
        for (size_t k = i + 1; k < n; k++)
            inner *= counts[k] ? counts[k] : 1;
        textbuf_printf(path, "[%llu]", (unsigned long long)(index / inner));
        index %= inner;
    }
    return true;
}

/* The member, or base class, that contains `*offset`, which becomes the offset in it. */
static bool member_at(Dwarf_Die *type, uint64_t *offset, Dwarf_Die *member)
{
    Dwarf_Die die, of;
    Dwarf_Attribute attribute;
    Dwarf_Word begin;
    if (dwarf_child(type, &die) != 0)
        return false;
    do {
        int tag = dwarf_tag(&die);
        if ((tag != DW_TAG_member && tag != DW_TAG_inheritance) || dwarf_hasattr(&die, DW_AT_external) ||
            !variable_type(&die, &of))
            continue;
        bool placed = dwarf_attr(&die, DW_AT_data_member_location, &attribute);
        begin = 0;
        if ((placed && dwarf_formudata(&attribute, &begin) != 0) || *offset < begin ||
            *offset - begin >= type_size(&of))
            continue;
        *offset -= begin;
        *member = die;
        return true;
    } while (dwarf_siblingof(&die, &die) == 0);
    return false;
}

/* Members of the C and C++ libraries, whose parts a program does not name. */
static bool is_reserved(const char *name)
{
    return name && name[0] == '_' && (name[1] == '_' || (name[1] >= 'A' && name[1] <= 'Z'));
}

static void path_append(Dwarf_Die *type, uint64_t offset, struct textbuf *path, unsigned depth)
{
    Dwarf_Die inner;
    const char *name = dwarf_diename(type);
    bool whole = offset == 0 && name && name_is_lock_class(name);
    switch (depth > VARIABLE_DEPTH_MAX || whole ? DW_TAG_base_type : dwarf_tag(type)) {
    case DW_TAG_typedef:
    case DW_TAG_const_type:
    case DW_TAG_volatile_type:
    case DW_TAG_atomic_type:
        if (variable_type(type, &inner))
            path_append(&inner, offset, path, depth + 1);
        return;
    case DW_TAG_array_type:
        if (variable_type(type, &inner) && path_index(type, &inner, &offset, path))
            path_append(&inner, offset, path, depth + 1);
        return;
    case DW_TAG_structure_type:
    case DW_TAG_class_type:
    case DW_TAG_union_type: {
        Dwarf_Die member;
        if (!member_at(type, &offset, &member) || !variable_type(&member, &inner))
            return;
        name = dwarf_tag(&member) == DW_TAG_member ? dwarf_diename(&member) : NULL;
        if (is_reserved(name))
            return;
        if (name)
            textbuf_printf(path, ".%s", name);
        path_append(&inner, offset, path, depth + 1);
        return;
    }
    default:
        if (offset > 0)
            textbuf_printf(path, "+0x%llx", (unsigned long long)offset);
    }
}

int dwarf_variables_find(struct dwarf_variables *v, Dwarf *dwarf, uint64_t address, uint64_t offset,
                         const char **function, struct textbuf *path)
{
    Dwarf_Die type;
    uint32_t at;
    int rc = 0;
    while ((at = map_find(&v->by_address, 0, address)) == MAP_NONE && rc == 0 && !v->all_read)
        rc = variables_read_unit(v, dwarf);
    if (at == MAP_NONE || !variable_type(&v->all[at].die, &type))
        return rc;
    *function = v->all[at].in_function ? dwarf_diename(&v->all[at].function) : NULL;
    path_append(&type, offset, path, 0);
    return path->failed ? variables_no_memory() : 1;
}

void dwarf_variables_free(struct dwarf_variables *v)
{
    free(v->all);
    map_free(&v->by_address);
    *v = (struct dwarf_variables){0};
}
