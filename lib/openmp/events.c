/* SPDX-License-Identifier: MIT */
/* Events of OpenMP. */
#include "openmp/events.h"

#include <errno.h>

/* Of libupmu_sync, if it is there. */
extern uint32_t upmu_sync_stack_(uint64_t tick, uintptr_t site) __attribute__((weak));

void omp_write_slowly(struct trace_stream *s, uint64_t tick, uint32_t event, uint32_t construct, uint32_t number,
                      uint64_t value)
{
    const uint64_t numbers[] = {event, construct, number < UINT16_MAX ? number : UINT16_MAX, value};
    int saved = errno;
    if (s)
        (void)upmu_trace_numbers_(s, tick, SCHEMA_ID_OMP, numbers, NULL);
    else
        upmu_recorder_lost_(LOSS_THREAD, 1);
    errno = saved;
}

static void omp_describe(struct trace_stream *s, uint64_t tick, enum omp_method method)
{
    const uint64_t numbers[] = {method, 0};
    if (!__atomic_exchange_n(&omp_process.described, 1, __ATOMIC_RELAXED))
        (void)upmu_trace_numbers_(s, tick, SCHEMA_ID_OMP_ENV, numbers,
                                  method == OMP_METHOD_OMPT ? omp_process.runtime : "libgomp");
}

uint64_t omp_region_begin(enum omp_method method, uint32_t threads, uintptr_t site, uintptr_t call)
{
    if (UNLIKELY(!omp_is_on()))
        return 0;
    int saved = errno;
    uint64_t region = __atomic_add_fetch(&omp_process.regions, 1, __ATOMIC_RELAXED);
    struct trace_stream *s = upmu_recorder_stream_();
    uint64_t tick = tick_now();
    if (s) {
        if (UNLIKELY(!__atomic_load_n(&omp_process.described, __ATOMIC_RELAXED)))
            omp_describe(s, tick, method);
        uint32_t stack = upmu_sync_stack_ ? upmu_sync_stack_(tick, call) : 0;
        const uint64_t numbers[] = {region, threads, stack, site};
        (void)upmu_trace_numbers_(s, tick, SCHEMA_ID_OMP_PARALLEL, numbers, NULL);
    } else {
        upmu_recorder_lost_(LOSS_THREAD, 1);
    }
    errno = saved;
    return region;
}
