/* SPDX-License-Identifier: MIT */
/**
 * @file RISC-V through the firmware's SBI PMU extension.
 *
 * The kernel passes perf generic events on as the firmware's event numbers, and the core's real events depend on
 * the firmware's description. Firmware events are counted by the firmware itself: bits 63:62 of the raw encoding
 * are 10.
 */
#include <string.h>

#include "arch/row.h"
#include "arch/tables.h"

static int is_riscv(const struct arch_cpu *cpu)
{
    return strcmp(cpu->machine, "riscv") == 0 ? ARCH_MATCH_VENDOR : ARCH_MATCH_NO;
}

const struct arch_family arch_riscv_sbi = {
    .name = "riscv-sbi",
    .title = "RISC-V, unknown core",
    .table = &arch_table_riscv_sbi,
    .vendor = "riscv",
    .core_pmu = "cpu",
    .counters = {.fixed = 2, .no_group_check = true, .one_of_each = true, .guests_since = ARCH_KERNEL(5, 18, 0)},
    .matches = is_riscv,
    .remark =
        "this core has no table of its own: only the generic events of the firmware interface, of which the firmware "
        "decides which there are, how many counters and how wide; without the extension Sscofpmf the PMU refuses "
        "user and kernel filters; kernels on firmware without the PMU extension have cycles and instructions only",
    .choice = "perf generic events: every firmware supports them, raw encodings are one chip's own",
};
