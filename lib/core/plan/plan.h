/* SPDX-License-Identifier: MIT */
/**
 * @file Distribution of events over kernel groups.
 *
 * The kernel counts a group as a whole or not at all, and multiplexes groups that do not fit together. Fewer groups
 * are counted longer; a group that fits no counters is never counted.
 */
#ifndef UPMU_CORE_PLAN_H
#define UPMU_CORE_PLAN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/arch_ops.h"
#include "core/names/event.h"

enum {
    PLAN_EVENTS_MAX = 64,    /**< events of one list, per core type */
    PLAN_CORE_TYPES_MAX = 4, /**< core types of one machine */
    /** events on each core type, and fillers */
    PLAN_ENTRIES_MAX = PLAN_EVENTS_MAX * (PLAN_CORE_TYPES_MAX + 1),
    PLAN_NONE = 0xffff,
    PLAN_NOT_KNOWN = -1,
};

/** The counters of one core type on this machine. */
struct plan_rules {
    struct arch_counters counters;
    uint32_t held; /**< the kernel's NMI watchdog always occupies one of these counters; 0 = none */
};

/** Why an event is in no group. */
enum plan_refusal {
    PLAN_FINE = 0,
    PLAN_ABSENT,      /**< marked absent by the caller */
    PLAN_NO_COUNTER,  /**< no counter that it may use exists on this machine */
    PLAN_CODE_IN_USE, /**< already counted in other modes, and can be counted only once */
    PLAN_MODES,       /**< other modes are already counted, and all counters have one filter */
    PLAN_APART,       /**< its hard bond does not fit into one group */
};

/** Result for one event. */
struct plan_entry {
    uint16_t group;   /**< PLAN_NONE: none */
    uint16_t same_as; /**< the event it shares a count with; its own index if it is opened */
    uint8_t refusal;  /**< enum plan_refusal, if in no group */
    int16_t counter;  /**< a possible counter, as a bit number of the family's masks; PLAN_NOT_KNOWN */
};

/** Events to be counted in one group, as bits of their owners in the list. */
struct plan_bond {
    uint64_t owners; /**< a bit each */
    bool hard;       /**< all of them or none; otherwise as far as they fit */
};
_Static_assert(PLAN_EVENTS_MAX <= 64, "a listed event has a bit in plan_bond.owners");

/** The bonds of a list, by descending priority. */
struct plan_bonds {
    const struct plan_bond *bond;
    size_t n;
    const uint16_t *owner; /**< per event, the index of its owner in the list */
};

struct plan {
    size_t n_events, n_groups;
    bool proven; /**< no plan with the same bonds has fewer groups */
    struct plan_entry entry[PLAN_ENTRIES_MAX];
    /** Per group the counters to occupy with the family's `fillers`, because a group with another filter could
     *  otherwise run at the same time. */
    uint32_t fill[PLAN_ENTRIES_MAX];
};

/**
 * Put events into the fewest groups that all fit.
 *
 * Software events share a group of their own: with hardware events they would be multiplexed and lose their
 * exactness (and some kernels would reject the group). Events of one core type fill groups by an exact search.
 * Events of any other PMU are alone, or with those of a hard bond. Duplicates are counted once, unless each has a
 * hard bond of its own. Bonds are kept at the price of further groups. Software events of a bond stay in the
 * software group, which is counted all the time.
 * @param absent per event, 1: omit it
 * @param n at most PLAN_ENTRIES_MAX, and PLAN_EVENTS_MAX per core type
 * @param rules per core type, indexed by event.core
 * @param bonds or NULL
 */
void plan_groups(const struct event *events, const uint8_t *absent, size_t n, const struct plan_rules *rules,
                 const struct plan_bonds *bonds, struct plan *out);

/** Whether these events of one core type fit on its counters at the same time. */
bool plan_fits(const struct event *const *events, size_t n, const struct plan_rules *rules);

/** The existing counters that an event may use. */
uint32_t plan_mask(const struct event *e, const struct arch_counters *c);

/** The family's rule for the event's raw encoding, or NULL. */
const struct arch_code_rule *plan_rule_of(const struct event *e, const struct arch_counters *c);

#endif
