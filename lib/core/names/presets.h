/* SPDX-License-Identifier: MIT */
/** @file PAPI's presets that no event of the registry is the same as. Room: core; before it event.c. */
#ifndef UPMU_CORE_PRESETS_H
#define UPMU_CORE_PRESETS_H

struct suggest;

/** A preset in terms of vendor-neutral events. */
struct preset {
    const char *name;
    const char *first;  /**< the event it is the same as; with `second` the first of a sum; NULL: there is none */
    const char *second; /**< or NULL */
};

/** By name, in capitals or not; NULL if it is no preset, or none beyond the registry's. */
const struct preset *preset_find(const char *name);

/** Offer every name to a running "did you mean" search. */
void preset_offer(struct suggest *s);

#endif
