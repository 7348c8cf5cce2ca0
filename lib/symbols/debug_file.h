/* SPDX-License-Identifier: MIT */
/**
 * @file
 * The files that speak of a module: the module itself and, where its debug information was split off, the file that has
 * it. A file is used only if it is the one that was recorded. Room: analysis. Before it: the trace's modules; after it:
 * elf_names and dwarf_index.
 */
#ifndef UPMU_ANALYSIS_DEBUG_FILE_H
#define UPMU_ANALYSIS_DEBUG_FILE_H

#include <libelf.h>

#include "base/textbuf.h"

/** An open ELF file; `elf` is NULL where there is none. */
struct elf_file {
    int fd;
    Elf *elf;
};

/** Open the module at `path`, which must have the build-id `build_id` (hexadecimal, "" = not known: taken as it is).
 *  Where it cannot be used `file->elf` stays NULL and `why` says why. */
void module_file_open(struct elf_file *file, const char *path, const char *build_id, struct textbuf *why);

/** Open the file with the debug information that was split off: by build-id below `debug_dir`, then by the module's
 *  .gnu_debuglink (beside it, in .debug, below `debug_dir`). `module->elf` may be NULL. `file->elf` stays NULL if none
 *  fits; `why` says so if one is too large to be checked. */
void debug_file_open(struct elf_file *file, const struct elf_file *module, const char *path, const char *build_id,
                     const char *debug_dir, struct textbuf *why);

/** Whether the file has DWARF of its own. */
bool elf_file_has_dwarf(const struct elf_file *file);

/** Whether its compressed sections can be inflated within the reader's budget of memory; if not, `why` says so. */
bool elf_file_fits(const struct elf_file *file, const char *path, struct textbuf *why);

void elf_file_close(struct elf_file *file);

#endif
