/* SPDX-License-Identifier: MIT */
/**
 * @file
 * The line table of one compile unit. Room: analysis. Before it: the file's sections; after it: dwarf_unit.
 *
 * It is read here and not by libdw, which takes several times as long for what it also prepares, and reads all lines where
 * only a file's name is asked for. What is out of the ordinary is left to libdw.
 */
#ifndef UPMU_ANALYSIS_DWARF_LINES_H
#define UPMU_ANALYSIS_DWARF_LINES_H

#include <elfutils/libdw.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/** Sections of a file, as they lie in memory; those that are not there are empty. */
struct dwarf_sections {
    struct dwarf_bytes {
        const unsigned char *at;
        size_t n;
    } line, line_str, str;
    bool usual; /**< of this machine's byte order, and nothing is to be relocated */
};

/** Find them in the file that libdw has opened, which must live longer. */
void dwarf_sections_find(struct dwarf_sections *s, Dwarf *dwarf);

struct dwarf_row {
    uint64_t address;
    uint32_t line;
    uint32_t file;       /**< index of the unit's files */
    uint32_t order : 31; /**< place in the file's own table, as far as it matters */
    uint32_t end : 1;    /**< the first address after a sequence: no line */
    uint32_t column;
};

/** A source file; its whole path is put together when it is asked for. */
struct dwarf_source {
    const char *folder, *name; /**< NULL: there is no such file */
    char *path;
};

struct dwarf_lines {
    struct dwarf_row *rows; /**< by address; where one sequence ends the next may begin */
    size_t n_rows, cap_rows;
    struct dwarf_source *files;
    size_t n_files, cap_files;
    const char *base; /**< the unit's folder, which relative folders are below; NULL: not recorded */
};

/** Read the table of a unit, files and rows. @return 0, also if there is none or it makes no sense; UPMU_E_NOMEM. */
int dwarf_lines_read(struct dwarf_lines *lines, const struct dwarf_sections *s, Dwarf_Die *unit);
/** The path of a file; NULL if there is none, or no memory for it. Lives as long as the lines. */
const char *dwarf_lines_path(struct dwarf_lines *lines, uint64_t file);
/** The row that covers the address, NULL if none does. */
const struct dwarf_row *dwarf_lines_at(const struct dwarf_lines *lines, uint64_t address);
void dwarf_lines_free(struct dwarf_lines *lines);

#endif
