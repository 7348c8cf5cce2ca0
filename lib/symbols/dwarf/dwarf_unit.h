/* SPDX-License-Identifier: MIT */
/** @file Functions, inlined ones included, and lines of one compile unit by address. */
#ifndef UPMU_ANALYSIS_DWARF_UNIT_H
#define UPMU_ANALYSIS_DWARF_UNIT_H

#include "elfutils/elfutils.h"
#include "symbols/demangle.h"
#include "symbols/dwarf/dwarf_lines.h"
#include "symbols/frame.h"

/** A function of the unit, or a function inlined into another. */
struct dwarf_function {
    Dwarf_Die die;
    uint32_t parent; /**< the function it was inlined into; MAP_NONE for an out-of-line function */
    bool described;  /**< the other members are set */
    const char *name;
    const char *call_file; /**< call site of an inlined function */
    uint32_t call_line, call_column;
};

/** From `low` up to the next segment the innermost function is `function`, MAP_NONE if there is none. */
struct dwarf_segment {
    uint64_t low;
    uint32_t function;
};

struct dwarf_unit {
    Dwarf_Die lines_die; /**< unit whose line table is read: the one in the file itself */
    Dwarf_Die tree;      /**< unit whose functions are read: the same, or its split unit */
    bool read;           /**< the tables below were read */
    struct dwarf_function *functions;
    size_t n_functions, cap_functions;
    struct dwarf_segment *segments;
    size_t n_segments, cap_segments;
    struct dwarf_lines lines;
};

/** Read functions and lines. @return 0, also if parts of the unit are malformed; UPMU_E_NOMEM. */
int dwarf_unit_read(struct dwarf_unit *unit, const struct dwarf_sections *sections);
/** As symbols_find(); the unit must have been read. */
int dwarf_unit_find(struct dwarf_unit *unit, struct demangler *demangler, uint64_t address, struct symbol_frame *frames,
                    size_t max);
/** The innermost function that contains `address`, inlined or not: its index; MAP_NONE. */
uint32_t dwarf_unit_function_at(const struct dwarf_unit *unit, uint64_t address);
/** The out-of-line function that contains `address`; NULL. */
struct dwarf_function *dwarf_unit_function(struct dwarf_unit *unit, uint64_t address);
/** Its name and declaration. */
void dwarf_unit_describe(struct dwarf_unit *unit, struct dwarf_function *f, struct demangler *demangler,
                         struct symbol_frame *out);
/** tail_calls.c: as symbols_tail_caller(); the unit must have been read. @return 1 or 0. */
int dwarf_unit_tail_caller(struct dwarf_unit *unit, struct demangler *demangler, uint64_t address,
                           struct symbol_frame *out);
/** tail_calls.c: whether a function has a tail call, as far as call sites are in the debug information. */
bool dwarf_function_makes_tail_call(const struct dwarf_function *f);
/** passes_on.c: as symbols_passes_on(); the unit must have been read. */
bool dwarf_unit_passes_on(struct dwarf_unit *unit, uint64_t address);
void dwarf_unit_free(struct dwarf_unit *unit);

#endif
