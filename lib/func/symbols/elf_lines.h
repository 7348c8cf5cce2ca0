/* SPDX-License-Identifier: MIT */
/** @file Source files of functions, from an ELF file's line table (DWARF 2 to 5), without elfutils. */
#ifndef UPMU_FUNC_ELF_LINES_H
#define UPMU_FUNC_ELF_LINES_H

#include <stddef.h>
#include <stdint.h>

#include "func/symbols/elf_functions.h"

/** A run of instructions with ascending addresses in the table. */
struct elf_sequence {
    uint64_t low, high;
    size_t unit;    /**< offset of its unit's header */
    size_t program; /**< offset of its first opcode */
};

struct elf_lines {
    const unsigned char *table, *strings, *line_strings; /**< NULL: there is none */
    size_t table_bytes, strings_bytes, line_strings_bytes;
    struct elf_sequence *sequences;
    size_t n, cap;
};

/** Index the line table of a mapped file. Without debug information, or with a compressed section, there are no sequences. Signal safe. */
void elf_lines_map(struct elf_lines *l, const struct elf_functions *f);

/**
 * Path of the source that the code at an address is from, as the compiler recorded it: absolute, but with DWARF before 5 relative to
 * the directory of the compilation.
 * @param out   `bytes` bytes; a longer path loses its begin
 * @return its length; 0 if it is not known. Signal safe.
 */
size_t elf_lines_source(const struct elf_lines *l, uint64_t address, char *out, size_t bytes);

#endif
