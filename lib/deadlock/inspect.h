/* SPDX-License-Identifier: MIT */
/** @file A look at a process that does not record. Room: analysis. Before it: /proc, the process's memory; after it:
 *  tools, through include/upmu/deadlock.h. */
#ifndef UPMU_ANALYSIS_LOOK_H
#define UPMU_ANALYSIS_LOOK_H

#include <elfutils/libdwfl.h>
#include <stdbool.h>
#include <stdint.h>

#include "symbols/symbols.h"
#include "upmu/deadlock.h"

enum { LOOK_FRAMES_MAX = 64, LOOK_PLACES_MAX = 16 };

struct look_thread {
    pid_t tid;
    char name[16];
    char where[64];
    bool in_futex, timed;
    uint64_t word;
    pid_t owner;
    uint32_t cycle;
    uint64_t frames[LOOK_FRAMES_MAX]; /**< addresses of calls */
    size_t n_frames;
};

struct upmu_deadlock_inspect {
    pid_t pid;
    struct look_thread *threads;
    size_t n_threads, cap_threads;
    Dwfl *dwfl; /**< NULL: no stacks */
    struct symbols *symbols;
};

/* look_stack.c: call stacks, by ptrace for a moment. What cannot be read stays without. */
void look_stacks_begin(struct upmu_deadlock_inspect *look);
void look_stack_read(struct upmu_deadlock_inspect *look, struct look_thread *t);

#endif
