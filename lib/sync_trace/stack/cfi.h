/* SPDX-License-Identifier: MIT */
/**
 * @file
 * Unwinding by call frame information (.eh_frame): another thread's stack from a copy of its memory, and the caller's own one.
 *
 * Reads the stack, and the tables and code of loaded modules; takes no lock, makes no system call, needs no memory of the thread, and
 * may be interrupted anywhere. What the tables have for a return address is kept for the process, so that a step costs a few
 * nanoseconds. Supports frames of compiled code, whose canonical frame address is at a distance from the stack or frame pointer.
 * x86-64 with glibc 2.35 or later; elsewhere no caller is found.
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

/** A walk of the calling thread's stack. */
struct cfi_own_walk {
    uintptr_t frame; /**< frame pointer of a function that is active: there are its caller's, and its return address */
    uintptr_t site;  /**< the first return address to store */
    uintptr_t
        low; /**< an address below which the stack that the thread began with does not reach; 0: not known, or the first thread's */
    void (*depends)(void *arg, uintptr_t address); /**< called for each word that determines the result; may be NULL */
    void *arg;
};

/** How a walk ended. */
enum cfi_end {
    CFI_WHOLE,   /**< at the beginning of the thread */
    CFI_CUT,     /**< after `max` frames, or where a guess was wrong */
    CFI_FOREIGN, /**< the last frame is not known to be code of a module, but its address is certain */
    CFI_GENERATED /**< the same, and the guess that its frame pointer is its caller's is wrong, which libunwind would make, too */
};

/** Store return addresses from `w->site` outward. @return their number; 0: some frame is not supported, or this is not the stack
 *  that the thread began with. */
uint32_t cfi_walk_own(const struct cfi_own_walk *w, void **frames, uint32_t max, enum cfi_end *end);

/** Address beyond all frames of the calling thread's stack, which has `at`; `low` as above. 0: it is not the stack that the thread
 *  began with. */
uintptr_t cfi_own_top(uintptr_t at, uintptr_t low);

/** A module was unloaded: nothing is known any more of any return address. */
void cfi_forget(void);

#endif
