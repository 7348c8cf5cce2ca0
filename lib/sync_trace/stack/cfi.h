/* SPDX-License-Identifier: MIT */
/**
 * @file
 * Unwinding of another thread's stack by call frame information (.eh_frame), from a copy of its memory.
 *
 * Reads nothing but the copy, and the tables and code of loaded modules; takes no lock. Supports frames of compiled code,
 * whose canonical frame address is at a distance from the stack or frame pointer. x86-64 with glibc 2.35 or later;
 * elsewhere cfi_walk() finds no caller.
 */
#ifndef UPMU_SYNC_CFI_H
#define UPMU_SYNC_CFI_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/** A part of a stack. */
struct cfi_memory {
    uintptr_t at;
    size_t bytes;
    const void *copy;
};

/** Registers of a frame. */
struct cfi_frame {
    uintptr_t pc; /**< return address into it */
    uintptr_t sp; /**< after that return */
    uintptr_t bp;
};

/** Store return addresses from `f` outward. Of two parts with the same address the first is read. @return their number;
 *  `*whole`: the beginning of the thread was reached. */
uint32_t cfi_walk(struct cfi_frame f, const struct cfi_memory *parts, size_t n_parts, void **frames, uint32_t max,
                  bool *whole);

#endif
