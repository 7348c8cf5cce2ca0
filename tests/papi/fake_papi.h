/* SPDX-License-Identifier: MIT */
/**
 * @file
 * A libpapi with scripted counts, which opens no events.
 *
 * It has the names that the backend spells (perf::PERF_COUNT_..., perf_raw::rHEX), one preset and one event of another
 * component. Time passes in steps: at each step an event counts its weight, which differs by name and by mode. The test
 * finds it through dlsym() in the object that the library under test has opened.
 */
#ifndef UPMU_TESTS_FAKE_PAPI_H
#define UPMU_TESTS_FAKE_PAPI_H

#include <stdint.h>

enum {
    FAKE_CYCLES = 70,
    FAKE_INSTRUCTIONS = 30,
    FAKE_BRANCHES = 11,
    FAKE_PAGE_FAULTS = 5,
    FAKE_L1D_MISS = 13,
    FAKE_PRESET = 17, /**< PAPI_CA_SNP, and PAPI_L1_STM */
    FAKE_POWER = 1000,
    /** Per mode: an event counts weight * (user part + kernel part) / 10. */
    FAKE_USER_PART = 9,
    FAKE_KERNEL_PART = 1,
    FAKE_COUNTERS = 4, /**< hardware events that fit into a set */
};

struct fake_papi {
    /** Let `steps` go by. */
    void (*advance)(uint64_t steps);
    /** The next `times` calls of a function fail with PAPI's `code`. */
    void (*fail)(const char *function, int code, unsigned times);
    /** Kernel mode is refused (PAPI_EPERM), or not. */
    void (*deny_kernel)(int deny);
    /** Another set of the calling thread runs (PAPI_EISRUN), or not. */
    void (*occupy)(int occupied);
    /** Counts run backwards from now on. */
    void (*turn_back)(void);
    /** Event sets that exist now, and those that run. */
    int (*sets)(void);
    int (*running)(void);
    /** Calls of one function so far. */
    unsigned (*calls)(const char *function);
    /** Uses that PAPI forbids: sets that are not there, adding to a running one. */
    unsigned (*misuse)(void);
};

#endif
