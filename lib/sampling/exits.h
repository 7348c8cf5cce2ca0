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

/** A piece of code of a function. */
struct exits_code {
    const unsigned char *at;
    size_t bytes;
    uint64_t address;
};

enum exits_kind {
    EXITS_NONE,     /**< it leads to the instruction after it, or returns there from a call */
    EXITS_RETURN,   /**< to the caller */
    EXITS_DIRECT,   /**< a jump to an address that it contains */
    EXITS_INDIRECT, /**< a jump to an address in a register or in memory */
    EXITS_REFUSED,  /**< an end that no probe sees: the kernel puts none there, or it is in another function */
};

/** An instruction. */
struct exits_step {
    size_t bytes; /**< its length; 0: it is unknown, or longer than the code */
    enum exits_kind kind;
    uint64_t by;      /**< EXITS_DIRECT: where it leads, relative to its own address */
    bool is_emulated; /**< the kernel emulates it under a probe, and does not execute it elsewhere with one more trap */
};

/** Decode the instruction at `at`, of at most `left` bytes. */
typedef struct exits_step exits_step_fn(const unsigned char *at, size_t left);

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

exits_step_fn exits_x86_step, exits_aarch64_step, exits_riscv_step, exits_loongarch_step;

#endif
