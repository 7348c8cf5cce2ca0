/* SPDX-License-Identifier: MIT */
/**
 * @file Vendor-neutral events, with their perf and PAPI names.
 *
 * An alias is given only where both names always mean the same number. perf's cache and stall events mean whatever
 * the kernel maps them to, which differs from our definitions on some CPUs, so they are entries of their own.
 */
#include "core/names/registry.h"

#include <stdbool.h>
#include <strings.h>

#include "base/text/suggest.h"

/* name, summary, unit, PAPI preset, perf's name where it differs, software id, remark */
#define USAGE_REMARK                                                                                  \
    "read with getrusage, without an event; the time on a CPU is measured, and divided into the two " \
    "modes by timer ticks, unless the kernel accounts each entry (CONFIG_VIRT_CPU_ACCOUNTING_GEN)"

/* clang-format off */
static const struct registry_event events[] = {
    {"alignment-faults", "unaligned accesses fixed up by the kernel",
     "", NULL, NULL, 7, "emitted only where the kernel repairs unaligned accesses; on other machines it stays 0"},
    {"branch-load-misses", "perf's generic branch predictor load misses, as the kernel maps them here",
     "", NULL, NULL, -1, ""},
    {"branch-loads", "perf's generic branch predictor loads, as the kernel maps them here", "", NULL, NULL, -1, ""},
    {"branch-misses", "mispredicted branches retired", "", "PAPI_BR_MSP", NULL, -1, ""},
    {"branch-prefetch-misses", "the kernel's generic branch predictor prefetch misses, which perf has no name for",
     "", NULL, NULL, -1, ""},
    {"branch-prefetches", "the kernel's generic branch predictor prefetches, which perf has no name for",
     "", NULL, NULL, -1, ""},
    {"branch-store-misses", "the kernel's generic branch predictor store misses, which perf has no name for",
     "", NULL, NULL, -1, ""},
    {"branch-stores", "the kernel's generic branch predictor stores, which perf has no name for",
     "", NULL, NULL, -1, ""},
    {"branches", "branch instructions retired, all kinds", "", "PAPI_BR_INS", "branch-instructions", -1, ""},
    {"branches-conditional", "conditional branches retired", "", "PAPI_BR_CN", NULL, -1, ""},
    {"branches-return", "procedure-return branches", "", NULL, NULL, -1, ""},
    {"bus-access", "accesses at the core bus interface", "", NULL, NULL, -1, ""},
    {"bus-cycles", "cycles of the bus/interconnect clock", "", NULL, NULL, -1, ""},
    {"cache-misses", "perf's generic cache misses: which cache is counted depends on the CPU", "", NULL, NULL, -1, ""},
    {"cache-references", "perf's generic cache references: which cache is counted depends on the CPU",
     "", NULL, NULL, -1, ""},
    {"cgroup-switches", "context switches into a different cgroup", "", NULL, NULL, 11, "kernel 5.13 and later"},
    {"context-switches", "context switches", "", NULL, "cs", 3, ""},
    {"cpu-clock", "wall-clock nanoseconds of the CPU while the event runs", "ns", NULL, NULL, 0, "driven by a timer"},
    {"cpu-migrations", "moves to another CPU", "", NULL, "migrations", 4, ""},
    {"cycles", "core clock cycles while not halted, per hardware thread", "", "PAPI_TOT_CYC", "cpu-cycles", -1, ""},
    {"dtlb-access", "data TLB lookups", "", NULL, NULL, -1, ""},
    {"dtlb-load-miss", "data TLB misses caused by loads", "", NULL, NULL, -1, ""},
    {"dtlb-load-misses", "perf's generic data TLB load misses, as the kernel maps them here",
     "", NULL, "dTLB-load-misses", -1, ""},
    {"dtlb-loads", "perf's generic data TLB loads, as the kernel maps them here", "", NULL, "dTLB-loads", -1, ""},
    {"dtlb-miss", "data TLB misses of any kind (first level that the chip reports)", "", "PAPI_TLB_DM", NULL, -1, ""},
    {"dtlb-prefetch-misses", "perf's generic data TLB prefetch misses, as the kernel maps them here",
     "", NULL, "dTLB-prefetch-misses", -1, ""},
    {"dtlb-prefetches", "perf's generic data TLB prefetches, as the kernel maps them here",
     "", NULL, "dTLB-prefetches", -1, ""},
    {"dtlb-store-miss", "data TLB misses caused by stores", "", NULL, NULL, -1, ""},
    {"dtlb-store-misses", "perf's generic data TLB store misses, as the kernel maps them here",
     "", NULL, "dTLB-store-misses", -1, ""},
    {"dtlb-stores", "perf's generic data TLB stores, as the kernel maps them here", "", NULL, "dTLB-stores", -1, ""},
    {"dtlb-walk", "data-side page-table walks", "", NULL, NULL, -1, ""},
    {"emulation-faults", "instructions emulated by the kernel",
     "", NULL, NULL, 8, "emitted only where the kernel emulates instructions; on other machines it stays 0"},
    {"exceptions", "exceptions taken (interrupts included where the chip does so)", "", NULL, NULL, -1, ""},
    {"fp-instructions", "floating-point instructions", "", "PAPI_FP_INS", NULL, -1, ""},
    {"fp-ops", "floating-point operations (not instructions)", "", "PAPI_FP_OPS", NULL, -1, ""},
    {"instructions", "instructions architecturally retired", "", "PAPI_TOT_INS", NULL, -1, ""},
    {"instructions-spec", "instructions issued or executed speculatively", "", "PAPI_TOT_IIS", NULL, -1, ""},
    {"int-instructions", "integer data-processing instructions", "", "PAPI_INT_INS", NULL, -1, ""},
    {"interrupts", "hardware interrupts taken", "", "PAPI_HW_INT", NULL, -1, ""},
    {"itlb-access", "instruction TLB lookups", "", NULL, NULL, -1, ""},
    {"itlb-load-misses", "perf's generic instruction TLB load misses, as the kernel maps them here",
     "", NULL, "iTLB-load-misses", -1, ""},
    {"itlb-loads", "perf's generic instruction TLB loads, as the kernel maps them here",
     "", NULL, "iTLB-loads", -1, ""},
    {"itlb-miss", "instruction TLB misses", "", "PAPI_TLB_IM", NULL, -1, ""},
    {"itlb-prefetch-misses", "the kernel's generic instruction TLB prefetch misses, which perf has no name for",
     "", NULL, NULL, -1, ""},
    {"itlb-prefetches", "the kernel's generic instruction TLB prefetches, which perf has no name for",
     "", NULL, NULL, -1, ""},
    {"itlb-store-misses", "the kernel's generic instruction TLB store misses, which perf has no name for",
     "", NULL, NULL, -1, ""},
    {"itlb-stores", "the kernel's generic instruction TLB stores, which perf has no name for", "", NULL, NULL, -1, ""},
    {"itlb-walk", "instruction-side page-table walks", "", NULL, NULL, -1, ""},
    {"l1-dcache-load-misses", "perf's generic L1 data cache load misses, as the kernel maps them here",
     "", NULL, "L1-dcache-load-misses", -1, ""},
    {"l1-dcache-loads", "perf's generic L1 data cache loads, as the kernel maps them here",
     "", NULL, "L1-dcache-loads", -1, ""},
    {"l1-dcache-prefetch-misses", "perf's generic L1 data cache prefetch misses, as the kernel maps them here",
     "", NULL, "L1-dcache-prefetch-misses", -1, ""},
    {"l1-dcache-prefetches", "perf's generic L1 data cache prefetches, as the kernel maps them here",
     "", NULL, "L1-dcache-prefetches", -1, ""},
    {"l1-dcache-store-misses", "perf's generic L1 data cache store misses, as the kernel maps them here",
     "", NULL, "L1-dcache-store-misses", -1, ""},
    {"l1-dcache-stores", "perf's generic L1 data cache stores, as the kernel maps them here",
     "", NULL, "L1-dcache-stores", -1, ""},
    {"l1-icache-load-misses", "perf's generic L1 instruction cache load misses, as the kernel maps them here",
     "", NULL, "L1-icache-load-misses", -1, ""},
    {"l1-icache-loads", "perf's generic L1 instruction cache loads, as the kernel maps them here",
     "", NULL, "L1-icache-loads", -1, ""},
    {"l1-icache-prefetch-misses", "perf's generic L1 instruction cache prefetch misses, as the kernel maps them here",
     "", NULL, "L1-icache-prefetch-misses", -1, ""},
    {"l1-icache-prefetches", "perf's generic L1 instruction cache prefetches, as the kernel maps them here",
     "", NULL, "L1-icache-prefetches", -1, ""},
    {"l1-icache-store-misses", "the kernel's generic L1 instruction cache store misses, which perf has no name for",
     "", NULL, NULL, -1, ""},
    {"l1-icache-stores", "the kernel's generic L1 instruction cache stores, which perf has no name for",
     "", NULL, NULL, -1, ""},
    {"l1d-access", "L1 data cache accesses, loads plus stores", "", "PAPI_L1_DCA", NULL, -1, ""},
    {"l1d-load", "L1 data cache load accesses", "", "PAPI_L1_DCR", NULL, -1, ""},
    {"l1d-load-miss", "L1 data cache load misses", "", "PAPI_L1_LDM", NULL, -1, ""},
    {"l1d-miss", "L1 data cache misses, loads plus stores", "", "PAPI_L1_DCM", NULL, -1, ""},
    {"l1d-prefetch", "hardware/software prefetches into L1D", "", NULL, NULL, -1, ""},
    {"l1d-prefetch-miss", "L1D prefetches that missed", "", "PAPI_PRF_DM", NULL, -1, ""},
    {"l1d-store", "L1 data cache store accesses", "", "PAPI_L1_DCW", NULL, -1, ""},
    {"l1d-store-miss", "L1 data cache store misses", "", "PAPI_L1_STM", NULL, -1, ""},
    {"l1d-writeback", "dirty lines written out of L1D", "", NULL, NULL, -1, ""},
    {"l1i-access", "L1 instruction cache accesses", "", "PAPI_L1_ICA", NULL, -1, ""},
    {"l1i-miss", "L1 instruction cache misses", "", "PAPI_L1_ICM", NULL, -1, ""},
    {"l2-access", "second-level cache accesses", "", "PAPI_L2_TCA", NULL, -1, ""},
    {"l2-load", "second-level cache data reads", "", "PAPI_L2_DCR", NULL, -1, ""},
    {"l2-load-miss", "second-level cache data read misses", "", "PAPI_L2_LDM", NULL, -1, ""},
    {"l2-miss", "second-level cache misses", "", "PAPI_L2_TCM", NULL, -1, ""},
    {"l2-store", "second-level cache data writes", "", "PAPI_L2_DCW", NULL, -1, ""},
    {"l2-writeback", "lines written out of L2", "", NULL, NULL, -1, ""},
    {"llc-access", "last-level cache accesses seen from this core", "", "PAPI_L3_TCA", NULL, -1, ""},
    {"llc-load", "last-level cache reads", "", "PAPI_L3_DCR", NULL, -1, ""},
    {"llc-load-miss", "last-level cache read misses", "", "PAPI_L3_LDM", NULL, -1, ""},
    {"llc-load-misses", "perf's generic last-level cache load misses, as the kernel maps them here",
     "", NULL, "LLC-load-misses", -1, ""},
    {"llc-loads", "perf's generic last-level cache loads, as the kernel maps them here", "", NULL, "LLC-loads", -1, ""},
    {"llc-miss", "last-level cache misses seen from this core", "", "PAPI_L3_TCM", NULL, -1, ""},
    {"llc-prefetch", "prefetch requests at the last level", "", NULL, NULL, -1, ""},
    {"llc-prefetch-misses", "perf's generic last-level cache prefetch misses, as the kernel maps them here",
     "", NULL, "LLC-prefetch-misses", -1, ""},
    {"llc-prefetches", "perf's generic last-level cache prefetches, as the kernel maps them here",
     "", NULL, "LLC-prefetches", -1, ""},
    {"llc-store", "last-level cache writes", "", "PAPI_L3_DCW", NULL, -1, ""},
    {"llc-store-miss", "last-level cache write misses", "", "PAPI_L3_STM", NULL, -1, ""},
    {"llc-store-misses", "perf's generic last-level cache store misses, as the kernel maps them here",
     "", NULL, "LLC-store-misses", -1, ""},
    {"llc-stores", "perf's generic last-level cache stores, as the kernel maps them here",
     "", NULL, "LLC-stores", -1, ""},
    {"loads", "load instructions", "", "PAPI_LD_INS", NULL, -1, ""},
    {"loads-stores", "loads plus stores", "", "PAPI_LST_INS", NULL, -1, ""},
    {"major-faults", "page faults that needed I/O", "", NULL, NULL, 6, ""},
    {"mem-read", "reads sent to memory by the core", "", NULL, NULL, -1, ""},
    {"mem-write", "writes sent to memory by the core", "", NULL, NULL, -1, ""},
    {"memory-errors", "corrected or uncorrected local memory errors", "", NULL, NULL, -1, ""},
    {"minor-faults", "page faults served without I/O", "", NULL, NULL, 5, ""},
    {"node-load-misses", "perf's generic local memory node load misses, as the kernel maps them here",
     "", NULL, NULL, -1, ""},
    {"node-loads", "perf's generic local memory node loads, as the kernel maps them here", "", NULL, NULL, -1, ""},
    {"node-prefetch-misses", "perf's generic local memory node prefetch misses, as the kernel maps them here",
     "", NULL, NULL, -1, ""},
    {"node-prefetches", "perf's generic local memory node prefetches, as the kernel maps them here",
     "", NULL, NULL, -1, ""},
    {"node-store-misses", "perf's generic local memory node store misses, as the kernel maps them here",
     "", NULL, NULL, -1, ""},
    {"node-stores", "perf's generic local memory node stores, as the kernel maps them here", "", NULL, NULL, -1, ""},
    {"page-faults", "page faults, all", "", NULL, "faults", 2, ""},
    {"ref-cycles", "cycles of a constant reference clock while not halted", "", "PAPI_REF_CYC", NULL, -1, ""},
    {"remote-access", "accesses served by another socket/node", "", NULL, NULL, -1, ""},
    {"simd-instructions", "vector/SIMD instructions", "", "PAPI_VEC_INS", NULL, -1, ""},
    {"stall-any", "cycles in which nothing was issued, any cause", "", "PAPI_STL_ICY", NULL, -1, ""},
    {"stall-backend", "cycles in which nothing was issued because the back end was full",
     "", "PAPI_RES_STL", NULL, -1, ""},
    {"stall-frontend", "cycles in which nothing was issued because the front end had nothing", "", NULL, NULL, -1, ""},
    {"stalled-cycles-backend", "perf's generic back-end stall cycles: what counts as a stall depends on the CPU",
     "", NULL, NULL, -1, ""},
    {"stalled-cycles-frontend", "perf's generic front-end stall cycles: what counts as a stall depends on the CPU",
     "", NULL, NULL, -1, ""},
    {"stores", "store instructions", "", "PAPI_SR_INS", NULL, -1, ""},
    {"system-time", "nanoseconds in kernel mode, as the kernel accounts them to the thread",
     "ns", NULL, NULL, REGISTRY_USAGE + 1, USAGE_REMARK},
    {"task-clock", "nanoseconds the task was on a CPU", "ns", NULL, NULL, 1, ""},
    {"unaligned-access", "loads/stores whose address is not naturally aligned", "", NULL, NULL, -1, ""},
    {"uops-retired", "micro-operations retired", "", NULL, NULL, -1, ""},
    {"user-time", "nanoseconds in user mode, as the kernel accounts them to the thread",
     "ns", NULL, NULL, REGISTRY_USAGE, USAGE_REMARK},
};
/* clang-format on */

enum { N_EVENTS = sizeof(events) / sizeof(events[0]) };

const struct registry_event *registry_events(size_t *n)
{
    *n = N_EVENTS;
    return events;
}

static bool registry_same_name(const char *name, const char *alias)
{
    return alias && strcasecmp(name, alias) == 0;
}

const struct registry_event *registry_find(const char *name)
{
    for (size_t i = 0; i < N_EVENTS; i++) {
        if (registry_same_name(name, events[i].name) || registry_same_name(name, events[i].perf) ||
            registry_same_name(name, events[i].papi))
            return &events[i];
    }
    return NULL;
}

void registry_offer(struct suggest *s)
{
    for (size_t i = 0; i < N_EVENTS; i++) {
        suggest_offer(s, events[i].name);
        if (events[i].perf)
            suggest_offer(s, events[i].perf);
        if (events[i].papi)
            suggest_offer(s, events[i].papi);
    }
}
