/* SPDX-License-Identifier: MIT */
/** @file Decoders of one instruction, by machine. */
#ifndef UPMU_SAMPLING_EXITS_STEP_H
#define UPMU_SAMPLING_EXITS_STEP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

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

exits_step_fn exits_x86_step, exits_aarch64_step, exits_riscv_step, exits_loongarch_step;

#endif
