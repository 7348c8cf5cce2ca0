/* SPDX-License-Identifier: MIT */
/**
 * @file
 * Armv8 PMUv3, any core with the architecture's events: the table that the families of this folder fall back on.
 * Room: arch/arm; before it families.c, after it the kernel takes the codes.
 *
 * A core says which common events it has. The kernel refuses a generic id of one that it lacks, but not a raw code,
 * which then reads 0: so an id is used where there is one for the same code.
 */
#include <string.h>

#include "arch/arm/native.h"
#include "arch/row.h"
#include "arch/tables.h"

#define KERNEL "linux:drivers/perf/arm_pmuv3.c@v6.12.117"
#define LIST "linux:tools/perf/pmu-events/arch/arm64/common-and-microarch.json, recommended.json@v6.12.117"

/* name, config, machine code, counters, kind, grade, why, source */
/* clang-format off */
static const struct arch_event rows[] = {
    {"branch-load-misses", 0x010005, 0x0010, ARCH_ANY, CACHE, APPROX,
     "mispredicted branches, speculative ones included", KERNEL},
    {"branch-loads", 0x000005, 0x0012, ARCH_ANY, CACHE, APPROX,
     "predictable branches, speculative ones included", KERNEL},
    {"branch-misses", 0x0022, 0x0022, ARCH_ANY, RAW, APPROX,
     "optional: reads 0 on a core without it; the generic id counts speculative ones too", LIST},
    {"branches", 0x0021, 0x0021, ARCH_ANY, RAW, APPROX,
     "optional: reads 0 on a core without it; the generic id would be taken branches only on old kernels", LIST},
    {"branches-return", 0x000e, 0x000e, ARCH_ANY, RAW, APPROX, "optional: reads 0 on a core without it", LIST},
    {"bus-access", 0x0019, 0x0019, ARCH_ANY, RAW, EXACT, "", LIST},
    {"bus-cycles", 6, 0x001d, ARCH_ANY, HW, EXACT, "", KERNEL},
    {"cache-misses", 3, 0x0003, ARCH_ANY, HW, APPROX, "first-level data cache here: line fills", KERNEL},
    {"cache-references", 2, 0x0004, ARCH_ANY, HW, APPROX, "first-level data cache here", KERNEL},
    {"cycles", 0, 0x0011, FIXED(0) | ANY_GENERAL, HW, EXACT, "", KERNEL},
    {"dtlb-access", 0x000003, 0x0025, ARCH_ANY, CACHE, EXACT, "", KERNEL},
    {"dtlb-load-miss", 0x004c, 0x004c, ARCH_ANY, RAW, APPROX,
     "a number of Arm's recommendation; optional: reads 0 on a core without it", LIST},
    {"dtlb-load-misses", 0x010003, 0x0005, ARCH_ANY, CACHE, APPROX, "loads and stores are not told apart", KERNEL},
    {"dtlb-loads", 0x000003, 0x0025, ARCH_ANY, CACHE, APPROX, "loads and stores are not told apart", KERNEL},
    {"dtlb-miss", 0x010003, 0x0005, ARCH_ANY, CACHE, APPROX, "first level", KERNEL},
    {"dtlb-store-miss", 0x004d, 0x004d, ARCH_ANY, RAW, APPROX,
     "a number of Arm's recommendation; optional: reads 0 on a core without it", LIST},
    {"dtlb-walk", 0x0034, 0x0034, ARCH_ANY, RAW, EXACT, "", LIST},
    {"exceptions", 0x0009, 0x0009, ARCH_ANY, RAW, EXACT, "", LIST},
    {"fp-instructions", 0x0075, 0x0075, ARCH_ANY, RAW, APPROX, "speculative scalar ones", LIST},
    {"instructions", 1, 0x0008, ARCH_ANY, HW, EXACT, "", KERNEL},
    {"instructions-spec", 0x001b, 0x001b, ARCH_ANY, RAW, EXACT, "", LIST},
    {"int-instructions", 0x0073, 0x0073, ARCH_ANY, RAW, APPROX, "speculative ones", LIST},
    {"interrupts", 0x0086, 0x0086, ARCH_ANY, RAW, APPROX, "interrupt requests only; 0x0087 has the fast ones", LIST},
    {"itlb-access", 0x000004, 0x0026, ARCH_ANY, CACHE, EXACT, "", KERNEL},
    {"itlb-load-misses", 0x010004, 0x0002, ARCH_ANY, CACHE, APPROX, "look-ups that missed the first level", KERNEL},
    {"itlb-loads", 0x000004, 0x0026, ARCH_ANY, CACHE, APPROX, "look-ups", KERNEL},
    {"itlb-miss", 0x010004, 0x0002, ARCH_ANY, CACHE, APPROX, "first level", KERNEL},
    {"itlb-walk", 0x0035, 0x0035, ARCH_ANY, RAW, EXACT, "", LIST},
    {"l1-dcache-load-misses", 0x010000, 0x0003, ARCH_ANY, CACHE, APPROX, "line fills for loads and stores", KERNEL},
    {"l1-dcache-loads", 0x000000, 0x0004, ARCH_ANY, CACHE, APPROX, "loads and stores are not told apart", KERNEL},
    {"l1-icache-load-misses", 0x010001, 0x0001, ARCH_ANY, CACHE, APPROX, "fetches that missed, as line fills", KERNEL},
    {"l1-icache-loads", 0x000001, 0x0014, ARCH_ANY, CACHE, APPROX, "fetches", KERNEL},
    {"l1d-access", 0x000000, 0x0004, ARCH_ANY, CACHE, EXACT, "", KERNEL},
    {"l1d-load", 0x0040, 0x0040, ARCH_ANY, RAW, APPROX,
     "a number of Arm's recommendation; optional: reads 0 on a core without it", LIST},
    {"l1d-load-miss", 0x0042, 0x0042, ARCH_ANY, RAW, APPROX,
     "a number of Arm's recommendation, line fills; optional: reads 0 on a core without it", LIST},
    {"l1d-miss", 0x010000, 0x0003, ARCH_ANY, CACHE, APPROX, "line fills", KERNEL},
    {"l1d-store", 0x0041, 0x0041, ARCH_ANY, RAW, APPROX,
     "a number of Arm's recommendation; optional: reads 0 on a core without it", LIST},
    {"l1d-store-miss", 0x0043, 0x0043, ARCH_ANY, RAW, APPROX,
     "a number of Arm's recommendation, line fills; optional: reads 0 on a core without it", LIST},
    {"l1d-writeback", 0x0015, 0x0015, ARCH_ANY, RAW, EXACT, "", LIST},
    {"l1i-access", 0x000001, 0x0014, ARCH_ANY, CACHE, EXACT, "", KERNEL},
    {"l1i-miss", 0x010001, 0x0001, ARCH_ANY, CACHE, EXACT, "", KERNEL},
    {"l2-access", 0x0016, 0x0016, ARCH_ANY, RAW, APPROX, "data side and unified", LIST},
    {"l2-load", 0x0050, 0x0050, ARCH_ANY, RAW, APPROX,
     "a number of Arm's recommendation; optional: reads 0 on a core without it", LIST},
    {"l2-load-miss", 0x0052, 0x0052, ARCH_ANY, RAW, APPROX,
     "a number of Arm's recommendation, line fills; optional: reads 0 on a core without it", LIST},
    {"l2-miss", 0x0017, 0x0017, ARCH_ANY, RAW, APPROX, "line fills", LIST},
    {"l2-store", 0x0051, 0x0051, ARCH_ANY, RAW, APPROX,
     "a number of Arm's recommendation; optional: reads 0 on a core without it", LIST},
    {"l2-writeback", 0x0018, 0x0018, ARCH_ANY, RAW, EXACT, "", LIST},
    {"llc-access", 0x0032, 0x0032, ARCH_ANY, RAW, EXACT, "", LIST},
    {"llc-load", 0x000002, 0x0036, ARCH_ANY, CACHE, EXACT, "", KERNEL},
    {"llc-load-miss", 0x010002, 0x0037, ARCH_ANY, CACHE, EXACT, "", KERNEL},
    {"llc-load-misses", 0x010002, 0x0037, ARCH_ANY, CACHE, APPROX, "reads that missed", KERNEL},
    {"llc-loads", 0x000002, 0x0036, ARCH_ANY, CACHE, APPROX, "reads", KERNEL},
    {"llc-miss", 0x0033, 0x0033, ARCH_ANY, RAW, EXACT, "", LIST},
    {"loads", 0x0006, 0x0006, ARCH_ANY, RAW, APPROX,
     "optional: reads 0 on a core without it; 0x0070 counts speculative ones", LIST},
    {"loads-stores", 0x0013, 0x0013, ARCH_ANY, RAW, APPROX, "memory accesses, not instructions", LIST},
    {"mem-read", 0x0060, 0x0060, ARCH_ANY, RAW, APPROX, "bus reads", LIST},
    {"mem-write", 0x0061, 0x0061, ARCH_ANY, RAW, APPROX, "bus writes", LIST},
    {"memory-errors", 0x001a, 0x001a, ARCH_ANY, RAW, EXACT, "", LIST},
    {"ref-cycles", 0x4004, 0x4004, ARCH_ANY, RAW, APPROX,
     "ARMv8.6 and later, or cores with activity monitors; reads 0 elsewhere", LIST},
    {"remote-access", 0x0031, 0x0031, ARCH_ANY, RAW, APPROX, "optional: reads 0 on a core without it", LIST},
    {"simd-instructions", 0x0074, 0x0074, ARCH_ANY, RAW, APPROX, "speculative ones", LIST},
    {"stall-any", 0x003c, 0x003c, ARCH_ANY, RAW, APPROX, "ARMv8.4 and later; reads 0 elsewhere", LIST},
    {"stall-backend", 8, 0x0024, ARCH_ANY, HW, EXACT, "", KERNEL},
    {"stall-frontend", 7, 0x0023, ARCH_ANY, HW, EXACT, "", KERNEL},
    {"stalled-cycles-backend", 8, 0x0024, ARCH_ANY, HW, APPROX,
     "cycles in which nothing was issued because of the back end", KERNEL},
    {"stalled-cycles-frontend", 7, 0x0023, ARCH_ANY, HW, APPROX,
     "cycles in which nothing was issued because of the front end", KERNEL},
    {"stores", 0x0007, 0x0007, ARCH_ANY, RAW, APPROX,
     "optional: reads 0 on a core without it; 0x0071 counts speculative ones", LIST},
    {"unaligned-access", 0x000f, 0x000f, ARCH_ANY, RAW, APPROX,
     "optional: reads 0 on a core without it; 0x006a counts speculative ones", LIST},
    {"uops-retired", 0x003a, 0x003a, ARCH_ANY, RAW, APPROX, "ARMv8.3 and later; reads 0 elsewhere", LIST},
};

/** PAPI's presets that are events of the architecture and of no vendor-neutral name. */
const struct arch_preset arch_arm_presets[ARM_PRESETS] = {
    {"PAPI_CSR_FAL", "STREX_FAIL_SPEC", APPROX, "speculative ones included"},
    {"PAPI_CSR_SUC", "STREX_PASS_SPEC", APPROX, "speculative ones included"},
    {"PAPI_CSR_TOT", "STREX_SPEC", APPROX, "speculative ones included"},
    {"PAPI_FMA_INS", "FP_FMA_SPEC", APPROX, "speculative ones included"},
    {"PAPI_L2_DCA", "L2D_CACHE", APPROX, "a cache of data and code counts both"},
    {"PAPI_L2_DCM", "L2D_CACHE_REFILL", APPROX, "line fills; a cache of data and code counts both"},
    {"PAPI_L2_ICA", "L2I_CACHE", EXACT, ""},
    {"PAPI_L2_ICM", "L2I_CACHE_REFILL", APPROX, "line fills"},
    {"PAPI_L2_ICR", "L2I_CACHE", EXACT, ""},
    {"PAPI_L2_STM", "L2D_CACHE_REFILL_WR", APPROX, "line fills"},
    {"PAPI_L3_DCA", "L3D_CACHE", APPROX, "a cache of data and code counts both"},
    {"PAPI_L3_DCM", "L3D_CACHE_REFILL", APPROX, "line fills; a cache of data and code counts both"},
};
/* clang-format on */

static int is_arm64(const struct arch_cpu *cpu)
{
    return strcmp(cpu->machine, "arm64") == 0 ? ARCH_MATCH_VENDOR : ARCH_MATCH_NO;
}

const struct arch_family arch_armv8 = {
    .name = "armv8",
    .title = "Armv8 PMUv3",
    .vendor = "arm",
    .core_pmu = "armv8_pmuv3_0",
    .events = rows,
    .n_events = ROWS(rows),
    .native = arch_arm_native,
    .n_native = ROWS(arch_arm_native),
    .native_core = NATIVE_ARMV8,
    .presets = arch_arm_presets,
    .n_presets = ROWS(arch_arm_presets),
    .counters = {.fixed = 1, .width = 32},
    .listed_raw = LISTED_RAW,
    .matches = is_arm64,
    .remark = "the core decides which events it has; the number of counters is not known beforehand (often 6 and the "
              "cycle counter)",
    .choice = "generic ids where the kernel makes the right code of them, since it asks the core for those alone "
              "whether it has them; else raw codes, which read 0 where the core lacks them",
};
