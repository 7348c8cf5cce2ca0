/* SPDX-License-Identifier: MIT */
/**
 * @file
 * Intel cores before Haswell: models, counters and remarks.
 */
#include <string.h>

#include "arch/row.h"
#include "arch/tables.h"

static bool intel_older_is_model(const struct arch_cpu *cpu, const uint8_t *models, size_t n)
{
    bool found = false;
    for (size_t i = 0; i < n; i++)
        found |= cpu->model == models[i];
    return found && cpu->family == 6 && strcmp(cpu->vendor, "GenuineIntel") == 0;
}

/** Merom, Conroe, Penryn, Dunnington. */
static int is_core2(const struct arch_cpu *cpu)
{
    static const uint8_t models[] = {0x0f, 0x16, 0x17, 0x1d};
    return intel_older_is_model(cpu, models, ROWS(models)) ? ARCH_MATCH_MODEL : ARCH_MATCH_NO;
}

/** Bloomfield, Lynnfield, Nehalem-EX. */
static int is_nehalem(const struct arch_cpu *cpu)
{
    static const uint8_t models[] = {0x1a, 0x1e, 0x2e};
    return intel_older_is_model(cpu, models, ROWS(models)) ? ARCH_MATCH_MODEL : ARCH_MATCH_NO;
}

/** Clarkdale, Gulftown, Westmere-EX. */
static int is_westmere(const struct arch_cpu *cpu)
{
    static const uint8_t models[] = {0x25, 0x2c, 0x2f};
    return intel_older_is_model(cpu, models, ROWS(models)) ? ARCH_MATCH_MODEL : ARCH_MATCH_NO;
}

/** Client and server part. */
static int is_sandybridge(const struct arch_cpu *cpu)
{
    static const uint8_t models[] = {0x2a, 0x2d};
    return intel_older_is_model(cpu, models, ROWS(models)) ? ARCH_MATCH_MODEL : ARCH_MATCH_NO;
}

/** Client and server part. */
static int is_ivybridge(const struct arch_cpu *cpu)
{
    static const uint8_t models[] = {0x3a, 0x3e};
    return intel_older_is_model(cpu, models, ROWS(models)) ? ARCH_MATCH_MODEL : ARCH_MATCH_NO;
}

/* Events that the kernel ties to counters: one event with any unit mask, or one unit mask of it. */
#define EVENT(code, where)                                 \
    {                                                      \
        .mask = 0xff, .match = (code), .counters = (where) \
    }
#define UMASK(code, where)                                   \
    {                                                        \
        .mask = 0xffff, .match = (code), .counters = (where) \
    }
#define FIXED_RULES(general)                                                            \
    {.mask = 0xffffffff, .match = 0x00c0, .counters = FIXED(0) | GENERAL(general)},     \
        {.mask = 0xffffffff, .match = 0x003c, .counters = FIXED(1) | GENERAL(general)}, \
    {                                                                                   \
        .mask = 0xffffffff, .match = 0x0300, .counters = FIXED(2)                       \
    }
#define OLDER_OFFCORE(code, registers)                                       \
    {                                                                        \
        .mask = 0xffff, .match = (code), .pool = 1, .pool_size = (registers) \
    }

static const struct arch_code_rule core2_rules[] = {
    FIXED_RULES(2),          EVENT(0x10, COUNTER(0)), EVENT(0x11, COUNTER(1)), EVENT(0x12, COUNTER(1)),
    EVENT(0x13, COUNTER(1)), EVENT(0x14, COUNTER(0)), EVENT(0x18, COUNTER(0)), EVENT(0x19, COUNTER(1)),
    EVENT(0xa1, COUNTER(0)), EVENT(0xc9, COUNTER(0)), EVENT(0xcb, COUNTER(0)),
};
static const struct arch_code_rule nehalem_rules[] = {
    FIXED_RULES(4),          EVENT(0x40, GENERAL(2)),  EVENT(0x41, GENERAL(2)), EVENT(0x42, GENERAL(2)),
    EVENT(0x43, GENERAL(2)), EVENT(0x48, GENERAL(2)),  EVENT(0x4e, GENERAL(2)), EVENT(0x51, GENERAL(2)),
    EVENT(0x63, GENERAL(2)), OLDER_OFFCORE(0x01b7, 1),
};
static const struct arch_code_rule westmere_rules[] = {
    FIXED_RULES(4),          EVENT(0x51, GENERAL(2)),  EVENT(0x60, COUNTER(0)),  EVENT(0x63, GENERAL(2)),
    EVENT(0xb3, COUNTER(0)), OLDER_OFFCORE(0x01b7, 2), OLDER_OFFCORE(0x01bb, 2),
};
static const struct arch_code_rule sandybridge_rules[] = {
    FIXED_RULES(4),           UMASK(0x02a3, COUNTER(2)), UMASK(0x06a3, COUNTER(2)),
    EVENT(0x48, COUNTER(2)),  UMASK(0x01c0, COUNTER(1)), EVENT(0xcd, COUNTER(3)),
    OLDER_OFFCORE(0x01b7, 2), OLDER_OFFCORE(0x01bb, 2),
};
static const struct arch_code_rule ivybridge_rules[] = {
    FIXED_RULES(4),
    UMASK(0x0148, COUNTER(2)),
    UMASK(0x08a3, COUNTER(2)),
    UMASK(0x0ca3, COUNTER(2)),
    UMASK(0x01c0, COUNTER(1)),
    OLDER_OFFCORE(0x01b7, 2),
    OLDER_OFFCORE(0x01bb, 2),
};

#define COUNTERS(n_general, bits, table)                                                           \
    {                                                                                              \
        .general = (n_general), .fixed = 3, .width = (bits), .watchdog = true, .rules = (table),   \
        .n_rules = ROWS(table), .raw = {.mask = 0xffa4ffff}, .guests_since = ARCH_KERNEL(3, 3, 0), \
    }

#define OLDER_CHOICE                                                                                                 \
    "perf generic events where the kernel ties them to a fixed counter or to a second register (offcore response), " \
    "or where its code is the one of the name; else the raw encodings of the vendor's list for this core"

const struct arch_family arch_intel_core2 = {
    .name = "intel-core2",
    .title = "Intel Core 2",
    .table = &arch_table_intel_core2,
    .vendor = "x86",
    .core_pmu = "cpu",
    .counters = COUNTERS(2, 40, core2_rules),
    .matches = is_core2,
    .remark = "",
    .choice = OLDER_CHOICE,
};

const struct arch_family arch_intel_nehalem = {
    .name = "intel-nehalem",
    .title = "Intel Nehalem",
    .table = &arch_table_intel_nehalem,
    .vendor = "x86",
    .core_pmu = "cpu",
    .counters = COUNTERS(4, 48, nehalem_rules),
    .matches = is_nehalem,
    .remark = "native names are those of the server part",
    .choice = OLDER_CHOICE,
};

const struct arch_family arch_intel_westmere = {
    .name = "intel-westmere",
    .title = "Intel Westmere",
    .table = &arch_table_intel_westmere,
    .vendor = "x86",
    .core_pmu = "cpu",
    .counters = COUNTERS(4, 48, westmere_rules),
    .matches = is_westmere,
    .remark = "native names are those of the server part",
    .choice = OLDER_CHOICE,
};

const struct arch_family arch_intel_sandybridge = {
    .name = "intel-sandybridge",
    .title = "Intel Sandy Bridge",
    .table = &arch_table_intel_sandybridge,
    .vendor = "x86",
    .core_pmu = "cpu",
    .counters = COUNTERS(4, 48, sandybridge_rules),
    .matches = is_sandybridge,
    .remark = "native names are those of the client part",
    .choice = OLDER_CHOICE,
};

const struct arch_family arch_intel_ivybridge = {
    .name = "intel-ivybridge",
    .title = "Intel Ivy Bridge",
    .table = &arch_table_intel_ivybridge,
    .vendor = "x86",
    .core_pmu = "cpu",
    .counters = COUNTERS(4, 48, ivybridge_rules),
    .matches = is_ivybridge,
    .remark = "native names are those of the client part",
    .choice = OLDER_CHOICE,
};
