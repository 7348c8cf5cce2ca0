/* SPDX-License-Identifier: MIT */
/**
 * @file Intel cores since Golden Cove: hybrid CPUs, and servers with one of their cores.
 *
 * A hybrid CPU has one model number and several core types. The kernel gives each type a PMU of its own (cpu_core,
 * cpu_atom, cpu_lowpower), which identifies the core type; without it no family here matches, and only the
 * architectural events remain.
 */
#include <string.h>

#include "arch/row.h"
#include "arch/tables.h"

struct hybrid_model {
    uint8_t model;
    uint8_t core_type; /**< enum arch_core_type; ARCH_CORE_ANY: all cores are the same */
};

static int hybrid_match(const struct arch_cpu *cpu, const struct hybrid_model *models, size_t n)
{
    if (strcmp(cpu->vendor, "GenuineIntel") != 0 || cpu->family != 6)
        return ARCH_MATCH_NO;
    for (size_t i = 0; i < n; i++)
        if (cpu->model == models[i].model &&
            (models[i].core_type == ARCH_CORE_ANY || cpu->core_type == models[i].core_type))
            return ARCH_MATCH_MODEL;
    return ARCH_MATCH_NO;
}

/** Alder Lake and Raptor Lake. */
static int is_goldencove(const struct arch_cpu *cpu)
{
    static const struct hybrid_model models[] = {
        {0x97, ARCH_CORE_PERFORMANCE}, {0x9a, ARCH_CORE_PERFORMANCE}, {0xb7, ARCH_CORE_PERFORMANCE},
        {0xba, ARCH_CORE_PERFORMANCE}, {0xbf, ARCH_CORE_PERFORMANCE},
    };
    return hybrid_match(cpu, models, ROWS(models));
}

/** The same, and Alder Lake-N, which has only these cores. */
static int is_gracemont(const struct arch_cpu *cpu)
{
    static const struct hybrid_model models[] = {
        {0x97, ARCH_CORE_EFFICIENT}, {0x9a, ARCH_CORE_EFFICIENT}, {0xb7, ARCH_CORE_EFFICIENT},
        {0xba, ARCH_CORE_EFFICIENT}, {0xbf, ARCH_CORE_EFFICIENT}, {0xbe, ARCH_CORE_ANY},
    };
    return hybrid_match(cpu, models, ROWS(models));
}

/** Meteor Lake and Arrow Lake-U. */
static int is_redwoodcove(const struct arch_cpu *cpu)
{
    static const struct hybrid_model models[] = {
        {0xaa, ARCH_CORE_PERFORMANCE}, {0xac, ARCH_CORE_PERFORMANCE}, {0xb5, ARCH_CORE_PERFORMANCE}};
    return hybrid_match(cpu, models, ROWS(models));
}

/** The same, and the low-power cores of Arrow Lake-H. */
static int is_crestmont(const struct arch_cpu *cpu)
{
    static const struct hybrid_model models[] = {{0xaa, ARCH_CORE_EFFICIENT},
                                                 {0xac, ARCH_CORE_EFFICIENT},
                                                 {0xb5, ARCH_CORE_EFFICIENT},
                                                 {0xc5, ARCH_CORE_LOW_POWER}};
    return hybrid_match(cpu, models, ROWS(models));
}

/** Lunar Lake, Arrow Lake-H and Arrow Lake. */
static int is_lioncove(const struct arch_cpu *cpu)
{
    static const struct hybrid_model models[] = {
        {0xbd, ARCH_CORE_PERFORMANCE}, {0xc5, ARCH_CORE_PERFORMANCE}, {0xc6, ARCH_CORE_PERFORMANCE}};
    return hybrid_match(cpu, models, ROWS(models));
}

static int is_skymont(const struct arch_cpu *cpu)
{
    static const struct hybrid_model models[] = {
        {0xbd, ARCH_CORE_EFFICIENT}, {0xc5, ARCH_CORE_EFFICIENT}, {0xc6, ARCH_CORE_EFFICIENT}};
    return hybrid_match(cpu, models, ROWS(models));
}

static int is_graniterapids(const struct arch_cpu *cpu)
{
    static const struct hybrid_model models[] = {{0xad, ARCH_CORE_ANY}, {0xae, ARCH_CORE_ANY}};
    return hybrid_match(cpu, models, ROWS(models));
}

/** Sierra Forest and Grand Ridge. */
static int is_sierraforest(const struct arch_cpu *cpu)
{
    static const struct hybrid_model models[] = {{0xaf, ARCH_CORE_ANY}, {0xb6, ARCH_CORE_ANY}};
    return hybrid_match(cpu, models, ROWS(models));
}

/* Encodings with counters of their own; the first matching rule applies. The kernel's pseudo encodings (no event in
 * the lowest byte) are for fixed counters only. */
#define CODE(code, where)                                        \
    {                                                            \
        .mask = 0xffffffff, .match = (code), .counters = (where) \
    }
#define UMASK(code, where)                                   \
    {                                                        \
        .mask = 0xffff, .match = (code), .counters = (where) \
    }
#define EVENT(code, where)                                 \
    {                                                      \
        .mask = 0xff, .match = (code), .counters = (where) \
    }
/* Offcore responses: two registers, for either encoding. */
#define OFFCORE(code, where)                                                            \
    {                                                                                   \
        .mask = 0xffff, .match = (code), .counters = (where), .pool = 1, .pool_size = 2 \
    }
#define FIXED_CODES(general) \
    CODE(0x00c0, FIXED(0) | GENERAL(general)), CODE(0x003c, FIXED(1) | GENERAL(general)), CODE(0x0300, FIXED(2))
#define COVE_CODES(general)                                                                            \
    FIXED_CODES(general), CODE(0x0100, FIXED(0)), CODE(0x0400, FIXED(3)), OFFCORE(0x012a, GENERAL(4)), \
        OFFCORE(0x012b, GENERAL(4)), UMASK(0x08a4, COUNTER(0)), UMASK(0x04a4, COUNTER(0))

/** Golden Cove and Redwood Cove: most events below 0x90, and those of retired memory accesses, use the first four. */
static const struct arch_code_rule cove_rules[] = {
    COVE_CODES(8),
    EVENT(0x2e, GENERAL(8)),
    EVENT(0x3c, GENERAL(8)),
    {.mask = 0x80, .match = 0x00, .counters = GENERAL(4)},
    {.mask = 0xf0, .match = 0x80, .counters = GENERAL(4)},
    UMASK(0x01a3, GENERAL(4)),
    UMASK(0x02a3, GENERAL(4)),
    UMASK(0x08a3, GENERAL(4)),
    UMASK(0x02cd, COUNTER(0)),
    EVENT(0xce, COUNTER(0)),
    {.mask = 0xf0, .match = 0xd0, .counters = GENERAL(4)},
};

static const struct arch_code_rule lioncove_rules[] = {
    COVE_CODES(10),
    EVENT(0x20, GENERAL(4)),
    UMASK(0x0148, COUNTER(2)),
    UMASK(0x0175, COUNTER(2)),
    UMASK(0x08a3, COUNTER(2)),
    UMASK(0x0ca3, COUNTER(2)),
    UMASK(0x10a4, COUNTER(0)),
    UMASK(0x01b1, COUNTER(3)),
    UMASK(0x01cd, GENERAL(10) & ~GENERAL(2)),
    UMASK(0x02cd, GENERAL(2)),
    {.mask = 0xf0, .match = 0xd0, .counters = GENERAL(4)},
    UMASK(0x00e0, GENERAL(4)),
};

static const struct arch_code_rule gracemont_rules[] = {FIXED_CODES(6), OFFCORE(0x01b7, ARCH_ANY),
                                                        OFFCORE(0x02b7, ARCH_ANY)};
static const struct arch_code_rule crestmont_rules[] = {FIXED_CODES(8), OFFCORE(0x01b7, ARCH_ANY),
                                                        OFFCORE(0x02b7, ARCH_ANY)};
static const struct arch_code_rule skymont_rules[] = {
    FIXED_CODES(8),
    OFFCORE(0x01b7, ARCH_ANY),
    OFFCORE(0x02b7, ARCH_ANY),
    CODE(0x0073, FIXED(4) | GENERAL(8)),
    CODE(0x019c, FIXED(5) | GENERAL(8)),
    CODE(0x02c2, FIXED(6) | GENERAL(8)),
};

/* Since Lion Cove an encoding has a second unit mask (bits 40 to 47) and "equal" (bit 36), in every kernel that
 * supports these models. */
enum { HYBRID_RAW_BITS = 0xffa4ffff };
#define PERFMON_6_BITS UINT64_C(0xff1000000000)
#define TRANSACTION_BITS UINT64_C(0x300000000)

#define HYBRID_COUNTERS(n_general, n_fixed, table, more_bits)                                        \
    {                                                                                                \
        .general = (n_general), .fixed = (n_fixed), .width = 48, .watchdog = true, .rules = (table), \
        .n_rules = ROWS(table), .raw = {.mask = HYBRID_RAW_BITS | (more_bits)},                      \
    }

#define ONE_TYPE "one core type of a hybrid CPU: each type has a PMU and events of its own"
#define HYBRID_CHOICE                                                                                                 \
    "on a hybrid CPU raw encodings for the PMU of the core type, and perf generic events that carry its type where "  \
    "they "                                                                                                           \
    "need a second register (offcore response); elsewhere perf generic events where the kernel ties them to a fixed " \
    "counter or to that register, else the raw encodings of the vendor's list for this core"

const struct arch_family arch_intel_goldencove = {
    .name = "intel-goldencove",
    .title = "Intel Golden Cove",
    .vendor = "x86",
    .core_pmu = "cpu_core",
    .table = &arch_table_intel_goldencove,
    .counters = HYBRID_COUNTERS(8, 4, cove_rules, TRANSACTION_BITS),
    .matches = is_goldencove,
    .remark = ONE_TYPE,
    .choice = HYBRID_CHOICE,
};

const struct arch_family arch_intel_gracemont = {
    .name = "intel-gracemont",
    .title = "Intel Gracemont",
    .vendor = "x86",
    .core_pmu = "cpu_atom",
    .table = &arch_table_intel_gracemont,
    .counters = HYBRID_COUNTERS(6, 3, gracemont_rules, 0),
    .matches = is_gracemont,
    .remark = ONE_TYPE "; in Alder Lake-N the only one, with the PMU cpu",
    .choice = HYBRID_CHOICE,
};

const struct arch_family arch_intel_redwoodcove = {
    .name = "intel-redwoodcove",
    .title = "Intel Redwood Cove",
    .vendor = "x86",
    .core_pmu = "cpu_core",
    .table = &arch_table_intel_redwoodcove,
    .counters = HYBRID_COUNTERS(8, 4, cove_rules, TRANSACTION_BITS),
    .matches = is_redwoodcove,
    .remark = ONE_TYPE,
    .choice = HYBRID_CHOICE,
};

const struct arch_family arch_intel_crestmont = {
    .name = "intel-crestmont",
    .title = "Intel Crestmont",
    .vendor = "x86",
    .core_pmu = "cpu_atom",
    .table = &arch_table_intel_crestmont,
    .counters = HYBRID_COUNTERS(8, 3, crestmont_rules, 0),
    .matches = is_crestmont,
    .remark = ONE_TYPE,
    .choice = HYBRID_CHOICE,
};

const struct arch_family arch_intel_lioncove = {
    .name = "intel-lioncove",
    .title = "Intel Lion Cove",
    .vendor = "x86",
    .core_pmu = "cpu_core",
    .table = &arch_table_intel_lioncove,
    .counters = HYBRID_COUNTERS(10, 4, lioncove_rules, TRANSACTION_BITS | PERFMON_6_BITS),
    .matches = is_lioncove,
    .remark = ONE_TYPE "; its data cache has two levels, L0 and L1, and misses of L1 missed both",
    .choice = HYBRID_CHOICE,
};

const struct arch_family arch_intel_skymont = {
    .name = "intel-skymont",
    .title = "Intel Skymont",
    .vendor = "x86",
    .core_pmu = "cpu_atom",
    .table = &arch_table_intel_skymont,
    .counters = HYBRID_COUNTERS(8, 7, skymont_rules, PERFMON_6_BITS),
    .matches = is_skymont,
    .remark = ONE_TYPE,
    .choice = HYBRID_CHOICE,
};

const struct arch_family arch_intel_graniterapids = {
    .name = "intel-graniterapids",
    .title = "Intel Granite Rapids",
    .vendor = "x86",
    .core_pmu = "cpu",
    .table = &arch_table_intel_graniterapids,
    .counters = HYBRID_COUNTERS(8, 4, cove_rules, TRANSACTION_BITS),
    .matches = is_graniterapids,
    .remark = "",
    .choice = HYBRID_CHOICE,
};

const struct arch_family arch_intel_sierraforest = {
    .name = "intel-sierraforest",
    .title = "Intel Sierra Forest",
    .vendor = "x86",
    .core_pmu = "cpu",
    .table = &arch_table_intel_sierraforest,
    .counters = HYBRID_COUNTERS(8, 3, crestmont_rules, 0),
    .matches = is_sierraforest,
    .remark = "",
    .choice = HYBRID_CHOICE,
};
