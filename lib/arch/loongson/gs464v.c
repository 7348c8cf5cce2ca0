/* SPDX-License-Identifier: MIT */
/**
 * @file
 * Loongson GS464V (3A4000, 3B4000): four counters, any event on any of them. The kernel passes every 8-bit code on,
 * known or not, so that a wrong one counts something else without an error: only the fifteen here have names. Room:
 * arch/loongson; before it families.c, after it the kernel takes the codes.
 */
#include "arch/loongson/revision.h"
#include "arch/row.h"
#include "arch/tables.h"

#define SOURCE "linux:arch/mips/kernel/perf_event_mipsxx.c@v6.12.117"

/* name, config, machine code, counters, kind, grade, why, source */
/* clang-format off */
static const struct arch_event rows[] = {
    {"branch-load-misses", 0x010005, 0x0008, ARCH_ANY, CACHE, APPROX, "mispredicted branches", SOURCE},
    {"branch-loads", 0x000005, 0x0002, ARCH_ANY, CACHE, APPROX, "branch instructions", SOURCE},
    {"branch-misses", 5, 0x0008, ARCH_ANY, HW, EXACT, "", SOURCE},
    {"branches", 4, 0x0002, ARCH_ANY, HW, EXACT, "", SOURCE},
    {"cache-misses", 3, 0x001d, ARCH_ANY, HW, APPROX, "misses of the first-level instruction cache here", SOURCE},
    {"cache-references", 2, 0x001c, ARCH_ANY, HW, APPROX, "the first-level instruction cache here", SOURCE},
    {"cycles", 0, 0x0000, ARCH_ANY, HW, EXACT, "", SOURCE},
    {"dtlb-access", 0x000003, 0x0014, ARCH_ANY, CACHE, EXACT, "", SOURCE},
    {"dtlb-load-misses", 0x010003, 0x001b, ARCH_ANY, CACHE, APPROX, "loads and stores are not told apart", SOURCE},
    {"dtlb-loads", 0x000003, 0x0014, ARCH_ANY, CACHE, APPROX, "loads and stores are not told apart", SOURCE},
    {"dtlb-miss", 0x010003, 0x001b, ARCH_ANY, CACHE, EXACT, "", SOURCE},
    {"instructions", 1, 0x0001, ARCH_ANY, HW, EXACT, "", SOURCE},
    {"itlb-load-misses", 0x010004, 0x001a, ARCH_ANY, CACHE, APPROX, "fetches that missed", SOURCE},
    {"itlb-miss", 0x010004, 0x001a, ARCH_ANY, CACHE, EXACT, "", SOURCE},
    {"l1-dcache-load-misses", 0x010000, 0x001f, ARCH_ANY, CACHE, APPROX, "stores are perhaps included", SOURCE},
    {"l1-dcache-loads", 0x000000, 0x001e, ARCH_ANY, CACHE, APPROX, "stores are probably included", SOURCE},
    {"l1-dcache-prefetch-misses", 0x010200, 0x00a9, ARCH_ANY, CACHE, APPROX,
     "prefetches that missed the L1 data cache", SOURCE},
    {"l1-dcache-prefetches", 0x000200, 0x00aa, ARCH_ANY, CACHE, APPROX, "prefetches into the L1 data cache", SOURCE},
    {"l1-icache-load-misses", 0x010001, 0x001d, ARCH_ANY, CACHE, APPROX, "fetches that missed", SOURCE},
    {"l1-icache-loads", 0x000001, 0x001c, ARCH_ANY, CACHE, APPROX, "fetches", SOURCE},
    {"l1d-access", 0x000000, 0x001e, ARCH_ANY, CACHE, APPROX,
     "the kernel calls it reads; writes are likely included", SOURCE},
    {"l1d-load", 0x000000, 0x001e, ARCH_ANY, CACHE, APPROX, "stores are probably included", SOURCE},
    {"l1d-load-miss", 0x010000, 0x001f, ARCH_ANY, CACHE, APPROX, "stores are perhaps included", SOURCE},
    {"l1d-miss", 0x010000, 0x001f, ARCH_ANY, CACHE, APPROX,
     "the kernel calls it reads; writes are likely included", SOURCE},
    {"l1d-prefetch", 0x000200, 0x00aa, ARCH_ANY, CACHE, EXACT, "", SOURCE},
    {"l1d-prefetch-miss", 0x010200, 0x00a9, ARCH_ANY, CACHE, EXACT, "", SOURCE},
    {"l1i-access", 0x000001, 0x001c, ARCH_ANY, CACHE, EXACT, "", SOURCE},
    {"l1i-miss", 0x010001, 0x001d, ARCH_ANY, CACHE, EXACT, "", SOURCE},
    {"llc-access", 0x000002, 0x002e, ARCH_ANY, CACHE, EXACT, "", SOURCE},
    {"llc-load", 0x000002, 0x002e, ARCH_ANY, CACHE, APPROX, "writes are perhaps included", SOURCE},
    {"llc-load-miss", 0x010002, 0x002f, ARCH_ANY, CACHE, APPROX, "writes are perhaps included", SOURCE},
    {"llc-load-misses", 0x010002, 0x002f, ARCH_ANY, CACHE, APPROX, "writes are perhaps included", SOURCE},
    {"llc-loads", 0x000002, 0x002e, ARCH_ANY, CACHE, APPROX, "writes are perhaps included", SOURCE},
    {"llc-miss", 0x010002, 0x002f, ARCH_ANY, CACHE, EXACT, "", SOURCE},
};

static const struct arch_native native[] = {
    {"branch-misses", "mispredicted branches", 0x8, ARCH_ANY, 0},
    {"branches", "branches", 0x2, ARCH_ANY, 0},
    {"cycles", "core clock cycles", 0x0, ARCH_ANY, 0},
    {"dtlb-access", "data TLB lookups, reads and writes together", 0x14, ARCH_ANY, 0},
    {"dtlb-miss", "data TLB misses", 0x1b, ARCH_ANY, 0},
    {"instructions", "instructions committed", 0x1, ARCH_ANY, 0},
    {"itlb-miss", "instruction TLB misses", 0x1a, ARCH_ANY, 0},
    {"l1d-access", "L1 data cache accesses", 0x1e, ARCH_ANY, 0},
    {"l1d-miss", "L1 data cache misses", 0x1f, ARCH_ANY, 0},
    {"l1d-prefetch", "L1D prefetches", 0xaa, ARCH_ANY, 0},
    {"l1d-prefetch-miss", "L1D prefetch misses", 0xa9, ARCH_ANY, 0},
    {"l1i-access", "L1 instruction cache accesses", 0x1c, ARCH_ANY, 0},
    {"l1i-miss", "L1 instruction cache misses", 0x1d, ARCH_ANY, 0},
    {"llc-access", "shared last-level cache accesses", 0x2e, ARCH_ANY, 0},
    {"llc-miss", "shared last-level cache misses", 0x2f, ARCH_ANY, 0},
};
/* clang-format on */

/** Five revisions of one chip. */
/** Cache misses, which the table of GS464 lacks and this one has. */
enum { OWN_ID = 3 };

static int is_gs464v(const struct arch_cpu *cpu)
{
    return loongson_revision(cpu, "Loongson-3", 1u << 0 | 1u << 1 | 1u << 2 | 1u << 3 | 1u << 4);
}

const struct arch_family arch_gs464v = {
    .name = "gs464v",
    .title = "Loongson GS464V (3A4000, 3B4000)",
    .vendor = "loongson",
    .core_pmu = "cpu",
    .events = rows,
    .n_events = ROWS(rows),
    .native = native,
    .n_native = ROWS(native),
    .counters = {.general = 4,
                 .width = 64,
                 .no_software_siblings = true,
                 .raw = {.mask = 0xff, .older_mask = 0x7f, .own_id = OWN_ID, .since = {ARCH_KERNEL(5, 9, 0)}}},
    .matches = is_gs464v,
    .remark = "every raw code from 0 to 0xff opens, with a meaning or without; kernels from before the table of this "
              "core take it for a GS464, whose codes mean something else here",
    .choice = "generic ids, of which the kernel makes the raw codes: kernels from before the table (seen in 2017) "
              "keep 7 bits and a bank of a raw code, and would count something else; kernels before 5.9, of which "
              "some have the table, are asked for an id that no other table has",
};
