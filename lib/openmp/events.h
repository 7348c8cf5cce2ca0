/* SPDX-License-Identifier: MIT */
/** @file Events of OpenMP. They keep errno, and what does not fit is counted as lost by the writer. */
#ifndef UPMU_OPENMP_EVENTS_H
#define UPMU_OPENMP_EVENTS_H

#include <stdint.h>
#include <string.h>

#include "openmp/state.h"
#include "trace/format/schema.h"
#include "trace/write/stream_fast.h"
#include "upmu/trace.h"

/** The fields event, construct and number of struct upmu_trace_omp as a word of the trace. */
#if __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
#define OMP_WORD(event, construct, number) ((uint32_t)(event) | (uint32_t)(construct) << 8 | (uint32_t)(number) << 16)
#else
#define OMP_WORD(event, construct, number) ((uint32_t)(event) << 24 | (uint32_t)(construct) << 16 | (uint32_t)(number))
#endif
/** The first bytes of an event, for omp_write_fields(). */
#define OMP_FIELDS(event, construct, number) STREAM_COMPACT_FIRST(SCHEMA_ID_OMP, OMP_WORD(event, construct, number))

/** Record an event with the fields of struct upmu_trace_omp: `first` is OMP_FIELDS(). */
void omp_write_fields(uint64_t first, uint64_t value);

/** Record an event, as in struct upmu_trace_omp. */
static inline void omp_write(uint32_t event, uint32_t construct, uint32_t number, uint64_t value)
{
    omp_write_fields(OMP_FIELDS(event, construct, number < UINT16_MAX ? number : UINT16_MAX), value);
}

/** A region begins at `call`, asked for with `threads`. `site` is that of the construct; `frame` the frame pointer of the function that the runtime or
 *  the program has called. @return its number. */
uint64_t omp_region_begin(enum omp_method method, uint32_t threads, uintptr_t site, uintptr_t call, const void *frame);

#endif
