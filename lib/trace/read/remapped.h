/* SPDX-License-Identifier: MIT */
/**
 * @file
 * Remapped modules: loaded one after the other at the same addresses.
 *
 * Such an address alone does not identify its module; its time does. So that users of the reader need no times, each such
 * module but the first gets a number, stored in the top byte of its addresses, which programs do not use.
 */
#ifndef UPMU_TRACE_REMAPPED_H
#define UPMU_TRACE_REMAPPED_H

#include <stdbool.h>
#include <stdint.h>

/** The bits of an address without the number of its module. */
#define REMAPPED_ADDRESS (((uint64_t)1 << 56) - 1)

struct context;
struct context_module;
struct context_stack;

/** A module is mapped from `tick` on; its texts are copied. @return 0, -ENOMEM. */
int remapped_loaded(struct context *c, const struct context_module *module, uint64_t tick);
/** It is unmapped from `tick` on. @return 0, -ENOMEM. */
int remapped_unloaded(struct context *c, uint64_t base, uint64_t start, uint64_t end, uint64_t tick);
/** A return address recorded at `tick`, with the number of its module. */
uint64_t remapped_address(const struct context *c, uint64_t address, uint64_t tick);
/** Whether the module at the address was unmapped before `tick` and no later one is known there. The thread that records a module may do so
 *  after another one has called into it, so a stream that is not read so far may have it. False if the streams were searched
 *  since the last mapping became known. */
bool remapped_is_late(const struct context *c, uint64_t address, uint64_t tick);
/** The same for any frame of that stack. */
bool remapped_stack_is_late(const struct context *c, uint32_t id);
/** The stack of that id, each frame with the number of its module, or NULL. */
const struct context_stack *remapped_stack(const struct context *c, uint32_t id);

#endif
