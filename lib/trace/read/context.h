/* SPDX-License-Identifier: MIT */
/**
 * @file
 * Stacks and modules of a process.
 *
 * The memory is in proportion to the distinct stacks, however often events name them. What was handed out stays where it
 * is until the end.
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
    uint32_t turns; /**< turns there were when its frames were looked at last */
    uint32_t id;
    uint32_t n_frames;
    uint8_t method;
    uint8_t truncated;
};

struct context_module {
    uint64_t base, start, end;
    const char *path;
    const char *build_id;
    uint64_t tag;  /**< what is added to its addresses when they are given away, see turns.h */
    bool disputed; /**< others have lain at its addresses, too */
};

/** From `tick` on a module is there, or is not any more. */
struct context_turn {
    uint64_t tick;
    size_t module;
    bool there;
};

/** All zero is empty. */
struct context {
    struct context_stack *stacks; /**< a hash by id with linear probing */
    size_t n_stacks, cap_stacks;
    struct context_module *modules; /**< in the order of being seen */
    size_t n_modules, cap_modules;
    struct context_turn *turns; /**< in the order of ticks, see turns.h */
    size_t n_turns, cap_turns;
    bool disputed;                /**< some module is */
    struct context_chunk *chunks; /**< memory of frames and texts */
    struct context_cost cost;     /**< the last that was told */
};

void context_free(struct context *c);

/** Keep a stack; of several with one id the first. `frames` may lie anywhere, they are copied. @return 0, -ENOMEM. */
int context_add_stack(struct context *c, const struct context_stack *stack, const uint8_t *frames);
/** The stack of that id, or NULL. Its frames are those that turns_address() gives. */
const struct context_stack *context_stack(const struct context *c, uint32_t id);
/** Room for one more in an array of `n`, of which `*cap` fit. @return the array, where it is now; NULL without memory: the
 *  old one is as it was. */
void *context_room(void *array, size_t n, size_t *cap, size_t size);
/** Keep a module; its texts are copied. @return 0, -ENOMEM. */
int context_add_module(struct context *c, const struct context_module *module);

#endif
