/* SPDX-License-Identifier: MIT */
/** @file Instructions by which functions end. */
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

/** Whether there is a decoder for the instructions of this machine. */
bool sampling_has_exits(void);
/** Find the next instruction from `*offset` on by which a function may end: of the pieces `all`, in piece `one`. `*offset` becomes that of
 *  the instruction after it, and `*jumps` whether it is a jump, which may also lead on within the function. @return its address; 0: there is no further one; UINT64_MAX: unknown instructions follow. */
uint64_t sampling_next_exit(const struct exits_code *all, size_t n, size_t one, size_t *offset, bool *jumps);

#endif
