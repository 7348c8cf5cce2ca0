/* SPDX-License-Identifier: MIT */
/**
 * @file T-Head C906, C910 and C920: one event list, of which each core has a part.
 *
 * The three print the same id registers, so only the device tree name identifies them. A C920 of the second version
 * has ids of its own. Each raw encoding has a counter of its own.
 */
#include "arch/riscv/cores.h"
#include "arch/row.h"

static int is_c906(const struct arch_cpu *cpu)
{
    static const struct riscv_core core = {.uarch = {"thead,c906"}};
    return riscv_core_matches(cpu, &core);
}

static int is_c910(const struct arch_cpu *cpu)
{
    static const struct riscv_core core = {
        .uarch = {"thead,c910", "thead,c920"}, .mvendorid = 0x5b7, .marchid = 0x80000000090c0d00};
    return riscv_core_matches(cpu, &core);
}

const struct arch_family arch_c906 = {
    .name = "c906",
    .title = "T-Head C906",
    .table = &arch_table_c906,
    .vendor = "riscv",
    .core_pmu = "cpu",
    .counters = {.fixed = 2, .no_group_check = true, .one_of_each = true, .guests_since = ARCH_KERNEL(5, 18, 0)},
    .matches = is_c906,
    .remark = RISCV_REMARK,
    .choice = RISCV_CHOICE,
};

const struct arch_family arch_c910 = {
    .name = "c910",
    .title = "T-Head C910, C920",
    .table = &arch_table_c910,
    .vendor = "riscv",
    .core_pmu = "cpu",
    .counters = {.fixed = 2, .no_group_check = true, .one_of_each = true, .guests_since = ARCH_KERNEL(5, 18, 0)},
    .matches = is_c910,
    .remark = RISCV_REMARK,
    .choice = RISCV_CHOICE,
};
