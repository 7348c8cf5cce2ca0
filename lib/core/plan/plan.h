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
#include "core/names/event.h"

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
    PLAN_APART,      /**< its bond is hard, and what it binds does not fit into one group */
};

/** What becomes of one event. */
struct plan_entry {
    uint16_t group;   /**< PLAN_NONE: in none */
    uint16_t same_as; /**< the event that it is counted with, its own number if it is opened itself */
    uint8_t refusal;  /**< enum plan_refusal, where it is in no group */
    int16_t counter;  /**< a counter it can have, as a bit number of the family's masks; PLAN_NOT_KNOWN */
};

/** Events that belong into one group, by the numbers of those asked for that they are counted for. */
struct plan_bond {
    uint64_t owners; /**< a bit each */
    bool hard;       /**< all of them together or none; else as far as they fit */
};
_Static_assert(PLAN_EVENTS_MAX <= 64, "an event asked for has a bit in plan_bond.owners");

/** The bonds of a list, those to be kept first in front. */
struct plan_bonds {
    const struct plan_bond *bond;
    size_t n;
    const uint16_t *owner; /**< per event, the number of the one asked for that it is counted for */
};

struct plan {
    size_t n_events, n_groups;
    bool proven; /**< no plan that keeps the same bonds has fewer groups */
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
 * core fill groups by an exact search. Events of any other PMU stand alone, or with those of a hard bond. The same event
 * twice is counted once, unless each of the two has a hard bond of its own. Bonds are kept at the price of further groups.
 * Software events of a bond stay in the software group, which is counted all the time.
 * @param absent per event, 1: leave it out
 * @param n      at most PLAN_ENTRIES_MAX, and PLAN_EVENTS_MAX of one kind of core
 * @param rules  per kind of core, indexed by event.core
 * @param bonds  or NULL
 */
void plan_groups(const struct event *events, const uint8_t *absent, size_t n, const struct plan_rules *rules,
                 const struct plan_bonds *bonds, struct plan *out);

/** Whether these events of one kind of core can sit on its counters at the same time. */
bool plan_fits(const struct event *const *events, size_t n, const struct plan_rules *rules);

/** The counters an event may have, as far as they exist. */
uint32_t plan_mask(const struct event *e, const struct arch_counters *c);

/** The family's rule for the event's machine code, or NULL. */
const struct arch_code_rule *plan_rule_of(const struct event *e, const struct arch_counters *c);

#endif
