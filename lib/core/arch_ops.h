/* SPDX-License-Identifier: MIT */
/**
 * @file
 * The door between core and the per-vendor rooms lib/arch/<vendor>: what a CPU family's table looks like.
 * Tables are const data; all of them are built on every host, so that any CPU's names can be looked up anywhere.
 */
#ifndef UPMU_CORE_ARCH_OPS_H
#define UPMU_CORE_ARCH_OPS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/** What kind of id goes into perf_event_attr. */
enum arch_code_kind {
    ARCH_CODE_NONE = 0, /**< the family has no such event; `why` may name a substitute */
    ARCH_CODE_HARDWARE, /**< PERF_TYPE_HARDWARE: the kernel's generic id, `config` < 10 */
    ARCH_CODE_HW_CACHE, /**< PERF_TYPE_HW_CACHE: cache | op << 8 | result << 16 */
    ARCH_CODE_RAW,      /**< PERF_TYPE_RAW: the machine's own code */
    ARCH_CODE_FORMULA,  /**< a weighted sum of other events: `formula`; `config` is 0 */
};

/** What a family does with machine codes of one shape. Where several rules fit a code, the first one counts. */
struct arch_code_rule {
    uint64_t mask, match; /**< the rule is for codes with (code & mask) == match */
    uint32_t counters;    /**< counters such a code may use where its row does not say; ARCH_ANY = any general one */
    uint8_t pool;         /**< number of the pool of extra registers such a code draws from, 0 = none */
    uint8_t pool_size;    /**< different codes (with their config1) of this pool that count at the same time */
    bool takes_pair;      /**< needs an even counter and uses up the one after it too */
    bool one_register;    /**< all codes of the rule are counted in one register: two such events disturb each other */
};

/** A kernel version, for facts that hold from it on: ARCH_KERNEL(6, 4, 0). 0 = none. */
#define ARCH_KERNEL(major, minor, patch) ((uint32_t)(major) << 24 | (uint32_t)(minor) << 16 | (uint32_t)(patch))

/** The bits of a raw code that reach the hardware; the kernel drops the others without an error. */
struct arch_raw_field {
    uint64_t mask;       /**< 0 = not known, or the kernel refuses what does not fit */
    uint64_t older_mask; /**< before `since`; 0 = the same */
    /** Before `since` the generic ids meant codes of another core, unless the kernel took the table over: this hardware id is
     *  one that only the core's own table has. 0 = the ids are the same on all kernels. */
    uint8_t own_id;
    uint32_t since[3]; /**< ARCH_KERNEL() of the release with `mask`, then stable releases that took the change over */
};

/** Rules and limits of a family's counters that the planner needs. */
struct arch_counters {
    uint8_t general;           /**< general counters; 0 = not known */
    uint8_t fixed;             /**< fixed counters beside them */
    uint8_t width;             /**< bits of a counter; 0 = not known */
    bool no_software_siblings; /**< software events must not be in a group with hardware ones */
    bool no_group_check;       /**< a group that cannot fit opens and is never counted: the planner must know */
    bool no_exclude_hv;        /**< exclude_hv must be 0 (libupmu never sets it) */
    bool shared_filter;        /**< one user/kernel filter for all counters of a core, the last event started decides */
    bool ignores_filter;       /**< user/kernel filters are accepted and ignored */
    bool one_of_each; /**< an event opened a second time, in whatever modes, may read 0 with times like the first */
    bool counts_hypervisor;  /**< hypervisor mode is a mode of its own, told by exclude_hv */
    uint32_t guests_since;   /**< ARCH_KERNEL() from which exclude_guest and exclude_host are heeded; 0 = never */
    uint32_t fixed_doubt;    /**< ARCH_KERNEL() from which kernels may not count the fixed counters; 0 = none */
    bool watchdog;           /**< the kernel's NMI watchdog counts cycles on this PMU while it is on */
    bool host_only;          /**< the kernel refuses events that would count in guests too */
    uint8_t general_without; /**< general counters of a CPU whose flags lack `flag` */
    const char *flag;        /**< as in /proc/cpuinfo, or NULL */
    const struct arch_code_rule *rules; /**< or NULL */
    size_t n_rules;
    struct arch_raw_field raw;
    /** Per general counter a raw code that it can count: fills a group up, so that no other group runs beside it.
     *  For families with `shared_filter` and no fixed counters; without it one filter is counted and others are refused. */
    const uint64_t *fillers;
};

/** Bits of arch_event.counters. General counter n is bit n; fixed counter n is bit ARCH_FIXED + n. 0 = any. */
enum { ARCH_FIXED = 24 };
#define ARCH_ANY 0u

/** One row: a vendor-neutral event on one family. */
struct arch_event {
    const char *name;      /**< vendor-neutral name, as in core's registry */
    uint64_t config;       /**< goes to perf_event_attr.config */
    uint64_t config1;      /**< raw rows: code of a second register, or 0 */
    uint64_t raw_encoding; /**< the raw code behind a generic id, UINT64_MAX if not known; == config for raw rows */
    uint32_t counters;     /**< counters it may use; ARCH_ANY = any general one */
    uint8_t kind;          /**< enum arch_code_kind */
    uint8_t match;         /**< enum upmu_match */
    const char *why;       /**< why approximate or absent; "" for exact rows */
    const char *source;    /**< kernel file or manual the row was read in, with its version */
    /** ARCH_CODE_FORMULA: terms `[WEIGHT*]NAME` joined by " + " or " - ", each NAME a row of the same family that is not
     *  absent or one of its native names; data/events/README.md has the grammar. "" or NULL for the other kinds. */
    const char *formula;
    const char
        *near; /**< absent rows: the nearest events of the family, blank-separated; "" or NULL if there are none */
};

/** One native event name of a family, for `native::NAME` where libpfm4 is not installed or does not know the CPU. */
struct arch_native {
    const char *name;
    const char *meaning; /**< what the name does not say, or "" */
    uint64_t config;     /**< PERF_TYPE_RAW code */
    uint64_t config1;    /**< code of a second register, or 0 */
    uint32_t counters;
};

/** A preset of PAPI that no vendor-neutral name stands for. */
struct arch_preset {
    const char *papi;
    const char *formula; /**< a native name, or a sum as in arch_event.formula */
    uint8_t match;       /**< enum upmu_match, of the event as what the preset says it is */
    const char *why;
};

/** The rows of a family, those of its base included, which the build makes from data/events: numbers of rows. */
struct arch_table {
    const uint16_t *events; /**< sorted by name */
    size_t n_events;
    const uint16_t *natives; /**< sorted by name, capitals or not */
    size_t n_natives;
    const uint16_t *presets; /**< sorted by name */
    size_t n_presets;
};

/** One kind of core of a machine that may have several (Arm), as its main id register has it. */
struct arch_kind {
    int implementer, part;
    int processor; /**< the first processor of the kind: tells which PMU of the kernel is its own; -1 if not printed */
};

enum { ARCH_KINDS_MAX = 4 };

/** Core type of an x86 hybrid CPU. /proc/cpuinfo does not show it; the name of the core's PMU does. */
enum arch_core_type {
    ARCH_CORE_ANY = 0, /**< not known, or the CPU has one core type */
    ARCH_CORE_PERFORMANCE,
    ARCH_CORE_EFFICIENT,
    ARCH_CORE_LOW_POWER, /**< a third type, beside both of the others */
};

/** Identity of a CPU, from /proc/cpuinfo and what else tells of it. Fields that nobody told are -1 or "". */
struct arch_cpu {
    char machine[24]; /**< "x86", "arm64", "loongarch", "mips", "sw_64", "riscv", "arm", "" */
    char vendor[24];  /**< vendor_id without blanks, or "" */
    char model_name[96];
    char cpu_model[64]; /**< MIPS "cpu model" line */
    int family;         /**< x86 cpu family; sw_64 cpu variation */
    int model;
    int stepping;
    int implementer; /**< Arm MIDR of the first processor */
    int part;
    struct arch_kind kinds[ARCH_KINDS_MAX]; /**< Arm: each kind of core once, in the order of their processors */
    unsigned n_kinds;                       /**< of them; a kind beyond ARCH_KINDS_MAX is left out */
    uint32_t prid;                          /**< Loongson PRID where it is told, else 0 */
    uint64_t mvendorid, marchid;            /**< RISC-V: ids of the first processor, 0 if not printed */
    char uarch[32];                         /**< RISC-V: "uarch", the core as the device tree names it, or "" */
    uint8_t core_type;                      /**< enum arch_core_type, of the core in question */
    bool hypervisor;                        /**< x86 "hypervisor" flag */
    char flags[2048];                       /**< x86 flags / Arm Features, blank separated, with a blank at both ends */
};

/** A kind of core by Arm's main id register. Never 0. */
#define ARCH_CORE(implementer, part) ((uint32_t)(implementer) << 12 | (uint32_t)(part))

/** A core family: one table, one set of counter rules. */
struct arch_family {
    const char *name;     /**< stable key, lower case: "intel-skylake", "zen3", "gs464", "core3b", "generic" */
    const char *title;    /**< for people: "AMD Zen 3" */
    const char *vendor;   /**< folder under lib/arch */
    const char *core_pmu; /**< usual name of the kernel's core PMU in sysfs ("cpu") */
    const struct arch_table *table;
    struct arch_counters counters;
    /** Raw codes from 1 to this one open on every core of the family and read 0 where the core lacks the event; the
     *  kernel's PMU folder lists those that the core has. 0 = there is no such list. */
    uint8_t listed_raw;
    bool confirmed; /**< with `listed_raw`: the maker's list of events confirms the codes beyond it */
    /** How sure the family is that `cpu` is one of its own: 0 = no; higher wins. Required, unless `cores` is there. */
    int (*matches)(const struct arch_cpu *cpu);
    const uint32_t *cores; /**< Arm: ARCH_CORE() of each core of the family, 0 at the end; or NULL */
    /** The codes hold on PMUs of the kernel whose names begin so; behind others, as guests have them, the core is of the
     *  family `behind_others`. NULL: on any PMU. */
    const char *own_pmu;
    const struct arch_family *behind_others;
    const char *remark; /**< what users of this family must know ("mainline kernels have no PMU driver"), or "" */
    const char *choice; /**< which of an event's two codes its rows program, raw or generic, and why */
};

/** All families, in the order of `upmu list --cpu`; NULL-terminated; "generic" is the last and matches anything. */
extern const struct arch_family *const upmu_arch_families[];

/** Parse the text of /proc/cpuinfo (first processor of interest). @return 0, or UPMU_E_FORMAT if it is no cpuinfo. */
int arch_cpu_parse(const char *cpuinfo, struct arch_cpu *out);
/** Make all fields those of nobody. */
void arch_cpu_clear(struct arch_cpu *cpu);
/** Ask the CPU that runs this by its own instructions (CPUID, CPUCFG), or say at least whose instructions these are. Never
 *  to be asked about a recorded machine. @return who told, for people; NULL if there is nothing to tell */
const char *arch_cpu_ask(struct arch_cpu *out);
typedef const char *(*arch_cpu_ask_fn)(struct arch_cpu *out);
/** Add a kind of core, unless it is known. */
void arch_cpu_add_kind(struct arch_cpu *cpu, const struct arch_kind *core);
/** Add what a processor's main id register says (Arm's MIDR_EL1). */
void arch_cpu_add_midr(struct arch_cpu *cpu, uint64_t midr, int processor);

/** How a second description of a CPU stands to the first. */
enum arch_agreement {
    ARCH_SILENT,  /**< it has nothing to say */
    ARCH_AGREES,  /**< it says the same */
    ARCH_ADDS,    /**< it says more, which was taken over */
    ARCH_DIFFERS, /**< it says something else: what they differ in is empty now, and with it what hangs on it */
};
enum arch_agreement arch_cpu_hold(struct arch_cpu *cpu, const struct arch_cpu *other);
/** The family of a CPU; never NULL ("generic" if nothing else). */
const struct arch_family *arch_family_of(const struct arch_cpu *cpu);
/** The family of one kind of core of a machine, `kind` < n_kinds; never NULL. */
const struct arch_family *arch_family_of_kind(const struct arch_cpu *cpu, unsigned kind);
/** The family of the cores of one type (enum arch_core_type) of an x86 machine; never NULL. */
const struct arch_family *arch_family_of_core(const struct arch_cpu *cpu, uint8_t core_type);
/** A family by its key, or NULL. */
const struct arch_family *arch_family_named(const char *name);
/** A family as people call it: by its key or by a chip that has it, with the maker's name in front or without, in
 *  capitals or not ("Loongson-3A5000", "kx-6000"); or NULL. */
const struct arch_family *arch_family_called(const char *name);
struct suggest;
/** Offer every name that arch_family_called() knows to a running "did you mean" search. */
void arch_family_offer(struct suggest *s);
/** Row of an event; NULL if there is none. */
const struct arch_event *arch_family_event(const struct arch_family *family, const char *name);
/** The rows of a family by number, in the order of their names; NULL after the last. */
const struct arch_event *arch_family_event_at(const struct arch_family *family, size_t i);
/** The kernel's generic id for an event of a family, and the machine code that the kernel makes of it there. */
struct arch_generic_id {
    uint8_t kind; /**< ARCH_CODE_HARDWARE or ARCH_CODE_HW_CACHE */
    bool
        same_name; /**< it is the kernel's id for this event; if not, one for another that happens to be the same code */
    uint64_t config;
    uint64_t raw_encoding; /**< UINT64_MAX if not known */
};
/** @return false if the kernel has no id for it. A row that programs a raw code may have one too, which the kernel
 *  turns into the same code or into another one. */
bool arch_family_generic_id(const struct arch_family *family, const struct arch_event *row,
                            struct arch_generic_id *out);
/** Native row by name (case-insensitive), or NULL. */
const struct arch_native *arch_family_native(const struct arch_family *family, const char *name);
/** What a preset of PAPI is on a family, by other events that it has; NULL if it is nothing there. */
const struct arch_preset *arch_family_preset(const struct arch_family *family, const char *papi);
/** The presets of a family by number, in the order of their names; NULL after the last. */
const struct arch_preset *arch_family_preset_at(const struct arch_family *family, size_t i);
/** The native rows of a family by name; `*position` starts with 0. NULL after the last. */
const struct arch_native *arch_family_native_next(const struct arch_family *family, size_t *position);

/** Result of asking libpfm4. */
struct arch_native_code {
    uint32_t type;
    uint64_t config, config1, config2;
    char name[128]; /**< fully qualified, as libpfm4 spells it */
};

/** Encode a native name through libpfm4, opened at run time. @return 0; UPMU_E_NAME (libpfm4 does not know it; the
 *  message has its reason); UPMU_E_UNSUPPORTED (libpfm4 is not installed). Not for the traced path. */
int arch_native_encode(const char *name, struct arch_native_code *out);

/** User-space read of one counter (RDPMC and kin) by the index of the mmap page; NULL on an ISA without one. */
typedef uint64_t (*arch_counter_read_fn)(uint32_t index);
extern const arch_counter_read_fn upmu_arch_counter_read;

#endif
