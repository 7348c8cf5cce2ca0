/* SPDX-License-Identifier: MIT */
/*
 * Functions of one compile unit as a sorted table of segments.
 *
 * The functions of a unit are nested intervals: an inlined function is inside its caller. They are split once into
 * disjoint segments; a lookup is one bisection, and the parents of the function found are the inlined calls.
 */
#include "symbols/dwarf/dwarf_unit.h"

#include <dwarf.h>
#include <stdlib.h>

#include "base/map.h"
#include "base/error.h"
#include "symbols/dwarf/die.h"
#include "symbols/dwarf/function_name.h"

enum { DIE_DEPTH_MAX = 200 }; /* no compiler nests this deep; damaged files may */

/* An address range of a function, while the unit is read. */
struct span {
    uint64_t low, high;
    uint32_t function;
    uint32_t depth;
};

struct unit_reader {
    struct dwarf_unit *unit;
    struct span *spans;
    size_t n_spans, cap_spans;
};

static int unit_no_memory(void)
{
    return upmu_fail(UPMU_E_NOMEM, "out of memory while reading debug information");
}

/* -------------------------------------------------------------------------------------------------- functions */

static int unit_add_spans(struct unit_reader *r, Dwarf_Die *die, uint32_t function, uint32_t depth)
{
    Dwarf_Addr base, low, high;
    ptrdiff_t at = 0;
    while ((at = dwarf_ranges(die, at, &base, &low, &high)) > 0) {
        /* Functions that the linker dropped remain at address 0. */
        if (low == 0 || high <= low)
            continue;
        struct span *spans = array_reserve(r->spans, r->n_spans, &r->cap_spans, sizeof *spans);
        if (!spans)
            return unit_no_memory();
        r->spans = spans;
        spans[r->n_spans++] = (struct span){.low = low, .high = high, .function = function, .depth = depth};
    }
    return 0;
}

static int unit_add_function(struct unit_reader *r, Dwarf_Die *die, uint32_t parent, uint32_t depth)
{
    struct dwarf_unit *u = r->unit;
    struct dwarf_function *all = array_reserve(u->functions, u->n_functions, &u->cap_functions, sizeof *all);
    if (!all)
        return unit_no_memory();
    u->functions = all;
    all[u->n_functions] = (struct dwarf_function){.die = *die, .parent = parent};
    return unit_add_spans(r, die, (uint32_t)u->n_functions++, depth);
}

/* Whether the entry may contain code; most of a unit are types, which are skipped. */
static bool die_may_hold_code(int tag)
{
    switch (tag) {
    case DW_TAG_subprogram:
    case DW_TAG_inlined_subroutine:
    case DW_TAG_lexical_block:
    case DW_TAG_try_block:
    case DW_TAG_catch_block:
    case DW_TAG_namespace:
    case DW_TAG_module:
        return true;
    default:
        return false;
    }
}

static int unit_walk(struct unit_reader *r, Dwarf_Die *parent_die, uint32_t parent, uint32_t depth)
{
    Dwarf_Die die;
    int rc = 0;
    if (depth > DIE_DEPTH_MAX || dwarf_child(parent_die, &die) != 0)
        return 0;
    do {
        int tag = dwarf_tag(&die);
        uint32_t inside = parent;
        if (!die_may_hold_code(tag))
            continue;
        if (tag == DW_TAG_subprogram || tag == DW_TAG_inlined_subroutine) {
            inside = (uint32_t)r->unit->n_functions;
            /* A nested function is called, not inlined. */
            rc = unit_add_function(r, &die, tag == DW_TAG_subprogram ? MAP_NONE : parent, depth);
        }
        if (rc == 0)
            rc = unit_walk(r, &die, inside, depth + 1);
    } while (rc == 0 && dwarf_siblingof(&die, &die) == 0);
    return rc;
}

static int span_by_low_and_depth(const void *a, const void *b)
{
    const struct span *x = a, *y = b;
    if (x->low != y->low)
        return x->low < y->low ? -1 : 1;
    if (x->depth != y->depth)
        return x->depth < y->depth ? -1 : 1;
    return x->function < y->function ? -1 : x->function > y->function;
}

/* The array is large enough: each span makes at most two segments. */
static void unit_add_segment(struct dwarf_unit *u, uint64_t low, uint32_t function)
{
    if (u->n_segments > 0 && u->segments[u->n_segments - 1].low == low)
        u->n_segments--;
    u->segments[u->n_segments++] = (struct dwarf_segment){.low = low, .function = function};
}

/* `open` are the spans around the present address, outermost first. */
static void span_close(struct dwarf_unit *u, struct span *open, size_t *n_open)
{
    uint64_t high = open[--*n_open].high;
    unit_add_segment(u, high, *n_open > 0 ? open[*n_open - 1].function : MAP_NONE);
}

/* Cut nested spans into disjoint segments, each with its innermost function, for a binary search. */
static int unit_make_segments(struct unit_reader *r)
{
    struct dwarf_unit *u = r->unit;
    size_t n_open = 0;
    if (r->n_spans == 0)
        return 0;
    struct span *open = calloc(r->n_spans, sizeof *open);
    u->segments = calloc(2 * r->n_spans, sizeof *u->segments);
    if (!open || !u->segments) {
        free(open);
        return unit_no_memory();
    }
    qsort(r->spans, r->n_spans, sizeof *r->spans, span_by_low_and_depth);
    for (size_t i = 0; i < r->n_spans; i++) {
        struct span s = r->spans[i];
        while (n_open > 0 && open[n_open - 1].high <= s.low)
            span_close(u, open, &n_open);
        if (n_open > 0 && s.high > open[n_open - 1].high)
            s.high = open[n_open - 1].high;
        open[n_open++] = s;
        unit_add_segment(u, s.low, s.function);
    }
    while (n_open > 0)
        span_close(u, open, &n_open);
    free(open);
    return 0;
}

int dwarf_unit_read(struct dwarf_unit *unit, const struct dwarf_sections *sections)
{
    struct unit_reader r = {.unit = unit};
    int rc = unit_walk(&r, &unit->tree, MAP_NONE, 0);
    if (rc == 0)
        rc = unit_make_segments(&r);
    if (rc == 0)
        rc = dwarf_lines_read(&unit->lines, sections, &unit->lines_die);
    free(r.spans);
    unit->read = rc == 0;
    return rc;
}

void dwarf_unit_free(struct dwarf_unit *unit)
{
    free(unit->functions);
    free(unit->segments);
    dwarf_lines_free(&unit->lines);
}

/* ---------------------------------------------------------------------------------------------------- look-up */

uint32_t dwarf_unit_function_at(const struct dwarf_unit *u, uint64_t address)
{
    size_t low = 0, high = u->n_segments;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (u->segments[middle].low <= address)
            low = middle + 1;
        else
            high = middle;
    }
    return low > 0 ? u->segments[low - 1].function : MAP_NONE;
}

static uint32_t die_number_32(Dwarf_Die *die, unsigned int what)
{
    Dwarf_Word number = die_number(die, what);
    return number <= UINT32_MAX ? (uint32_t)number : 0;
}

/* A split unit has a file table of its own. */
static const char *unit_file(struct dwarf_unit *unit, Dwarf_Word file)
{
    Dwarf_Files *files;
    size_t n = 0;
    if (unit->tree.cu == unit->lines_die.cu)
        return dwarf_lines_path(&unit->lines, file);
    return dwarf_getsrcfiles(&unit->tree, &files, &n) == 0 && file < n ? dwarf_filesrc(files, (size_t)file, NULL, NULL)
                                                                       : NULL;
}

/* Attributes needed repeatedly are looked up once. */
static void unit_describe_function(struct dwarf_unit *unit, struct dwarf_function *f, struct demangler *demangler)
{
    if (f->described)
        return;
    f->described = true;
    f->name = dwarf_function_name(&f->die, demangler);
    if (f->parent == MAP_NONE)
        return;
    /* Call site of the inlined function: the location of the frame around it. */
    f->call_line = die_number_32(&f->die, DW_AT_call_line);
    f->call_column = die_number_32(&f->die, DW_AT_call_column);
    if (dwarf_hasattr(&f->die, DW_AT_call_file))
        f->call_file = unit_file(unit, die_number(&f->die, DW_AT_call_file));
}

int dwarf_unit_find(struct dwarf_unit *unit, struct demangler *demangler, uint64_t address, struct symbol_frame *frames,
                    size_t max)
{
    const struct dwarf_row *row = dwarf_lines_at(&unit->lines, address);
    uint32_t function = dwarf_unit_function_at(unit, address);
    size_t n = 0;
    if (max == 0 || (!row && function == MAP_NONE))
        return 0;
    frames[0] = (struct symbol_frame){0};
    if (row) {
        frames[0].file = dwarf_lines_path(&unit->lines, row->file);
        frames[0].line = row->line;
        frames[0].column = row->column;
    }
    while (function != MAP_NONE && n < max) {
        struct dwarf_function *f = &unit->functions[function];
        unit_describe_function(unit, f, demangler);
        frames[n].function = f->name;
        frames[n].inlined = f->parent != MAP_NONE;
        function = f->parent;
        if (++n < max && function != MAP_NONE)
            frames[n] = (struct symbol_frame){.file = f->call_file, .line = f->call_line, .column = f->call_column};
    }
    return n > 0 ? (int)n : 1;
}

struct dwarf_function *dwarf_unit_function(struct dwarf_unit *unit, uint64_t address)
{
    uint32_t function = dwarf_unit_function_at(unit, address);
    while (function != MAP_NONE && unit->functions[function].parent != MAP_NONE)
        function = unit->functions[function].parent;
    return function != MAP_NONE ? &unit->functions[function] : NULL;
}

/* From DWARF 5 on, file 0 is the unit's own source, and Clang refers to it. libdw takes 0 for no file, as it was before.
 * @return NULL if there is none. */
static const char *die_decl_file(Dwarf_Die *die)
{
    Dwarf_Attribute attribute;
    Dwarf_Word number = 0;
    Dwarf_Half version = 0;
    Dwarf_Die unit;
    Dwarf_Files *files;
    size_t n;
    const char *name = dwarf_decl_file(die);
    if (name || !dwarf_attr_integrate(die, DW_AT_decl_file, &attribute) || dwarf_formudata(&attribute, &number) != 0 ||
        number != 0 || !dwarf_cu_die(attribute.cu, &unit, &version, NULL, NULL, NULL, NULL, NULL) || version < 5 ||
        dwarf_getsrcfiles(&unit, &files, &n) != 0)
        return name;
    return dwarf_filesrc(files, 0, NULL, NULL);
}

void dwarf_unit_describe(struct dwarf_unit *unit, struct dwarf_function *f, struct demangler *demangler,
                         struct symbol_frame *out)
{
    Dwarf_Attribute attribute;
    Dwarf_Word line = 0;
    unit_describe_function(unit, f, demangler);
    *out = (struct symbol_frame){.function = f->name};
    if (dwarf_attr_integrate(&f->die, DW_AT_decl_line, &attribute) && dwarf_formudata(&attribute, &line) == 0 &&
        line <= UINT32_MAX)
        out->line = (uint32_t)line;
    out->file = die_decl_file(&f->die);
}
