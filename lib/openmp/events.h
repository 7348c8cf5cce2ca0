/* SPDX-License-Identifier: MIT */
/** @file Events of OpenMP. They keep errno, and what does not fit is counted as lost by the writer. */
#ifndef UPMU_OPENMP_EVENTS_H
#define UPMU_OPENMP_EVENTS_H

#include <stdint.h>

#include "base/tick.h"
#include "openmp/state.h"
#include "region/recorder.h"
#include "trace/format/schema.h"
#include "trace/write/stream_fast.h"
#include "upmu/trace.h"

/** An event where the thread has no stream, or the short path does not apply. */
void omp_write_slowly(struct trace_stream *s, uint64_t tick, uint32_t event, uint32_t construct, uint32_t number,
                      uint64_t value);

/** Record an event, as in struct upmu_trace_omp. */
static inline void omp_write(uint32_t event, uint32_t construct, uint32_t number, uint64_t value)
{
    const struct {
        uint8_t event, construct;
        uint16_t number;
    } fields = {(uint8_t)event, (uint8_t)construct, (uint16_t)(number < UINT16_MAX ? number : UINT16_MAX)};
    uint32_t first;
    _Static_assert(sizeof fields == sizeof first, "the fields of the class without padding");
    memcpy(&first, &fields, sizeof first);
    if (UNLIKELY(!omp_is_on())) /* it ended while a thread waited */
        return;
    struct trace_stream *s = upmu_recorder_stream_();
    uint64_t tick = tick_now();
    if (UNLIKELY(!s || !stream_fast_numbers(s, tick, SCHEMA_ID_OMP, first, value)))
        omp_write_slowly(s, tick, event, construct, number, value);
}

/** A region begins at `call`, asked for with `threads`. `site` is that of the construct. @return its number. */
uint64_t omp_region_begin(enum omp_method method, uint32_t threads, uintptr_t site, uintptr_t call);

#endif
