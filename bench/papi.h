/* SPDX-License-Identifier: MIT */
/** @file PAPI's high-level regions, opened at run time where the library is installed. Room: bench. */
#ifndef BENCH_PAPI_H
#define BENCH_PAPI_H

#include <stdbool.h>
#include <stddef.h>

/** PAPI's two calls. */
struct papi {
    int (*begin)(const char *region);
    int (*end)(const char *region);
};

/** Open PAPI with the events of SUBJECT_FOUR_EVENTS and run one pair. @return false with the reason in `why`. */
bool papi_open(struct papi *papi, char *why, size_t cap);
/** n pairs; `arg` is a struct papi. Ends the child with status 2 if PAPI stops measuring. */
void papi_pairs(void *arg, size_t n);

#endif
