/* SPDX-License-Identifier: MIT */
/**
 * @file
 * In which orders the threads of a recording took locks: collected in one pass, then looked through for cycles.
 * Room: analysis. Before it: the trace reader's events; after it: deadlocks.c and the waitgraph.
 */
#ifndef UPMU_ANALYSIS_ORDER_BOOK_H
#define UPMU_ANALYSIS_ORDER_BOOK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/map.h"
#include "upmu/trace.h"
#include "deadlock/graph/lock_order.h"

/** A lock during one life at an address. */
struct book_lock {
    uint32_t process;
    int32_t type;
    uint64_t address;
    uint32_t made; /**< stack of its initialisation: locks of the same are of one kind; 0 = not known */
    bool is_none;  /**< a semaphore that looked like a lock, and was posted by somebody who did not hold it */
};

/** A lock held in a taking, beside what the waitgraph needs. */
struct book_held {
    uint64_t site; /**< where it was taken */
};

/** A taking, beside what the waitgraph needs. */
struct book_taking {
    uint32_t process;
    pid_t pid, tid;
    uint32_t moment; /**< what comes before and after it by creating and joining threads */
    uint32_t stack;
    uint32_t flags;
    uint64_t time_ns;
};

/** A moment in a thread's life: between creating or joining threads. Later ones of the thread have higher numbers. */
struct book_moment {
    uint32_t next; /**< of the same thread; MAP_NONE */
    uint32_t
        other;     /**< first moment of the thread created at its end, or the joiner's moment after this thread's end */
    uint32_t seen; /**< number of the last search that came here */
};

struct book_thread {
    uint32_t process;
    pid_t tid;
    uint32_t moment; /**< the present one */
    /* A taking of which not all events have come. */
    uint64_t tick, object;
    uint32_t lock, stack, flags, expected;
    uint64_t time_ns;
    struct wg_order_held *held;
    struct book_held *sites;
    size_t n_held, cap_held, cap_sites;
};

struct order_book {
    struct book_lock *locks;
    size_t n_locks, cap_locks;
    struct book_life {
        uint32_t lock; /**< that lives there, MAP_NONE after its end and until it is met */
        uint32_t made; /**< stack of the last initialisation, 0 = not known */
    } * lives;         /**< by address */
    size_t n_lives, cap_lives;
    struct book_thread *threads;
    size_t n_threads, cap_threads;
    struct book_moment *moments;
    size_t n_moments, cap_moments;
    uint32_t *branches; /**< working space of a search: room for one per moment, made by order_book_cycles() */
    struct wg_taking *takings;
    struct book_taking *facts; /**< of the same number */
    size_t n_acquisitions, cap_takings, cap_facts;
    struct wg_order_held *held;
    struct book_held *sites; /**< of the same number */
    size_t n_held, cap_held, cap_sites;
    uint64_t incomplete; /**< takings of which an event was lost: left out */
    uint32_t searches;
    struct map by_address, by_tid, by_handle, by_creation, by_pair;
};

/** Take one event, of whatever kind. @return 0; UPMU_E_NOMEM. */
int order_book_add(struct order_book *b, const struct upmu_trace_event *e);
void order_book_free(struct order_book *b);
/** All events are in: what turned out to be no lock makes no order. @return 0; UPMU_E_NOMEM. */
int order_book_take_back(struct order_book *b);

/** Whether what happens at moment `a` is over before `z` begins. After order_book_cycles() has made room for it. */
bool order_book_before(struct order_book *b, uint32_t a, uint32_t z);

/** Find the cycles. `o` is filled; what it points to is freed by order_book_cycles_free(). @return 0; UPMU_E_NOMEM. */
int order_book_cycles(struct order_book *b, struct wg_order *o);
void order_book_cycles_free(struct wg_order *o);

#endif
