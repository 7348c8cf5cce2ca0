/* SPDX-License-Identifier: MIT */
/** @file Why a CPU's counter must not be the tick: rules of MIPS and Sunway. */
#ifndef UPMU_BASE_TICK_PROBLEM_H
#define UPMU_BASE_TICK_PROBLEM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/** A moment on the counter and on CLOCK_MONOTONIC_RAW, `width` ticks long. */
struct tick_reading {
    uint64_t tick, raw_ns;
    uint32_t width;
};

/** MIPS. @param has_words the kernel lists the instruction CPUCFG @param word2 word 2 of it @return "" if drdtime is a constant counter. */
const char *tick_problem_mips(bool has_words, uint32_t word2);

/** A counter whose rate nothing defines. @param at readings in order @return "" if its rate is the same
 *  between all of them, as precisely as they were read. */
const char *tick_problem_rate(const struct tick_reading *at, size_t n);

#endif
