/* SPDX-License-Identifier: MIT */
/**
 * @file Sunway core4 (C4 chips): five slots of 64 bits.
 *
 * A raw encoding is slot << 8 | selector; the kernel moves an event whose slot is in use. Selectors 3 to 7 are
 * counted in registers of their own and occupy a slot in addition. The kernel accepts 142 selectors; those without
 * a published meaning are available as r<hex> only.
 */
#include <string.h>

#include "arch/row.h"
#include "arch/tables.h"

/** Selectors with a register of their own, whatever the slot. */
static const struct arch_code_rule registers[] = {
    {.mask = 0xff, .match = 0x03, .one_register = true}, /* instructions */
    {.mask = 0xff, .match = 0x04, .one_register = true}, /* branches */
    {.mask = 0xff, .match = 0x05, .one_register = true}, /* branch misses */
    {.mask = 0xff, .match = 0x06, .one_register = true}, /* L1I accesses */
    {.mask = 0xff, .match = 0x07, .one_register = true}, /* L1I misses */
};

/** The kernel prints the core's generation as "cpu variation"; vendor and model come from the firmware. */
static int is_core4(const struct arch_cpu *cpu)
{
    return strcmp(cpu->machine, "sw_64") == 0 && cpu->family == 4 ? ARCH_MATCH_MODEL : ARCH_MATCH_NO;
}

const struct arch_family arch_core4 = {
    .name = "core4",
    .title = "Sunway core4",
    .table = &arch_table_core4,
    .vendor = "sunway",
    .core_pmu = "cpu",
    .counters = {.general = 5,
                 .width = 64,
                 .no_exclude_hv = true,
                 .ignores_filter = true,
                 .rules = registers,
                 .n_rules = ROWS(registers)},
    .matches = is_core4,
    .remark = "vendor kernels only; user and kernel mode are always counted together; two events with the same code "
              "of the five that have a register of their own (instructions, branches, branch-misses, l1i-access, "
              "l1i-miss) disturb each other",
    .choice = "perf generic events where the kernel has one of the same meaning, else raw encodings for slot 0",
};
