/* SPDX-License-Identifier: MIT */
/** @file Static variables of a file, and the members in them, from debug information. */
#ifndef UPMU_ANALYSIS_DWARF_VARIABLES_H
#define UPMU_ANALYSIS_DWARF_VARIABLES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/map.h"
#include "base/text/textbuf.h"
#include "elfutils/elfutils.h"

/** All zero is empty. Units are read until a variable is found, each once, up to a limit. */
struct dwarf_variables {
    Dwarf_CU *unit; /**< the last one read; NULL: none yet */
    bool all_read;
    uint64_t visited; /**< entries so far */
    struct dwarf_variable {
        Dwarf_Die die;
        Dwarf_Die function; /**< the function it is in */
        bool in_function;
    } * all;
    size_t n, cap;
    struct map by_address;
};

/** The variable at `address` (of the file): its function, NULL if it is in none, and in `text` the way from its begin to
 *  the lock `offset` bytes behind: "[3].mutex"; and whether that ends at a byte, as in a pool of memory.
 *  @return 1; 0 if it is not known; UPMU_E_NOMEM. */
int dwarf_variables_find(struct dwarf_variables *v, Dwarf *dwarf, uint64_t address, uint64_t offset,
                         const char **function, struct textbuf *text, bool *is_bytes);
void dwarf_variables_free(struct dwarf_variables *v);

#endif
