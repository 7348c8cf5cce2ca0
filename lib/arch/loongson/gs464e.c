/* SPDX-License-Identifier: MIT */
/**
 * @file
 * Loongson GS464E (3A2000, 3A3000): four counters, any event on any of them. The kernel accepts 347 raw codes, of
 * which it names the thirteen here; the others are reachable as r<hex> only, since nobody has published what they
 * count. Room: arch/loongson; before it families.c, after it the kernel takes the codes.
 */
#include "arch/loongson/revision.h"
#include "arch/row.h"
#include "arch/tables.h"

#define SOURCE "linux:arch/mips/kernel/perf_event_mipsxx.c@v6.12.117"

/* name, config, machine code, counters, kind, grade, why, source */
/* clang-format off */
static const struct arch_event rows[] = {
    {"branch-load-misses", 0x010005, 0x009c, ARCH_ANY, CACHE, APPROX, "mispredicted branches", SOURCE},
    {"branch-loads", 0x000005, 0x0094, ARCH_ANY, CACHE, APPROX, "branch instructions", SOURCE},
    {"branch-misses", 5, 0x009c, ARCH_ANY, HW, EXACT, "", SOURCE},
    {"branches", 4, 0x0094, ARCH_ANY, HW, EXACT, "", SOURCE},
    {"cache-misses", 3, 0x0018, ARCH_ANY, HW, APPROX, "misses of the first-level instruction cache here", SOURCE},
    {"cycles", 0, 0x0080, ARCH_ANY, HW, EXACT, "", SOURCE},
    {"dtlb-load-misses", 0x010003, 0x0092, ARCH_ANY, CACHE, APPROX, "loads and stores are not told apart", SOURCE},
    {"dtlb-miss", 0x010003, 0x0092, ARCH_ANY, CACHE, EXACT, "", SOURCE},
    {"dtlb-store-misses", 0x010103, 0x0092, ARCH_ANY, CACHE, APPROX, "loads and stores are not told apart", SOURCE},
    {"instructions", 1, 0x0081, ARCH_ANY, HW, EXACT, "", SOURCE},
    {"itlb-load-misses", 0x010004, 0x001a, ARCH_ANY, CACHE, APPROX, "fetches that missed", SOURCE},
    {"itlb-miss", 0x010004, 0x001a, ARCH_ANY, CACHE, EXACT, "", SOURCE},
    {"itlb-store-misses", 0x010104, 0x001a, ARCH_ANY, CACHE, APPROX, "one event for all accesses", SOURCE},
    {"l1-dcache-loads", 0x000000, 0x0156, ARCH_ANY, CACHE, APPROX, "loads", SOURCE},
    {"l1-dcache-store-misses", 0x010100, 0x0153, ARCH_ANY, CACHE, APPROX, "stores that missed", SOURCE},
    {"l1-dcache-stores", 0x000100, 0x0155, ARCH_ANY, CACHE, APPROX, "stores", SOURCE},
    {"l1-icache-load-misses", 0x010001, 0x0018, ARCH_ANY, CACHE, APPROX, "fetches that missed", SOURCE},
    {"l1-icache-store-misses", 0x010101, 0x0018, ARCH_ANY, CACHE, APPROX, "one event for all accesses", SOURCE},
    {"l1d-load", 0x000000, 0x0156, ARCH_ANY, CACHE, EXACT, "", SOURCE},
    {"l1d-store", 0x000100, 0x0155, ARCH_ANY, CACHE, EXACT, "", SOURCE},
    {"l1d-store-miss", 0x010100, 0x0153, ARCH_ANY, CACHE, EXACT, "", SOURCE},
    {"l1i-miss", 0x010001, 0x0018, ARCH_ANY, CACHE, EXACT, "", SOURCE},
    {"llc-access", 0, NO_CODE, ARCH_ANY, NONE, ABSENT, "no event for both: add llc-load and llc-store", ""},
    {"llc-load", 0x000002, 0x01b6, ARCH_ANY, CACHE, EXACT, "", SOURCE},
    {"llc-loads", 0x000002, 0x01b6, ARCH_ANY, CACHE, APPROX, "reads that reached the shared cache", SOURCE},
    {"llc-prefetch", 0x000202, 0x01bf, ARCH_ANY, CACHE, EXACT, "", SOURCE},
    {"llc-prefetches", 0x000202, 0x01bf, ARCH_ANY, CACHE, APPROX, "prefetches that reached the shared cache", SOURCE},
    {"llc-store", 0x000102, 0x01b7, ARCH_ANY, CACHE, EXACT, "", SOURCE},
    {"llc-stores", 0x000102, 0x01b7, ARCH_ANY, CACHE, APPROX, "writes that reached the shared cache", SOURCE},
};
/* clang-format on */

/** Each of the two chips has two revisions. */
/** Cache misses, which the table of GS464 lacks and this one has. */
enum { OWN_ID = 3 };

static int is_gs464e(const struct arch_cpu *cpu)
{
    return loongson_revision(cpu, "Loongson-3", 1u << 8 | 1u << 9 | 1u << 12 | 1u << 13);
}

const struct arch_family arch_gs464e = {
    .name = "gs464e",
    .title = "Loongson GS464E (3A2000, 3A3000)",
    .vendor = "loongson",
    .core_pmu = "cpu",
    .events = rows,
    .n_events = ROWS(rows),
    .counters = {.general = 4,
                 .width = 48,
                 .no_software_siblings = true,
                 .raw = {.mask = 0x3ff, .older_mask = 0x7f, .own_id = OWN_ID, .since = {ARCH_KERNEL(5, 9, 0)}}},
    .matches = is_gs464e,
    .remark = "raw codes are refused outside 1-27, 64-89, 128-163, 192-199, 256-274, 320-360, 384-573; kernels from "
              "before the table of this core take it for a GS464, whose codes mean something else here",
    .choice = "generic ids, of which the kernel makes the raw codes: kernels from before the table (seen in 2017) "
              "keep 7 bits and a bank of a raw code, and would count something else; kernels before 5.9, of which "
              "some have the table, are asked for an id that no other table has",
};
