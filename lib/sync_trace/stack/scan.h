/* SPDX-License-Identifier: MIT */
/**
 * @file
 * Unwinder for code without unwind tables, by scanning for function prologues.
 *
 * MIPS compilers write no unwind tables unless asked to. From a return address the code is read backwards until the function
 * allocates its stack frame; on the way are the stores of the return address and the frame pointer. This is a heuristic: each
 * return address found must follow a call, each frame must be above the one before, and the first doubt ends the walk.
 */
#ifndef UPMU_SYNC_SCAN_H
#define UPMU_SYNC_SCAN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/** The instruction set of the scanned code. */
enum scan_isa { SCAN_MIPS64, SCAN_ALPHA, SCAN_SW64 };

/** Access to code and stack: copies `bytes` at `address`, or returns false. */
struct scan_memory {
    bool (*read)(void *arg, uint64_t address, void *out, size_t bytes);
    void *arg;
};

/** A frame: the return address in it, and the registers there. */
struct scan_frame {
    uint64_t address, stack, pointer;
};

/** Step from a frame to its caller's. @return false: the caller cannot be found. */
bool scan_step(enum scan_isa isa, const struct scan_memory *memory, struct scan_frame *frame);

#endif
