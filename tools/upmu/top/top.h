/* SPDX-License-Identifier: MIT */
/** @file Updates of upmu top and the views that show them. */
#ifndef UPMU_TOOL_TOP_H
#define UPMU_TOOL_TOP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/types.h>

#include "upmu/deadlock.h"
#include "upmu/monitor.h"
#include "upmu/upmu.h"

/** Scheduler statistics of a thread since its start. */
struct top_task {
    pid_t tid;
    uint64_t run_ns, ready_ns; /**< on a CPU; ready to run without one */
    uint64_t voluntary, involuntary;
};

struct top_tasks {
    struct top_task *all; /**< sorted by tid */
    size_t n, cap;
};

/** A thread as it is shown. */
struct top_thread {
    struct upmu_monitor_thread live;
    bool has_task; /**< the rest is known: shares of the interval, switches in it */
    double running, ready, off;
    uint64_t voluntary, involuntary;
};

/** A lock as it is shown, or several of one call site: the first with the sums of all. */
struct top_lock {
    struct upmu_monitor_lock live;
    size_t n;
};

/** Deadlocked threads. */
struct top_deadlock {
    char *headline;
    pid_t pid;
    struct {
        pid_t tid;
        uint64_t since_ns;
        char *text;
    } * threads;
    size_t n_threads;
};

struct top {
    struct upmu_monitor *live; /**< NULL: the process has no recorder */
    struct upmu_monitor_totals totals;
    struct upmu_deadlock_watch *watch; /**< NULL: deadlocks are not detected */
    pid_t pid;                         /**< the process whose tasks and counters are shown; 0: none */
    const char *subject;               /**< in the title: the command, or the directory */
    bool running;                      /**< a process is still being recorded */
    double interval_s;                 /**< since the previous update */
    double updated_at;
    struct top_tasks tasks, tasks_before;
    struct top_thread *threads; /**< those that have not ended */
    size_t n_threads;
    size_t group_locks;     /**< so many locks of one call site or more are shown as one; 0: none */
    struct top_lock *locks; /**< longest waits since the last update first */
    size_t n_locks;
    struct upmu_set *set; /**< NULL: no counters were asked for */
    struct upmu_value *counts, *counts_before;
    size_t n_counts;
    struct top_deadlock *deadlocks;
    size_t n_deadlocks;
    char **names; /**< of threads of a process without a recorder */
    size_t n_names;
};

/** How it is shown: the terminal, or a stream of JSON documents. */
struct top_view {
    /** Whether it can be shown here, before a command is started. @return 0, or -1 with a message. NULL: always. */
    int (*check)(void);
    /** @return 0, or -1 with a message: there is nothing to end. */
    int (*begin)(void);
    /** Show a look, and let `seconds` pass. @return false if the user wants no more. */
    bool (*show)(const struct top *t, double seconds);
    void (*end)(void);
};
extern const struct top_view top_screen;
extern const struct top_view top_json;

/** Begin; `dir` NULL: of a process without a recorder; `events` may be NULL. @return 0, or -1 with a message. */
int top_open(struct top *t, const char *dir, const char *events);
/** Look once. @return 0, or -1 with a message. */
int top_update(struct top *t);
void top_close(struct top *t);

/** Serve the live page of a recorded process, and print its address, until a signal ends it. `address` and `events` may be NULL.
 *  @return exit status. */
int top_serve(const char *address, const char *events, pid_t pid, const char *dir);

/** Read the tasks of a process; of one that has ended there are none. */
void top_tasks_read(struct top_tasks *t, pid_t pid);
/** A file of a task in /proc. @return NULL if there is none. */
FILE *top_task_open(pid_t pid, pid_t tid, const char *name);
const struct top_task *top_task_find(const struct top_tasks *t, pid_t tid);

/* top_bare.c: a process without a recorder. */
/** Make its threads of `tasks`. */
void top_bare_read(struct top *t);
void top_bare_free_names(struct top *t);
bool top_bare_runs(pid_t pid);

/** Look for deadlocks, and forget those that are over. */
void top_deadlocks_update(struct top *t);
void top_deadlocks_free(struct top *t);

/** "mutex the till", "semaphore 0x12ab": to be freed. */
char *top_object(int type, uint64_t address, const char *name);
/** The place of an address in one line: to be freed. */
char *top_location(const struct top *t, uint32_t process, uint64_t address);
/** Seconds of CLOCK_MONOTONIC. */
double top_clock(void);

#endif
