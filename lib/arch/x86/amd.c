/* SPDX-License-Identifier: MIT */
/** @file AMD Zen 1 to Zen 5: models, counters and remarks. */
#include <string.h>

#include "arch/row.h"
#include "arch/tables.h"
#include "arch/x86/zen_counters.h"

enum { ZEN_1_AND_2 = 23, ZEN_3_AND_4 = 25, ZEN_5 = 26 };

/** Model numbers in the closed range from `first` to `last`. */
struct model_range {
    uint8_t first, last;
};

static bool amd_in_ranges(const struct arch_cpu *cpu, int family, const struct model_range *ranges, size_t n)
{
    if (strcmp(cpu->vendor, "AuthenticAMD") != 0 || cpu->family != family)
        return false;
    for (size_t i = 0; i < n; i++) {
        if (cpu->model >= ranges[i].first && cpu->model <= ranges[i].last)
            return true;
    }
    return false;
}

static const struct model_range zen1_models[] = {{0x00, 0x2f}, {0x50, 0x5f}};

static int is_zen1(const struct arch_cpu *cpu)
{
    return amd_in_ranges(cpu, ZEN_1_AND_2, zen1_models, ROWS(zen1_models)) ? ARCH_MATCH_MODEL : ARCH_MATCH_NO;
}

/** The family's other models. */
static int is_zen2(const struct arch_cpu *cpu)
{
    static const struct model_range all[] = {{0x00, 0xff}};
    return amd_in_ranges(cpu, ZEN_1_AND_2, all, ROWS(all)) && !is_zen1(cpu) ? ARCH_MATCH_MODEL : ARCH_MATCH_NO;
}

static int is_zen3(const struct arch_cpu *cpu)
{
    static const struct model_range models[] = {{0x00, 0x0f}, {0x20, 0x5f}};
    return amd_in_ranges(cpu, ZEN_3_AND_4, models, ROWS(models)) ? ARCH_MATCH_MODEL : ARCH_MATCH_NO;
}

static int is_zen4(const struct arch_cpu *cpu)
{
    static const struct model_range models[] = {{0x10, 0x1f}, {0x60, 0xaf}};
    return amd_in_ranges(cpu, ZEN_3_AND_4, models, ROWS(models)) ? ARCH_MATCH_MODEL : ARCH_MATCH_NO;
}

static int is_zen5(const struct arch_cpu *cpu)
{
    static const struct model_range models[] = {{0x00, 0x2f}, {0x40, 0x4f}, {0x60, 0x7f}, {0xd0, 0xd7}};
    return amd_in_ranges(cpu, ZEN_5, models, ROWS(models)) ? ARCH_MATCH_MODEL : ARCH_MATCH_NO;
}

/** Floating-point operations use two merged counters: an even one and the next. */
const struct arch_code_rule arch_zen_rules[ZEN_RULES] = {
    {.mask = 0xf000000ff, .match = 0x03, .counters = COUNTER(0) | COUNTER(2) | COUNTER(4), .takes_pair = true},
};

#define GUESTS "guests without the flag perfctr_core have 4 counters"

#define AMD_CHOICE                                                                                             \
    "perf generic events if every kernel maps them to the same raw encoding; raw encodings if kernels differ " \
    "(stalls, ref-cycles) or perf has no such event"

const struct arch_family arch_zen1 = {
    .name = "zen1",
    .title = "AMD Zen 1",
    .table = &arch_table_zen1,
    .vendor = "x86",
    .core_pmu = "cpu",
    .counters = ZEN_COUNTERS,
    .matches = is_zen1,
    .remark = GUESTS,
    .choice = AMD_CHOICE,
};

const struct arch_family arch_zen2 = {
    .name = "zen2",
    .title = "AMD Zen 2",
    .table = &arch_table_zen2,
    .vendor = "x86",
    .core_pmu = "cpu",
    .counters = ZEN_COUNTERS,
    .matches = is_zen2,
    .remark = GUESTS,
    .choice = AMD_CHOICE,
};

const struct arch_family arch_zen3 = {
    .name = "zen3",
    .title = "AMD Zen 3",
    .table = &arch_table_zen3,
    .vendor = "x86",
    .core_pmu = "cpu",
    .counters = ZEN_COUNTERS,
    .matches = is_zen3,
    .remark = GUESTS,
    .choice = AMD_CHOICE,
};

const struct arch_family arch_zen4 = {
    .name = "zen4",
    .title = "AMD Zen 4",
    .table = &arch_table_zen4,
    .vendor = "x86",
    .core_pmu = "cpu",
    .counters = ZEN_COUNTERS,
    .matches = is_zen4,
    .remark = GUESTS,
    .choice = AMD_CHOICE,
};

const struct arch_family arch_zen5 = {
    .name = "zen5",
    .title = "AMD Zen 5",
    .table = &arch_table_zen5,
    .vendor = "x86",
    .core_pmu = "cpu",
    .counters = ZEN_COUNTERS,
    .matches = is_zen5,
    .remark = GUESTS,
    .choice = AMD_CHOICE,
};

/** Any AMD CPU from Zen on. */
static int is_amd_core(const struct arch_cpu *cpu)
{
    return strcmp(cpu->vendor, "AuthenticAMD") == 0 && cpu->family >= ZEN_1_AND_2 ? ARCH_MATCH_VENDOR : ARCH_MATCH_NO;
}

const struct arch_family arch_amd_core = {
    .name = "amd-core",
    .title = "AMD, model not known",
    .table = &arch_table_amd_core,
    .vendor = "x86",
    .core_pmu = "cpu",
    .counters = ZEN_COUNTERS,
    .matches = is_amd_core,
    .remark = "this model has no table of its own: only the events that all cores since Zen share have a known meaning",
    .choice = AMD_CHOICE,
};
