/* SPDX-License-Identifier: MIT */
/** @file Events of OpenMP. They keep errno, and what does not fit is counted as lost by the writer. */
#ifndef UPMU_OPENMP_EVENTS_H
#define UPMU_OPENMP_EVENTS_H

#include <stdint.h>
#include <string.h>

#include "openmp/state.h"
#include "upmu/trace.h"

/** Record an event with the fields of struct upmu_trace_omp: `first` has event, construct and number, as they are in the trace. */
void omp_write_fields(uint32_t first, uint64_t value);

/** The first word of omp_write_fields() without a number, as a constant. */
#if __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
#define OMP_FIELDS(event, construct) ((uint32_t)(event) | (uint32_t)(construct) << 8)
#else
#define OMP_FIELDS(event, construct) ((uint32_t)(event) << 24 | (uint32_t)(construct) << 16)
#endif

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
    omp_write_fields(first, value);
}

/** A region begins at `call`, asked for with `threads`. `site` is that of the construct. @return its number. */
uint64_t omp_region_begin(enum omp_method method, uint32_t threads, uintptr_t site, uintptr_t call);

#endif
