/* SPDX-License-Identifier: MIT */
/** @file Imported functions of a loaded module: the words that hold their addresses, found and replaced. */
#ifndef UPMU_BASE_IMPORTS_H
#define UPMU_BASE_IMPORTS_H

#include <link.h>
#include <stdbool.h>
#include <stdint.h>

/** An imported function. */
struct import {
    const char *name;
    const char *version; /**< of the symbol; NULL: it has none */
    uintptr_t slot;      /**< address of the word */
    uintptr_t own;       /**< address of the module's own function of this name; 0: it has none */
};

/** Call `each` for all imports of a module, as dl_iterate_phdr() describes it. None where the ISA's relocations are not known.
 *  @return the first result that is not 0, or 0. The module must not be unloaded meanwhile. */
int imports_each(const struct dl_phdr_info *info,
                 int (*each)(const struct dl_phdr_info *info, const struct import *i, void *arg), void *arg);

/** Replace the word of an import; other threads see one of both addresses. Where the dynamic linker has made it read-only it becomes
 *  so again, and stays readable meanwhile. @return whether it was replaced. */
bool import_store(const struct dl_phdr_info *info, const struct import *i, uintptr_t function);

#endif
