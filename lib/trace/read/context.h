/* SPDX-License-Identifier: MIT */
/**
 * @file
 * Stacks and modules of a process.
 *
 * Memory is in proportion to the distinct stacks, however often events refer to them. Pointers returned stay valid until
 * context_free().
 */
#ifndef UPMU_TRACE_CONTEXT_H
#define UPMU_TRACE_CONTEXT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "trace/read/decode.h"

struct context_stack {
    uint64_t *frames; /**< NULL: the slot is free */
    uint64_t tick;
    uint32_t mappings; /**< value of n_mappings when its frames were last remapped */
    uint32_t id;
    uint32_t n_frames;
    uint8_t method;
    uint8_t truncated;
};

struct context_module {
    uint64_t base, start, end;
    const char *path;
    const char *build_id;
    uint64_t tag;  /**< added to its addresses in results, see remapped.h */
    bool disputed; /**< other modules were mapped at the same addresses */
    bool unmapped; /**< at some time */
};

/** A module was mapped (`there`) or unmapped at `tick`. The record of an unmapping may be read before that of the mapping. */
struct context_mapping {
    uint64_t tick;
    uint64_t base, start, end;
    size_t module; /**< if it is `there` */
    bool there;
};

/** All zero is empty. */
struct context {
    struct context_stack *stacks; /**< hash table by id with linear probing */
    size_t n_stacks, cap_stacks;
    struct context_module *modules; /**< in the order of first use */
    size_t n_modules, cap_modules;
    struct context_mapping *mappings; /**< in tick order, see remapped.h */
    size_t n_mappings, cap_mappings;
    size_t mappings_ahead;        /**< value of n_mappings after the streams were last searched for later mappings */
    bool disputed;                /**< some module is disputed */
    bool unmapped;                /**< some module was unmapped */
    struct context_chunk *chunks; /**< memory of frames and texts */
    struct context_cost cost;     /**< the last one recorded */
};

void context_free(struct context *c);

/** Keep a stack; of several with one id the first. `frames` may be unaligned and are copied. @return 0, -ENOMEM. */
int context_add_stack(struct context *c, const struct context_stack *stack, const uint8_t *frames);
/** The stack of that id as recorded, or NULL; see remapped_stack(). */
struct context_stack *context_stack(const struct context *c, uint32_t id);
/** Grow an array of `n` items with space for `*cap` so that one more fits. @return the array, possibly moved; NULL without
 *  memory, with the old one unchanged. */
void *context_grow(void *array, size_t n, size_t *cap, size_t size);
/** Keep a module; its texts are copied. @return 0, -ENOMEM. */
int context_add_module(struct context *c, const struct context_module *module);

#endif
