/* SPDX-License-Identifier: MIT */
/**
 * @file
 * Instructions by which functions end, by the machine of their file.
 *
 * A jump through a register or memory can also lead to a label of the function itself, and a conditional one does not always leave it.
 */
#ifndef UPMU_SAMPLING_EXITS_H
#define UPMU_SAMPLING_EXITS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "sampling/exits_step.h"

/** A piece of code of a function. */
struct exits_code {
    const unsigned char *at;
    size_t bytes;
    uint64_t address;
};

/** A machine. */
struct exits_machine {
    unsigned machine; /**< e_machine of its files */
    const char *name;
    const char *address; /**< the kernel's name for the address of an instruction, of the registers at a probe */
    exits_step_fn *step;
    bool marks_data; /**< symbols `$d` are at data within code */
};

/** The machine of a file with this e_machine. @return NULL: there is no decoder for its instructions. */
const struct exits_machine *sampling_exits(unsigned machine);
/** Find the next instruction from `*offset` on by which a function may end: of the pieces `all`, in piece `one`. `*offset` becomes that of
 *  the instruction after it, and `*jumps` whether it is a jump, which may also lead on within the function. @return its address; 0: there is no further one; UINT64_MAX: unknown instructions, or exits without a probe, follow. */
uint64_t sampling_next_exit(const struct exits_machine *m, const struct exits_code *all, size_t n, size_t one,
                            size_t *offset, bool *jumps);

#endif
