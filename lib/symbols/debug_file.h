/* SPDX-License-Identifier: MIT */
/** @file Files of a module: the module itself and its separate debug file, each only if it is the recorded one. */
#ifndef UPMU_ANALYSIS_DEBUG_FILE_H
#define UPMU_ANALYSIS_DEBUG_FILE_H

#include "base/text/textbuf.h"
#include "elfutils/elfutils.h"

/** An open ELF file; `elf` is NULL if there is none. */
struct elf_file {
    int fd;
    Elf *elf;
};

/** Open a file that any user may have made for reading, without the effects of opening a device, or waiting at a FIFO. @return a
 *  descriptor, or -errno (-ENOEXEC: not a regular file). */
int elf_file_open_regular(const char *path);

/** Open the module at `path`, which must have the build-id `build_id` (hexadecimal, "" = not known: any file is
 *  accepted). If it cannot be used, `file->elf` is NULL and `why` has the reason. */
void module_file_open(struct elf_file *file, const char *path, const char *build_id, struct textbuf *why);

/** Open the separate debug file: by build-id below `debug_dir`, then by the module's .gnu_debuglink (beside it, in
 *  .debug, below `debug_dir`). `module->elf` may be NULL. If none fits, `file->elf` is NULL; `why` has the reason if
 *  one is too large to be checked. */
void debug_file_open(struct elf_file *file, const struct elf_file *module, const char *path, const char *build_id,
                     const char *debug_dir, struct textbuf *why);

/** Whether the file has DWARF of its own. */
bool elf_file_has_dwarf(const struct elf_file *file);

/** Whether its compressed sections fit the memory limit; if not, `why` has the reason. */
bool elf_file_fits(const struct elf_file *file, const char *path, struct textbuf *why);

void elf_file_close(struct elf_file *file);

#endif
