/* SPDX-License-Identifier: MIT */
/*
 * Why a CPU's counter must not be the tick: rules of MIPS and Sunway.
 *
 * MIPS: the count register (RDHWR 2) has 32 bits, follows the core's clock, and is read by a trap where the kernel has not enabled it.
 * Loongson's 3A4000 has a second counter of 64 bits with a constant rate, and a bit that lists it; the kernel emulates these bits
 * for older models, this one as 0. Sunway: the counter that RTC reads has no such bit, so it is measured.
 */
#include "base/tick_problem.h"

#include <math.h>

const char *tick_problem_mips(bool has_words, uint32_t word2)
{
    const uint32_t llftp = 1u << 23; /* constant-rate timer */
    if (!has_words || !(word2 & llftp))
        return "the CPU has no timer of constant rate (LLFTP), and its count register has 32 bits and the rate of the "
               "core";
    return "";
}

const char *tick_problem_rate(const struct tick_reading *at, size_t n)
{
    const double tolerance = 1e-3;
    double ns = (double)(at[n - 1].raw_ns - at[0].raw_ns), ticks = (double)(int64_t)(at[n - 1].tick - at[0].tick);
    if (ns <= 0 || ticks <= 0)
        return "the CPU's counter does not advance";
    for (size_t i = 1; i < n; i++) {
        double passed = (double)(int64_t)(at[i].tick - at[i - 1].tick);
        double expected = (double)(at[i].raw_ns - at[i - 1].raw_ns) * ticks / ns;
        double widths = (double)at[i - 1].width + (double)at[i].width + (double)at[0].width + (double)at[n - 1].width;
        if (fabs(passed - expected) > expected * tolerance + widths)
            return "the rate of the CPU's counter is not constant";
    }
    return "";
}
