/* SPDX-License-Identifier: MIT */
/** @file The vendor-neutral event set: names, meaning, and what PAPI and perf call the same thing. Room: core. */
#ifndef UPMU_CORE_REGISTRY_H
#define UPMU_CORE_REGISTRY_H

#include <stddef.h>
#include <stdint.h>

enum { REGISTRY_USAGE = 1000 };

struct registry_event {
    const char *name;    /**< "l1d-load-miss" */
    const char *summary; /**< one line */
    const char *unit;    /**< "" or "ns" */
    const char *papi;    /**< PAPI preset of the same meaning, or NULL */
    const char *perf;    /**< perf's generic name, or NULL if perf has none or calls it the same */
    int32_t software;    /**< PERF_TYPE_SOFTWARE id for events every kernel counts itself; REGISTRY_USAGE + enum
                          *   kernel_usage_word for what it accounts without events; else -1 */
    const char *remark;  /**< for software events that say less than their name here, else "" */
};

/** The whole set, sorted by name; `*n` entries. */
const struct registry_event *registry_events(size_t *n);

/** By libupmu's, perf's or PAPI's name, in capitals or not, without modifiers; NULL if unknown. */
const struct registry_event *registry_find(const char *name);

struct suggest;
/** Offer every name and alias to a running "did you mean" search. */
void registry_offer(struct suggest *s);

#endif
