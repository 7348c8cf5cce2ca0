/* SPDX-License-Identifier: MIT */
/** @file Event resolution: from a name to its perf_event_open attributes. */
#ifndef UPMU_CORE_EVENT_H
#define UPMU_CORE_EVENT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/text/suggest.h"
#include "core/arch_ops.h"
#include "upmu/upmu.h"

struct machine;

enum { EVENT_NAME_MAX = 160, EVENT_NOTE_MAX = 320, EVENT_PRECISE_MAX = 3 };

/** The PMU an event is counted by, as far as grouping depends on it. */
enum event_class {
    EVENT_SOFTWARE, /**< counted by the kernel: always fits */
    EVENT_CORE,     /**< the CPU's core PMU, with a limited number of counters */
    EVENT_OTHER,    /**< another PMU of the kernel (msr, uncore ...) */
    EVENT_USAGE,    /**< no event: accounting of the thread, read with getrusage */
};

/** A resolved event. Plain data without references to free. */
struct event {
    char name[EVENT_NAME_MAX]; /**< canonical, with the given modifiers */
    enum event_class class;
    uint32_t type;
    uint64_t config, config1, config2;
    uint64_t raw_encoding; /**< raw encoding behind a perf generic event; UINT64_MAX if unknown or the same */
    /** The perf generic event of a table event, and its status; kind ARCH_CODE_NONE if it has none. */
    struct arch_generic_id generic;
    bool from_table;        /**< encoded by a row of the family's table */
    uint32_t counters;      /**< mask as in arch_ops.h, ARCH_ANY */
    uint8_t core;           /**< EVENT_CORE: index of the core type */
    bool each_core_type;    /**< the other core types must count the same event, too */
    bool filter_ignored;    /**< the PMU accepts user/kernel filters and ignores them */
    bool user, kernel;      /**< modes to count; both if the name has no mode modifier */
    bool modes_fixed;       /**< the modes were requested by name and must not be narrowed */
    bool hypervisor;        /**< ":h": with neither user nor kernel, hypervisor mode alone */
    bool guest, host;       /**< ":G", ":H": only in virtual machines, only on the host */
    bool precise_max;       /**< ":P": as precise as possible; without effect on a count */
    uint8_t precise;        /**< number of "p": perf_event_attr.precise_ip */
    uint8_t name_length;    /**< of `name` without its modifiers */
    bool mode_blind;        /**< a clock: it runs in all modes and has no mode filter */
    bool kernel_only;       /**< happens only in the kernel: reads 0 without kernel mode */
    bool zero_unsure;       /**< may open and read 0 on a CPU that lacks it: a 0 is not a count */
    bool all_modes_only;    /**< the PMU refuses every exclude bit (msr) */
    int cpu;                /**< the first CPU an uncore PMU must be opened on, -1 if it counts tasks */
    char cpus[64];          /**< all such CPUs, one per socket or die ("0,18") */
    double scale;           /**< count * scale is in `scale_unit` */
    const char *scale_unit; /**< "Joules", or NULL if a count has no unit */
    const char
        *formula; /**< a derived event: its weighted sum (formula.h), the other fields are its first term's; or NULL */
    const char *codes; /**< of a derived event: the encodings of all its terms, for display */
    int match;         /**< enum upmu_match */
    const char *summary, *unit, *papi, *perf, *source; /**< static, or "" / NULL as in upmu_event_find */
    char pmu[64];
    char note[EVENT_NOTE_MAX];
};

/** Resolve a name. An event that this CPU lacks is resolved, too (match absent, `note` has the reason), and returns
 *  UPMU_E_UNSUPPORTED. Every failure sets a message. @return 0, UPMU_E_NAME, UPMU_E_UNSUPPORTED, UPMU_E_INVAL. */
int event_resolve(const char *name, struct event *out);

/** Resolve on a machine other than the running one, without names of sysfs and of libpfm4. */
int event_resolve_on(const struct machine *m, const char *name, struct event *out);

/** Whether the event increments whenever code runs in the counted modes, so that a 0 means the PMU has given the
 *  counter to another user (an emulated RISC-V PMU does, with plausible times). `self`: the thread counts itself,
 *  and at least executes the start and the read. */
bool event_always_moves(const struct event *e, bool self);

/** Iterator over a list of names: comma-separated, with groups in braces and common modifiers. */
struct event_list {
    const char *rest;          /**< in, before the first call: the list */
    const char *close, *after; /**< of the current group */
    bool in_group;             /**< the last name is in braces: */
    unsigned groups;           /**< of this group, counted from 1 */
    char modifiers[16];
};

/** The next name, with its group's modifiers. Commas between slashes belong to the name; blanks around it are
 *  dropped. @return 1 with a name, 0 at the end of the list, UPMU_E_INVAL with a message. */
int event_list_next(struct event_list *it, char name[EVENT_NAME_MAX]);

/** The modes to exclude. @return bits of enum upmu_exclude. */
uint32_t event_exclude(const struct event *e);

/** Write the event's name with its modifiers to `name`. `user`, `kernel`: modes it is counted in, written only if `given`. */
void event_name_with_modes(const struct event *e, bool user, bool kernel, bool given, char *name, size_t cap);

/** The encoding for display: "hardware:0x0 (raw 0x3c)"; "" if the event is absent. */
void event_describe_encoding(const struct event *e, char *text, size_t cap);

/* ---- parts, each in its own file */

/** A parsed name: `base` has no modifiers. */
struct event_name {
    char base[EVENT_NAME_MAX];
    bool user, kernel, modes_given;
    bool hypervisor, guest, host, precise_max;
    uint8_t precise;
    bool tracepoint; /**< "subsystem:event" */
};
/** @return 0, or UPMU_E_INVAL with its message. */
int event_name_parse(const char *text, struct event_name *out);
/** r<hex>: a raw encoding of the core PMU. */
bool event_name_is_raw(const char *base);
/** native::NAME or pmu::NAME. */
bool event_name_is_native(const char *base);

/** Resolve `subsystem:event`, a tracepoint, through its number in tracefs. @return as event_resolve(). */
int event_from_tracepoint(const char *base, struct event *out);

/** Resolve an event of the machine's table by its vendor-neutral or native name, in all modes. @return as
 *  event_resolve(). */
int event_of_table(const struct machine *m, const char *name, struct event *out);
/** Whether the kernel passes the encoding on unchanged. @return 0 or UPMU_E_UNSUPPORTED with its message. */
int event_check_code(const struct machine *m, const struct event *e);

/** Resolve `pmu/terms/` on the running machine: type, configs and PMU from sysfs. @return as event_resolve(). */
int event_from_sysfs(const char *base, struct event *out);
/** Offer the event names of a PMU's sysfs folder, as "pmu/event/". */
void event_offer_sysfs(struct suggest *s);
/** Call `each` for every "pmu/event/" of sysfs. @return what `each` returned if not 0, else 0. */
int event_each_sysfs(int (*each)(const char *name, void *arg), void *arg);

#endif
