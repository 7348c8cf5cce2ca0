/* SPDX-License-Identifier: MIT */
/** @file Floors of a region pair, written directly on the kernel without the library. */
#ifndef BENCH_FLOOR_H
#define BENCH_FLOOR_H

#include <stddef.h>
#include <stdint.h>

/** Task-clock, page-faults, context-switches and cpu-migrations of the calling thread in one group. */
struct floor_group {
    int fd[4]; /**< the leader first */
};

/** @return 0, or -errno with nothing left open. */
int floor_group_open(struct floor_group *group);
void floor_group_close(struct floor_group *group);
/** n times: tick, group read; group read, tick. `arg` is a struct floor_group. */
void floor_group_pairs(void *arg, size_t n);

/** The self-monitoring page of a dummy event. */
struct floor_page {
    const volatile uint32_t *sequence;
};

/** @return 0 or -errno. */
int floor_page_open(struct floor_page *page);
/** n times: tick and sequence word, twice. `arg` is a struct floor_page. */
void floor_page_pairs(void *arg, size_t n);

/** n times two ticks. */
void floor_tick_pairs(void *arg, size_t n);
/** Always 0; external, so that the compiler tests it. */
extern uint32_t floor_gate;
/** n times two tests of floor_gate. */
void floor_flag(void *arg, size_t n);
/** n times nothing, twice. */
void floor_nothing(void *arg, size_t n);

#endif
