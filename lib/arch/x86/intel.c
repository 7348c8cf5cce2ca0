/* SPDX-License-Identifier: MIT */
/**
 * @file
 * Intel cores from Haswell to Sapphire Rapids, and any other Intel CPU: models, counters and remarks.
 *
 * Client parts share the table of the server part of their core; the kernel programs both alike.
 */
#include <string.h>

#include "arch/row.h"
#include "arch/tables.h"

static bool intel_is_model(const struct arch_cpu *cpu, const uint8_t *models, size_t n)
{
    if (strcmp(cpu->vendor, "GenuineIntel") != 0 || cpu->family != 6)
        return false;
    for (size_t i = 0; i < n; i++) {
        if (cpu->model == models[i])
            return true;
    }
    return false;
}

static int is_haswell(const struct arch_cpu *cpu)
{
    static const uint8_t models[] = {0x3c, 0x3f, 0x45, 0x46};
    return intel_is_model(cpu, models, ROWS(models)) ? ARCH_MATCH_MODEL : ARCH_MATCH_NO;
}

static int is_broadwell(const struct arch_cpu *cpu)
{
    static const uint8_t models[] = {0x3d, 0x47, 0x4f, 0x56};
    return intel_is_model(cpu, models, ROWS(models)) ? ARCH_MATCH_MODEL : ARCH_MATCH_NO;
}

/** Skylake, Cascade Lake, Cooper Lake, Kaby Lake, Comet Lake. */
static int is_skylake(const struct arch_cpu *cpu)
{
    static const uint8_t models[] = {0x4e, 0x5e, 0x55, 0x8e, 0x9e, 0xa5, 0xa6};
    return intel_is_model(cpu, models, ROWS(models)) ? ARCH_MATCH_MODEL : ARCH_MATCH_NO;
}

/** Ice Lake, Tiger Lake, Rocket Lake. */
static int is_icelake(const struct arch_cpu *cpu)
{
    static const uint8_t models[] = {0x6a, 0x6c, 0x7d, 0x7e, 0x8c, 0x8d, 0x9d, 0xa7};
    return intel_is_model(cpu, models, ROWS(models)) ? ARCH_MATCH_MODEL : ARCH_MATCH_NO;
}

/** Sapphire Rapids, Emerald Rapids. The hybrid parts with this core have two PMUs and stay with intel-core. */
static int is_sapphirerapids(const struct arch_cpu *cpu)
{
    static const uint8_t models[] = {0x8f, 0xcf};
    return intel_is_model(cpu, models, ROWS(models)) ? ARCH_MATCH_MODEL : ARCH_MATCH_NO;
}

/** Any Intel CPU with the architectural events: all since Core 2, of which model numbers below 15 are older. */
static int is_intel_core(const struct arch_cpu *cpu)
{
    if (strcmp(cpu->vendor, "GenuineIntel") != 0)
        return ARCH_MATCH_NO;
    bool architectural = (cpu->family == 6 && cpu->model >= 15) || strstr(cpu->flags, " arch_perfmon ") != NULL;
    return architectural ? ARCH_MATCH_VENDOR : ARCH_MATCH_NO;
}

/** Fixed counters of the architectural events, the kernel's two pseudo encodings, and the registers of the offcore
 *  response events: two, for any of the encodings (0x01b7 and 0x01bb, later 0x012a and 0x012b). */
static const struct arch_code_rule code_rules[] = {
    {.mask = 0xffffffff, .match = 0x00c0, .counters = FIXED(0) | GENERAL(8)},
    {.mask = 0xffffffff, .match = 0x003c, .counters = FIXED(1) | GENERAL(8)},
    {.mask = 0xffffffff, .match = 0x0300, .counters = FIXED(2)},
    {.mask = 0xffffffff, .match = 0x0400, .counters = FIXED(3)},
    {.mask = 0xffff, .match = 0x01b7, .pool = 1, .pool_size = 2},
    {.mask = 0xffff, .match = 0x01bb, .pool = 1, .pool_size = 2},
    {.mask = 0xffff, .match = 0x012a, .pool = 1, .pool_size = 2},
    {.mask = 0xffff, .match = 0x012b, .pool = 1, .pool_size = 2},
};

#define INTEL_COUNTERS(n_general, n_fixed)                                                               \
    {                                                                                                    \
        .general = (n_general), .fixed = (n_fixed), .width = 48, .watchdog = true, .rules = code_rules,  \
        .n_rules = ROWS(code_rules), .raw = {.mask = 0x3ffa4ffff}, .guests_since = ARCH_KERNEL(3, 3, 0), \
    }

#define SERVER_NAMES "native names are those of the server part of this core"

#define INTEL_CHOICE                                                                                                 \
    "perf generic events where the kernel ties them to a fixed counter or to a second register (offcore response), " \
    "and where its code is the one of the name; else the raw encodings of the vendor's list for this model"

const struct arch_family arch_intel_haswell = {
    .name = "intel-haswell",
    .title = "Intel Haswell",
    .table = &arch_table_intel_haswell,
    .vendor = "x86",
    .core_pmu = "cpu",
    .counters = INTEL_COUNTERS(4, 3),
    .matches = is_haswell,
    .remark = SERVER_NAMES,
    .choice = INTEL_CHOICE,
};

const struct arch_family arch_intel_broadwell = {
    .name = "intel-broadwell",
    .title = "Intel Broadwell",
    .table = &arch_table_intel_broadwell,
    .vendor = "x86",
    .core_pmu = "cpu",
    .counters = INTEL_COUNTERS(4, 3),
    .matches = is_broadwell,
    .remark = SERVER_NAMES,
    .choice = INTEL_CHOICE,
};

const struct arch_family arch_intel_skylake = {
    .name = "intel-skylake",
    .title = "Intel Skylake, Cascade Lake",
    .table = &arch_table_intel_skylake,
    .vendor = "x86",
    .core_pmu = "cpu",
    .counters = INTEL_COUNTERS(4, 3),
    .matches = is_skylake,
    .remark = SERVER_NAMES,
    .choice = INTEL_CHOICE,
};

const struct arch_family arch_intel_icelake = {
    .name = "intel-icelake",
    .title = "Intel Ice Lake",
    .table = &arch_table_intel_icelake,
    .vendor = "x86",
    .core_pmu = "cpu",
    .counters = INTEL_COUNTERS(8, 4),
    .matches = is_icelake,
    .remark = SERVER_NAMES,
    .choice = INTEL_CHOICE,
};

const struct arch_family arch_intel_sapphirerapids = {
    .name = "intel-sapphirerapids",
    .title = "Intel Sapphire Rapids",
    .table = &arch_table_intel_sapphirerapids,
    .vendor = "x86",
    .core_pmu = "cpu",
    .counters = INTEL_COUNTERS(8, 4),
    .matches = is_sapphirerapids,
    .remark = SERVER_NAMES,
    .choice = INTEL_CHOICE,
};

const struct arch_family arch_intel_core = {
    .name = "intel-core",
    .title = "Intel, model not known",
    .table = &arch_table_intel_core,
    .vendor = "x86",
    .core_pmu = "cpu",
    .counters = {.fixed = 3,
                 .watchdog = true,
                 .guests_since = ARCH_KERNEL(3, 3, 0),
                 .rules = code_rules,
                 .n_rules = ROWS(code_rules)},
    .matches = is_intel_core,
    .remark =
        "this model has no table of its own: only the architectural events have a known meaning. Hybrid CPUs have one "
        "PMU per core type (cpu_core, cpu_atom)",
    .choice = INTEL_CHOICE,
};
