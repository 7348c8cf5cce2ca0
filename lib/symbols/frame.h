/* SPDX-License-Identifier: MIT */
/** @file What is known of an address: the functions there, and the kind of the code. */
#ifndef UPMU_SYMBOLS_FRAME_H
#define UPMU_SYMBOLS_FRAME_H

#include <stdbool.h>
#include <stdint.h>

/** One function at an address; strings live as long as the symbols. */
struct symbol_frame {
    const char *function; /**< NULL if not known */
    const char *file;     /**< NULL if not known */
    uint32_t line;        /**< 0 if not known */
    uint32_t column;      /**< 0 if not known */
    bool inlined;         /**< inlined into the next frame */
};

/** Kind of the code at an address, and its surroundings; strings live as long as the symbols. */
struct symbol_code {
    int kind;             /**< enum upmu_frame_kind */
    const char *stub;     /**< UPMU_FRAME_STUB: its name; NULL if not known */
    const char *before;   /**< the last function that begins before it, if none covers it; NULL */
    uint64_t from_before; /**< offset from its begin */
    int32_t return_at;    /**< bytes from the stack pointer to the return address, on x86-64; -1: not known */
    uint64_t
        begin; /**< nearest begin of a function at or before it, by symbols or unwind information; else the address */
};

#endif
