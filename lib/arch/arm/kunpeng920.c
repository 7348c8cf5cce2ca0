/* SPDX-License-Identifier: MIT */
/**
 * @file
 * HiSilicon Kunpeng 920 (TSV110): what it has of its own and what it has for sure; the rest is the architecture's.
 * Room: arch/arm; before it families.c, after it the kernel takes the codes.
 */
#include "arch/arm/native.h"
#include "arch/row.h"
#include "arch/tables.h"

#define KERNEL "linux:drivers/perf/arm_pmuv3.c@v6.12.117"
#define PFM "libpfm4:lib/events/arm_hisilicon_kunpeng_events.h@91970fe"
#define HIP08 "linux:tools/perf/pmu-events/arch/arm64/hisilicon/hip08/core-imp-def.json@v6.12.117"

/* name, config, machine code, counters, kind, grade, why, source */
/* clang-format off */
static const struct arch_event rows[] = {
    {"branch-misses", 0x0022, 0x0022, ARCH_ANY, RAW, EXACT, "", PFM},
    {"branches", 0x0021, 0x0021, ARCH_ANY, RAW, EXACT, "", PFM},
    {"branches-return", 0x000e, 0x000e, ARCH_ANY, RAW, EXACT, "", PFM},
    {"dtlb-load-miss", 0x004c, 0x004c, ARCH_ANY, RAW, EXACT, "", HIP08},
    {"dtlb-store-miss", 0x004d, 0x004d, ARCH_ANY, RAW, EXACT, "", HIP08},
    {"l1d-load", 0x0040, 0x0040, ARCH_ANY, RAW, EXACT, "", HIP08},
    {"l1d-load-miss", 0x0042, 0x0042, ARCH_ANY, RAW, APPROX, "line fills", HIP08},
    {"l1d-prefetch", 0x6013, 0x6013, ARCH_ANY, RAW, APPROX, "prefetch requests from the load/store unit", HIP08},
    {"l1d-store", 0x0041, 0x0041, ARCH_ANY, RAW, EXACT, "", HIP08},
    {"l1d-store-miss", 0x0043, 0x0043, ARCH_ANY, RAW, APPROX, "line fills", HIP08},
    {"l2-access", 0x0016, 0x0016, ARCH_ANY, RAW, APPROX, "data side; 0x0027 has the instruction side", PFM},
    {"l2-load", 0x0050, 0x0050, ARCH_ANY, RAW, EXACT, "", HIP08},
    {"l2-load-miss", 0x0052, 0x0052, ARCH_ANY, RAW, APPROX, "line fills", HIP08},
    {"l2-store", 0x0051, 0x0051, ARCH_ANY, RAW, EXACT, "", HIP08},
    {"loads", 0x0070, 0x0070, ARCH_ANY, RAW, APPROX, "speculative ones", PFM},
    {"ref-cycles", 0, NO_CODE, ARCH_ANY, NONE, ABSENT, "not in the list of this core", ""},
    {"remote-access", 0x0031, 0x0031, ARCH_ANY, RAW, EXACT, "", PFM},
    {"stall-any", 0, NO_CODE, ARCH_ANY, NONE, ABSENT, "not in the list of this core", ""},
    {"stores", 0x0071, 0x0071, ARCH_ANY, RAW, APPROX, "speculative ones", PFM},
    {"unaligned-access", 0x006a, 0x006a, ARCH_ANY, RAW, APPROX, "speculative ones", PFM},
    {"uops-retired", 0, NO_CODE, ARCH_ANY, NONE, ABSENT, "not in the list of this core", ""},
};
/* clang-format on */

static int is_tsv110(const struct arch_cpu *cpu)
{
    return cpu->implementer == 0x48 && cpu->part == 0xd01 ? ARCH_MATCH_MODEL : ARCH_MATCH_NO;
}

const struct arch_family arch_kunpeng920 = {
    .name = "kunpeng920",
    .title = "HiSilicon Kunpeng 920 (TSV110)",
    .vendor = "arm",
    .core_pmu = "armv8_pmuv3_0",
    .events = rows,
    .n_events = ROWS(rows),
    .base = &arch_armv8,
    .native = arch_arm_native,
    .n_native = ROWS(arch_arm_native),
    .native_core = NATIVE_KUNPENG920,
    .presets = arch_arm_presets,
    .n_presets = ROWS(arch_arm_presets),
    .counters = {.fixed = 1, .width = 32},
    .listed_raw = LISTED_RAW,
    .confirmed = true,
    .matches = is_tsv110,
    .remark = "",
    .choice = "generic ids where the kernel makes the right code of them, since it asks the core for those alone "
              "whether it has them; else raw codes, which read 0 where the core lacks them",
};
