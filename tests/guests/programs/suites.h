/* SPDX-License-Identifier: MIT */
/** @file The tests of the guests' programs by file, for the programs' tables. */
#ifndef UPMU_TESTS_GUEST_SUITES_H
#define UPMU_TESTS_GUEST_SUITES_H

#include "guest.h"

/** Counts through the public API, on a PMU that counts exactly and separates user from kernel mode. */
extern const struct guest_test counters_tests[];
extern const size_t n_counters_tests;

/** Multiplexed events, on a PMU of a few counters for any event. */
extern const struct guest_test multiplex_tests[];
extern const size_t n_multiplex_tests;

/** Reads without a system call: the kernel's page, sets and regions. */
extern const struct guest_test reads_tests[];
extern const size_t n_reads_tests;

/** A profiler beside a set, on a PMU whose interrupts come on time. */
extern const struct guest_test sampling_tests[];
extern const size_t n_sampling_tests;

#endif
