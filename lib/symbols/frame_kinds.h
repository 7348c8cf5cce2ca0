/* SPDX-License-Identifier: MIT */
/** @file Kind of code of a frame, from unwind information and linker stubs. */
#ifndef UPMU_ANALYSIS_FRAME_KINDS_H
#define UPMU_ANALYSIS_FRAME_KINDS_H

#include <stdbool.h>
#include <stdint.h>

#include "elfutils/elfutils.h"
#include "upmu/analysis.h"

/** All zero is empty. */
struct frame_kinds {
    Elf *elf;
    Dwarf_CFI *cfi; /**< NULL if there is none */
    bool asked;
    struct frame_stub {
        uint64_t slot;
        char *name;
    } * stubs; /**< names that were looked up */
    size_t n_stubs, cap_stubs;
};

/** @param elf must outlive it; NULL: nothing is known. */
void frame_kinds_open(struct frame_kinds *k, Elf *elf);
/** Kind of the code at `address` (of the file). `*return_at` is where its return address is, in bytes from the stack pointer; -1: not known.
 *  @return enum upmu_frame_kind, never UPMU_FRAME_JIT. */
int frame_kind_at(struct frame_kinds *k, uint64_t address, int32_t *return_at);
/** The name of the stub at `address`, "puts@plt", which lives as long as `k`; NULL if it is no stub, or its target
 *  is not known. */
const char *frame_stub_name(struct frame_kinds *k, uint64_t address);
void frame_kinds_free(struct frame_kinds *k);

#endif
