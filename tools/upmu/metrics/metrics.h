/* SPDX-License-Identifier: MIT */
/** @file Metrics of recorded processes, in the text formats of Prometheus and OpenMetrics. */
#ifndef UPMU_TOOL_METRICS_H
#define UPMU_TOOL_METRICS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/types.h>

#include "top/top.h"
#include "upmu/control.h"
#include "upmu/deadlock.h"
#include "upmu/monitor.h"

/** What is known of one process. */
struct metrics_process {
    pid_t pid;
    char *command; /**< its name in /proc */
    struct upmu_control *control;
    struct upmu_control_status status;
    struct upmu_monitor *monitor; /**< updated once: its sums are those since the start */
    struct upmu_deadlock_watch *watch;
    size_t n_deadlocked; /**< threads */
    size_t n_locks;      /**< that are printed */
    struct top_tasks tasks;
};

/** Read a process. @return 0, or an error of upmu_control_open_pid() or upmu_monitor_open(); then there is nothing to close. */
int metrics_open(struct metrics_process *p, pid_t pid, size_t top);
void metrics_close(struct metrics_process *p);
/** Look for deadlocks in all of them. */
void metrics_find_deadlocks(struct metrics_process *all, size_t n);

void metrics_print(FILE *out, const struct metrics_process *all, size_t n, bool prometheus);

#endif
