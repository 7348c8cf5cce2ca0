/* SPDX-License-Identifier: MIT */
/*
 * Functions that left the stack by a tail call, from debug information.
 *
 * A call site has its return address and the function called. If that function makes a tail call, another function
 * may be on the stack in its place.
 */
#include <dwarf.h>

#include "symbols/dwarf/dwarf_unit.h"
#include "base/map.h"

enum { CALL_DEPTH_MAX = 100 };

static bool is_call_site(Dwarf_Die *die)
{
    int tag = dwarf_tag(die);
    return tag == DW_TAG_call_site || tag == DW_TAG_GNU_call_site;
}

static bool is_tail_call(Dwarf_Die *die)
{
    return is_call_site(die) && (dwarf_hasattr(die, DW_AT_call_tail_call) || dwarf_hasattr(die, DW_AT_GNU_tail_call));
}

static bool tail_call_returns_to(Dwarf_Die *die, uint64_t address)
{
    Dwarf_Attribute attribute;
    Dwarf_Addr at;
    unsigned what = dwarf_tag(die) == DW_TAG_call_site ? DW_AT_call_return_pc : DW_AT_low_pc;
    return is_call_site(die) && !is_tail_call(die) && dwarf_attr(die, what, &attribute) &&
           dwarf_formaddr(&attribute, &at) == 0 && at == address;
}

/* Whether call sites of a function may be children of this DIE. */
static bool may_hold_calls(Dwarf_Die *die)
{
    int tag = dwarf_tag(die);
    return tag == DW_TAG_lexical_block || tag == DW_TAG_inlined_subroutine || tag == DW_TAG_try_block ||
           tag == DW_TAG_catch_block;
}

/* A call site within `die` that returns to `address`; with 0, one of a tail call. */
static bool find_call(Dwarf_Die *die, uint64_t address, unsigned depth, Dwarf_Die *found)
{
    Dwarf_Die child;
    if (depth > CALL_DEPTH_MAX || dwarf_child(die, &child) != 0)
        return false;
    do {
        if (address ? tail_call_returns_to(&child, address) : is_tail_call(&child)) {
            *found = child;
            return true;
        }
        if (may_hold_calls(&child) && find_call(&child, address, depth + 1, found))
            return true;
    } while (dwarf_siblingof(&child, &child) == 0);
    return false;
}

static bool tail_call_names_function(Dwarf_Die *call, Dwarf_Die *named)
{
    Dwarf_Attribute attribute;
    unsigned what = dwarf_tag(call) == DW_TAG_call_site ? DW_AT_call_origin : DW_AT_abstract_origin;
    return dwarf_attr(call, what, &attribute) && dwarf_formref_die(&attribute, named) != NULL;
}

/* Whether an out-of-line function is the named one, or an instance of it. */
static bool tail_call_is_same(Dwarf_Die *function, Dwarf_Die *named)
{
    static const unsigned origins[] = {DW_AT_abstract_origin, DW_AT_specification};
    Dwarf_Attribute attribute;
    Dwarf_Die origin;
    if (function->addr == named->addr)
        return true;
    for (size_t i = 0; i < sizeof origins / sizeof *origins; i++)
        if (dwarf_attr(function, origins[i], &attribute) && dwarf_formref_die(&attribute, &origin) &&
            origin.addr == named->addr)
            return true;
    return false;
}

static bool tail_call_has_code(Dwarf_Die *die)
{
    return dwarf_hasattr(die, DW_AT_low_pc) || dwarf_hasattr(die, DW_AT_ranges);
}

bool dwarf_function_makes_tail_call(const struct dwarf_function *f)
{
    Dwarf_Die function = f->die, tail;
    return find_call(&function, 0, 0, &tail);
}

int dwarf_unit_tail_caller(struct dwarf_unit *unit, struct demangler *demangler, uint64_t address,
                           struct symbol_frame *out)
{
    Dwarf_Die call, named, tail;
    struct dwarf_function *caller = dwarf_unit_function(unit, address - 1);
    if (!caller || !find_call(&caller->die, address, 0, &call) || !tail_call_names_function(&call, &named))
        return 0;
    for (size_t i = 0; i < unit->n_functions; i++) {
        struct dwarf_function *f = &unit->functions[i];
        if (f->parent != MAP_NONE || !tail_call_has_code(&f->die) || !tail_call_is_same(&f->die, &named))
            continue;
        if (!find_call(&f->die, 0, 0, &tail))
            return 0;
        dwarf_unit_describe(unit, f, demangler, out);
        return 1;
    }
    return 0;
}
