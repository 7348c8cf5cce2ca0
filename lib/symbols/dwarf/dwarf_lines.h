/* SPDX-License-Identifier: MIT */
/**
 * @file
 * Line table of one compile unit.
 *
 * libdw takes several times as long for the same table, since it prepares more, and reads all lines where only a file
 * name is needed. Unusual tables are left to libdw.
 */
#ifndef UPMU_ANALYSIS_DWARF_LINES_H
#define UPMU_ANALYSIS_DWARF_LINES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "elfutils/elfutils.h"

/** Sections of a file in memory; a missing section is empty. */
struct dwarf_sections {
    struct dwarf_bytes {
        const unsigned char *at;
        size_t n;
    } line, line_str, str;
    bool usual; /**< native byte order and no relocations */
};

/** Find them in a file opened by libdw, which must outlive them. */
void dwarf_sections_find(struct dwarf_sections *s, Dwarf *dwarf);

struct dwarf_row {
    uint64_t address;
    uint32_t line;
    uint32_t file;       /**< index in the unit's files */
    uint32_t order : 31; /**< the part of the row number that matters */
    uint32_t end : 1;    /**< first address after a sequence: no line */
    uint32_t column;
};

/** A source file; its full path is built at the first lookup. */
struct dwarf_source {
    const char *folder, *name; /**< NULL: there is no such file */
    char *path;
};

struct dwarf_lines {
    struct dwarf_row *rows; /**< by address; the next sequence may begin where one ends */
    size_t n_rows, cap_rows;
    struct dwarf_source *files;
    size_t n_files, cap_files;
    const char *base; /**< the unit's folder, which relative folders are below; NULL: not recorded */
};

/** Read the files and rows of a unit. @return 0, also if there is no table or it is malformed; UPMU_E_NOMEM. */
int dwarf_lines_read(struct dwarf_lines *lines, const struct dwarf_sections *s, Dwarf_Die *unit);
/** The path of a file; NULL if there is none, or without memory. Lives as long as the lines. */
const char *dwarf_lines_path(struct dwarf_lines *lines, uint64_t file);
/** The row that covers the address, NULL if there is none. */
const struct dwarf_row *dwarf_lines_at(const struct dwarf_lines *lines, uint64_t address);
void dwarf_lines_free(struct dwarf_lines *lines);

#endif
