/* SPDX-License-Identifier: MIT */
/** @file CLOCK_MONOTONIC_RAW, as recorders write it into control files. */
#ifndef UPMU_TRACE_CONTROL_RAW_CLOCK_H
#define UPMU_TRACE_CONTROL_RAW_CLOCK_H

#include <stdint.h>
#include <time.h>

/** CLOCK_MONOTONIC_RAW in nanoseconds. tick_portable() is for libraries with a recorder. */
static inline uint64_t raw_clock_ns(void)
{
    enum { NS_PER_S = 1000000000 };
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC_RAW, &now); /* cannot fail: the clock exists and the pointer is ours */
    return (uint64_t)now.tv_sec * NS_PER_S + (uint64_t)now.tv_nsec;
}

#endif
