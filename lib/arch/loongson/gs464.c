/* SPDX-License-Identifier: MIT */
/**
 * @file
 * Loongson GS464 (3A1000, 3B1000, 3B1500): two counters with a bank of events each; bit 7 of a raw code picks the bank.
 * Room: arch/loongson; before it families.c, after it the kernel takes the codes.
 */
#include "arch/loongson/banks.h"
#include "arch/loongson/revision.h"
#include "arch/row.h"
#include "arch/tables.h"

#define SOURCE "linux:arch/mips/kernel/perf_event_mipsxx.c@v6.12.117"
#define ASSUMED "oprofile:events/mips/loongson2/events@a3742ff2, by analogy"

/* name, config, machine code, counters, kind, grade, why, source */
/* clang-format off */
static const struct arch_event rows[] = {
    {"branch-load-misses", 0x010005, 0x0081, COUNTER(1), CACHE, APPROX, "mispredicted branches", SOURCE},
    {"branch-loads", 0x000005, 0x0001, COUNTER(0), CACHE, APPROX, "branch instructions", SOURCE},
    {"branch-misses", 5, 0x0081, COUNTER(1), HW, EXACT, "", SOURCE},
    {"branch-store-misses", 0x010105, 0x0081, COUNTER(1), CACHE, APPROX, "mispredicted branches", SOURCE},
    {"branch-stores", 0x000105, 0x0001, COUNTER(0), CACHE, APPROX, "branch instructions", SOURCE},
    {"branches", 4, 0x0001, COUNTER(0), HW, APPROX, "may leave JR out", SOURCE},
    {"branches-return", 0x0003, 0x0003, COUNTER(0), RAW, APPROX, "assumed from the Loongson-2 list", ASSUMED},
    {"cycles", 0, 0x0000, COUNTER(0), HW, EXACT, "", SOURCE},
    {"dtlb-load-misses", 0x010003, 0x0089, COUNTER(1), CACHE, APPROX, "loads and stores are not told apart", SOURCE},
    {"dtlb-miss", 0x0089, 0x0089, COUNTER(1), RAW, EXACT, "", SOURCE},
    {"dtlb-store-misses", 0x010103, 0x0089, COUNTER(1), CACHE, APPROX, "loads and stores are not told apart", SOURCE},
    {"exceptions", 0x008d, 0x008d, COUNTER(1), RAW, APPROX, "assumed from the Loongson-2 list", ASSUMED},
    {"fp-ops", 0, NO_CODE, ARCH_ANY, NONE, ABSENT, "add 0x7 and 0x86, assumed from the Loongson-2 list", ""},
    {"instructions", 1, 0x0080, COUNTER(1), HW, EXACT, "", SOURCE},
    {"int-instructions", 0, NO_CODE, ARCH_ANY, NONE, ABSENT, "add 0x5 and 0x85, assumed from the Loongson-2 list", ""},
    {"itlb-load-misses", 0x010004, 0x008c, COUNTER(1), CACHE, APPROX, "one event for all accesses", SOURCE},
    {"itlb-miss", 0x008c, 0x008c, COUNTER(1), RAW, EXACT, "", SOURCE},
    {"itlb-store-misses", 0x010104, 0x008c, COUNTER(1), CACHE, APPROX, "one event for all accesses", SOURCE},
    {"l1-dcache-load-misses", 0x010000, 0x0084, COUNTER(1), CACHE, APPROX,
     "loads and stores are not told apart", SOURCE},
    {"l1-dcache-store-misses", 0x010100, 0x0084, COUNTER(1), CACHE, APPROX,
     "loads and stores are not told apart", SOURCE},
    {"l1-icache-load-misses", 0x010001, 0x0004, COUNTER(0), CACHE, APPROX, "one event for all accesses", SOURCE},
    {"l1-icache-store-misses", 0x010101, 0x0004, COUNTER(0), CACHE, APPROX, "one event for all accesses", SOURCE},
    {"l1d-load-miss", 0x010000, 0x0084, COUNTER(1), CACHE, APPROX, "stores included", SOURCE},
    {"l1d-miss", 0x0084, 0x0084, COUNTER(1), RAW, EXACT, "", SOURCE},
    {"l1d-store-miss", 0x010100, 0x0084, COUNTER(1), CACHE, APPROX, "loads included", SOURCE},
    {"l1i-miss", 0x0004, 0x0004, COUNTER(0), RAW, EXACT, "", SOURCE},
    {"loads-stores", 0x0006, 0x0006, COUNTER(0), RAW, APPROX, "assumed from the Loongson-2 list, issued", ASSUMED},
    {"mem-read", 0x0009, 0x0009, COUNTER(0), RAW, APPROX, "assumed from the Loongson-2 list", ASSUMED},
    {"stall-backend", 0x000b, 0x000b, COUNTER(0), RAW, APPROX,
     "assumed from the Loongson-2 list; reorder queue full only", ASSUMED},
};

const struct arch_code_rule arch_loongson_banks[LOONGSON_BANKS] = {
    {.mask = 0x80, .match = 0x00, .counters = COUNTER(0)},
    {.mask = 0x80, .match = 0x80, .counters = COUNTER(1)},
};

static const struct arch_native native[] = {
    {"ALU1_ISSUED", "operations issued to integer unit 1; assumed from the Loongson-2 list", 0x5, COUNTER(0), 0},
    {"ALU2_ISSUED", "operations issued to integer unit 2; assumed from the Loongson-2 list", 0x85, COUNTER(1), 0},
    {"BHT_BRANCH_INSTRUCTIONS", "branches predicted through the history table; assumed from the Loongson-2 list",
     0x8, COUNTER(0), 0},
    {"BHT_MISPREDICTED", "history-table mispredictions; assumed from the Loongson-2 list", 0x88, COUNTER(1), 0},
    {"branch-misses", "mispredicted branches", 0x81, COUNTER(1), 0},
    {"BRANCH_QUEUE_FULL", "cycles/occurrences with the branch queue full; assumed from the Loongson-2 list",
     0x8b, COUNTER(1), 0},
    {"branches", "branch instructions", 0x1, COUNTER(0), 0},
    {"CP0_QUEUE_FULL", "cycles/occurrences with the CP0 queue full; assumed from the Loongson-2 list",
     0xc, COUNTER(0), 0},
    {"CP0Q_FORWARD_VALID", "CP0 queue forwards; assumed from the Loongson-2 list", 0x8f, COUNTER(1), 0},
    {"cycles", "core clock cycles", 0x0, COUNTER(0), 0},
    {"dtlb-miss", "data TLB misses (driver table; Loongson-2 used this number for memory writes)", 0x89, COUNTER(1), 0},
    {"EXCEPTION", "exceptions (interrupts per the chip manual); assumed from the Loongson-2 list", 0xe, COUNTER(0), 0},
    {"FALU1_ISSUED", "operations issued to FP unit 1; assumed from the Loongson-2 list", 0x7, COUNTER(0), 0},
    {"FALU2_ISSUED", "operations issued to FP unit 2; assumed from the Loongson-2 list", 0x86, COUNTER(1), 0},
    {"FQUEUE_FULL", "cycles/occurrences with the fixed-point queue full; assumed from the Loongson-2 list",
     0xa, COUNTER(0), 0},
    {"FTQ_FULL", "cycles/occurrences with the FP queue full; assumed from the Loongson-2 list", 0x8a, COUNTER(1), 0},
    {"instructions", "instructions committed", 0x80, COUNTER(1), 0},
    {"INTERNAL_EXCEPTION", "internal exceptions; assumed from the Loongson-2 list", 0xf, COUNTER(0), 0},
    {"itlb-miss", "instruction TLB misses", 0x8c, COUNTER(1), 0},
    {"JR31_INSTRUCTIONS", "returns (JR through register 31); assumed from the Loongson-2 list", 0x3, COUNTER(0), 0},
    {"JR31_MISPREDICTED", "mispredicted returns; assumed from the Loongson-2 list", 0x83, COUNTER(1), 0},
    {"JR_MISPREDICTED", "mispredicted JR; assumed from the Loongson-2 list", 0x82, COUNTER(1), 0},
    {"JUMP_INSTRUCTIONS", "register-indirect jumps (JR); assumed from the Loongson-2 list", 0x2, COUNTER(0), 0},
    {"l1d-miss", "L1 data cache misses", 0x84, COUNTER(1), 0},
    {"l1i-miss", "L1 instruction cache misses", 0x4, COUNTER(0), 0},
    {"LOAD_SPECULATION_MISSES", "load speculation failures; assumed from the Loongson-2 list", 0x8e, COUNTER(1), 0},
    {"MEM_ISSUED", "loads/stores issued; assumed from the Loongson-2 list", 0x6, COUNTER(0), 0},
    {"MEM_READ", "reads sent to main memory; assumed from the Loongson-2 list", 0x9, COUNTER(0), 0},
    {"ROQ_FULL", "cycles/occurrences with the reorder queue full; assumed from the Loongson-2 list",
     0xb, COUNTER(0), 0},
    {"TLB_REFILL", "TLB refill exceptions; assumed from the Loongson-2 list", 0xd, COUNTER(0), 0},
    {"TOTAL_EXCEPTIONS", "all exceptions; assumed from the Loongson-2 list", 0x8d, COUNTER(1), 0},
    {"UNCACHED_ACCESS", "uncached accesses; assumed from the Loongson-2 list", 0x87, COUNTER(1), 0},
};
/* clang-format on */

/** 3A1000, 3B1000 and 3B1500, one revision each. */
static int is_gs464(const struct arch_cpu *cpu)
{
    return loongson_revision(cpu, "Loongson-3", 1u << 5 | 1u << 6 | 1u << 7);
}

const struct arch_family arch_gs464 = {
    .name = "gs464",
    .title = "Loongson GS464 (3A1000, 3B1000, 3B1500)",
    .vendor = "loongson",
    .core_pmu = "cpu",
    .events = rows,
    .n_events = ROWS(rows),
    .native = native,
    .n_native = ROWS(native),
    .counters = {.general = 2,
                 .width = 64,
                 .no_software_siblings = true,
                 .rules = arch_loongson_banks,
                 .n_rules = LOONGSON_BANKS,
                 .raw = {.mask = 0xff}},
    .matches = is_gs464,
    .remark = "mainline kernels 6.1 and 6.12 find no PMU on this core, vendor kernels may; two events of one bank "
              "never count together",
    .choice = "raw codes where an event is of loads and stores together, for which the kernel has no id; generic ids "
              "for the rest, of which the kernel makes the same codes",
};
