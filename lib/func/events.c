/* SPDX-License-Identifier: MIT */
/*
 * Blocks of a thread's events, and the parts of the file that are mapped.
 *
 * A handler may interrupt a thread after it has the place of an event and before it stores the event, and begin the next block
 * meanwhile. So a part that is full stays mapped, without its pages, and a block ends with slack, where such an event goes.
 */
#include "func/events.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>

#include "base/cancel.h"
#include "base/tick.h"
#include "func/files.h"

enum { FIRST_BYTES = 4 * FUNC_BLOCK_BYTES, PART_BYTES_MAX = 256 * FUNC_BLOCK_BYTES };

static void events_set_block(struct func_tree *t, uint64_t at, uint64_t now)
{
    t->events_high = now >> 32;
    func_events_store(at, FUNC_EVENT_TIME, now >> 32);
    t->events_end = at + FUNC_BLOCK_BYTES - FUNC_BLOCK_SLACK;
    __atomic_signal_fence(__ATOMIC_SEQ_CST);
    __atomic_store_n(&t->event, at + sizeof(uint64_t), __ATOMIC_RELEASE);
}

/* The part of the file from `from` on. @return its address; 0 without space. */
static uint64_t events_map(struct func_tree *t, uint64_t from, uint64_t bytes)
{
    char name[48];
    int saved = errno;
    snprintf(name, sizeof name, FUNC_EVENTS_FILE, t->number);
    void *p = func_file_window(name, from, bytes);
    errno = saved;
    if (!p)
        return 0;
    if (t->events_base)
        (void)madvise((void *)(uintptr_t)t->events_base, t->events_bytes, MADV_DONTNEED);
    t->events_from = from;
    t->events_bytes = bytes;
    t->events_base = (uintptr_t)p;
    return t->events_base;
}

/* @return the address of the block that follows the one that ends at `end`, with zeros in its slack; 0 without space. */
static uint64_t events_next(struct func_tree *t, uint64_t end)
{
    if (end < t->events_base + t->events_bytes && !t->events_wraps)
        return end;
    if (t->events_ring) {
        bool wraps = end == t->events_base + t->events_bytes;
        uint64_t at = wraps ? t->events_base : end;
        t->events_wraps += wraps;
        memset((void *)(uintptr_t)(at + FUNC_BLOCK_BYTES - FUNC_BLOCK_SLACK), 0, FUNC_BLOCK_SLACK);
        return at;
    }
    uint64_t bytes = t->events_bytes * 2;
    return events_map(t, t->events_from + t->events_bytes, bytes < PART_BYTES_MAX ? bytes : PART_BYTES_MAX);
}

/* Map the pages of a block at once: single page faults would make one call in 256 slow, and all together cost more. Before Linux 5.14
 * the pages come one by one. A hypervisor that shadows page tables maps a page only when the program itself stores to it. */
static void events_populate(uint64_t block)
{
#ifdef MADV_POPULATE_WRITE
    enum { SMALLEST_PAGE = 4096 };
    int saved = errno;
    bool mapped = madvise((void *)(uintptr_t)block, FUNC_BLOCK_BYTES, MADV_POPULATE_WRITE) == 0;
    for (uint64_t at = block; mapped && at < block + FUNC_BLOCK_BYTES; at += SMALLEST_PAGE)
        (void)__atomic_fetch_or((uint64_t *)(uintptr_t)at, 0, __ATOMIC_RELAXED);
    errno = saved;
#else
    (void)block;
#endif
}

/* A handler may have begun it before. @return false: no event can be written. */
static bool events_begin_block(struct func_tree *t, uint64_t now)
{
    struct cancel_hold cancel;
    sigset_t all, before;
    if (t->events_full)
        return false;
    cancel_hold(&cancel); /* which pthread_sigmask() does not block */
    sigfillset(&all);
    sigemptyset(&before);
    (void)pthread_sigmask(SIG_SETMASK, &all, &before); /* cannot fail with these arguments */
    if (t->event >= t->events_end) {
        uint64_t at = events_next(t, t->events_end + FUNC_BLOCK_SLACK);
        if (at) {
            events_populate(at);
            events_set_block(t, at, now);
        }
        t->events_full = at == 0;
    }
    (void)pthread_sigmask(SIG_SETMASK, &before, NULL);
    cancel_resume(&cancel);
    return !t->events_full;
}

__attribute__((noinline)) FUNC_PLAIN void func_events_write_slowly(struct func_tree *t, uint64_t at, uint32_t what,
                                                                   uint64_t now)
{
    for (;;) {
        if (at >= t->events_end) {
            if (!events_begin_block(t, now)) {
                t->events_lost++;
                return;
            }
        } else if (now >> 32 > t->events_high) {
            t->events_high = now >> 32;
            func_events_store(at, FUNC_EVENT_TIME, now >> 32);
        } else { /* a tick before that of the handler that interrupted this one may be in the interval before */
            func_events_store(at, what, now >> 32 < t->events_high ? t->events_high << 32 : now);
            return;
        }
        at = func_events_take(t);
    }
}

void func_events_select(struct func_tree *t)
{
    const struct func_process *p = &func_process;
    uint64_t ns = func_switch_selection(p->control, t->selected)->min_ns;
    t->events_min = (uint64_t)((double)ns * (double)p->shared->header->hz / 1e9);
}

void func_events_start(struct func_tree *t)
{
    const struct func_process *p = &func_process;
    if (!p->to_events)
        return;
    uint64_t now = tick_now();
    func_events_select(t);
    t->events_ring = p->ring_bytes > 0;
    uint64_t at = events_map(t, 0, t->events_ring ? p->ring_bytes : FIRST_BYTES);
    if (at) {
        events_populate(at);
        events_set_block(t, at, now);
        return;
    }
    t->events_full = 1; /* each event is lost, and counted */
    t->events_end = 1;
    t->event = 2;
}

void func_events_thread(struct func_tree *t, uint32_t tid, uint64_t now)
{
    if (t->event && !t->events_full)
        func_events_write(t, FUNC_EVENT_THREAD, (now & ~(uint64_t)UINT32_MAX) | tid);
}

void func_events_clear(struct func_tree *t)
{
    if (t->events_base)
        events_set_block(t, t->events_base, tick_now());
    t->events_lost = t->events_short = t->events_wraps = 0;
}
