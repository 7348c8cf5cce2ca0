/* SPDX-License-Identifier: MIT */
/** @file Progress line of long reads, on a terminal, after one second. */
#ifndef UPMU_TOOL_PROGRESS_H
#define UPMU_TOOL_PROGRESS_H

#include <stdbool.h>
#include <stdint.h>
#include <time.h>

typedef void (*progress_fn)(void *arg, uint64_t done, uint64_t all);

struct progress {
    struct timespec start;
    bool shown;
};

/** @return what shows progress, with `*p` as its argument; NULL where standard error is no terminal. */
progress_fn progress_begin(struct progress *p);
/** Wipe the line, if there is one. */
void progress_end(const struct progress *p);

#endif
