/* SPDX-License-Identifier: MIT */
/**
 * @file Loongson GS464V (3A4000, 3B4000): four counters, any event on any of them.
 *
 * The kernel passes on every 8-bit encoding, valid or not, so that a wrong one counts something else without an
 * error: only fifteen have names here.
 */
#include "arch/loongson/revision.h"
#include "arch/row.h"
#include "arch/tables.h"

/** Cache misses, which GS464 lacks and this core has. */
enum { GS464V_OWN_ID = 3 };

static int is_gs464v(const struct arch_cpu *cpu)
{
    return loongson_revision(cpu, "Loongson-3", 1u << 0 | 1u << 1 | 1u << 2 | 1u << 3 | 1u << 4);
}

const struct arch_family arch_gs464v = {
    .name = "gs464v",
    .title = "Loongson GS464V (3A4000, 3B4000)",
    .table = &arch_table_gs464v,
    .vendor = "loongson",
    .core_pmu = "cpu",
    .counters = {.general = 4,
                 .width = 64,
                 .no_software_siblings = true,
                 .raw = {.mask = 0xff, .older_mask = 0x7f, .own_id = GS464V_OWN_ID, .since = {ARCH_KERNEL(5, 9, 0)}}},
    .matches = is_gs464v,
    .remark =
        "every raw encoding from 0 to 0xff opens, with a meaning or without; kernels without a table for this core "
        "treat it as a GS464, whose raw encodings count other events here",
    .choice = "perf generic events, which the kernel encodes like the raw encodings: kernels from before the table "
              "(seen in 2017) keep 7 bits and a bank of a raw encoding, and would count something else; kernels before "
              "5.9, of which some have the table, are asked for an id that no other table has",
};
