/* SPDX-License-Identifier: MIT */
/*
 * Counter reads through the mmap page, without a system call.
 *
 * The page is a sequence lock: the kernel makes `lock` odd, rewrites the fields and makes it even again, each time
 * the event is scheduled in or out. A reader that sees the same even number before and after has seen one state.
 * Counter and clock are read in between, so a context switch shows as a changed `lock`.
 *
 * The kernel writes only for the reading thread, on the same CPU, so compiler barriers would suffice; a fence is
 * free on x86 and cheap elsewhere, and makes the protocol correct for any writer, including a test's thread.
 *
 * This path must be short: the counter is read before other values occupy registers, and the clock is inlined into
 * the one resulting function.
 */
#include "kernel/page.h"

#include <errno.h>
#include <linux/perf_event.h>
#include <stdbool.h>
#include <stddef.h>

#include "base/tick.h"

#define SAME_PLACE(ours, theirs)                                                                                      \
    _Static_assert(offsetof(struct kernel_page, ours) == offsetof(struct perf_event_mmap_page, theirs) &&             \
                       sizeof(((struct kernel_page *)0)->ours) == sizeof(((struct perf_event_mmap_page *)0)->theirs), \
                   "struct kernel_page differs from the kernel's header in " #ours)
SAME_PLACE(lock, lock);
SAME_PLACE(index, index);
SAME_PLACE(offset, offset);
SAME_PLACE(time_enabled, time_enabled);
SAME_PLACE(time_running, time_running);
SAME_PLACE(caps, capabilities);
SAME_PLACE(pmc_width, pmc_width);
SAME_PLACE(time_shift, time_shift);
SAME_PLACE(time_mult, time_mult);
SAME_PLACE(time_offset, time_offset);
SAME_PLACE(time_zero, time_zero);
SAME_PLACE(size, size);
_Static_assert(offsetof(struct kernel_page, time_cycles) == 80, "time_cycles follows the size and a reserved word");
_Static_assert(offsetof(struct kernel_page, time_mask) == 88, "time_mask is the last field read");

/* With this many rewrites during one read, read(2) costs less. */
enum { PAGE_TRIES = 16 };
/* With a larger shift the product of the remainder could exceed 64 bits; no kernel uses one. */
enum { TIME_SHIFT_MAX = 32 };

#if defined(__SANITIZE_THREAD__) /* ThreadSanitizer does not support fences: order each load instead */
#define LOAD(field) __atomic_load_n(&(field), __ATOMIC_ACQUIRE)
#define LOADS_DONE() ((void)0)
#else
#define LOAD(field) __atomic_load_n(&(field), __ATOMIC_RELAXED)
#define LOADS_DONE() __atomic_thread_fence(__ATOMIC_ACQUIRE)
#endif
#define INLINE static inline __attribute__((always_inline))

/* The fields read between two equal sequence numbers. */
struct page_view {
    union kernel_page_caps caps;
    uint32_t index;
    uint16_t width;
    int64_t offset;
    uint64_t counter;
    uint64_t enabled, running;
    uint64_t cycles;
    uint64_t time_offset;
    uint64_t time_cycles, time_mask;
    uint32_t time_mult;
    uint16_t time_shift;
};

INLINE void view_time(const struct kernel_page *page, kernel_tick_fn tick, struct page_view *v)
{
    v->cycles = tick();
    v->time_offset = LOAD(page->time_offset);
    v->time_mult = LOAD(page->time_mult);
    v->time_shift = LOAD(page->time_shift);
    if (v->caps.bit.user_time_short) {
        v->time_cycles = LOAD(page->time_cycles);
        v->time_mask = LOAD(page->time_mask);
    }
}

/* One attempt. @return 0; -EAGAIN if the page does not permit it; 1 if the page was rewritten in the meantime. */
INLINE int view_read(const struct kernel_page *page, arch_counter_read_fn counter, kernel_tick_fn tick,
                     struct page_view *v)
{
    uint32_t sequence = __atomic_load_n(&page->lock, __ATOMIC_ACQUIRE);
    if (sequence & 1)
        return 1;
    v->caps.word = LOAD(page->caps.word);
    v->index = LOAD(page->index);
    if (!v->caps.bit.user_rdpmc || v->index == 0)
        return -EAGAIN;
    v->counter = counter(v->index);
    v->width = LOAD(page->pmc_width);
    v->offset = LOAD(page->offset);
    v->enabled = LOAD(page->time_enabled);
    v->running = LOAD(page->time_running);
    if (!tick)
        v->caps.bit.user_time = 0;
    if (v->caps.bit.user_time)
        view_time(page, tick, v);
    LOADS_DONE();
    return LOAD(page->lock) == sequence ? 0 : 1;
}

/* The counter's reading has `width` bits, the highest being its sign: the kernel starts counters below zero. */
INLINE uint64_t view_value(const struct page_view *v)
{
    unsigned unused = 64u - v->width;
    int64_t extended = (int64_t)(v->counter << unused) >> unused;
    return (uint64_t)v->offset + (uint64_t)extended;
}

/* Nanoseconds since the kernel wrote the page's times. */
INLINE uint64_t view_time_since(const struct page_view *v)
{
    uint64_t cycles = v->cycles;
    if (v->caps.bit.user_time_short)
        cycles = v->time_cycles + ((cycles - v->time_cycles) & v->time_mask);
    uint64_t whole = cycles >> v->time_shift;
    uint64_t rest = cycles & ((1ull << v->time_shift) - 1);
    uint64_t since = v->time_offset + whole * v->time_mult + ((rest * v->time_mult) >> v->time_shift);
    /* A clock slightly behind that of the CPU that wrote the page must not give a huge time. */
    return (int64_t)since < 0 ? 0 : since;
}

/* Both times as of now. Without a user-space clock they are as old as the last rewrite of the page. But the event
 * has been on a counter since then, so both have grown by the same unknown amount: if they were equal, they still
 * are, and the value is an exact count, returned with a mark. Otherwise the caller would scale with an outdated
 * ratio, and the read is refused. */
INLINE int view_times(const struct page_view *v, struct kernel_page_count *out)
{
    bool clock = v->caps.bit.user_time && v->time_shift <= TIME_SHIFT_MAX;
    if (!clock && v->enabled != v->running)
        return -EAGAIN;
    uint64_t since = clock ? view_time_since(v) : 0;
    out->enabled = v->enabled + since;
    out->running = v->running + since;
    out->stale_times = !clock;
    return 0;
}

INLINE int page_read(const struct kernel_page *page, arch_counter_read_fn counter, kernel_tick_fn tick,
                     struct kernel_page_count *out)
{
    struct page_view v = {.index = 0};
    if (!counter)
        return -EAGAIN;
    for (int i = 0; i < PAGE_TRIES; i++) {
        int rc = view_read(page, counter, tick, &v);
        if (rc < 0)
            return rc;
        if (rc > 0)
            continue;
        if (v.width == 0 || v.width > 64)
            return -EAGAIN;
        out->value = view_value(&v);
        return view_times(&v, out);
    }
    return -EAGAIN;
}

int kernel_page_read_with(const struct kernel_page *page, arch_counter_read_fn counter, kernel_tick_fn tick,
                          struct kernel_page_count *out)
{
    return page_read(page, counter, tick, out);
}

int kernel_page_read(const void *page, arch_counter_read_fn counter, struct kernel_page_count *out)
{
#ifdef TICK_ISA_NAME
    return page_read(page, counter, tick_isa, out);
#else
    return page_read(page, counter, NULL, out);
#endif
}

const volatile uint32_t *kernel_page_sequence(const void *page)
{
    return &((const struct kernel_page *)page)->lock;
}
