/* SPDX-License-Identifier: MIT */
/** @file What is behind struct upmu_deadlocks. Room: analysis. Before it: status.c and the overview; after it: tools,
 *  through include/upmu/deadlock.h. */
#ifndef UPMU_ANALYSIS_DEADLOCKS_H
#define UPMU_ANALYSIS_DEADLOCKS_H

#include "deadlock/acquisitions.h"
#include "deadlock/wait_state.h"
#include "deadlock/suppress.h"
#include "upmu/deadlock.h"

/** A process and what its threads stand at. */
struct dl_process {
    uint32_t index; /**< in the overview */
    char *dir;
    char *problem; /**< why what its threads wait for could not be read, or NULL */
    pid_t pid;
    bool alive;
    bool recorded; /**< what its threads stand at */
    struct wait_state wait_state;
};

/** A trouble of a process. */
struct dl_item {
    uint32_t process; /**< in `processes` */
    uint32_t found;   /**< in its picture */
    uint32_t n_behind;
    bool suppressed;
    char *could_end;
};

/** Cycles of one class at the same places, or of locks of the same kinds. */
struct dl_cycle {
    uint32_t found; /**< the first of them, in `order` */
    uint32_t alike;
    bool suppressed;
    uint64_t places, kinds;
};

struct upmu_deadlocks {
    struct upmu_overview *overview;
    struct dl_process *processes;
    size_t n_processes;
    struct dl_item *items;
    size_t n_items, cap_items;
    struct suppressions suppressions;
    struct order_book book;
    struct wg_order order;
    struct dl_cycle *cycles;
    size_t n_cycles, cap_cycles;
};

int deadlocks_no_memory(void);

/* lock_cycles.c */

/** Look through the book when all events are in. @return 0; UPMU_E_NOMEM. */
int deadlocks_find_cycles(struct upmu_deadlocks *d);

/** suppress_apply.c: mark what the suppressions concern. */
void deadlocks_suppress(struct upmu_deadlocks *d);

#endif
