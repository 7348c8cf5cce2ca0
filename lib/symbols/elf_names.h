/* SPDX-License-Identifier: MIT */
/** @file Names of functions and static variables from a file's symbol table. */
#ifndef UPMU_ANALYSIS_ELF_NAMES_H
#define UPMU_ANALYSIS_ELF_NAMES_H

#include <stddef.h>
#include <stdint.h>

#include "elfutils/elfutils.h"

struct elf_name {
    uint64_t low, high; /**< addresses of the file; high is past the end */
    uint64_t
        reach; /**< largest `high` of this and all earlier names; before sorting, of one without a size: the end of its section */
    const char *name; /**< lives as long as the Elf */
    uint32_t rank;    /**< of several names of one function the lowest is used */
};

/** All zero is empty. */
struct elf_names {
    struct elf_name *rows; /**< sorted by low, then by falling rank */
    size_t n, cap;
};

enum elf_names_kind { ELF_FUNCTIONS, ELF_VARIABLES };

/** Read the functions, or the static variables, of .symtab, or of .dynsym if there is none. @return 0, also without any;
 *  UPMU_E_NOMEM. */
int elf_names_read(struct elf_names *names, Elf *elf, enum elf_names_kind kind);
/** The function or variable that covers `address`, or NULL. */
const struct elf_name *elf_names_find(const struct elf_names *names, uint64_t address);
/** The last function that begins at or before `address`, even if it ends before; `*distance` is the offset. NULL
 *  if there is none. */
const char *elf_names_before(const struct elf_names *names, uint64_t address, uint64_t *distance);
void elf_names_free(struct elf_names *names);

#endif
