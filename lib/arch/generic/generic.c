/* SPDX-License-Identifier: MIT */
/**
 * @file
 * Any CPU: the kernel's generic ids and nothing else. Room: arch/generic; before it families.c, after it the kernel
 * turns an id into a code of the CPU or refuses it.
 */
#include "arch/row.h"
#include "arch/tables.h"

#define SOURCE "linux:include/uapi/linux/perf_event.h@v6.12.117"
#define DECIDES "the kernel decides what it counts on this CPU"

/* name, config, machine code, counters, kind, grade, why, source */
/* clang-format off */
static const struct arch_event rows[] = {
    {"branch-load-misses", 0x010005, NO_CODE, ARCH_ANY, CACHE, APPROX, DECIDES, SOURCE},
    {"branch-loads", 0x000005, NO_CODE, ARCH_ANY, CACHE, APPROX, DECIDES, SOURCE},
    {"branch-misses", 5, NO_CODE, ARCH_ANY, HW, APPROX, DECIDES, SOURCE},
    {"branch-prefetch-misses", 0x010205, NO_CODE, ARCH_ANY, CACHE, APPROX, DECIDES, SOURCE},
    {"branch-prefetches", 0x000205, NO_CODE, ARCH_ANY, CACHE, APPROX, DECIDES, SOURCE},
    {"branch-store-misses", 0x010105, NO_CODE, ARCH_ANY, CACHE, APPROX, DECIDES, SOURCE},
    {"branch-stores", 0x000105, NO_CODE, ARCH_ANY, CACHE, APPROX, DECIDES, SOURCE},
    {"branches", 4, NO_CODE, ARCH_ANY, HW, APPROX, DECIDES, SOURCE},
    {"bus-cycles", 6, NO_CODE, ARCH_ANY, HW, APPROX, DECIDES, SOURCE},
    {"cache-misses", 3, NO_CODE, ARCH_ANY, HW, APPROX, DECIDES, SOURCE},
    {"cache-references", 2, NO_CODE, ARCH_ANY, HW, APPROX, DECIDES, SOURCE},
    {"cycles", 0, NO_CODE, ARCH_ANY, HW, APPROX, DECIDES, SOURCE},
    {"dtlb-load-miss", 0x010003, NO_CODE, ARCH_ANY, CACHE, APPROX, DECIDES, SOURCE},
    {"dtlb-load-misses", 0x010003, NO_CODE, ARCH_ANY, CACHE, APPROX, DECIDES, SOURCE},
    {"dtlb-loads", 0x000003, NO_CODE, ARCH_ANY, CACHE, APPROX, DECIDES, SOURCE},
    {"dtlb-prefetch-misses", 0x010203, NO_CODE, ARCH_ANY, CACHE, APPROX, DECIDES, SOURCE},
    {"dtlb-prefetches", 0x000203, NO_CODE, ARCH_ANY, CACHE, APPROX, DECIDES, SOURCE},
    {"dtlb-store-miss", 0x010103, NO_CODE, ARCH_ANY, CACHE, APPROX, DECIDES, SOURCE},
    {"dtlb-store-misses", 0x010103, NO_CODE, ARCH_ANY, CACHE, APPROX, DECIDES, SOURCE},
    {"dtlb-stores", 0x000103, NO_CODE, ARCH_ANY, CACHE, APPROX, DECIDES, SOURCE},
    {"instructions", 1, NO_CODE, ARCH_ANY, HW, APPROX, DECIDES, SOURCE},
    {"itlb-access", 0x000004, NO_CODE, ARCH_ANY, CACHE, APPROX, DECIDES, SOURCE},
    {"itlb-load-misses", 0x010004, NO_CODE, ARCH_ANY, CACHE, APPROX, DECIDES, SOURCE},
    {"itlb-loads", 0x000004, NO_CODE, ARCH_ANY, CACHE, APPROX, DECIDES, SOURCE},
    {"itlb-miss", 0x010004, NO_CODE, ARCH_ANY, CACHE, APPROX, DECIDES, SOURCE},
    {"itlb-prefetch-misses", 0x010204, NO_CODE, ARCH_ANY, CACHE, APPROX, DECIDES, SOURCE},
    {"itlb-prefetches", 0x000204, NO_CODE, ARCH_ANY, CACHE, APPROX, DECIDES, SOURCE},
    {"itlb-store-misses", 0x010104, NO_CODE, ARCH_ANY, CACHE, APPROX, DECIDES, SOURCE},
    {"itlb-stores", 0x000104, NO_CODE, ARCH_ANY, CACHE, APPROX, DECIDES, SOURCE},
    {"l1-dcache-load-misses", 0x010000, NO_CODE, ARCH_ANY, CACHE, APPROX, DECIDES, SOURCE},
    {"l1-dcache-loads", 0x000000, NO_CODE, ARCH_ANY, CACHE, APPROX, DECIDES, SOURCE},
    {"l1-dcache-prefetch-misses", 0x010200, NO_CODE, ARCH_ANY, CACHE, APPROX, DECIDES, SOURCE},
    {"l1-dcache-prefetches", 0x000200, NO_CODE, ARCH_ANY, CACHE, APPROX, DECIDES, SOURCE},
    {"l1-dcache-store-misses", 0x010100, NO_CODE, ARCH_ANY, CACHE, APPROX, DECIDES, SOURCE},
    {"l1-dcache-stores", 0x000100, NO_CODE, ARCH_ANY, CACHE, APPROX, DECIDES, SOURCE},
    {"l1-icache-load-misses", 0x010001, NO_CODE, ARCH_ANY, CACHE, APPROX, DECIDES, SOURCE},
    {"l1-icache-loads", 0x000001, NO_CODE, ARCH_ANY, CACHE, APPROX, DECIDES, SOURCE},
    {"l1-icache-prefetch-misses", 0x010201, NO_CODE, ARCH_ANY, CACHE, APPROX, DECIDES, SOURCE},
    {"l1-icache-prefetches", 0x000201, NO_CODE, ARCH_ANY, CACHE, APPROX, DECIDES, SOURCE},
    {"l1-icache-store-misses", 0x010101, NO_CODE, ARCH_ANY, CACHE, APPROX, DECIDES, SOURCE},
    {"l1-icache-stores", 0x000101, NO_CODE, ARCH_ANY, CACHE, APPROX, DECIDES, SOURCE},
    {"l1d-load", 0x000000, NO_CODE, ARCH_ANY, CACHE, APPROX, DECIDES, SOURCE},
    {"l1d-load-miss", 0x010000, NO_CODE, ARCH_ANY, CACHE, APPROX, DECIDES, SOURCE},
    {"l1d-prefetch", 0x000200, NO_CODE, ARCH_ANY, CACHE, APPROX, DECIDES, SOURCE},
    {"l1d-prefetch-miss", 0x010200, NO_CODE, ARCH_ANY, CACHE, APPROX, DECIDES, SOURCE},
    {"l1d-store", 0x000100, NO_CODE, ARCH_ANY, CACHE, APPROX, DECIDES, SOURCE},
    {"l1d-store-miss", 0x010100, NO_CODE, ARCH_ANY, CACHE, APPROX, DECIDES, SOURCE},
    {"l1i-access", 0x000001, NO_CODE, ARCH_ANY, CACHE, APPROX, DECIDES, SOURCE},
    {"l1i-miss", 0x010001, NO_CODE, ARCH_ANY, CACHE, APPROX, DECIDES, SOURCE},
    {"llc-load", 0x000002, NO_CODE, ARCH_ANY, CACHE, APPROX, DECIDES, SOURCE},
    {"llc-load-miss", 0x010002, NO_CODE, ARCH_ANY, CACHE, APPROX, DECIDES, SOURCE},
    {"llc-load-misses", 0x010002, NO_CODE, ARCH_ANY, CACHE, APPROX, DECIDES, SOURCE},
    {"llc-loads", 0x000002, NO_CODE, ARCH_ANY, CACHE, APPROX, DECIDES, SOURCE},
    {"llc-prefetch", 0x000202, NO_CODE, ARCH_ANY, CACHE, APPROX, DECIDES, SOURCE},
    {"llc-prefetch-misses", 0x010202, NO_CODE, ARCH_ANY, CACHE, APPROX, DECIDES, SOURCE},
    {"llc-prefetches", 0x000202, NO_CODE, ARCH_ANY, CACHE, APPROX, DECIDES, SOURCE},
    {"llc-store", 0x000102, NO_CODE, ARCH_ANY, CACHE, APPROX, DECIDES, SOURCE},
    {"llc-store-miss", 0x010102, NO_CODE, ARCH_ANY, CACHE, APPROX, DECIDES, SOURCE},
    {"llc-store-misses", 0x010102, NO_CODE, ARCH_ANY, CACHE, APPROX, DECIDES, SOURCE},
    {"llc-stores", 0x000102, NO_CODE, ARCH_ANY, CACHE, APPROX, DECIDES, SOURCE},
    {"node-load-misses", 0x010006, NO_CODE, ARCH_ANY, CACHE, APPROX, DECIDES, SOURCE},
    {"node-loads", 0x000006, NO_CODE, ARCH_ANY, CACHE, APPROX, DECIDES, SOURCE},
    {"node-prefetch-misses", 0x010206, NO_CODE, ARCH_ANY, CACHE, APPROX, DECIDES, SOURCE},
    {"node-prefetches", 0x000206, NO_CODE, ARCH_ANY, CACHE, APPROX, DECIDES, SOURCE},
    {"node-store-misses", 0x010106, NO_CODE, ARCH_ANY, CACHE, APPROX, DECIDES, SOURCE},
    {"node-stores", 0x000106, NO_CODE, ARCH_ANY, CACHE, APPROX, DECIDES, SOURCE},
    {"ref-cycles", 9, NO_CODE, ARCH_ANY, HW, APPROX, DECIDES, SOURCE},
    {"remote-access", 0x010006, NO_CODE, ARCH_ANY, CACHE, APPROX, DECIDES, SOURCE},
    {"stall-backend", 8, NO_CODE, ARCH_ANY, HW, APPROX, DECIDES, SOURCE},
    {"stall-frontend", 7, NO_CODE, ARCH_ANY, HW, APPROX, DECIDES, SOURCE},
    {"stalled-cycles-backend", 8, NO_CODE, ARCH_ANY, HW, APPROX, DECIDES, SOURCE},
    {"stalled-cycles-frontend", 7, NO_CODE, ARCH_ANY, HW, APPROX, DECIDES, SOURCE},
};
/* clang-format on */

static int is_anything(const struct arch_cpu *cpu)
{
    (void)cpu;
    return ARCH_MATCH_ANY;
}

const struct arch_family arch_generic = {
    .name = "generic",
    .title = "CPU without a table of its own",
    .vendor = "generic",
    .core_pmu = "cpu",
    .events = rows,
    .n_events = ROWS(rows),
    .matches = is_anything,
    .remark = "only the kernel's generic events; their meaning is the kernel's choice",
    .choice = "generic ids: no code of this CPU is known",
};
