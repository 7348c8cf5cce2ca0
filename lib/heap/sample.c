/* SPDX-License-Identifier: MIT */
/*
 * Choice of the sampled allocations, and their events.
 *
 * The distance between two samples is drawn from an exponential distribution, in bytes of the thread, so that each byte has the
 * same chance whatever the pattern of sizes. A block of n bytes is sampled with the probability 1 - exp(-n / period): it represents
 * n divided by that.
 */
#include <errno.h>
#include <math.h>
#include <time.h>

#include "base/tick.h"
#include "heap/heap.h"
#include "region/recorder.h"
#include "trace/format/schema.h"
#include "trace/write/writer.h"

int (*tick_clock_gettime)(clockid_t, struct timespec *) = clock_gettime; /* both are set by process.c */
#ifdef TICK_ISA_NAME
uint32_t tick_use_isa;
#endif

_Thread_local struct heap_tls heap_tls;
struct heap_process heap_process;

/* Of libupmu_sync, if it is there. */
extern uint32_t upmu_sync_stack_(uint64_t tick, uintptr_t site, const void *frame) __attribute__((weak));
extern bool upmu_sync_child_begin_(void) __attribute__((weak));

/* xorshift64*, uniform in (0, 1]. */
static double sample_uniform(void)
{
    const double steps = 9007199254740992.0; /* 2^53 */
    uint64_t x = heap_tls.random;
    x ^= x >> 12;
    x ^= x << 25;
    x ^= x >> 27;
    heap_tls.random = x;
    return ((double)((x * UINT64_C(0x2545f4914f6cdd1d)) >> 11) + 1) / steps;
}

static uint64_t sample_distance(void)
{
    return (uint64_t)(-log(sample_uniform()) * (double)heap_process.period) + 1;
}

/* A forked child is recorded from its first sample on, unless libupmu_sync has begun before: the allocator has returned, so that
 * none is active below. */
static bool sample_begin_child(void)
{
    if (LIKELY(!__atomic_load_n(&heap_process.waits, __ATOMIC_RELAXED)))
        return true;
    if (!upmu_sync_child_begin_ || !upmu_sync_child_begin_())
        return false;
    __atomic_store_n(&heap_process.waits, 0, __ATOMIC_RELAXED);
    return true;
}

static void sample_write(uint32_t id, uint64_t tick, const struct heap_block *block, uint32_t stack, uintptr_t site)
{
    struct trace_stream *s = upmu_recorder_stream_();
    const uint64_t numbers[] = {block->address, block->bytes, block->weight, heap_process.period, stack, site};
    if (s)
        (void)upmu_trace_numbers_(s, tick, id, numbers, NULL); /* a loss is counted */
    else
        upmu_recorder_lost_(LOSS_THREAD, 1);
}

static void sample_allocation(uintptr_t address, size_t bytes, uintptr_t site)
{
    const double share = -expm1(-(double)bytes / (double)heap_process.period);
    const struct heap_block block = {address, bytes, (uint64_t)((double)bytes / share + 0.5), heap_process.forks};
    if (!sample_begin_child())
        return;
    uint64_t tick = tick_now();
    uint32_t stack = upmu_sync_stack_ ? upmu_sync_stack_(tick, site, __builtin_frame_address(0)) : 0;
    if (heap_blocks_put(&block))
        sample_write(SCHEMA_ID_HEAP_ALLOC, tick, &block, stack, site);
    else
        upmu_recorder_lost_(LOSS_THREAD, 1);
}

/* The thread's first distance: its address and the time differ from those of other threads and runs. */
static void sample_begin_thread(void)
{
    heap_tls.random = ((uint64_t)(uintptr_t)&heap_tls ^ (tick_now() << 16)) | 1;
    for (int i = 0; i < 8; i++)
        (void)sample_uniform();
    heap_tls.left += sample_distance();
}

void heap_sample(void *address, size_t bytes, uintptr_t site)
{
    int saved = errno;
    if (!heap_process.on)
        heap_tls.left = UINT64_MAX;
    if (!heap_process.on || heap_tls.busy || !address)
        return; /* not the program's own */
    heap_tls.busy = 1;
    if (heap_tls.random == 0)
        sample_begin_thread();
    if (heap_tls.left < bytes) {
        sample_allocation((uintptr_t)address, bytes, site);
        heap_tls.left = sample_distance();
    } else {
        heap_tls.left -= bytes;
    }
    heap_tls.busy = 0;
    errno = saved;
}

struct heap_block heap_take(void *address)
{
    struct heap_block block = {0};
    (void)heap_blocks_take((uintptr_t)address, &block);
    return block;
}

void heap_put_back(const struct heap_block *block)
{
    (void)heap_blocks_put(block);
}

void heap_freed(const struct heap_block *block, uintptr_t site)
{
    int saved = errno;
    uint32_t before = heap_tls.busy;
    heap_tls.busy = 1;
    if (heap_process.on && block->forks == heap_process.forks) /* else the parent has it, too */
        sample_write(SCHEMA_ID_HEAP_FREE, tick_now(), block, 0, site);
    heap_tls.busy = before;
    errno = saved;
}
