/* SPDX-License-Identifier: MIT */
/**
 * @file
 * Which events go into one kernel group. Room: core; before it resolved events, after it sets and regions.
 *
 * The kernel counts a group as a whole or not at all, and groups that do not fit beside each other take turns. So the
 * fewer groups, the longer each is counted; and a group that fits no counters at all is never counted.
 */
#ifndef UPMU_CORE_PLAN_H
#define UPMU_CORE_PLAN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/arch_ops.h"
#include "core/event.h"

enum {
    PLAN_EVENTS_MAX = 64, /**< events of one list, and of one kind of core */
    PLAN_KINDS_MAX = 4,   /**< kinds of cores of one machine */
    /** The same on each kind of core, and events that fill groups up. */
    PLAN_ENTRIES_MAX = PLAN_EVENTS_MAX * (PLAN_KINDS_MAX + 1),
    PLAN_NONE = 0xffff,
    PLAN_NOT_KNOWN = -1,
};

/** The counters of one kind of core, as they are on this machine. */
struct plan_rules {
    struct arch_counters counters;
    uint32_t held; /**< somebody else (the kernel's NMI watchdog) always has one of these counters; 0 = nobody */
};

/** Why an event is in no group. */
enum plan_refusal {
    PLAN_FINE = 0,
    PLAN_ABSENT,     /**< the caller said so */
    PLAN_NO_COUNTER, /**< none of the counters it may use exists here */
    PLAN_TWIN_CODE,  /**< it is counted already in other modes, and can be counted once only */
    PLAN_MODES,      /**< other modes are counted already, and all counters have one filter */
};

/** What becomes of one event. */
struct plan_entry {
    uint16_t group;   /**< PLAN_NONE: in none */
    uint16_t same_as; /**< the event that it is counted with, its own number if it is opened itself */
    uint8_t refusal;  /**< enum plan_refusal, where it is in no group */
    int16_t counter;  /**< a counter it can have, as a bit number of the family's masks; PLAN_NOT_KNOWN */
};

struct plan {
    size_t n_events, n_groups;
    bool proven; /**< no plan has fewer groups */
    struct plan_entry entry[PLAN_ENTRIES_MAX];
    /** Per group the counters to be filled up with the family's `fillers`, since a group with another filter could run
     *  beside it otherwise. */
    uint32_t fill[PLAN_ENTRIES_MAX];
};

/**
 * Put events into as few groups as possible that all fit.
 *
 * Software events share one group of their own: beside hardware events they would take turns with them and lose their
 * exactness when counters are scarce (and on some kernels would break the group's validation). Events of one kind of
 * core fill groups by an exact search. Events of any other PMU stand alone. The same event twice is counted once.
 * @param absent per event, 1: leave it out
 * @param n      at most PLAN_ENTRIES_MAX, and PLAN_EVENTS_MAX of one kind of core
 * @param rules  per kind of core, indexed by event.core
 */
void plan_groups(const struct event *events, const uint8_t *absent, size_t n, const struct plan_rules *rules,
                 struct plan *out);

/** Whether these events of one kind of core can sit on its counters at the same time. */
bool plan_fits(const struct event *const *events, size_t n, const struct plan_rules *rules);

/** The counters an event may have, as far as they exist. */
uint32_t plan_mask(const struct event *e, const struct arch_counters *c);

/** The family's rule for the event's machine code, or NULL. */
const struct arch_code_rule *plan_rule_of(const struct event *e, const struct arch_counters *c);

#endif
