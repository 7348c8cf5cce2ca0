/* SPDX-License-Identifier: MIT */
/** @file User-space read of one counter, per ISA. The index is the mmap page's: 0 is never passed, n is the
 *  hardware's counter n - 1. */
#include "core/arch_ops.h"

#if defined(__x86_64__) || defined(__i386__)

static uint64_t counter_read(uint32_t index)
{
    uint32_t low, high;
    __asm__ volatile("rdpmc" : "=a"(low), "=d"(high) : "c"(index - 1));
    return (uint64_t)high << 32 | low;
}
const arch_counter_read_fn upmu_arch_counter_read = counter_read;

#elif defined(__aarch64__)

/* The register number is part of the instruction, so each counter needs its own. */
#define READ_EVENT_COUNTER(n)                                         \
    case (n) + 1:                                                     \
        __asm__ volatile("mrs %0, pmevcntr" #n "_el0" : "=r"(count)); \
        break

static uint64_t counter_read(uint32_t index)
{
    enum { CYCLE_COUNTER = 32 }; /* the kernel's index for PMCCNTR_EL0 */
    uint64_t count = UINT64_MAX; /* an index that the kernel does not use */
    switch (index) {
        READ_EVENT_COUNTER(0);
        READ_EVENT_COUNTER(1);
        READ_EVENT_COUNTER(2);
        READ_EVENT_COUNTER(3);
        READ_EVENT_COUNTER(4);
        READ_EVENT_COUNTER(5);
        READ_EVENT_COUNTER(6);
        READ_EVENT_COUNTER(7);
        READ_EVENT_COUNTER(8);
        READ_EVENT_COUNTER(9);
        READ_EVENT_COUNTER(10);
        READ_EVENT_COUNTER(11);
        READ_EVENT_COUNTER(12);
        READ_EVENT_COUNTER(13);
        READ_EVENT_COUNTER(14);
        READ_EVENT_COUNTER(15);
        READ_EVENT_COUNTER(16);
        READ_EVENT_COUNTER(17);
        READ_EVENT_COUNTER(18);
        READ_EVENT_COUNTER(19);
        READ_EVENT_COUNTER(20);
        READ_EVENT_COUNTER(21);
        READ_EVENT_COUNTER(22);
        READ_EVENT_COUNTER(23);
        READ_EVENT_COUNTER(24);
        READ_EVENT_COUNTER(25);
        READ_EVENT_COUNTER(26);
        READ_EVENT_COUNTER(27);
        READ_EVENT_COUNTER(28);
        READ_EVENT_COUNTER(29);
        READ_EVENT_COUNTER(30);
    case CYCLE_COUNTER:
        __asm__ volatile("mrs %0, pmccntr_el0" : "=r"(count));
        break;
    default:
        break;
    }
    return count;
}
const arch_counter_read_fn upmu_arch_counter_read = counter_read;

#elif defined(__riscv) && __riscv_xlen == 64

/* 0xc00 cycle, 0xc01 time, 0xc02 instret, 0xc03 ... hpmcounter3 ...; the number is part of the instruction. */
#define READ_CSR(n)                                                       \
    case (n) + 1:                                                         \
        __asm__ volatile("csrr %0, %1" : "=r"(count) : "i"(0xc00 + (n))); \
        break

static uint64_t counter_read(uint32_t index)
{
    uint64_t count = UINT64_MAX; /* an index that the kernel does not use */
    switch (index) {
        READ_CSR(0);
        READ_CSR(1);
        READ_CSR(2);
        READ_CSR(3);
        READ_CSR(4);
        READ_CSR(5);
        READ_CSR(6);
        READ_CSR(7);
        READ_CSR(8);
        READ_CSR(9);
        READ_CSR(10);
        READ_CSR(11);
        READ_CSR(12);
        READ_CSR(13);
        READ_CSR(14);
        READ_CSR(15);
        READ_CSR(16);
        READ_CSR(17);
        READ_CSR(18);
        READ_CSR(19);
        READ_CSR(20);
        READ_CSR(21);
        READ_CSR(22);
        READ_CSR(23);
        READ_CSR(24);
        READ_CSR(25);
        READ_CSR(26);
        READ_CSR(27);
        READ_CSR(28);
        READ_CSR(29);
        READ_CSR(30);
        READ_CSR(31);
    default:
        break;
    }
    return count;
}
const arch_counter_read_fn upmu_arch_counter_read = counter_read;

#else

const arch_counter_read_fn upmu_arch_counter_read = NULL;

#endif
