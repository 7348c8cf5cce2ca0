/* SPDX-License-Identifier: MIT */
/** @file Overflow objects of threads, their events or timers, and the signal of these. */
#ifndef UPMU_CORE_OVERFLOW_H
#define UPMU_CORE_OVERFLOW_H

#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "core/names/event.h"
#include "upmu/overflow.h"

struct upmu_overflow {
    struct upmu_overflow *next; /**< of the same thread */
    struct upmu_overflow_opts opts;
    uint64_t thread, process; /**< caller_thread() and caller_process() of its owner */
    pid_t tid;                /**< of its owner */
    int fd;                   /**< event; -1: none */
    int timer;                /**< timer, if there is no event */
    bool is_started;
    bool is_armed;  /**< the event runs until its next overflow once it is enabled */
    bool user_only; /**< kernel mode is not counted */
    uint64_t calls, events;
    uint64_t cpu_ns;       /**< of timers: CPU time while started */
    uint64_t cpu_begun_ns; /**< CPU time of the thread at the start */
    char *reason;          /**< why there is a timer; NULL */
    struct event event;
};

/* overflow_source.c */

/** Open the event, or create a timer. @return 0, or an error of upmu_overflow_open(). */
int overflow_source_open(struct upmu_overflow *o, int signal);
/** Count and send signals from now on. @return 0 or -errno. */
int overflow_source_start(struct upmu_overflow *o);
/** Async-signal-safe, as the next three. */
void overflow_source_stop(struct upmu_overflow *o);
/** Its signal has arrived: let it continue to the next overflow. */
void overflow_source_continue(struct upmu_overflow *o);
/** What was counted while started. */
uint64_t overflow_source_count(const struct upmu_overflow *o);
/** Whether the signal is the object's. */
bool overflow_source_sent(const struct upmu_overflow *o, const siginfo_t *info);
/** @param owned false in a forked child, where event and timer are the parent's. */
void overflow_source_close(struct upmu_overflow *o, bool owned);

/* overflow_signal.c */

/** The signal of all objects of the process; chosen, with its handler set, by the first call. @return 0 (none is free). */
int overflow_signal_number(void);
/** Whether the calling thread gets it and the handler is the library's. @return 0, or UPMU_E_STATE with its message. */
int overflow_signal_check(void);
/** Add to and remove from the calling thread's objects. */
void overflow_signal_add(struct upmu_overflow *o);
void overflow_signal_remove(struct upmu_overflow *o);

#endif
