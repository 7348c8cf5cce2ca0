/* SPDX-License-Identifier: MIT */
/** @file Inspection of a process that is not recorded. */
#ifndef UPMU_DEADLOCK_INSPECT_H
#define UPMU_DEADLOCK_INSPECT_H

#include <stdbool.h>
#include <stdint.h>

#include "elfutils/elfutils.h"
#include "symbols/symbols.h"
#include "upmu/deadlock.h"

enum { INSPECT_FRAMES_MAX = 256, INSPECT_INLINED_MAX = 16 };

struct wait_state;

struct inspect_thread {
    pid_t tid;
    char name[16];
    char wait_channel[64];
    bool in_futex, timed;
    int32_t type; /**< enum upmu_object_type of what it waits for */
    uint64_t word, object;
    pid_t owner;
    uint32_t cycle;
    int32_t kind;                        /**< enum wg_deadlock_kind of `cycle` */
    uint64_t frames[INSPECT_FRAMES_MAX]; /**< addresses within calls */
    size_t n_frames;
    char *object_name; /**< NULL: it has none */
};

struct upmu_deadlock_inspect {
    pid_t pid;
    struct inspect_thread *threads;
    size_t n_threads, cap_threads;
    bool stalled; /**< all threads sleep, and nothing is known that could wake one */
    Dwfl *dwfl;   /**< NULL: no stacks */
    struct symbols *symbols;
};

/* inspect_stack.c: call stacks, by a short ptrace stop. A thread that cannot be read has none. */
void inspect_stacks_begin(struct upmu_deadlock_inspect *inspect);
void inspect_stack_read(struct upmu_deadlock_inspect *inspect, struct inspect_thread *t);
/** Find the static variable that a thread waits for. @return 0; UPMU_E_NOMEM. */
int inspect_object_name(struct upmu_deadlock_inspect *inspect, struct inspect_thread *t);
/** Read the stacks of the inspected threads of a wait state, which has found a deadlock: the stop counts as having run. */
void inspect_stacks_add(struct wait_state *s);

#endif
