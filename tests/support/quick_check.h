/* SPDX-License-Identifier: MIT */
/** @file libcheck, with assertions cheap enough for loops of a million. */
#ifndef UPMU_TESTS_SUPPORT_QUICK_CHECK_H
#define UPMU_TESTS_SUPPORT_QUICK_CHECK_H

#include <check.h>
#include <stdbool.h>

/*
 * Check writes the place of each assertion that holds to a file, so that the runner can name the last one before a crash.
 * Here a place is written the first time alone: after a crash, the runner names the last place that was new.
 */
#define _mark_point(file, line)                                     \
    __extension__({                                                 \
        static int marked; /* no byte: RISC-V has no instruction */ \
        if (!__atomic_exchange_n(&marked, true, __ATOMIC_RELAXED))  \
            (_mark_point)(file, line);                              \
    })

#endif
