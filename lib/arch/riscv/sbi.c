/* SPDX-License-Identifier: MIT */
/**
 * @file
 * RISC-V through the firmware (SBI PMU extension): the kernel hands generic ids on as the firmware's event numbers,
 * and what the core really has depends on the firmware's description of it. Room: arch/riscv; before it families.c,
 * after it the kernel and the firmware.
 *
 * Firmware events are counted by the firmware itself: bits 63:62 of the raw code are 10.
 */
#include <string.h>

#include "arch/row.h"
#include "arch/tables.h"

#define SBI "linux:drivers/perf/riscv_pmu_sbi.c + arch/riscv/include/asm/sbi.h@v6.12.117"
#define FIRMWARE "the firmware decides what it counts"
#define LEVEL "the firmware decides which level it is"

/* name, config, machine code, counters, kind, grade, why, source */
/* clang-format off */
static const struct arch_event rows[] = {
    {"branch-load-misses", 0x010005, NO_CODE, ARCH_ANY, CACHE, APPROX, FIRMWARE, SBI},
    {"branch-loads", 0x000005, NO_CODE, ARCH_ANY, CACHE, APPROX, FIRMWARE, SBI},
    {"branch-misses", 5, NO_CODE, ARCH_ANY, HW, EXACT, "", SBI},
    {"branch-prefetch-misses", 0x010205, NO_CODE, ARCH_ANY, CACHE, APPROX, FIRMWARE, SBI},
    {"branch-prefetches", 0x000205, NO_CODE, ARCH_ANY, CACHE, APPROX, FIRMWARE, SBI},
    {"branch-store-misses", 0x010105, NO_CODE, ARCH_ANY, CACHE, APPROX, FIRMWARE, SBI},
    {"branch-stores", 0x000105, NO_CODE, ARCH_ANY, CACHE, APPROX, FIRMWARE, SBI},
    {"branches", 4, NO_CODE, ARCH_ANY, HW, EXACT, "", SBI},
    {"bus-cycles", 6, NO_CODE, ARCH_ANY, HW, APPROX, FIRMWARE, SBI},
    {"cache-misses", 3, NO_CODE, ARCH_ANY, HW, APPROX, LEVEL, SBI},
    {"cache-references", 2, NO_CODE, ARCH_ANY, HW, APPROX, LEVEL, SBI},
    {"cycles", 0, NO_CODE, FIXED(0) | ANY_GENERAL, HW, APPROX,
     "time in which the core waits for interrupts may or may not count", SBI},
    {"dtlb-access", 0x000003, NO_CODE, ARCH_ANY, CACHE, APPROX,
     "loads only; the firmware may have dtlb-stores beside it", SBI},
    {"dtlb-load-miss", 0x010003, NO_CODE, ARCH_ANY, CACHE, EXACT, "", SBI},
    {"dtlb-load-misses", 0x010003, NO_CODE, ARCH_ANY, CACHE, APPROX, FIRMWARE, SBI},
    {"dtlb-loads", 0x000003, NO_CODE, ARCH_ANY, CACHE, APPROX, FIRMWARE, SBI},
    {"dtlb-miss", 0x010003, NO_CODE, ARCH_ANY, CACHE, APPROX, "loads only: add dtlb-store-miss", SBI},
    {"dtlb-prefetch-misses", 0x010203, NO_CODE, ARCH_ANY, CACHE, APPROX, FIRMWARE, SBI},
    {"dtlb-prefetches", 0x000203, NO_CODE, ARCH_ANY, CACHE, APPROX, FIRMWARE, SBI},
    {"dtlb-store-miss", 0x010103, NO_CODE, ARCH_ANY, CACHE, EXACT, "", SBI},
    {"dtlb-store-misses", 0x010103, NO_CODE, ARCH_ANY, CACHE, APPROX, FIRMWARE, SBI},
    {"dtlb-stores", 0x000103, NO_CODE, ARCH_ANY, CACHE, APPROX, FIRMWARE, SBI},
    {"instructions", 1, NO_CODE, FIXED(1) | ANY_GENERAL, HW, EXACT, "", SBI},
    {"itlb-access", 0x000004, NO_CODE, ARCH_ANY, CACHE, EXACT, "", SBI},
    {"itlb-load-misses", 0x010004, NO_CODE, ARCH_ANY, CACHE, APPROX, FIRMWARE, SBI},
    {"itlb-loads", 0x000004, NO_CODE, ARCH_ANY, CACHE, APPROX, FIRMWARE, SBI},
    {"itlb-miss", 0x010004, NO_CODE, ARCH_ANY, CACHE, EXACT, "", SBI},
    {"itlb-prefetch-misses", 0x010204, NO_CODE, ARCH_ANY, CACHE, APPROX, FIRMWARE, SBI},
    {"itlb-prefetches", 0x000204, NO_CODE, ARCH_ANY, CACHE, APPROX, FIRMWARE, SBI},
    {"itlb-store-misses", 0x010104, NO_CODE, ARCH_ANY, CACHE, APPROX, FIRMWARE, SBI},
    {"itlb-stores", 0x000104, NO_CODE, ARCH_ANY, CACHE, APPROX, FIRMWARE, SBI},
    {"l1-dcache-load-misses", 0x010000, NO_CODE, ARCH_ANY, CACHE, APPROX, FIRMWARE, SBI},
    {"l1-dcache-loads", 0x000000, NO_CODE, ARCH_ANY, CACHE, APPROX, FIRMWARE, SBI},
    {"l1-dcache-prefetch-misses", 0x010200, NO_CODE, ARCH_ANY, CACHE, APPROX, FIRMWARE, SBI},
    {"l1-dcache-prefetches", 0x000200, NO_CODE, ARCH_ANY, CACHE, APPROX, FIRMWARE, SBI},
    {"l1-dcache-store-misses", 0x010100, NO_CODE, ARCH_ANY, CACHE, APPROX, FIRMWARE, SBI},
    {"l1-dcache-stores", 0x000100, NO_CODE, ARCH_ANY, CACHE, APPROX, FIRMWARE, SBI},
    {"l1-icache-load-misses", 0x010001, NO_CODE, ARCH_ANY, CACHE, APPROX, FIRMWARE, SBI},
    {"l1-icache-loads", 0x000001, NO_CODE, ARCH_ANY, CACHE, APPROX, FIRMWARE, SBI},
    {"l1-icache-prefetch-misses", 0x010201, NO_CODE, ARCH_ANY, CACHE, APPROX, FIRMWARE, SBI},
    {"l1-icache-prefetches", 0x000201, NO_CODE, ARCH_ANY, CACHE, APPROX, FIRMWARE, SBI},
    {"l1-icache-store-misses", 0x010101, NO_CODE, ARCH_ANY, CACHE, APPROX, FIRMWARE, SBI},
    {"l1-icache-stores", 0x000101, NO_CODE, ARCH_ANY, CACHE, APPROX, FIRMWARE, SBI},
    {"l1d-load", 0x000000, NO_CODE, ARCH_ANY, CACHE, EXACT, "", SBI},
    {"l1d-load-miss", 0x010000, NO_CODE, ARCH_ANY, CACHE, EXACT, "", SBI},
    {"l1d-store", 0x000100, NO_CODE, ARCH_ANY, CACHE, EXACT, "", SBI},
    {"l1d-store-miss", 0x010100, NO_CODE, ARCH_ANY, CACHE, EXACT, "", SBI},
    {"l1i-access", 0x000001, NO_CODE, ARCH_ANY, CACHE, EXACT, "", SBI},
    {"l1i-miss", 0x010001, NO_CODE, ARCH_ANY, CACHE, EXACT, "", SBI},
    {"llc-access", 2, NO_CODE, ARCH_ANY, HW, APPROX, LEVEL, SBI},
    {"llc-load", 0x000002, NO_CODE, ARCH_ANY, CACHE, EXACT, "", SBI},
    {"llc-load-miss", 0x010002, NO_CODE, ARCH_ANY, CACHE, EXACT, "", SBI},
    {"llc-load-misses", 0x010002, NO_CODE, ARCH_ANY, CACHE, APPROX, FIRMWARE, SBI},
    {"llc-loads", 0x000002, NO_CODE, ARCH_ANY, CACHE, APPROX, FIRMWARE, SBI},
    {"llc-miss", 3, NO_CODE, ARCH_ANY, HW, APPROX, LEVEL, SBI},
    {"llc-prefetch", 0x000202, NO_CODE, ARCH_ANY, CACHE, EXACT, "", SBI},
    {"llc-prefetch-misses", 0x010202, NO_CODE, ARCH_ANY, CACHE, APPROX, FIRMWARE, SBI},
    {"llc-prefetches", 0x000202, NO_CODE, ARCH_ANY, CACHE, APPROX, FIRMWARE, SBI},
    {"llc-store", 0x000102, NO_CODE, ARCH_ANY, CACHE, EXACT, "", SBI},
    {"llc-store-miss", 0x010102, NO_CODE, ARCH_ANY, CACHE, EXACT, "", SBI},
    {"llc-store-misses", 0x010102, NO_CODE, ARCH_ANY, CACHE, APPROX, FIRMWARE, SBI},
    {"llc-stores", 0x000102, NO_CODE, ARCH_ANY, CACHE, APPROX, FIRMWARE, SBI},
    {"node-load-misses", 0x010006, NO_CODE, ARCH_ANY, CACHE, APPROX, FIRMWARE, SBI},
    {"node-loads", 0x000006, NO_CODE, ARCH_ANY, CACHE, APPROX, FIRMWARE, SBI},
    {"node-prefetch-misses", 0x010206, NO_CODE, ARCH_ANY, CACHE, APPROX, FIRMWARE, SBI},
    {"node-prefetches", 0x000206, NO_CODE, ARCH_ANY, CACHE, APPROX, FIRMWARE, SBI},
    {"node-store-misses", 0x010106, NO_CODE, ARCH_ANY, CACHE, APPROX, FIRMWARE, SBI},
    {"node-stores", 0x000106, NO_CODE, ARCH_ANY, CACHE, APPROX, FIRMWARE, SBI},
    {"ref-cycles", 9, NO_CODE, ARCH_ANY, HW, APPROX, "the firmware decides, and rarely has it", SBI},
    {"remote-access", 0x010006, NO_CODE, ARCH_ANY, CACHE, EXACT, "", SBI},
    {"stall-backend", 8, NO_CODE, ARCH_ANY, HW, APPROX, FIRMWARE, SBI},
    {"stall-frontend", 7, NO_CODE, ARCH_ANY, HW, APPROX, FIRMWARE, SBI},
    {"stalled-cycles-backend", 8, NO_CODE, ARCH_ANY, HW, APPROX, FIRMWARE, SBI},
    {"stalled-cycles-frontend", 7, NO_CODE, ARCH_ANY, HW, APPROX, FIRMWARE, SBI},
};

static const struct arch_native native[] = {
    {"SBI_PMU_FW_ACCESS_LOAD", "the firmware counts it: access load", 0x8000000000000002, ARCH_ANY, 0},
    {"SBI_PMU_FW_ACCESS_STORE", "the firmware counts it: access store", 0x8000000000000003, ARCH_ANY, 0},
    {"SBI_PMU_FW_FENCE_I_RCVD", "the firmware counts it: fence i rcvd", 0x8000000000000009, ARCH_ANY, 0},
    {"SBI_PMU_FW_FENCE_I_SENT", "the firmware counts it: fence i sent", 0x8000000000000008, ARCH_ANY, 0},
    {"SBI_PMU_FW_HFENCE_GVMA_RCVD", "the firmware counts it: hfence gvma rcvd", 0x800000000000000f, ARCH_ANY, 0},
    {"SBI_PMU_FW_HFENCE_GVMA_SENT", "the firmware counts it: hfence gvma sent", 0x800000000000000e, ARCH_ANY, 0},
    {"SBI_PMU_FW_HFENCE_GVMA_VMID_RCVD", "the firmware counts it: hfence gvma vmid rcvd",
     0x8000000000000011, ARCH_ANY, 0},
    {"SBI_PMU_FW_HFENCE_GVMA_VMID_SENT", "the firmware counts it: hfence gvma vmid sent",
     0x8000000000000010, ARCH_ANY, 0},
    {"SBI_PMU_FW_HFENCE_VVMA_ASID_RCVD", "the firmware counts it: hfence vvma asid rcvd",
     0x8000000000000015, ARCH_ANY, 0},
    {"SBI_PMU_FW_HFENCE_VVMA_ASID_SENT", "the firmware counts it: hfence vvma asid sent",
     0x8000000000000014, ARCH_ANY, 0},
    {"SBI_PMU_FW_HFENCE_VVMA_RCVD", "the firmware counts it: hfence vvma rcvd", 0x8000000000000013, ARCH_ANY, 0},
    {"SBI_PMU_FW_HFENCE_VVMA_SENT", "the firmware counts it: hfence vvma sent", 0x8000000000000012, ARCH_ANY, 0},
    {"SBI_PMU_FW_ILLEGAL_INSN", "the firmware counts it: illegal insn", 0x8000000000000004, ARCH_ANY, 0},
    {"SBI_PMU_FW_IPI_RCVD", "the firmware counts it: ipi rcvd", 0x8000000000000007, ARCH_ANY, 0},
    {"SBI_PMU_FW_IPI_SENT", "the firmware counts it: ipi sent", 0x8000000000000006, ARCH_ANY, 0},
    {"SBI_PMU_FW_MISALIGNED_LOAD", "the firmware counts it: misaligned load", 0x8000000000000000, ARCH_ANY, 0},
    {"SBI_PMU_FW_MISALIGNED_STORE", "the firmware counts it: misaligned store", 0x8000000000000001, ARCH_ANY, 0},
    {"SBI_PMU_FW_SET_TIMER", "the firmware counts it: set timer", 0x8000000000000005, ARCH_ANY, 0},
    {"SBI_PMU_FW_SFENCE_VMA_ASID_RCVD", "the firmware counts it: sfence vma asid rcvd",
     0x800000000000000d, ARCH_ANY, 0},
    {"SBI_PMU_FW_SFENCE_VMA_ASID_SENT", "the firmware counts it: sfence vma asid sent",
     0x800000000000000c, ARCH_ANY, 0},
    {"SBI_PMU_FW_SFENCE_VMA_RCVD", "the firmware counts it: sfence vma rcvd", 0x800000000000000b, ARCH_ANY, 0},
    {"SBI_PMU_FW_SFENCE_VMA_SENT", "the firmware counts it: sfence vma sent", 0x800000000000000a, ARCH_ANY, 0},
};
/* clang-format on */

static int is_riscv(const struct arch_cpu *cpu)
{
    return strcmp(cpu->machine, "riscv") == 0 ? ARCH_MATCH_VENDOR : ARCH_MATCH_NO;
}

const struct arch_family arch_riscv_sbi = {
    .name = "riscv-sbi",
    .title = "RISC-V",
    .vendor = "riscv",
    .core_pmu = "cpu",
    .events = rows,
    .n_events = ROWS(rows),
    .native = native,
    .n_native = ROWS(native),
    .counters = {.fixed = 2, .no_group_check = true, .one_of_each = true},
    .matches = is_riscv,
    .remark = "the firmware decides which events there are, how many counters and how wide; without the extension "
              "Sscofpmf the PMU refuses user and kernel filters; kernels on firmware without the PMU extension have "
              "cycles and instructions only",
    .choice = "generic ids: the firmware knows them on every core, raw codes are one chip's own",
};
