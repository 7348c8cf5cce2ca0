/* SPDX-License-Identifier: MIT */
/** @file PAPI presets that are not aliases in the registry. */
#ifndef UPMU_CORE_PRESETS_H
#define UPMU_CORE_PRESETS_H

struct suggest;

/** A preset in terms of vendor-neutral events. */
struct preset {
    const char *name;
    const char *first;  /**< the equivalent event; with `second` the first of a sum; NULL: none */
    const char *second; /**< or NULL */
};

/** Find by name, ignoring case; NULL if it is not a preset, or one of the registry. */
const struct preset *preset_find(const char *name);

/** Add every name to a running "did you mean" search. */
void preset_offer(struct suggest *s);

#endif
