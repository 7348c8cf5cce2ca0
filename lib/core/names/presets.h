/* SPDX-License-Identifier: MIT */
/** @file PAPI presets that are not aliases in the registry. */
#ifndef UPMU_CORE_PRESETS_H
#define UPMU_CORE_PRESETS_H

struct suggest;

/** A preset in terms of vendor-neutral events. */
struct preset {
    const char *name;
    const char *first;  /**< the equivalent event, or the first of a sum; NULL: no event here */
    const char *second; /**< the second of the sum; NULL: no sum */
};

/** Find a preset of this table by name, ignoring case; NULL if there is none. Aliases of the registry are not in the table. */
const struct preset *preset_find(const char *name);

/** Add every name to a running "did you mean" search. */
void preset_offer(struct suggest *s);

#endif
