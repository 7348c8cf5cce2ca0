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

enum { EVENT_NAME_MAX = 160, EVENT_NOTE_MAX = 320, EVENT_PRECISE_MAX = 3 };

/** Which PMU an event is counted by, as far as grouping cares. */
enum event_class {
    EVENT_SOFTWARE, /**< counted by the kernel itself: always fits */
    EVENT_CORE,     /**< the CPU's core PMU: counters are scarce */
    EVENT_OTHER,    /**< another PMU of the kernel (msr, uncore ...) */
    EVENT_USAGE,    /**< no event: what the kernel accounts to the thread, read with getrusage */
};

/** A resolved event. Plain data: copy and drop at will. */
struct event {
    char name[EVENT_NAME_MAX]; /**< canonical, with the modifiers asked for */
    enum event_class class;
    uint32_t type;
    uint64_t config, config1, config2;
    uint64_t raw_encoding; /**< behind a generic id; UINT64_MAX if not known or the same */
    /** The kernel's generic id of an event of the table, and what becomes of it; kind ARCH_CODE_NONE if it has none. */
    struct arch_generic_id generic;
    bool from_table;        /**< a row of the family's table says how it is encoded */
    uint32_t counters;      /**< mask as in arch_ops.h, ARCH_ANY */
    uint8_t core;           /**< EVENT_CORE: number of the kind of core it is counted on */
    bool each_kind;         /**< the same event is to be counted on the other kinds of cores too */
    bool filter_ignored;    /**< its PMU takes user/kernel filters and counts all modes all the same */
    bool user, kernel;      /**< modes asked for; both if the name has no modifier of modes */
    bool modes_fixed;       /**< the name asked for its modes: they must not be narrowed */
    bool hypervisor;        /**< ":h": with neither user nor kernel, hypervisor mode alone */
    bool guest, host;       /**< ":G", ":H": in virtual machines alone, on the host alone */
    bool precise_max;       /**< ":P": as precise as the PMU can; of a count, which has no precision, it asks nothing */
    uint8_t precise;        /**< number of "p": perf_event_attr.precise_ip */
    uint8_t name_length;    /**< of `name` without its modifiers */
    bool mode_blind;        /**< a clock: it runs in all modes and cannot tell them apart */
    bool kernel_only;       /**< happens in the kernel only: reads 0 in silence without kernel mode */
    bool zero_unsure;       /**< opens on a CPU that lacks it and reads 0 there: a 0 is no number */
    bool all_modes_only;    /**< the PMU refuses every exclude bit (msr) */
    int cpu;                /**< the first CPU an uncore PMU must be opened on, -1 if it counts tasks */
    char cpus[64];          /**< all of them, one per socket or die ("0,18") */
    double scale;           /**< a count times this is in `scale_unit` */
    const char *scale_unit; /**< "Joules", or NULL where a count is what it is */
    const char *
        formula; /**< a derived event: what it is the weighted sum of (formula.h), and the rest is its first term's; or NULL */
    const char *codes; /**< of a derived event: the encodings of all its terms, for people */
    int match;         /**< enum upmu_match */
    const char *summary, *unit, *papi, *perf, *source; /**< static, or "" / NULL as in upmu_event_find */
    char pmu[64];
    char note[EVENT_NOTE_MAX];
};

/**
 * Resolve a name. An event that this CPU lacks is resolved too (match absent, `note` says why) and gives
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

/** A list of names being read: comma-separated, events to be counted together in braces with modifiers of all. */
struct event_list {
    const char *rest;          /**< in, before the first call: the list */
    const char *close, *after; /**< of the group being read */
    bool in_group;             /**< the name just read is in braces: */
    unsigned groups;           /**< in this group, counted from 1 */
    char modifiers[16];
};

/** The next name, its group's modifiers added. Commas between slashes belong to the name; blanks around it are dropped.
 *  @return 1 with a name, 0 at the end of the list, UPMU_E_INVAL with a message. */
int event_list_next(struct event_list *it, char name[EVENT_NAME_MAX]);

/** The event's name as counted in these modes, which are left out of the name where they are not `given`. */
void event_name_with_modes(const struct event *e, bool user, bool kernel, bool given, char *name, size_t cap);

/** The encoding for people: "hardware:0x0 (raw 0x3c)"; "" if the event is absent. */
void event_describe_encoding(const struct event *e, char *text, size_t cap);

/* ---- parts, each in its own file */

/** A name taken apart: `base` without modifiers. */
struct event_name {
    char base[EVENT_NAME_MAX];
    bool user, kernel, modes_given;
    bool hypervisor, guest, host, precise_max;
    uint8_t precise;
    bool tracepoint; /**< "subsystem:event" */
};
/** @return 0, or UPMU_E_INVAL with its message. */
int event_name_parse(const char *text, struct event_name *out);
/** r<hex>: a raw code of the core PMU. */
bool event_name_is_raw(const char *base);
/** native::NAME or pmu::NAME. */
bool event_name_is_native(const char *base);

/** `subsystem:event`: the kernel's tracepoint, by its number in tracefs. @return as event_resolve(). */
int event_from_tracepoint(const char *base, struct event *out);

/** An event of the machine's table by its name there, vendor-neutral or native, all modes. @return as event_resolve(). */
int event_of_table(const struct machine *m, const char *name, struct event *out);
/** Whether the kernel hands the code on as it is. @return 0 or UPMU_E_UNSUPPORTED with its message. */
int event_check_code(const struct machine *m, const struct event *e);

/** `pmu/terms/` on the running machine: fill type, configs, pmu from sysfs. @return as event_resolve(). */
int event_from_sysfs(const char *base, struct event *out);
/** Offer the event names of a PMU's sysfs folder, as "pmu/event/". */
void event_offer_sysfs(struct suggest *s);
/** Every "pmu/event/" of sysfs. @return what `each` returned when not 0, else 0. */
int event_each_sysfs(int (*each)(const char *name, void *arg), void *arg);

#endif
