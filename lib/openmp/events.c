/* SPDX-License-Identifier: MIT */
/* Events of OpenMP. */
#include "openmp/events.h"

#include <errno.h>

#include "base/tick.h"
#include "region/recorder.h"
#include "trace/format/schema.h"
#include "trace/write/stream_fast.h"
#include "trace/write/writer.h"
#include "upmu/trace.h"

/* Of libupmu_sync, if it is there. */
extern uint32_t upmu_sync_stack_(uint64_t tick, uintptr_t site, const void *frame) __attribute__((weak));

/* Where the thread has no stream, or the short path does not apply. */
static __attribute__((noinline, cold)) void omp_write_slowly(uint64_t first, uint64_t value)
{
    if (!omp_is_on()) /* it ended while a thread waited */
        return;
    int saved = errno;
    struct trace_stream *s = upmu_recorder_stream_();
    uint64_t tick = tick_now();
    if (!s) {
        upmu_recorder_lost_(LOSS_THREAD, 1);
    } else if (!stream_fast_numbers(s, tick, first, value)) {
        struct {
            uint8_t event, construct;
            uint16_t number;
        } f; /* of the class, which has no padding either */
        memcpy(&f, (const char *)&first + sizeof(uint32_t), sizeof f);
        const uint64_t numbers[] = {f.event, f.construct, f.number, value};
        (void)upmu_trace_numbers_(s, tick, SCHEMA_ID_OMP, numbers, NULL);
    }
    errno = saved;
}

/* The calling thread's stream where the short path applies; NULL: it does not, or there is no stream. */
static inline struct trace_stream *omp_stream_fast(void)
{
    uintptr_t s = (uintptr_t)recorder_stream_made() & __atomic_load_n(&omp_process.fast, __ATOMIC_RELAXED);
    return (struct trace_stream *)s; // NOLINT(performance-no-int-to-ptr): the pointer or NULL, without a branch
}

/* Calls nothing before its end on the short path, so that no register has to be saved. */
void omp_write_fields(uint64_t first, uint64_t value)
{
    struct trace_stream *s = omp_stream_fast();
    if (UNLIKELY(!s || !stream_fast_numbers(s, tick_short(), first, value)))
        omp_write_slowly(first, value);
}

/* The calling thread's stream, where it has none or the runtime is not described. */
static __attribute__((noinline, cold)) struct trace_stream *omp_stream_described(enum omp_method method)
{
    const uint64_t numbers[] = {method, 0};
    int saved = errno;
    struct trace_stream *s = upmu_recorder_stream_();
    if (!s)
        upmu_recorder_lost_(LOSS_THREAD, 1);
    else if (!__atomic_exchange_n(&omp_process.described, 1, __ATOMIC_RELAXED))
        (void)upmu_trace_numbers_(s, tick_now(), SCHEMA_ID_OMP_ENV, numbers,
                                  method == OMP_METHOD_OMPT ? omp_process.runtime : "libgomp");
    errno = saved;
    return s;
}

static __attribute__((noinline, cold)) void omp_write_parallel_slowly(struct trace_stream *s, uint64_t tick,
                                                                      uint64_t region, uint32_t threads, uint32_t stack,
                                                                      uint64_t site)
{
    const uint64_t numbers[] = {region, threads, stack, site};
    int saved = errno;
    (void)upmu_trace_numbers_(s, tick, SCHEMA_ID_OMP_PARALLEL, numbers, NULL);
    errno = saved;
}

static inline void omp_write_parallel(struct trace_stream *s, uint64_t tick, uint64_t region, uint32_t threads,
                                      uint32_t stack, uint64_t site)
{
    enum { BYTES = 3 * sizeof(uint64_t) };
    uint8_t *p = stream_fast_short(s, tick, SCHEMA_ID_OMP_PARALLEL, BYTES);
    if (UNLIKELY(!p)) {
        omp_write_parallel_slowly(s, tick, region, threads, stack, site);
        return;
    }
    p = stream_put_u32_pair(stream_put_u64(p, region), threads, stack);
    stream_fast_short_end(s, tick, stream_put_u64(p, site), BYTES);
}

/* Numbers differ, and have no order: a thread takes many at once, as an atomic addition costs as much as an event. */
static inline uint64_t omp_region_number(void)
{
    enum { NUMBERS = 1024 };
    struct omp_tls *t = &omp_tls;
    if (UNLIKELY(t->region == t->regions_end)) {
        t->region = __atomic_fetch_add(&omp_process.regions, NUMBERS, __ATOMIC_RELAXED);
        t->regions_end = t->region + NUMBERS;
    }
    return ++t->region;
}

uint64_t omp_region_begin(enum omp_method method, uint32_t threads, uintptr_t site, uintptr_t call, const void *frame)
{
    if (UNLIKELY(!omp_is_on()))
        return 0;
    uint64_t region = omp_region_number();
    struct trace_stream *s = recorder_stream_made();
    if (UNLIKELY(!s || !__atomic_load_n(&omp_process.described, __ATOMIC_RELAXED)))
        s = omp_stream_described(method);
    uint64_t tick = tick_now();
    if (LIKELY(s != NULL)) {
        uint32_t stack = upmu_sync_stack_ ? upmu_sync_stack_(tick, call, frame) : 0;
        omp_write_parallel(s, tick, region, threads, stack, site);
    }
    return region;
}
