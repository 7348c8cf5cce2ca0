/* SPDX-License-Identifier: MIT */
/**
 * @file
 * Modules loaded at the same addresses one after the other.
 *
 * An address alone does not say then which module is meant, its time does. So that nobody behind the reader has to think of
 * it, each such module but the first gets a number, and it and all addresses in it have that number in their top byte,
 * which addresses of programs do not use.
 */
#ifndef UPMU_TRACE_TURNS_H
#define UPMU_TRACE_TURNS_H

#include <stdbool.h>
#include <stdint.h>

/** What of an address is not a number of a module. */
#define TURNS_ADDRESS (((uint64_t)1 << 56) - 1)

struct context;
struct context_module;

/** From `tick` on a module is there; its texts are copied. @return 0, -ENOMEM. */
int turns_there(struct context *c, const struct context_module *module, uint64_t tick);
/** From `tick` on it is not. One that nobody knows is passed over. @return 0, -ENOMEM. */
int turns_gone(struct context *c, uint64_t base, uint64_t start, uint64_t end, uint64_t tick);
/** A return address met at `tick`, with the number of its module in it. */
uint64_t turns_address(const struct context *c, uint64_t address, uint64_t tick);

#endif
