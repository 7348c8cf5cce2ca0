/* SPDX-License-Identifier: MIT */
/** @file What core knows about the machine it runs on: CPU, table, core PMU; found out once. Room: core; before it the
 *  kernel door and the arch tables, after it event resolution and the planner. */
#ifndef UPMU_CORE_MACHINE_H
#define UPMU_CORE_MACHINE_H

#include <stdbool.h>
#include <stdint.h>

#include "core/arch_ops.h"
#include "core/plan/plan.h"

enum { MACHINE_KINDS_MAX = PLAN_KINDS_MAX };

/** A machine, as one of its kinds of cores sees it: only hybrid parts have more than one. */
struct machine {
    struct arch_cpu cpu;              /**< all empty if nobody tells who it is */
    const struct arch_family *family; /**< never NULL */
    char core_pmu[64];                /**< sysfs name of the core PMU, "" if there is none */
    uint32_t core_type;               /**< its perf type; KERNEL_TYPE_RAW where there is none */
    uint32_t kernel;                  /**< version as ARCH_KERNEL(), 0 if it is not known */
    uint64_t user_read_config1;       /**< bits of config1 that ask the core PMU for user-space reads (Arm), else 0 */
    uint64_t listed_events;           /**< codes below 64 that the core PMU's folder lists; 0 = it lists none at all */
    bool list_differs;                /**< the folder lacks events that the maker's list of this core has */
    char cpus[256];                   /**< CPUs of this kind ("0-3,8"), "" if the PMU is of all of them */
    unsigned core_kinds;              /**< kinds of cores counted: over 1 on hybrid parts, 0 without a PMU */
    unsigned kinds_beyond;            /**< kinds there are more, which are not counted */
    /** Whether the kernel has the core's own table, where its version does not tell: 1, -EOPNOTSUPP if not, another -errno
     *  if it could not be asked; 0: nobody asked. */
    int own_table;
    /** The core PMU's driver checks whether a group fits without a leader that is opened stopped (Arm): a group of one
     *  event too many opens, and is never counted. */
    bool leader_unchecked;
    char identity[400];    /**< how it is known who the CPU is, for people */
    bool identity_doubted; /**< what tells of the CPU contradicts itself: less is known of it */
    uint8_t kind;          /**< number of this kind of core */
    bool named;            /**< it was asked for by name: nothing of the running machine is in here */
    char kinds_note[256];  /**< for hybrid parts: how events are counted, else "" */
    char fault[512];       /**< what makes a recorded machine unusable, else "" */
};

/** The machine; examined at the first call. Thread safe. */
const struct machine *machine_get(void);

/** A CPU by the name of its family or chip, with what its table says and nothing of the running machine.
 *  @return 0, or UPMU_E_NAME with a suggestion. */
int machine_of_cpu(const char *cpu, struct machine *out);
/** Whether there is a machine to answer for: a recording that is damaged or contradicts itself is none, and nothing is
 *  answered from the running machine in its place. @return 0, or UPMU_E_FORMAT with a message. */
int machine_usable(void);

/** The machine as its `kind`-th kind of core sees it, kind < core_kinds; else as machine_get(). Thread safe. */
const struct machine *machine_kind(unsigned kind);

/** Whether a CPU is of this kind. */
bool machine_has_cpu(const struct machine *kind, int cpu);

/** Find the core PMUs and make a machine of each, from kinds[0], in which nothing of them is known yet. For machine.c. */
void machine_find_kinds(struct machine kinds[MACHINE_KINDS_MAX]);

/** Forget it, so that the next call examines the kernel in use now. For tests; no other thread may use the old one. */
void machine_forget(void);

/** The counters of each kind of core, for the planner. The running machine's NMI watchdog is looked at anew each time. */
void machine_rules(const struct machine *m, struct plan_rules rules[PLAN_KINDS_MAX]);

/** Type number of a PMU in sysfs. @return 0 and *type, or -errno. */
int machine_pmu_type(const char *pmu, uint32_t *type);

/** Read a one-line sysfs file without its newline. @return length, or -errno. */
int machine_line(const char *path, char *buf, size_t cap);

#endif
