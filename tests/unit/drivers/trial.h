/* SPDX-License-Identifier: MIT */
/** @file One set of events opened, run and read on a modeled machine, each number compared with the truth. */
#ifndef UPMU_TESTS_DRIVERS_TRIAL_H
#define UPMU_TESTS_DRIVERS_TRIAL_H

#include "models/machines.h"

/** What to do with a set. */
struct trial {
    const char *events;
    enum model_load load;
    uint32_t flags;     /**< enum upmu_set_flag */
    uint64_t before_us; /**< run so long, then set to zero; 0: do not */
    uint64_t run_us;    /**< then so long, counted; on a hybrid machine half of it on each core type */
    unsigned rivals;    /**< events that another process opens on the thread after the zero */
    uint64_t child_us;  /**< then a child; 0: none. It is counted with UPMU_SET_INHERIT */
};

/** What came out, summed over trials. */
struct trial_sums {
    unsigned sets, exact, scaled, not_counted, refused;
    unsigned unverified; /**< false zeros: of an event that the CPU lacks, which no kernel reports */
    unsigned derived;    /**< numbers of derived events */
    unsigned known;      /**< exact values compared with the documented meaning of their name */
    unsigned wrong;
};

/** Begin on a machine: core forgets the last one. */
void trial_machine(const struct model_machine *machine, const char *recordings);
/** Try a set. What is wrong is printed, up to `show` times, and counted. */
void trial_run(const struct trial *trial, struct trial_sums *sums, unsigned show);

#endif
