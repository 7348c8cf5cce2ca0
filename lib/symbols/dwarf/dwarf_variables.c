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

enum { VISITED_MAX = 4 << 20, VARIABLE_DEPTH_MAX = 50, DIMENSIONS_MAX = 8, BASES_MAX = 8, PARTS_MAX = 1 << 16 };

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

/* The type itself: a unit may have a declaration that refers to the unit of the type. */
static void type_complete(Dwarf_Die *type)
{
    Dwarf_Attribute attribute;
    Dwarf_Die complete;
    if (dwarf_attr(type, DW_AT_signature, &attribute) && dwarf_formref_die(&attribute, &complete))
        *type = complete;
}

/* A type that only names or qualifies another one. */
static bool type_is_transparent(int tag)
{
    return tag == DW_TAG_typedef || tag == DW_TAG_const_type || tag == DW_TAG_volatile_type ||
           tag == DW_TAG_atomic_type;
}

static bool type_is_class(int tag)
{
    return tag == DW_TAG_structure_type || tag == DW_TAG_class_type || tag == DW_TAG_union_type;
}

/* Without what only names or qualifies it. @return its tag, DW_TAG_invalid if it is void. */
static int type_strip(Dwarf_Die *type)
{
    Dwarf_Die inner;
    unsigned depth = 0;
    while (type_is_transparent(dwarf_tag(type))) {
        if (++depth > VARIABLE_DEPTH_MAX || !variable_type(type, &inner))
            return DW_TAG_invalid;
        *type = inner;
    }
    type_complete(type);
    return dwarf_tag(type);
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

/* In bytes; 0 if it is not known. */
static uint64_t type_size(Dwarf_Die of)
{
    uint64_t counts[DIMENSIONS_MAX], n = 1;
    Dwarf_Word size;
    Dwarf_Die type = of, element;
    unsigned depth = 0;
    while (type_strip(&type) == DW_TAG_array_type) {
        size_t dimensions = array_dimensions(&type, counts);
        if (dimensions == 0 || ++depth > VARIABLE_DEPTH_MAX || !variable_type(&type, &element))
            return 0;
        for (size_t i = 0; i < dimensions; i++)
            n *= counts[i];
        type = element;
    }
    return dwarf_aggregate_size(&type, &size) == 0 ? n * size : 0;
}

/* An array of bytes, as the one that gives a pthread_barrier_t its size. */
static bool type_is_bytes(Dwarf_Die type)
{
    Dwarf_Die element;
    return type_strip(&type) == DW_TAG_array_type && variable_type(&type, &element) && type_size(element) == 1;
}

/* Appends the indices of the element at `*offset`, which becomes the offset in that element. */
static bool path_index(Dwarf_Die *array, Dwarf_Die *element, uint64_t *offset, struct textbuf *path)
{
    uint64_t counts[DIMENSIONS_MAX], size = type_size(*element), inner;
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

/* Where a member or base class begins in its class. @return false for a virtual base class, whose place is in a table of the program. */
static bool member_begin(Dwarf_Die *die, uint64_t *begin)
{
    Dwarf_Attribute attribute;
    Dwarf_Word number = 0;
    Dwarf_Op *ops;
    size_t n;
    *begin = 0;
    if (!dwarf_attr(die, DW_AT_data_member_location, &attribute))
        return !dwarf_hasattr(die, DW_AT_data_bit_offset);
    if (dwarf_formudata(&attribute, &number) != 0) {
        if (dwarf_getlocation(&attribute, &ops, &n) != 0 || n != 1 || ops[0].atom != DW_OP_plus_uconst)
            return false;
        number = ops[0].number; /* in DWARF 2 */
    }
    *begin = number;
    return true;
}

/* A member of a class, or of one of its base classes. */
struct member {
    Dwarf_Die die;
    uint64_t offset;            /* in it */
    Dwarf_Die bases[BASES_MAX]; /* the class that it is in, as base class of the one before */
    size_t n_bases;
    unsigned n_parts; /* read so far: damaged information may have classes that contain themselves */
};

/* The next member or base class of a class, from `die` on, with its type. */
static bool class_part(Dwarf_Die *die, Dwarf_Die *type, bool *is_base, struct member *m)
{
    do {
        int tag = dwarf_tag(die);
        *is_base = tag == DW_TAG_inheritance;
        if ((tag == DW_TAG_member || *is_base) && !dwarf_hasattr(die, DW_AT_external) && variable_type(die, type))
            return m->n_parts++ < PARTS_MAX;
    } while (dwarf_siblingof(die, die) == 0);
    return false;
}

/* An empty class, which has no place of its own as a base class or beside other members of a union. */
static bool class_is_empty(Dwarf_Die type, struct member *m)
{
    Dwarf_Die die, part;
    bool is_base;
    return type_is_class(type_strip(&type)) && (dwarf_child(&type, &die) != 0 || !class_part(&die, &part, &is_base, m));
}

/* The named member at `offset`. A base class that includes it by its size may not have it: it may be empty, or the next member be in
 * its padding. */
static bool class_member_at(Dwarf_Die *class, uint64_t offset, struct member *m, unsigned depth)
{
    Dwarf_Die die, type;
    uint64_t begin;
    bool is_base;
    if (depth > VARIABLE_DEPTH_MAX || dwarf_child(class, &die) != 0)
        return false;
    do {
        if (!class_part(&die, &type, &is_base, m))
            return false;
        if (!member_begin(&die, &begin) || offset < begin || offset - begin >= type_size(type) ||
            class_is_empty(type, m))
            continue;
        m->die = die;
        m->offset = offset - begin;
        if (!is_base && dwarf_diename(&die))
            return true;
        if (!type_is_class(type_strip(&type)) || m->n_bases == BASES_MAX)
            continue;
        if (is_base)
            m->bases[m->n_bases++] = type;
        if (class_member_at(&type, offset - begin, m, depth + 1))
            return true;
        m->n_bases -= is_base;
    } while (dwarf_siblingof(&die, &die) == 0);
    return false;
}

/* How many members of a class and its base classes have that name. */
static size_t class_members_named(Dwarf_Die *class, const char *name, struct member *m, unsigned depth)
{
    Dwarf_Die die, type;
    size_t n = 0;
    bool is_base;
    if (depth > VARIABLE_DEPTH_MAX || dwarf_child(class, &die) != 0)
        return 0;
    do {
        if (!class_part(&die, &type, &is_base, m))
            break;
        const char *other = is_base ? NULL : dwarf_diename(&die);
        if (other)
            n += strcmp(other, name) == 0;
        else if (type_is_class(type_strip(&type)))
            n += class_members_named(&type, name, m, depth + 1);
    } while (dwarf_siblingof(&die, &die) == 0);
    return n;
}

/* Members of the C and C++ libraries, whose parts a program does not name. */
static bool is_reserved(const char *name)
{
    return name[0] == '_' && (name[1] == '_' || (name[1] >= 'A' && name[1] <= 'Z'));
}

/* The way to a lock. */
struct path {
    struct textbuf *text;
    bool ends_at_byte; /* it is in memory without a type of its own */
};

static void path_append(Dwarf_Die *type, uint64_t offset, struct path *path, unsigned depth);

/* Two members of a class never have the same path: where a name is ambiguous, it is qualified by the base classes, and a reserved one
 * is left out only at the beginning of the class. */
static bool path_member(Dwarf_Die *class, uint64_t offset, struct path *path, unsigned depth)
{
    struct member member = {.n_bases = 0};
    Dwarf_Die type;
    if (!class_member_at(class, offset, &member, 0) || !variable_type(&member.die, &type))
        return false;
    const char *name = dwarf_diename(&member.die);
    if (is_reserved(name)) {
        if (member.offset != offset || type_is_bytes(type))
            return false;
        path_append(&type, offset, path, depth + 1);
        return true;
    }
    textbuf_printf(path->text, ".");
    bool ambiguous = member.n_bases > 0 && class_members_named(class, name, &member, 0) > 1;
    for (size_t i = 0; ambiguous && i < member.n_bases; i++) {
        const char *base = dwarf_diename(&member.bases[i]);
        textbuf_printf(path->text, "%s::", base ? base : "");
    }
    textbuf_printf(path->text, "%s", name);
    path_append(&type, member.offset, path, depth + 1);
    return true;
}

/* Appends the way to the lock, and as offset what is not known of it. */
static void path_append(Dwarf_Die *of, uint64_t offset, struct path *path, unsigned depth)
{
    Dwarf_Die type = *of, inner;
    type_complete(&type);
    const char *name = dwarf_diename(&type);
    int tag = dwarf_tag(&type);
    bool more = depth <= VARIABLE_DEPTH_MAX && !(offset == 0 && name && name_is_lock_class(name)), known = false;
    if (more && type_is_class(tag)) {
        known = path_member(&type, offset, path, depth);
    } else if (more && (type_is_transparent(tag) || tag == DW_TAG_array_type) && variable_type(&type, &inner)) {
        known = tag != DW_TAG_array_type || path_index(&type, &inner, &offset, path->text);
        if (known)
            path_append(&inner, offset, path, depth + 1);
    }
    if (!known && offset > 0)
        textbuf_printf(path->text, "+0x%llx", (unsigned long long)offset);
    path->ends_at_byte |= !known && type_size(type) == 1;
}

int dwarf_variables_find(struct dwarf_variables *v, Dwarf *dwarf, uint64_t address, uint64_t offset,
                         const char **function, struct textbuf *text, bool *is_bytes)
{
    struct path path = {.text = text};
    Dwarf_Die type;
    uint32_t at;
    int rc = 0;
    while ((at = map_find(&v->by_address, 0, address)) == MAP_NONE && rc == 0 && !v->all_read)
        rc = variables_read_unit(v, dwarf);
    if (at == MAP_NONE || !variable_type(&v->all[at].die, &type))
        return rc;
    *function = v->all[at].in_function ? dwarf_diename(&v->all[at].function) : NULL;
    path_append(&type, offset, &path, 0);
    *is_bytes = path.ends_at_byte;
    return text->failed ? variables_no_memory() : 1;
}

void dwarf_variables_free(struct dwarf_variables *v)
{
    free(v->all);
    map_free(&v->by_address);
    *v = (struct dwarf_variables){0};
}
