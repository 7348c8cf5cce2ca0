/* SPDX-License-Identifier: MIT */
/** @file Saturating 64-bit arithmetic. */
#ifndef UPMU_BASE_CHECKED_H
#define UPMU_BASE_CHECKED_H

#include <stdbool.h>
#include <stdint.h>

/** a * b / c rounded to nearest, saturating at UINT64_MAX - 1 (UINT64_MAX means "no value"); c must not be 0. */
static inline uint64_t mul_div_u64(uint64_t a, uint64_t b, uint64_t c)
{
    __extension__ typedef unsigned __int128 u128;
    u128 q = ((u128)a * b + c / 2) / c;
    return q >= UINT64_MAX ? UINT64_MAX - 1 : (uint64_t)q;
}

/** a + b, saturating at UINT64_MAX - 1. */
static inline uint64_t sat_add_u64(uint64_t a, uint64_t b)
{
    uint64_t sum;
    return __builtin_add_overflow(a, b, &sum) || sum == UINT64_MAX ? UINT64_MAX - 1 : sum;
}

#endif
