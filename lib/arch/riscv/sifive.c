/* SPDX-License-Identifier: MIT */
/**
 * @file
 * SiFive U74 and P550: two and four counters, each of which can count any event.
 *
 * The numbers of counters are those of the device trees; firmware that offers fewer refuses or does not schedule the
 * rest.
 */
#include "arch/riscv/cores.h"
#include "arch/row.h"

static int is_u74(const struct arch_cpu *cpu)
{
    static const struct riscv_core core = {
        .uarch = {"sifive,u74", "sifive,bullet"}, .mvendorid = 0x489, .marchid = 0x8000000000000007};
    return riscv_core_matches(cpu, &core);
}

static int is_p550(const struct arch_cpu *cpu)
{
    static const struct riscv_core core = {.uarch = {"sifive,p550"}, .mvendorid = 0x489, .marchid = 0x8000000000000008};
    return riscv_core_matches(cpu, &core);
}

const struct arch_family arch_u74 = {
    .name = "u74",
    .title = "SiFive U74",
    .table = &arch_table_u74,
    .vendor = "riscv",
    .core_pmu = "cpu",
    .counters =
        {.general = 2, .fixed = 2, .no_group_check = true, .one_of_each = true, .guests_since = ARCH_KERNEL(5, 18, 0)},
    .matches = is_u74,
    .remark = RISCV_REMARK,
    .choice = RISCV_CHOICE,
};

const struct arch_family arch_p550 = {
    .name = "p550",
    .title = "SiFive P550",
    .table = &arch_table_p550,
    .vendor = "riscv",
    .core_pmu = "cpu",
    .counters =
        {.general = 4, .fixed = 2, .no_group_check = true, .one_of_each = true, .guests_since = ARCH_KERNEL(5, 18, 0)},
    .matches = is_p550,
    .remark = RISCV_REMARK,
    .choice = RISCV_CHOICE,
};
