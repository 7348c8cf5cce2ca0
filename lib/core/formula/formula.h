/* SPDX-License-Identifier: MIT */
/** @file Formulas of derived events: weighted sums of events of one CPU's table. */
#ifndef UPMU_CORE_FORMULA_H
#define UPMU_CORE_FORMULA_H

#include <stddef.h>
#include <stdint.h>

#include "core/names/event.h"

enum {
    FORMULA_TERMS_MAX = 12,    /**< per formula, after expansion of nested ones */
    FORMULA_WEIGHT_MAX = 1024, /**< of one term as written; nested formulas multiply weights */
};

/** A term: an event of the CPU's table, or a native name, and its weight. */
struct formula_term {
    char name[EVENT_NAME_MAX];
    int32_t weight;
};

/** Parse a formula and expand nested ones. @param m the machine whose table resolves the names @param text terms
 *  `[WEIGHT*]NAME` joined by " + " or " - " @param terms out: FORMULA_TERMS_MAX @return their number; UPMU_E_INVAL
 *  (malformed, or too large), with a message */
int formula_terms(const struct machine *m, const char *text, struct formula_term terms[FORMULA_TERMS_MAX]);

/** Resolve a derived event of a machine: all its terms must exist. @param out name, summary and match are set by
 *  the caller; encoding and counters become those of the first term @return 0; UPMU_E_UNSUPPORTED with `note` set,
 *  UPMU_E_INVAL */
int formula_resolve(const struct machine *m, const char *text, struct event *out);

/** Resolve one term in the modes of the derived event. @return as event_resolve() */
int formula_resolve_term(const struct machine *m, const struct formula_term *term, const struct event *derived,
                         struct event *out);

#endif
