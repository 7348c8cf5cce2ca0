/* SPDX-License-Identifier: MIT */
/** @file SpacemiT X60 (K1, M1): any event on any counter, whose number is not documented. */
#include "arch/riscv/cores.h"
#include "arch/row.h"

static int is_x60(const struct arch_cpu *cpu)
{
    static const struct riscv_core core = {
        .uarch = {"spacemit,x60"}, .mvendorid = 0x710, .marchid = 0x8000000058000001};
    return riscv_core_matches(cpu, &core);
}

const struct arch_family arch_x60 = {
    .name = "x60",
    .title = "SpacemiT X60",
    .table = &arch_table_x60,
    .vendor = "riscv",
    .core_pmu = "cpu",
    .counters = {.fixed = 2, .no_group_check = true, .one_of_each = true, .guests_since = ARCH_KERNEL(5, 18, 0)},
    .matches = is_x60,
    .remark = RISCV_REMARK,
    .choice = RISCV_CHOICE,
};
