/* SPDX-License-Identifier: MIT */
/** @file Vendor-neutral events, with their perf and PAPI names. */
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
    const char *perf;    /**< perf's generic name, or NULL if perf has none or the same */
    int32_t
        software; /**< PERF_TYPE_SOFTWARE id of events that every kernel counts; REGISTRY_USAGE + enum kernel_usage_word for values accounted without events; else -1 */
    const char *remark; /**< restrictions of a software event, else "" */
};

/** All events, sorted by name; `*n` entries. */
const struct registry_event *registry_events(size_t *n);

/** Find by libupmu's, perf's or PAPI's name without modifiers, ignoring case; NULL if unknown. */
const struct registry_event *registry_find(const char *name);

struct suggest;
/** Add every name and alias to a running "did you mean" search. */
void registry_offer(struct suggest *s);

#endif
