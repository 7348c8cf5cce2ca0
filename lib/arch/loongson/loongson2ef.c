/* SPDX-License-Identifier: MIT */
/**
 * @file
 * Loongson 2E and 2F: two counters with sixteen events each; bit 7 of a raw code picks the counter. Room:
 * arch/loongson; before it families.c, after it the kernel takes the codes - if it has a driver, which is an old one
 * from outside the kernel tree; mainline has none and refuses every hardware event.
 */
#include "arch/loongson/banks.h"
#include "arch/loongson/revision.h"
#include "arch/row.h"
#include "arch/tables.h"

#define OPROFILE "oprofile:events/mips/loongson2/events@a3742ff2"
#define DRIVER "perf_event_loongson2.c, a driver from outside the kernel tree"
#define OUTSIDE "as the driver from outside the kernel tree has it"

/* name, config, machine code, counters, kind, grade, why, source */
/* clang-format off */
static const struct arch_event rows[] = {
    {"branch-misses", 5, 0x0081, COUNTER(1), HW, EXACT, "", DRIVER},
    {"branches", 4, 0x0001, COUNTER(0), HW, APPROX, "may leave register-indirect jumps out", DRIVER},
    {"branches-return", 0x0003, 0x0003, COUNTER(0), RAW, APPROX, "returns through register 31 only", OPROFILE},
    {"cycles", 0, 0x0000, COUNTER(0), HW, APPROX, OUTSIDE, DRIVER},
    {"dtlb-load-misses", 0x010003, 0x000d, COUNTER(0), CACHE, APPROX, "translation refills of data and code", DRIVER},
    {"dtlb-miss", 0x000d, 0x000d, COUNTER(0), RAW, APPROX, "TLB refill exceptions, code side included", OPROFILE},
    {"dtlb-store-misses", 0x010103, 0x000d, COUNTER(0), CACHE, APPROX, "translation refills of data and code", DRIVER},
    {"exceptions", 0x008d, 0x008d, COUNTER(1), RAW, EXACT, "", OPROFILE},
    {"fp-ops", 0, NO_CODE, ARCH_ANY, NONE, ABSENT, "add 0x7 and 0x86 for floating-point instructions issued", ""},
    {"instructions", 1, 0x0080, COUNTER(1), HW, APPROX, OUTSIDE, DRIVER},
    {"int-instructions", 0, NO_CODE, ARCH_ANY, NONE, ABSENT, "add 0x5 and 0x85, issued to the two integer units", ""},
    {"interrupts", 0x000e, 0x000e, COUNTER(0), RAW, APPROX,
     "oprofile says exceptions, the chip manual interrupts", OPROFILE},
    {"itlb-load-misses", 0x010004, 0x008c, COUNTER(1), CACHE, APPROX, "one event for all accesses", DRIVER},
    {"itlb-miss", 0x008c, 0x008c, COUNTER(1), RAW, EXACT, "", OPROFILE},
    {"itlb-store-misses", 0x010104, 0x008c, COUNTER(1), CACHE, APPROX, "one event for all accesses", DRIVER},
    {"l1-dcache-load-misses", 0x010000, 0x0084, COUNTER(1), CACHE, APPROX,
     "loads and stores are not told apart", DRIVER},
    {"l1-dcache-store-misses", 0x010100, 0x0084, COUNTER(1), CACHE, APPROX,
     "loads and stores are not told apart", DRIVER},
    {"l1-icache-load-misses", 0x010001, 0x0004, COUNTER(0), CACHE, APPROX, "one event for all accesses", DRIVER},
    {"l1-icache-store-misses", 0x010101, 0x0004, COUNTER(0), CACHE, APPROX, "one event for all accesses", DRIVER},
    {"l1d-miss", 0x0084, 0x0084, COUNTER(1), RAW, EXACT, "", OPROFILE},
    {"l1i-miss", 0x0004, 0x0004, COUNTER(0), RAW, EXACT, "", OPROFILE},
    {"loads-stores", 0x0006, 0x0006, COUNTER(0), RAW, APPROX, "issued ones", OPROFILE},
    {"mem-read", 0x0009, 0x0009, COUNTER(0), RAW, EXACT, "", OPROFILE},
    {"mem-write", 0x0089, 0x0089, COUNTER(1), RAW, EXACT, "", OPROFILE},
    {"stall-backend", 0x000b, 0x000b, COUNTER(0), RAW, APPROX, "reorder queue full only", OPROFILE},
};

static const struct arch_native native[] = {
    {"ALU1_ISSUED", "operations issued to integer unit 1", 0x5, COUNTER(0), 0},
    {"ALU2_ISSUED", "operations issued to integer unit 2", 0x85, COUNTER(1), 0},
    {"BHT_BRANCH_INSTRUCTIONS", "branches predicted through the history table", 0x8, COUNTER(0), 0},
    {"BHT_MISPREDICTED", "history-table mispredictions", 0x88, COUNTER(1), 0},
    {"BRANCH_INSTRUCTIONS", "branch instructions", 0x1, COUNTER(0), 0},
    {"BRANCH_QUEUE_FULL", "cycles/occurrences with the branch queue full", 0x8b, COUNTER(1), 0},
    {"BRANCHES_MISPREDICTED", "mispredicted branches", 0x81, COUNTER(1), 0},
    {"CP0_QUEUE_FULL", "cycles/occurrences with the CP0 queue full", 0xc, COUNTER(0), 0},
    {"CP0Q_FORWARD_VALID", "CP0 queue forwards", 0x8f, COUNTER(1), 0},
    {"CPU_CLK_UNHALTED", "core clock cycles", 0x0, COUNTER(0), 0},
    {"DCACHE_MISSES", "L1 data cache misses", 0x84, COUNTER(1), 0},
    {"EXCEPTION", "exceptions (interrupts per the chip manual)", 0xe, COUNTER(0), 0},
    {"FALU1_ISSUED", "operations issued to FP unit 1", 0x7, COUNTER(0), 0},
    {"FALU2_ISSUED", "operations issued to FP unit 2", 0x86, COUNTER(1), 0},
    {"FQUEUE_FULL", "cycles/occurrences with the fixed-point queue full", 0xa, COUNTER(0), 0},
    {"FTQ_FULL", "cycles/occurrences with the FP queue full", 0x8a, COUNTER(1), 0},
    {"ICACHE_MISSES", "L1 instruction cache misses", 0x4, COUNTER(0), 0},
    {"INSTRUCTION_COMMITTED", "instructions committed", 0x80, COUNTER(1), 0},
    {"INTERNAL_EXCEPTION", "internal exceptions", 0xf, COUNTER(0), 0},
    {"ITLB_MISSES", "instruction TLB misses", 0x8c, COUNTER(1), 0},
    {"JR31_INSTRUCTIONS", "returns (JR through register 31)", 0x3, COUNTER(0), 0},
    {"JR31_MISPREDICTED", "mispredicted returns", 0x83, COUNTER(1), 0},
    {"JR_MISPREDICTED", "mispredicted JR", 0x82, COUNTER(1), 0},
    {"JUMP_INSTRUCTIONS", "register-indirect jumps (JR)", 0x2, COUNTER(0), 0},
    {"LOAD_SPECULATION_MISSES", "load speculation failures", 0x8e, COUNTER(1), 0},
    {"MEM_ISSUED", "loads/stores issued", 0x6, COUNTER(0), 0},
    {"MEM_READ", "reads sent to main memory", 0x9, COUNTER(0), 0},
    {"MEM_WRITE", "writes sent to main memory", 0x89, COUNTER(1), 0},
    {"ROQ_FULL", "cycles/occurrences with the reorder queue full", 0xb, COUNTER(0), 0},
    {"TLB_REFILL", "TLB refill exceptions", 0xd, COUNTER(0), 0},
    {"TOTAL_EXCEPTIONS", "all exceptions", 0x8d, COUNTER(1), 0},
    {"UNCACHED_ACCESS", "uncached accesses", 0x87, COUNTER(1), 0},
};
/* clang-format on */

/** 2E and 2F. */
static int is_loongson2ef(const struct arch_cpu *cpu)
{
    return loongson_revision(cpu, "Loongson-2", 1u << 2 | 1u << 3);
}

const struct arch_family arch_loongson2ef = {
    .name = "loongson2ef",
    .title = "Loongson 2E, 2F",
    .vendor = "loongson",
    .core_pmu = "cpu",
    .events = rows,
    .n_events = ROWS(rows),
    .native = native,
    .n_native = ROWS(native),
    .counters = {.general = 2,
                 .width = 32,
                 .no_software_siblings = true,
                 .rules = arch_loongson_banks,
                 .n_rules = LOONGSON_BANKS,
                 .raw = {.mask = 0xff}},
    .matches = is_loongson2ef,
    .remark = "mainline kernels have no PMU driver for this chip, so that no hardware event counts; the codes are "
              "those of a driver from outside the kernel tree",
    .choice = "generic ids where the driver from outside the kernel tree has one of the meaning, else raw codes",
};
