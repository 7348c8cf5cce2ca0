/* SPDX-License-Identifier: MIT */
/**
 * @file
 * Phytium's cores. No list of their events has been published: these rows are what the architecture requires or
 * recommends, and the core decides. One family per kind of core, since a machine may have two (E2000). Room:
 * arch/arm; before it families.c, after it the kernel takes the codes.
 */
#include "arch/arm/native.h"
#include "arch/row.h"
#include "arch/tables.h"

#define KERNEL "linux:drivers/perf/arm_pmuv3.c@v6.12.117"
#define RULE "Arm architecture: required and recommended event numbers"
#define DECIDES "the core decides whether it has it"
#define OR_ZERO DECIDES ", and reads 0 if not"
#define RECOMMENDED "a number of Arm's recommendation, not confirmed by the maker; reads 0 if not there"
#define UNLISTED "not among the events that the architecture requires or recommends for this core"

/* name, config, machine code, counters, kind, grade, why, source */
/* clang-format off */
static const struct arch_event rows[] = {
    {"branch-misses", 5, 0x0010, ARCH_ANY, HW, APPROX, "speculative ones included", KERNEL},
    {"branches", 0x000c, 0x000c, ARCH_ANY, RAW, APPROX, "changes of the program counter: taken branches", RULE},
    {"branches-return", 0x000e, 0x000e, ARCH_ANY, RAW, APPROX, OR_ZERO, RULE},
    {"bus-access", 0x0019, 0x0019, ARCH_ANY, RAW, APPROX, OR_ZERO, RULE},
    {"bus-cycles", 6, 0x001d, ARCH_ANY, HW, APPROX, DECIDES, KERNEL},
    {"dtlb-access", 0, NO_CODE, ARCH_ANY, NONE, ABSENT, "only from FTC862 on", ""},
    {"dtlb-load-miss", 0x004c, 0x004c, ARCH_ANY, RAW, APPROX, RECOMMENDED, RULE},
    {"dtlb-miss", 0x010003, 0x0005, ARCH_ANY, CACHE, APPROX, "first level; the core decides whether it has it", KERNEL},
    {"dtlb-store-miss", 0x004d, 0x004d, ARCH_ANY, RAW, APPROX, RECOMMENDED, RULE},
    {"dtlb-walk", 0, NO_CODE, ARCH_ANY, NONE, ABSENT, UNLISTED, ""},
    {"exceptions", 0x0009, 0x0009, ARCH_ANY, RAW, APPROX, OR_ZERO, RULE},
    {"fp-instructions", 0x0075, 0x0075, ARCH_ANY, RAW, APPROX, RECOMMENDED, RULE},
    {"instructions", 1, 0x0008, ARCH_ANY, HW, APPROX, DECIDES, KERNEL},
    {"instructions-spec", 0x001b, 0x001b, ARCH_ANY, RAW, APPROX, OR_ZERO, RULE},
    {"int-instructions", 0x0073, 0x0073, ARCH_ANY, RAW, APPROX, RECOMMENDED, RULE},
    {"interrupts", 0x0086, 0x0086, ARCH_ANY, RAW, APPROX, RECOMMENDED, RULE},
    {"itlb-access", 0, NO_CODE, ARCH_ANY, NONE, ABSENT, "only from FTC862 on", ""},
    {"itlb-miss", 0x010004, 0x0002, ARCH_ANY, CACHE, APPROX, "first level; the core decides whether it has it", KERNEL},
    {"itlb-walk", 0, NO_CODE, ARCH_ANY, NONE, ABSENT, UNLISTED, ""},
    {"l1d-load", 0x0040, 0x0040, ARCH_ANY, RAW, APPROX, RECOMMENDED, RULE},
    {"l1d-load-miss", 0x0042, 0x0042, ARCH_ANY, RAW, APPROX, RECOMMENDED, RULE},
    {"l1d-store", 0x0041, 0x0041, ARCH_ANY, RAW, APPROX, RECOMMENDED, RULE},
    {"l1d-store-miss", 0x0043, 0x0043, ARCH_ANY, RAW, APPROX, RECOMMENDED, RULE},
    {"l1d-writeback", 0x0015, 0x0015, ARCH_ANY, RAW, APPROX, OR_ZERO, RULE},
    {"l1i-access", 0x000001, 0x0014, ARCH_ANY, CACHE, APPROX, DECIDES, KERNEL},
    {"l1i-miss", 0x010001, 0x0001, ARCH_ANY, CACHE, APPROX, DECIDES, KERNEL},
    {"l2-access", 0x0016, 0x0016, ARCH_ANY, RAW, APPROX, OR_ZERO, RULE},
    {"l2-load", 0x0050, 0x0050, ARCH_ANY, RAW, APPROX, RECOMMENDED, RULE},
    {"l2-load-miss", 0x0052, 0x0052, ARCH_ANY, RAW, APPROX, RECOMMENDED, RULE},
    {"l2-miss", 0x0017, 0x0017, ARCH_ANY, RAW, APPROX,
     "line fills; the core decides whether it has it, and reads 0 if not", RULE},
    {"l2-store", 0x0051, 0x0051, ARCH_ANY, RAW, APPROX, RECOMMENDED, RULE},
    {"l2-writeback", 0x0018, 0x0018, ARCH_ANY, RAW, APPROX, OR_ZERO, RULE},
    {"llc-access", 0, NO_CODE, ARCH_ANY, NONE, ABSENT, "only from FTC862 on", ""},
    {"llc-load", 0, NO_CODE, ARCH_ANY, NONE, ABSENT, UNLISTED, ""},
    {"llc-load-miss", 0, NO_CODE, ARCH_ANY, NONE, ABSENT, UNLISTED, ""},
    {"llc-miss", 0, NO_CODE, ARCH_ANY, NONE, ABSENT, "only from FTC862 on", ""},
    {"loads", 0x0006, 0x0006, ARCH_ANY, RAW, APPROX, OR_ZERO, RULE},
    {"loads-stores", 0x0013, 0x0013, ARCH_ANY, RAW, APPROX,
     "memory accesses, not instructions; the core decides whether it has it, and reads 0 if not", RULE},
    {"mem-read", 0x0060, 0x0060, ARCH_ANY, RAW, APPROX, RECOMMENDED, RULE},
    {"mem-write", 0x0061, 0x0061, ARCH_ANY, RAW, APPROX, RECOMMENDED, RULE},
    {"memory-errors", 0x001a, 0x001a, ARCH_ANY, RAW, APPROX, OR_ZERO, RULE},
    {"ref-cycles", 0, NO_CODE, ARCH_ANY, NONE, ABSENT, UNLISTED, ""},
    {"remote-access", 0, NO_CODE, ARCH_ANY, NONE, ABSENT, UNLISTED, ""},
    {"simd-instructions", 0x0074, 0x0074, ARCH_ANY, RAW, APPROX, RECOMMENDED, RULE},
    {"stall-any", 0, NO_CODE, ARCH_ANY, NONE, ABSENT, UNLISTED, ""},
    {"stall-backend", 8, 0x0024, ARCH_ANY, HW, APPROX, DECIDES, KERNEL},
    {"stall-frontend", 7, 0x0023, ARCH_ANY, HW, APPROX, DECIDES, KERNEL},
    {"stores", 0x0007, 0x0007, ARCH_ANY, RAW, APPROX, OR_ZERO, RULE},
    {"unaligned-access", 0x000f, 0x000f, ARCH_ANY, RAW, APPROX, OR_ZERO, RULE},
    {"uops-retired", 0, NO_CODE, ARCH_ANY, NONE, ABSENT, UNLISTED, ""},
};

/** Armv8.2 brought these. */
static const struct arch_event ftc862_rows[] = {
    {"dtlb-access", 0x000003, 0x0025, ARCH_ANY, CACHE, APPROX, DECIDES, KERNEL},
    {"itlb-access", 0x000004, 0x0026, ARCH_ANY, CACHE, APPROX, DECIDES, KERNEL},
    {"llc-access", 0x0032, 0x0032, ARCH_ANY, RAW, APPROX, OR_ZERO, RULE},
    {"llc-miss", 0x0033, 0x0033, ARCH_ANY, RAW, APPROX, OR_ZERO, RULE},
};
/* clang-format on */

enum { PHYTIUM = 0x70 };

static int is_part(const struct arch_cpu *cpu, int part)
{
    return cpu->implementer == PHYTIUM && cpu->part == part ? ARCH_MATCH_MODEL : ARCH_MATCH_NO;
}

static int is_phytium(const struct arch_cpu *cpu)
{
    return cpu->implementer == PHYTIUM ? ARCH_MATCH_VENDOR + 1 : ARCH_MATCH_NO;
}

static int is_ftc310(const struct arch_cpu *cpu)
{
    return is_part(cpu, 0x303);
}

static int is_ftc660(const struct arch_cpu *cpu)
{
    return is_part(cpu, 0x660);
}

static int is_ftc661(const struct arch_cpu *cpu)
{
    return is_part(cpu, 0x661);
}

static int is_ftc662(const struct arch_cpu *cpu)
{
    return is_part(cpu, 0x662);
}

static int is_ftc663(const struct arch_cpu *cpu)
{
    return is_part(cpu, 0x663);
}

static int is_ftc664(const struct arch_cpu *cpu)
{
    return is_part(cpu, 0x664);
}

static int is_ftc862(const struct arch_cpu *cpu)
{
    return is_part(cpu, 0x862);
}

#define PHYTIUM_COUNTERS         \
    {                            \
        .fixed = 1, .width = 32, \
    }

#define NOT_PUBLISHED "no list of this core's events has been published; native names are the architecture's"

#define BOTH_KINDS NOT_PUBLISHED "; the E2000 has cores of two kinds, FTC310 and FTC664, with a PMU each"

#define CHOICE                                                                                                      \
    "generic ids where the kernel makes the right code of them, since it asks the core for those alone whether it " \
    "has them; else raw codes, which read 0 where the core lacks them"

const struct arch_family arch_phytium = {
    .name = "phytium",
    .title = "Phytium, core not known",
    .vendor = "arm",
    .core_pmu = "armv8_pmuv3_0",
    .events = rows,
    .n_events = ROWS(rows),
    .base = &arch_armv8,
    .native = arch_arm_native,
    .n_native = ROWS(arch_arm_native),
    .native_core = NATIVE_PHYTIUM,
    .counters = PHYTIUM_COUNTERS,
    .listed_raw = LISTED_RAW,
    .matches = is_phytium,
    .remark = NOT_PUBLISHED,
    .choice = CHOICE,
};

const struct arch_family arch_ftc310 = {
    .name = "ftc310",
    .title = "Phytium FTC310 (E2000, the small cores)",
    .vendor = "arm",
    .core_pmu = "armv8_pmuv3_0",
    .base = &arch_phytium,
    .counters = PHYTIUM_COUNTERS,
    .listed_raw = LISTED_RAW,
    .matches = is_ftc310,
    .remark = BOTH_KINDS,
    .choice = CHOICE,
};

const struct arch_family arch_ftc660 = {
    .name = "ftc660",
    .title = "Phytium FTC660 (FT-1500A)",
    .vendor = "arm",
    .core_pmu = "armv8_pmuv3_0",
    .base = &arch_phytium,
    .counters = PHYTIUM_COUNTERS,
    .listed_raw = LISTED_RAW,
    .matches = is_ftc660,
    .remark = NOT_PUBLISHED,
    .choice = CHOICE,
};

const struct arch_family arch_ftc661 = {
    .name = "ftc661",
    .title = "Phytium FTC661 (FT-2000A/2)",
    .vendor = "arm",
    .core_pmu = "armv8_pmuv3_0",
    .base = &arch_phytium,
    .counters = PHYTIUM_COUNTERS,
    .listed_raw = LISTED_RAW,
    .matches = is_ftc661,
    .remark = NOT_PUBLISHED,
    .choice = CHOICE,
};

const struct arch_family arch_ftc662 = {
    .name = "ftc662",
    .title = "Phytium FTC662 (FT-2000+/64)",
    .vendor = "arm",
    .core_pmu = "armv8_pmuv3_0",
    .base = &arch_phytium,
    .counters = PHYTIUM_COUNTERS,
    .listed_raw = LISTED_RAW,
    .matches = is_ftc662,
    .remark = NOT_PUBLISHED,
    .choice = CHOICE,
};

const struct arch_family arch_ftc663 = {
    .name = "ftc663",
    .title = "Phytium FTC663 (FT-2000/4, D2000, S2500)",
    .vendor = "arm",
    .core_pmu = "armv8_pmuv3_0",
    .base = &arch_phytium,
    .counters = PHYTIUM_COUNTERS,
    .listed_raw = LISTED_RAW,
    .matches = is_ftc663,
    .remark = NOT_PUBLISHED,
    .choice = CHOICE,
};

const struct arch_family arch_ftc664 = {
    .name = "ftc664",
    .title = "Phytium FTC664 (E2000, the large cores)",
    .vendor = "arm",
    .core_pmu = "armv8_pmuv3_0",
    .base = &arch_phytium,
    .counters = PHYTIUM_COUNTERS,
    .listed_raw = LISTED_RAW,
    .matches = is_ftc664,
    .remark = BOTH_KINDS,
    .choice = CHOICE,
};

const struct arch_family arch_ftc862 = {
    .name = "ftc862",
    .title = "Phytium FTC862 (D3000, S5000C)",
    .vendor = "arm",
    .core_pmu = "armv8_pmuv3_0",
    .events = ftc862_rows,
    .n_events = ROWS(ftc862_rows),
    .base = &arch_phytium,
    .native = arch_arm_native,
    .n_native = ROWS(arch_arm_native),
    .native_core = NATIVE_FTC862,
    .counters = PHYTIUM_COUNTERS,
    .listed_raw = LISTED_RAW,
    .matches = is_ftc862,
    .remark = NOT_PUBLISHED,
    .choice = CHOICE,
};
