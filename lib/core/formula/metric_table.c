/* SPDX-License-Identifier: MIT */
/* Built-in metrics and metric groups. */
#include "core/formula/metric_table.h"

/* Misses and hits of references, both from one pair of events. */
#define RATIO(name, what, miss, reference) \
    {name "-miss-ratio", "share of " what " that miss", "100 * " miss " / " reference, "%", NULL, true, false},

#define HITS(name, what, miss, reference)             \
    {name "-hit-ratio",                               \
     "share of " what " that hit",                    \
     "100 * (" reference " - " miss ") / " reference, \
     "%",                                             \
     NULL,                                            \
     true,                                            \
     true},

#define L1D_PAIRS(ROW)                                                                                   \
    ROW("l1d", "L1 data cache accesses", "l1d-miss", "l1d-access")                                       \
    ROW("l1d", "L1 data cache loads", "l1d-load-miss", "l1d-load")                                       \
    ROW("l1d", "L1 data cache stores (no pair of events for loads here)", "l1d-store-miss", "l1d-store") \
    ROW("l1d", "L1 data cache loads, as perf's generic events have them,", "l1-dcache-load-misses", "l1-dcache-loads")
#define L1D_STORE_PAIRS(ROW) ROW("l1d-store", "L1 data cache stores", "l1d-store-miss", "l1d-store")
#define L1I_PAIRS(ROW)                                                                                     \
    ROW("l1i", "L1 instruction cache accesses", "l1i-miss", "l1i-access")                                  \
    ROW("l1i", "L1 instruction cache loads, as perf's generic events have them,", "l1-icache-load-misses", \
        "l1-icache-loads")
#define L2_PAIRS(ROW)                                      \
    ROW("l2", "L2 cache accesses", "l2-miss", "l2-access") \
    ROW("l2", "L2 cache data reads", "l2-load-miss", "l2-load")
#define LLC_PAIRS(ROW)                                                \
    ROW("llc", "last-level cache accesses", "llc-miss", "llc-access") \
    ROW("llc", "last-level cache loads", "llc-load-miss", "llc-load") \
    ROW("llc", "last-level cache loads, as perf's generic events have them,", "llc-load-misses", "llc-loads")
#define LLC_STORE_PAIRS(ROW) ROW("llc-store", "last-level cache writes", "llc-store-miss", "llc-store")
#define CACHE_PAIRS(ROW) ROW("cache", "perf's generic cache references", "cache-misses", "cache-references")
#define DTLB_PAIRS(ROW)                                         \
    ROW("dtlb", "data TLB lookups", "dtlb-miss", "dtlb-access") \
    ROW("dtlb", "data TLB loads, as perf's generic events have them,", "dtlb-load-misses", "dtlb-loads")
#define ITLB_PAIRS(ROW)                                                \
    ROW("itlb", "instruction TLB lookups", "itlb-miss", "itlb-access") \
    ROW("itlb", "instruction TLB loads, as perf's generic events have them,", "itlb-load-misses", "itlb-loads")
#define BRANCH_PAIRS(ROW) ROW("branch", "branches", "branch-misses", "branches")
#define BOTH(PAIRS) PAIRS(RATIO) PAIRS(HITS)

#define PER_KILO(name, what, event) \
    {name "-mpki", what " per 1000 instructions", "1000 * " event " / instructions", "", NULL, true, true},

#define SHARE(name, what, event, whole) {name, what, "100 * " event " / " whole, "%", NULL, true, false},

/* Top-down analysis, level 1: use of the issue slots. */
#define SNB_TO_SKL "intel-sandybridge intel-ivybridge intel-haswell intel-broadwell intel-skylake"
#define SNB_SLOTS "(4 * cycles)"
#define SNB_BAD "native::UOPS_ISSUED.ANY - native::UOPS_RETIRED.RETIRE_SLOTS + 4 * native::INT_MISC.RECOVERY_CYCLES"
#define ICL_ON "intel-icelake intel-sapphirerapids intel-goldencove intel-redwoodcove intel-graniterapids"
#define ICL_SLOTS "native::TOPDOWN.SLOTS_P"
#define ZEN4_SLOTS "(6 * cycles)"
#define ZEN5_SLOTS "(8 * cycles)"
#define TSV_SLOTS "(4 * cycles)"

#define SLOTS_FRONTEND "slots lost because the front end delivered nothing"
#define SLOTS_BACKEND "slots lost because the back end was full"
#define SLOTS_RETIRING "slots whose operation retired"
#define SLOTS_BAD "slots whose operation did not retire, or of the recovery from wrong speculation"
#define TOPDOWN(name, what, expression, families) \
    {"topdown-" name, what, "100 * " expression, "%", families, true, false},

/* clang-format off */
const struct metric_row upmu_metric_rows[] = {
    {"ipc", "instructions per cycle", "instructions / cycles", "", NULL, true, false},
    {"cpi", "cycles per instruction", "cycles / instructions", "", NULL, true, true},
    BOTH(BRANCH_PAIRS)
    PER_KILO("branch", "mispredicted branches", "branch-misses")
    SHARE("branch-ratio", "share of branches among the instructions", "branches", "instructions")
    BOTH(L1D_PAIRS)
    BOTH(L1D_STORE_PAIRS)
    PER_KILO("l1d", "L1 data cache misses", "l1d-miss")
    PER_KILO("l1d", "L1 data cache load misses", "l1d-load-miss")
    BOTH(L1I_PAIRS)
    BOTH(L2_PAIRS)
    PER_KILO("l2", "L2 cache misses", "l2-miss")
    BOTH(LLC_PAIRS)
    BOTH(LLC_STORE_PAIRS)
    PER_KILO("llc", "last-level cache misses", "llc-miss")
    PER_KILO("llc", "last-level cache load misses", "llc-load-miss")
    BOTH(CACHE_PAIRS)
    BOTH(DTLB_PAIRS)
    PER_KILO("dtlb", "data TLB misses", "dtlb-miss")
    PER_KILO("dtlb", "data TLB load misses", "dtlb-load-miss")
    BOTH(ITLB_PAIRS)
    PER_KILO("itlb", "instruction TLB misses", "itlb-miss")
    SHARE("stall-frontend-ratio", "share of cycles without instructions from the front end", "stall-frontend", "cycles")
    SHARE("stall-backend-ratio", "share of cycles in which the back end was full", "stall-backend", "cycles")
    SHARE("stall-ratio", "share of cycles in which nothing was issued", "stall-any", "cycles")
    TOPDOWN("retiring", SLOTS_RETIRING, "native::UOPS_RETIRED.RETIRE_SLOTS / " SNB_SLOTS, SNB_TO_SKL)
    TOPDOWN("retiring", SLOTS_RETIRING, "native::UOPS_RETIRED.SLOTS / " ICL_SLOTS, ICL_ON)
    TOPDOWN("retiring", SLOTS_RETIRING, "native::ex_ret_ops / " ZEN4_SLOTS, "zen4")
    TOPDOWN("retiring", SLOTS_RETIRING, "native::ex_ret_ops / " ZEN5_SLOTS, "zen5")
    TOPDOWN("retiring", SLOTS_RETIRING, "instructions / " TSV_SLOTS, "kunpeng920")
    TOPDOWN("frontend", SLOTS_FRONTEND, "native::IDQ_UOPS_NOT_DELIVERED.CORE / " SNB_SLOTS, SNB_TO_SKL)
    TOPDOWN("frontend", SLOTS_FRONTEND, "native::IDQ_UOPS_NOT_DELIVERED.CORE / " ICL_SLOTS,
            "intel-icelake intel-sapphirerapids intel-goldencove intel-redwoodcove intel-graniterapids")
    TOPDOWN("frontend", SLOTS_FRONTEND, "native::de_no_dispatch_per_slot.no_ops_from_frontend / " ZEN4_SLOTS, "zen4")
    TOPDOWN("frontend", SLOTS_FRONTEND, "native::de_no_dispatch_per_slot.no_ops_from_frontend / " ZEN5_SLOTS, "zen5")
    TOPDOWN("frontend", SLOTS_FRONTEND, "native::FETCH_BUBBLE / " TSV_SLOTS, "kunpeng920")
    TOPDOWN("bad-speculation", SLOTS_BAD, "(" SNB_BAD ") / " SNB_SLOTS, SNB_TO_SKL)
    TOPDOWN("bad-speculation", SLOTS_BAD,
            "(" ICL_SLOTS " - native::UOPS_RETIRED.SLOTS - native::TOPDOWN.BACKEND_BOUND_SLOTS - "
            "native::IDQ_UOPS_NOT_DELIVERED.CORE) / " ICL_SLOTS, ICL_ON)
    TOPDOWN("bad-speculation", SLOTS_BAD, "(native::de_src_op_disp.all - native::ex_ret_ops) / " ZEN4_SLOTS, "zen4")
    TOPDOWN("bad-speculation", SLOTS_BAD, "(native::de_src_op_disp.all - native::ex_ret_ops) / " ZEN5_SLOTS, "zen5")
    TOPDOWN("bad-speculation", SLOTS_BAD, "(instructions-spec - instructions) / " TSV_SLOTS, "kunpeng920")
    TOPDOWN("backend", SLOTS_BACKEND,
            "(4 * cycles - native::IDQ_UOPS_NOT_DELIVERED.CORE - native::UOPS_ISSUED.ANY - "
            "4 * native::INT_MISC.RECOVERY_CYCLES) / " SNB_SLOTS, SNB_TO_SKL)
    TOPDOWN("backend", SLOTS_BACKEND, "native::TOPDOWN.BACKEND_BOUND_SLOTS / " ICL_SLOTS, ICL_ON)
    TOPDOWN("backend", SLOTS_BACKEND, "native::de_no_dispatch_per_slot.backend_stalls / " ZEN4_SLOTS, "zen4")
    TOPDOWN("backend", SLOTS_BACKEND, "native::de_no_dispatch_per_slot.backend_stalls / " ZEN5_SLOTS, "zen5")
    TOPDOWN("backend", SLOTS_BACKEND,
            "(4 * cycles - native::FETCH_BUBBLE - instructions-spec) / " TSV_SLOTS, "kunpeng920")
    {"flops", "floating-point operations per second of wall time", "fp-ops / wall-time", "/s", NULL, true, false},
    {"flops-per-cycle", "floating-point operations per cycle", "fp-ops / cycles", "", NULL, true, false},
    SHARE("simd-ratio", "share of vector instructions among all", "simd-instructions", "instructions")
    {"mem-reads-per-second", "reads sent to memory per second of wall time", "mem-read / wall-time", "/s", NULL, true, false},
    {"mem-writes-per-second", "writes sent to memory per second of wall time", "mem-write / wall-time", "/s", NULL,
     true, false},
    SHARE("remote-ratio", "share of last-level cache misses that another node served", "remote-access", "llc-miss")
    {"clock-ghz", "clock rate while on a CPU", "cycles / task-clock", "GHz", NULL, true, false},
    {"cpus-used", "CPUs kept busy on average", "1e-9 * task-clock / wall-time", "", NULL, true, false},
    {"context-switches-per-second", "context switches per second of wall time", "context-switches / wall-time", "/s",
     NULL, true, false},
    {"page-faults-per-second", "page faults per second of wall time", "page-faults / wall-time", "/s", NULL, true, false},
    {"power-package", "power of the processor package", "power/energy-pkg/ / wall-time", "W", NULL, true, false},
    {"power-cores", "power of the cores", "power/energy-cores/ / wall-time", "W", NULL, true, false},
    {"power-memory", "power of the memory", "power/energy-ram/ / wall-time", "W", NULL, true, false},
    {"power-platform", "power of the whole platform", "power/energy-psys/ / wall-time", "W", NULL, true, false},
};
/* clang-format on */
const size_t upmu_metric_n_rows = sizeof upmu_metric_rows / sizeof *upmu_metric_rows;

const struct metric_group_row upmu_metric_groups[] = {
    {"branch", "branches and their prediction", "branch-miss-ratio,branch-hit-ratio,branch-mpki,branch-ratio,ipc"},
    {"cache", "hits and misses of the caches",
     "l1d-miss-ratio,l1d-hit-ratio,l1i-miss-ratio,l2-miss-ratio,llc-miss-ratio,cache-miss-ratio,l1d-mpki,llc-mpki"},
    {"tlb", "address translation", "dtlb-miss-ratio,itlb-miss-ratio,dtlb-mpki,itlb-mpki"},
    {"flops", "floating-point work", "flops,flops-per-cycle,simd-ratio,ipc"},
    {"stalls", "cycles in which nothing was issued", "stall-frontend-ratio,stall-backend-ratio,stall-ratio,ipc"},
    {"topdown", "what became of the issue slots",
     "topdown-retiring,topdown-frontend,topdown-bad-speculation,topdown-backend"},
    {"memory", "traffic to memory", "mem-reads-per-second,mem-writes-per-second,llc-miss-ratio,llc-mpki,remote-ratio"},
    {"energy", "use of the issue slots", "power-package,power-cores,power-memory,power-platform"},
    {"clock", "time on CPUs and their clock rate", "cpus-used,clock-ghz,ipc"},
};
const size_t upmu_metric_n_groups = sizeof upmu_metric_groups / sizeof *upmu_metric_groups;
