/* SPDX-License-Identifier: MIT */
/** @file The mmap page of a self-monitored event, and the protocol to read it. */
#ifndef UPMU_KERNEL_PAGE_H
#define UPMU_KERNEL_PAGE_H

#include <stdint.h>

#include "core/kernel_ops.h"

/** The capability bits of the page, in the order in which the kernel declares them. */
union kernel_page_caps {
    uint64_t word;
    struct {
        uint64_t bit0 : 1;            /**< always 0 */
        uint64_t bit0_deprecated : 1; /**< always 1 since 3.12 */
        uint64_t user_rdpmc : 1;      /**< counters may be read in user mode */
        uint64_t user_time : 1;       /**< time_mult, time_shift and time_offset are valid */
        uint64_t user_time_zero : 1;
        uint64_t
            user_time_short : 1; /**< the CPU's clock has fewer than 64 bits: time_cycles and time_mask are valid */
        uint64_t reserved : 58;
    } bit;
};

/** The front of struct perf_event_mmap_page. Declared here because kernel headers of long-lived distributions lack
 *  the newest fields while the running kernel may have them; page.c asserts that the two agree. */
struct kernel_page {
    uint32_t version;
    uint32_t compat_version;
    uint32_t lock;  /**< odd while the kernel writes; grows by two with each rewrite */
    uint32_t index; /**< counter in use, plus one; 0: none */
    int64_t offset; /**< to be added to the counter's reading */
    uint64_t time_enabled;
    uint64_t time_running;
    union kernel_page_caps caps;
    uint16_t pmc_width; /**< bits of the counter's reading */
    uint16_t time_shift;
    uint32_t time_mult;
    uint64_t time_offset;
    uint64_t time_zero;
    uint32_t size;
    uint32_t reserved;
    uint64_t time_cycles;
    uint64_t time_mask;
};

/** Reads the CPU's own clock, on which the kernel's time fields are based. */
typedef uint64_t (*kernel_tick_fn)(void);

/** kernel_ops.page_read with the given clock (NULL: none on this ISA). @return 0, or -EAGAIN. */
int kernel_page_read_with(const struct kernel_page *page, arch_counter_read_fn counter, kernel_tick_fn tick,
                          struct kernel_page_count *out);

/** kernel_ops.page_read. */
int kernel_page_read(const void *page, arch_counter_read_fn counter, struct kernel_page_count *out);
/** kernel_ops.page_sequence. */
const volatile uint32_t *kernel_page_sequence(const void *page);

#endif
