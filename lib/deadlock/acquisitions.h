/* SPDX-License-Identifier: MIT */
/** @file Log of a recording's nested lock acquisitions, in which lock-order cycles are searched. */
#ifndef UPMU_DEADLOCK_ACQUISITIONS_H
#define UPMU_DEADLOCK_ACQUISITIONS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/map.h"
#include "deadlock/graph/lock_order.h"
#include "deadlock/process_relations.h"
#include "upmu/trace.h"

/** A lock, from its creation to its destruction. In shared memory it can have other addresses elsewhere. */
struct acq_lock {
    uint32_t process; /**< that made it, else that acquired it first */
    int32_t type;
    uint64_t address;
    uint32_t init_stack; /**< stack of its initialization, which defines its lock class; 0 = not known */
    bool initialized;    /**< its initialization was recorded */
    bool written;        /**< an rwlock that was acquired by a writer */
    bool writers_first;  /**< an rwlock whose waiting writers keep readers out */
    bool is_none;        /**< a semaphore taken for a lock, until a thread that did not hold it posted it */
};

/** Details of a held lock beside wg_order_held. */
struct acq_held {
    uint64_t address; /**< of the lock, in the process of the thread */
    uint64_t site;    /**< call site of its acquisition */
    uint32_t stack;   /**< of its acquisition, 0 = none */
};

/** Details of an acquisition beside wg_acquisition. */
struct acq_details {
    uint32_t process;
    pid_t pid, tid;
    uint32_t segment; /**< for the happens-before relation */
    uint32_t stack;
    uint32_t flags;
    uint64_t time_ns;
    uint64_t address; /**< of the lock, in the process of the thread */
};

/** A segment of a thread between creating or joining threads. Later segments of a thread have higher numbers. */
struct acq_segment {
    uint32_t next;  /**< of the same thread; MAP_NONE */
    uint32_t other; /**< first segment of the thread created at its end, or the joiner's after this thread's end */
    uint32_t seen;  /**< number of the last search that visited it */
};

struct acq_thread {
    uint32_t process;
    pid_t tid;
    uint32_t segment; /**< the present one */
    /* The acquisition whose LOCK_ORDER events are still arriving. */
    uint64_t tick, object;
    uint32_t lock, stack, flags, expected;
    uint64_t time_ns;
    struct wg_order_held *held;
    struct acq_held *sites;
    size_t n_held, cap_held, cap_sites;
};

struct acquisition_log {
    struct process_relations relations; /**< read before the first event */
    struct acq_lock *locks;
    size_t n_locks, cap_locks;
    struct acq_address {
        uint32_t lock;       /**< the live lock, MAP_NONE until its first acquisition */
        uint32_t init_stack; /**< of the last initialization, 0 = not known */
        uint32_t init_process;
        bool initialized; /**< that was recorded */
        bool written;     /**< an rwlock that was acquired by a writer */
    } * addresses;
    size_t n_addresses, cap_addresses;
    struct acq_thread *threads;
    size_t n_threads, cap_threads;
    struct acq_segment *segments;
    size_t n_segments, cap_segments;
    uint32_t *branches; /**< working space of a search, one per segment: made by acquisition_log_find_cycles() */
    struct wg_acquisition *acquisitions;
    struct acq_details *details; /**< by acquisition */
    size_t n_acquisitions, cap_acquisitions, cap_details;
    struct wg_order_held *held;
    struct acq_held *sites; /**< by index in `held` */
    size_t n_held, cap_held, cap_sites;
    /** Call sites of tries that failed, and what followed. */
    struct acq_try {
        uint32_t process;
        uint64_t lock;
        uint64_t tried;      /**< call site of the try */
        uint32_t wait_stack; /**< stack of the wait for the same lock, of one frame; 0: none followed */
    } * tries;
    size_t n_tries, cap_tries;
    uint64_t incomplete; /**< acquisitions left out because an event was lost */
    uint32_t searches;
    struct map by_address, by_tid, by_handle, by_creation, by_pair;
};

/** Process one event of any kind. @return 0; UPMU_E_NOMEM. */
int acquisition_log_add(struct acquisition_log *l, const struct upmu_trace_event *e);
void acquisition_log_free(struct acquisition_log *l);
/** After the last event: remove objects that turned out to be no locks. @return 0; UPMU_E_NOMEM. */
int acquisition_log_drop_non_locks(struct acquisition_log *l);

/** After the last event: acquisitions by tries at a call site can wait, but those of locks whose tries there were given up.
 *  `site_of`: the call site of a stack. */
void acquisition_log_tries_wait(struct acquisition_log *l, const struct acq_try *t,
                                uint64_t (*site_of)(void *arg, uint32_t process, uint32_t stack), void *arg);

/** After the last event: mark the readers that a waiting writer keeps out. */
void acquisition_log_set_writers(struct acquisition_log *l);

/** Whether segment `a` ends before segment `z` begins. Needs `branches`. */
bool acquisition_log_happens_before(struct acquisition_log *l, uint32_t a, uint32_t z);

/** Find the cycles. Fills `o`, which is freed by acquisition_log_cycles_free(). @return 0; UPMU_E_NOMEM. */
int acquisition_log_find_cycles(struct acquisition_log *l, struct wg_order *o);
void acquisition_log_cycles_free(struct wg_order *o);

#endif
