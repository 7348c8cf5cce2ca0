/* SPDX-License-Identifier: MIT */
/**
 * @file Loongson GS464E (3A2000, 3A3000): four counters, any event on any of them.
 *
 * The kernel accepts 347 raw encodings and names the thirteen used here; the meaning of the others is not
 * published, and they are available as r<hex> only.
 */
#include "arch/loongson/revision.h"
#include "arch/row.h"
#include "arch/tables.h"

/** Cache misses, which GS464 lacks and this core has. */
enum { GS464E_OWN_ID = 3 };

static int is_gs464e(const struct arch_cpu *cpu)
{
    return loongson_revision(cpu, "Loongson-3", 1u << 8 | 1u << 9 | 1u << 12 | 1u << 13);
}

const struct arch_family arch_gs464e = {
    .name = "gs464e",
    .title = "Loongson GS464E (3A2000, 3A3000)",
    .table = &arch_table_gs464e,
    .vendor = "loongson",
    .core_pmu = "cpu",
    .counters = {.general = 4,
                 .width = 48,
                 .no_software_siblings = true,
                 .raw = {.mask = 0x3ff, .older_mask = 0x7f, .own_id = GS464E_OWN_ID, .since = {ARCH_KERNEL(5, 9, 0)}}},
    .matches = is_gs464e,
    .remark = "raw encodings are refused outside 1-27, 64-89, 128-163, 192-199, 256-274, 320-360, 384-573; kernels "
              "without a table for this core treat it as a GS464, whose raw encodings count other events here",
    .choice = "perf generic events, which the kernel encodes like the raw encodings: kernels from before the table "
              "(seen in 2017) keep 7 bits and a bank of a raw encoding, and would count something else; kernels before "
              "5.9, of which some have the table, are asked for an id that no other table has",
};
