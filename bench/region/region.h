/* SPDX-License-Identifier: MIT */
/** @file Parts of bench_region in files of their own: two threads, no system calls, PAPI. */
#ifndef BENCH_REGION_H
#define BENCH_REGION_H

#include <stdbool.h>
#include <stddef.h>

#include "bench.h"

/* two.c: a region pair in two threads at once against the same pair in two processes that share nothing. Two busy CPUs are
 * slower than one for reasons of the machine; the difference between the two is the cost of sharing the region. */

void two_four_events(struct bench *b);
void two_switches(struct bench *b);

/* nosyscall.c */

/** Region pairs with time and switches in a child whose seccomp filter allows no system call but exit_group.
 *  @return 0: none was made; 1: one was attempted; -1: it cannot be tested here, with the reason in `why`. */
int nosyscall_pairs(char *why, size_t cap);

/* papi.c: PAPI's high-level regions, opened at run time where the library is installed */

struct papi {
    int (*begin)(const char *region);
    int (*end)(const char *region);
};

/** Open PAPI with the events of SUBJECT_FOUR_EVENTS and run one pair. @return false with the reason in `why`. */
bool papi_open(struct papi *papi, char *why, size_t cap);
/** n pairs; `arg` is a struct papi. Ends the child with status 2 if PAPI stops measuring. */
void papi_pairs(void *arg, size_t n);

#endif
