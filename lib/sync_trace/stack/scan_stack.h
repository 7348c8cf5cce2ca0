/* SPDX-License-Identifier: MIT */
/** @file Continuation of a walk in code without unwind tables. */
#ifndef UPMU_SYNC_SCAN_STACK_H
#define UPMU_SYNC_SCAN_STACK_H

#include <stdint.h>

/* SCAN_ISA: how code is scanned here; not defined where compilers write tables unasked. FRAME_REGISTER: DWARF's number. */
#if defined(__mips64)
#define SCAN_ISA SCAN_MIPS64
#define FRAME_REGISTER 30
#elif defined(__alpha__)
#define SCAN_ISA SCAN_ALPHA
#define FRAME_REGISTER 15
#elif defined(__sw_64__)
#define SCAN_ISA SCAN_SW64
#define FRAME_REGISTER 15
#endif

struct dwarf_eh_bases {
    void *text, *data, *function;
};
/** libgcc's. @return NULL if an address has no unwind table, of a module or registered. Takes a lock if any is registered. */
// NOLINTNEXTLINE(clang-diagnostic-reserved-identifier)
const void *_Unwind_Find_FDE(void *address, struct dwarf_eh_bases *bases);

/** Registers in the outermost frame of a walk. */
struct sync_scan_from {
    uintptr_t stack, pointer;
};

#ifdef SCAN_ISA
/** Continue a walk of `n` frames by tables that has ended in code without any. @return the number of frames, `n` if there is
 *  nothing to continue. Changes errno. Async-signal-safe as far as libgcc's tables are. */
uint32_t sync_scan_stack(void **frames, uint32_t n, uint32_t max, const struct sync_scan_from *from);
#else
static inline uint32_t sync_scan_stack(void **frames, uint32_t n, uint32_t max, const struct sync_scan_from *from)
{
    (void)frames;
    (void)max;
    (void)from;
    return n;
}
#endif

#endif
