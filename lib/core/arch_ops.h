/* SPDX-License-Identifier: MIT */
/**
 * @file Interface between core and lib/arch: event tables and rules of CPU families.
 *
 * Tables are const data; all of them are built on every host, so that any CPU's names can be resolved anywhere.
 */
#ifndef UPMU_CORE_ARCH_OPS_H
#define UPMU_CORE_ARCH_OPS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/** Kind of encoding in perf_event_attr. */
enum arch_code_kind {
    ARCH_CODE_NONE = 0, /**< the family has no such event; `why` may name a substitute */
    ARCH_CODE_HARDWARE, /**< PERF_TYPE_HARDWARE: the perf generic event, `config` < 10 */
    ARCH_CODE_HW_CACHE, /**< PERF_TYPE_HW_CACHE: cache | op << 8 | result << 16 */
    ARCH_CODE_RAW,      /**< PERF_TYPE_RAW: the raw encoding */
    ARCH_CODE_FORMULA,  /**< a weighted sum of other events: `formula`; `config` is 0 */
};

/** Constraints on raw encodings of one pattern. The first matching rule applies. */
struct arch_code_rule {
    uint64_t mask, match; /**< the rule applies to encodings with (code & mask) == match */
    uint32_t counters;    /**< counters of such encodings if the row has none; ARCH_ANY = any general one */
    uint8_t pool;         /**< number of the pool of extra registers that such encodings use, 0 = none */
    uint8_t
        pool_size;   /**< different encodings (with their config1) of this pool that can be counted at the same time */
    bool takes_pair; /**< needs an even counter and occupies the next one, too */
    bool one_register; /**< all encodings of the rule use one register: two such events disturb each other */
};

/** A kernel version, for facts that apply since then: ARCH_KERNEL(6, 4, 0). 0 = none. */
#define ARCH_KERNEL(major, minor, patch) ((uint32_t)(major) << 24 | (uint32_t)(minor) << 16 | (uint32_t)(patch))

/** Bits of a raw encoding that reach the hardware; the kernel drops the others without an error. */
struct arch_raw_field {
    uint64_t mask;       /**< 0 = unknown, or the kernel refuses other bits */
    uint64_t older_mask; /**< before `since`; 0 = the same */
    /** Before `since` the perf generic events were those of another core, unless the table was backported: this
     *  hardware event exists only in the core's own table. 0 = the same on all kernels. */
    uint8_t own_id;
    uint32_t since[3]; /**< ARCH_KERNEL() of the release with `mask`, then of stable releases with the backport */
};

/** Counter rules and limits of a family, for the planner. */
struct arch_counters {
    uint8_t general;           /**< general counters; 0 = unknown */
    uint8_t fixed;             /**< fixed counters besides them */
    uint8_t width;             /**< bits of a counter; 0 = unknown */
    bool no_software_siblings; /**< software events must not be in a group with hardware ones */
    bool no_group_check;       /**< a group that cannot fit opens and is never counted: the planner must prevent it */
    bool no_exclude_hv;        /**< exclude_hv must be 0 (libupmu never sets it) */
    bool shared_filter;        /**< one user/kernel filter for all counters of a core, set by the last event started */
    bool ignores_filter;       /**< user/kernel filters are accepted and ignored */
    bool one_of_each;          /**< an event opened a second time, in any modes, may read 0 with plausible times */
    bool counts_hypervisor;    /**< hypervisor mode is a separate mode, filtered by exclude_hv */
    uint32_t guests_since;   /**< ARCH_KERNEL() since which exclude_guest and exclude_host have an effect; 0 = never */
    uint32_t fixed_doubt;    /**< ARCH_KERNEL() since which kernels may not count the fixed counters; 0 = none */
    bool watchdog;           /**< the kernel's NMI watchdog occupies a counter with cycles while it is enabled */
    bool host_only;          /**< the kernel refuses events that would count in guests, too */
    uint8_t general_without; /**< general counters of a CPU without `flag` */
    const char *flag;        /**< as in /proc/cpuinfo, or NULL */
    const struct arch_code_rule *rules; /**< or NULL */
    size_t n_rules;
    struct arch_raw_field raw;
    /** Per general counter a raw encoding that it can count: occupies it, so that no other group runs at the same
     *  time. For families with `shared_filter` and no fixed counters; without it events with a second filter are
     *  refused. */
    const uint64_t *fillers;
};

/** Bits of arch_event.counters. General counter n is bit n; fixed counter n is bit ARCH_FIXED + n. 0 = any. */
enum { ARCH_FIXED = 24 };
#define ARCH_ANY 0u

/** Reference to a text of the rows, resolved by arch_text(); 0 = the empty text. The rows have no pointers, so that all
 *  processes share them and none relocates them. */
typedef uint32_t arch_text_ref;

/** One row: a vendor-neutral event on one family. */
struct arch_event {
    uint64_t config;  /**< goes to perf_event_attr.config */
    uint64_t config1; /**< raw rows: value of a second register, or 0 */
    uint64_t
        raw_encoding; /**< the raw encoding behind a perf generic event, UINT64_MAX if unknown; == config for raw rows */
    arch_text_ref name;   /**< vendor-neutral name, as in core's registry */
    arch_text_ref why;    /**< why approximate or absent; empty for exact rows */
    arch_text_ref source; /**< kernel file or manual that documents the row, with its version */
    /** ARCH_CODE_FORMULA: terms `[WEIGHT*]NAME` joined by " + " or " - ", each NAME a row of the same family that
     *  is not absent or one of its native names; data/events/README.md has the grammar. Empty for the other kinds. */
    arch_text_ref formula;
    arch_text_ref near; /**< absent rows: the nearest events of the family, blank-separated, if there are any */
    uint32_t counters;  /**< counters it may use; ARCH_ANY = any general one */
    uint8_t kind;       /**< enum arch_code_kind */
    uint8_t match;      /**< enum upmu_match */
};

/** One native event name of a family, for `native::NAME` where libpfm4 is not installed or does not support the
 *  CPU. */
struct arch_native {
    uint64_t config;  /**< raw encoding */
    uint64_t config1; /**< value of a second register, or 0 */
    arch_text_ref name;
    arch_text_ref meaning; /**< if the name is not sufficient */
    uint32_t counters;
};

/** A PAPI preset that has no vendor-neutral event. */
struct arch_preset {
    arch_text_ref papi;
    arch_text_ref formula; /**< a native name, or a sum as in arch_event.formula */
    arch_text_ref why;
    uint8_t match; /**< enum upmu_match between the event and the preset's definition */
};

/** Rows of a family and its bases, generated from data/events: where the numbers of its rows start, and how many
 *  there are. */
struct arch_table {
    uint32_t events, n_events;   /**< sorted by name */
    uint32_t natives, n_natives; /**< sorted by name, ignoring case */
    uint32_t presets, n_presets; /**< sorted by name */
};

/** One core of a machine that may have different ones (Arm), from its main id register. */
struct arch_core_id {
    int implementer, part;
    int processor; /**< the first processor with this core: identifies the kernel's PMU; -1 if not printed */
};

enum { ARCH_CORE_IDS_MAX = 4 };

/** Core type of an x86 hybrid CPU. Only the name of the core's PMU shows it, /proc/cpuinfo does not. */
enum arch_core_type {
    ARCH_CORE_ANY = 0, /**< unknown, or the CPU has one core type */
    ARCH_CORE_PERFORMANCE,
    ARCH_CORE_EFFICIENT,
    ARCH_CORE_LOW_POWER, /**< a third type besides both others */
};

/** Identity of a CPU, from /proc/cpuinfo and other sources. Unknown fields are -1 or "". */
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
    struct arch_core_id
        core_ids[ARCH_CORE_IDS_MAX]; /**< Arm: each different core once, in the order of their processors */
    unsigned n_core_ids;             /**< number of core_ids; further cores are dropped */
    uint32_t prid;                   /**< Loongson PRID if known, else 0 */
    uint64_t mvendorid, marchid;     /**< RISC-V: ids of the first processor, 0 if not printed */
    char uarch[32];                  /**< RISC-V: "uarch", the core's name in the device tree, or "" */
    uint8_t core_type;               /**< enum arch_core_type of the core in question */
    bool hypervisor;                 /**< x86 "hypervisor" flag */
    char flags[2048];                /**< x86 flags / Arm Features, blank separated, with a blank at both ends */
};

/** A core by Arm's main id register. Never 0. */
#define ARCH_CORE(implementer, part) ((uint32_t)(implementer) << 12 | (uint32_t)(part))

/** A core family: one table, one set of counter rules. */
struct arch_family {
    const char *name;     /**< stable key, lower case: "intel-skylake", "zen3", "gs464", "core3b", "generic" */
    const char *title;    /**< for display: "AMD Zen 3" */
    const char *vendor;   /**< folder under lib/arch */
    const char *core_pmu; /**< the usual name of the kernel's core PMU in sysfs ("cpu") */
    const struct arch_table *table;
    struct arch_counters counters;
    /** Raw encodings from 1 to this one open on every core of the family and read 0 if the core lacks the event;
     *  the kernel's PMU folder lists those that the core has. 0 = there is no such list. */
    uint8_t listed_raw;
    bool confirmed; /**< with `listed_raw`: the vendor's list of events confirms the encodings beyond it */
    /** How well `cpu` matches the family: 0 = not at all; the highest wins. Required unless `cores` is set. */
    int (*matches)(const struct arch_cpu *cpu);
    const uint32_t *cores; /**< Arm: ARCH_CORE() of each core of the family, 0 at the end; or NULL */
    /** The encodings apply to kernel PMUs whose names have this prefix; behind other PMUs, as in guests, the core
     *  is of the family `behind_others`. NULL: any PMU. */
    const char *own_pmu;
    const struct arch_family *behind_others;
    const char
        *remark; /**< what users of this family must be aware of ("mainline kernels have no PMU driver"), or "" */
    const char *choice; /**< which of an event's two encodings its rows use, raw or generic, and why */
};

/** All families, in the order of `upmu list --cpu`; NULL-terminated; "generic" is the last and matches anything. */
extern const struct arch_family *const upmu_arch_families[];

/** Parse the text of /proc/cpuinfo (first processor of interest). @return 0, or UPMU_E_FORMAT if it is not a
 *  cpuinfo. */
int arch_cpu_parse(const char *cpuinfo, struct arch_cpu *out);
/** Set all fields to unknown. */
void arch_cpu_clear(struct arch_cpu *cpu);
/** Query the running CPU with its own instructions (CPUID, CPUCFG), or at least set its architecture. Never called
 *  for a recorded machine. @return the source, for display; NULL if there is none */
const char *arch_cpu_ask(struct arch_cpu *out);
typedef const char *(*arch_cpu_ask_fn)(struct arch_cpu *out);
/** Add a core, unless it is already listed. */
void arch_cpu_add_core_id(struct arch_cpu *cpu, const struct arch_core_id *core);
/** Add the contents of a processor's main id register (Arm's MIDR_EL1). */
void arch_cpu_add_midr(struct arch_cpu *cpu, uint64_t midr, int processor);

/** Relation of a second description of a CPU to the first. */
enum arch_agreement {
    ARCH_SILENT,  /**< it has no data */
    ARCH_AGREES,  /**< it is the same */
    ARCH_ADDS,    /**< it has more, which was added */
    ARCH_DIFFERS, /**< it differs: the differing fields and their dependents are now unknown */
};
enum arch_agreement arch_cpu_hold(struct arch_cpu *cpu, const struct arch_cpu *other);
/** The family of a CPU; never NULL ("generic" if nothing else). */
const struct arch_family *arch_family_of(const struct arch_cpu *cpu);
/** The family of one core of a machine, `i` < n_core_ids; never NULL. */
const struct arch_family *arch_family_of_core_id(const struct arch_cpu *cpu, unsigned kind);
/** The family of the cores of one type (enum arch_core_type) of an x86 machine; never NULL. */
const struct arch_family *arch_family_of_core(const struct arch_cpu *cpu, uint8_t core_type);
/** A family by its key, or NULL. */
const struct arch_family *arch_family_named(const char *name);
/** A family by its key or by a chip that has it, with or without the vendor's name, ignoring case
 *  ("Loongson-3A5000", "kx-6000"); or NULL. */
const struct arch_family *arch_family_called(const char *name);
struct suggest;
/** Add every name that arch_family_called() accepts to a running "did you mean" search. */
void arch_family_offer(struct suggest *s);
/** A text of a row; never NULL, valid permanently. */
const char *arch_text(arch_text_ref ref);
/** Row of an event; NULL if there is none. */
const struct arch_event *arch_family_event(const struct arch_family *family, const char *name);
/** The rows of a family by number, in the order of their names; NULL after the last. */
const struct arch_event *arch_family_event_at(const struct arch_family *family, size_t i);
/** The perf generic event for an event of a family, and the raw encoding that the kernel uses for it there. */
struct arch_generic_id {
    uint8_t kind;   /**< ARCH_CODE_HARDWARE or ARCH_CODE_HW_CACHE */
    bool same_name; /**< it is the kernel's name for this event; otherwise another event with the same encoding */
    uint64_t config;
    uint64_t raw_encoding; /**< UINT64_MAX if unknown */
};
/** @return false if the kernel has none. A row with a raw encoding may have one, too, with the same encoding or
 *  another. */
bool arch_family_generic_id(const struct arch_family *family, const struct arch_event *row,
                            struct arch_generic_id *out);
/** Native row by name (case-insensitive), or NULL. */
const struct arch_native *arch_family_native(const struct arch_family *family, const char *name);
/** A PAPI preset in terms of other events of a family; NULL if the family has none. */
const struct arch_preset *arch_family_preset(const struct arch_family *family, const char *papi);
/** The presets of a family by index, in the order of their names; NULL after the last. */
const struct arch_preset *arch_family_preset_at(const struct arch_family *family, size_t i);
/** The native rows of a family by name; `*position` starts with 0. NULL after the last. */
const struct arch_native *arch_family_native_next(const struct arch_family *family, size_t *position);

/** Result of a lookup in libpfm4. */
struct arch_native_code {
    uint32_t type;
    uint64_t config, config1, config2;
    char name[128]; /**< fully qualified, in libpfm4's spelling */
};

/** Encode a native name through libpfm4, opened at run time. @return 0; UPMU_E_NAME (unknown to libpfm4; the
 *  message has its reason); UPMU_E_UNSUPPORTED (libpfm4 is not installed). Not for the traced path. */
int arch_native_encode(const char *name, struct arch_native_code *out);

/** User-space read of one counter (RDPMC and similar) by the index of the mmap page; NULL on an ISA without one. */
typedef uint64_t (*arch_counter_read_fn)(uint32_t index);
extern const arch_counter_read_fn upmu_arch_counter_read;

#endif
