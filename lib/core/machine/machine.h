/* SPDX-License-Identifier: MIT */
/** @file The machine: CPU, event table, core PMUs; examined once. */
#ifndef UPMU_CORE_MACHINE_H
#define UPMU_CORE_MACHINE_H

#include <stdbool.h>
#include <stdint.h>

#include "core/arch_ops.h"
#include "core/plan/plan.h"

enum { MACHINE_CORE_TYPES_MAX = PLAN_CORE_TYPES_MAX };

/** A machine as seen by one of its core types: only hybrid machines have more than one. */
struct machine {
    struct arch_cpu cpu;              /**< empty if no source identifies it */
    const struct arch_family *family; /**< never NULL */
    char core_pmu[64];                /**< sysfs name of the core PMU, "" if there is none */
    uint32_t pmu_type;                /**< its perf type; KERNEL_TYPE_RAW if there is none */
    uint32_t kernel;                  /**< version as ARCH_KERNEL(), 0 if unknown */
    uint64_t user_read_config1; /**< bits of config1 that request user-space reads from the core PMU (Arm), else 0 */
    uint64_t listed_events;     /**< encodings below 64 that the core PMU's folder lists; 0 = none */
    bool list_differs;          /**< the folder lacks events that the vendor lists for this core */
    char cpus[256];             /**< CPUs of this core type ("0-3,8"), "" if the PMU covers all CPUs */
    unsigned n_core_types;      /**< core types counted: over 1 on hybrid machines, 0 without a PMU */
    unsigned core_types_beyond; /**< further core types, which are not counted */
    /** Whether the kernel has the core's own table, if its version does not determine it: 1, -EOPNOTSUPP if not,
     *  another -errno if it could not be tested; 0: not tested. */
    int own_table;
    /** The core PMU's driver checks a group without its stopped leader (Arm): a group with one event too many opens
     *  and is never counted. */
    bool leader_unchecked;
    char identity[400];        /**< sources of the CPU's identity, for display */
    bool identity_doubted;     /**< sources of the identity disagree: some fields are unknown */
    uint8_t core_type;         /**< index of this core type */
    bool named;                /**< requested by name: no data of the running machine */
    char core_types_note[256]; /**< hybrid machines: how events are counted, else "" */
    char fault[512];           /**< why a recorded machine is unusable, else "" */
};

/** The machine; examined at the first call. Thread safe. */
const struct machine *machine_get(void);

/** A CPU by the name of its family or chip, with the facts of its table only. @return 0, or UPMU_E_NAME with a
 *  suggestion. */
int machine_of_cpu(const char *cpu, struct machine *out);
/** Whether the machine can be used: a machine snapshot that is damaged or contradictory cannot, and the running machine is
 *  no substitute. @return 0, or UPMU_E_FORMAT with a message. */
int machine_usable(void);

/** The machine as seen by a core type < n_core_types; else as machine_get(). Thread safe. */
const struct machine *machine_core_type(unsigned core_type);

/** Whether a CPU is of this machine's core type. */
bool machine_has_cpu(const struct machine *m, int cpu);

/** Find the core PMUs and make a machine of each from types[0], whose PMU fields are not set yet. For machine.c. */
void machine_find_core_types(struct machine types[MACHINE_CORE_TYPES_MAX]);

/** Discard the machine, so that the next call examines the kernel in use then. For tests; no other thread may use
 *  the old one. */
void machine_forget(void);

/** The counters of each core type, for the planner. The running machine's NMI watchdog is checked at each call. */
void machine_rules(const struct machine *m, struct plan_rules rules[PLAN_CORE_TYPES_MAX]);

/** Folder of the PMUs, with a folder for each. */
#define MACHINE_PMU_DIR "/sys/bus/event_source/devices"

/** Type number of a PMU in sysfs. @return 0 and *type, or -errno. */
int machine_pmu_type(const char *pmu, uint32_t *type);

/** Whether a CPU is in a list such as "0-3,18". */
bool machine_cpu_listed(const char *cpus, int cpu);

/** Read a one-line sysfs file without its newline. @return length, or -errno. */
int machine_line(const char *path, char *buf, size_t cap);

#endif
