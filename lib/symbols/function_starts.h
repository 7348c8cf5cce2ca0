/* SPDX-License-Identifier: MIT */
/** @file Begins of functions by unwind information, which a stripped file still has. */
#ifndef UPMU_SYMBOLS_FUNCTION_STARTS_H
#define UPMU_SYMBOLS_FUNCTION_STARTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "elfutils/elfutils.h"

/** All zero is empty. */
struct function_starts {
    const unsigned char *rows; /**< of .eh_frame_hdr, sorted; they live as long as the Elf */
    size_t n;
    uint64_t base; /**< address of .eh_frame_hdr, which rows are relative to */
    bool swapped;  /**< the file has the other byte order */
};

/** Find the table of `elf`. Without one, or with one that no linker of Linux writes, nothing is known. */
void function_starts_open(struct function_starts *f, Elf *elf);
/** Begin of the last function that begins at or before `address`. @return false if none is known. */
bool function_starts_find(const struct function_starts *f, uint64_t address, uint64_t *begin);
/** Its begin, and that of the function after it. @return false if they are not both known. */
bool function_starts_range(const struct function_starts *f, uint64_t address, uint64_t *begin, uint64_t *end);

#endif
