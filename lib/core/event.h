/* SPDX-License-Identifier: MIT */
/** @file From a name to what perf_event_open needs. Room: core; before it the caller's text, after it the planner. */
#ifndef UPMU_CORE_EVENT_H
#define UPMU_CORE_EVENT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/suggest.h"
#include "core/arch_ops.h"
#include "upmu/upmu.h"

struct machine;

enum { EVENT_NAME_MAX = 160, EVENT_NOTE_MAX = 320 };

/** Which PMU an event is counted by, as far as grouping cares. */
enum event_class {
    EVENT_SOFTWARE, /**< counted by the kernel itself: always fits */
    EVENT_CORE,     /**< the CPU's core PMU: counters are scarce */
    EVENT_OTHER,    /**< another PMU of the kernel (msr, uncore ...) */
};

/** A resolved event. Plain data: copy and drop at will. */
struct event {
    char name[EVENT_NAME_MAX]; /**< canonical, with the modifiers asked for */
    enum event_class class;
    uint32_t type;
    uint64_t config, config1, config2;
    uint64_t machine_code; /**< behind a generic id; UINT64_MAX if not known or the same */
    /** The kernel's generic id of an event of the table, and what becomes of it; kind ARCH_CODE_NONE if it has none. */
    struct arch_generic_id generic;
    bool from_table;     /**< a row of the family's table says how it is encoded */
    uint32_t counters;   /**< mask as in arch_ops.h, ARCH_ANY */
    uint8_t core;        /**< EVENT_CORE: number of the kind of core it is counted on */
    bool each_kind;      /**< the same event is to be counted on the other kinds of cores too */
    bool filter_ignored; /**< its PMU takes user/kernel filters and counts all modes all the same */
    bool user, kernel;   /**< modes asked for; both if the name has no modifier */
    bool modes_fixed;    /**< the name asked for its modes: they must not be narrowed */
    bool mode_blind;     /**< a clock: the same with and without kernel mode */
    bool kernel_only;    /**< happens in the kernel only: reads 0 in silence without kernel mode */
    bool zero_unsure;    /**< opens on a CPU that lacks it and reads 0 there: a 0 is no number */
    bool all_modes_only; /**< the PMU refuses every exclude bit (msr) */
    int cpu;             /**< the CPU an uncore PMU must be opened on, -1 if it counts tasks */
    const char *also;    /**< vendor-neutral event whose count is added to this one's, or NULL */
    int grade;           /**< enum upmu_grade */
    const char *summary, *unit, *papi, *perf, *source; /**< static, or "" / NULL as in upmu_event_info */
    char pmu[64];
    char note[EVENT_NOTE_MAX];
};

/**
 * Resolve a name. An event that this CPU lacks is resolved too (grade absent, `note` says why) and gives
 * UPMU_E_UNSUPPORTED; every failure has its message. @return 0, UPMU_E_NAME, UPMU_E_UNSUPPORTED, UPMU_E_INVAL.
 */
int event_resolve(const char *name, struct event *out);

/** The same on another machine than the running one: names of sysfs and of libpfm4 are not known there. */
int event_resolve_on(const struct machine *m, const char *name, struct event *out);

/**
 * Whether the event moves whenever code runs in the modes counted, so that a 0 over a time on a counter is no count: the PMU
 * has given the event to another reader (an emulated RISC-V PMU does, with healthy times). `self`: the thread counts itself,
 * and at the least executes the calls that start and read.
 */
bool event_always_moves(const struct event *e, bool self);

/** Cut the next name off a comma-separated list (commas between slashes belong to the name). Blanks around
 *  a name are dropped. @return its length with *start at it and *list moved past it; 0 at the end of the list. */
size_t event_list_next(const char **list, const char **start);

/** The encoding for people: "hardware:0x0 (raw 0x3c)"; "" if the event is absent. */
void event_describe_encoding(const struct event *e, char *text, size_t cap);

/* ---- parts, each in its own file */

/** A name taken apart: `base` without modifiers. */
struct event_name {
    char base[EVENT_NAME_MAX];
    bool user, kernel, modes_given;
};
/** @return 0, or UPMU_E_INVAL with its message. */
int event_name_parse(const char *text, struct event_name *out);

/** `pmu/terms/` on the running machine: fill type, configs, pmu from sysfs. @return as event_resolve(). */
int event_from_sysfs(const char *base, struct event *out);
/** Offer the event names of a PMU's sysfs folder, as "pmu/event/". */
void event_offer_sysfs(struct suggest *s);
/** Every "pmu/event/" of sysfs. @return what `each` returned when not 0, else 0. */
int event_each_sysfs(int (*each)(const char *name, void *arg), void *arg);

#endif
