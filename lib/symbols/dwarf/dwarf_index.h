/* SPDX-License-Identifier: MIT */
/** @file Compile units of a file by address. */
#ifndef UPMU_ANALYSIS_DWARF_INDEX_H
#define UPMU_ANALYSIS_DWARF_INDEX_H

#include "elfutils/elfutils.h"
#include "symbols/demangle.h"
#include "symbols/frame.h"

struct dwarf_index;

/** Build the index of address ranges of the compilation units. @param dwarf,demangler must outlive it.
 *  @return 0; UPMU_E_NOMEM. */
int dwarf_index_open(struct dwarf_index **out, Dwarf *dwarf, struct demangler *demangler);
/** As symbols_find(). A frame may have a line and no function. */
int dwarf_index_find(struct dwarf_index *index, uint64_t address, struct symbol_frame *frames, size_t max);
/** As symbols_tail_caller(). */
int dwarf_index_tail_caller(struct dwarf_index *index, uint64_t address, struct symbol_frame *out);
/** As symbols_passes_on(). */
int dwarf_index_passes_on(struct dwarf_index *index, uint64_t address);
void dwarf_index_close(struct dwarf_index *index);

#endif
