/* SPDX-License-Identifier: MIT */
/**
 * @file
 * `upmu record`: cmd_record.c (the command line) -> program.c (can it be recorded?) -> record_run.c (running it) ->
 * record_summary.c (what came of it). Room: tools/upmu. After it: the library preloaded into the command, and its trace.
 */
#ifndef UPMU_TOOL_RECORD_H
#define UPMU_TOOL_RECORD_H

#include <stdbool.h>
#include <sys/types.h>

struct record_request {
    char **argv;             /**< the command */
    const char *program;     /**< the file that will be executed */
    const char *library;     /**< what is preloaded */
    const char *events;      /**< counters, or NULL */
    const char *mode;        /**< contended, holders, all, counts */
    bool paused;             /**< nothing is recorded until `upmu ctl` starts it */
    const char *stacks;      /**< "none", a number of frames, or NULL for the library's choice */
    const char *sample;      /**< "none", a number, or NULL for the library's choice */
    const char *policy;      /**< "ring", "limit", "stop", or NULL: files grow */
    const char *policy_size; /**< as it was given */
    bool sched;              /**< switches of threads, too */
    bool kernel_locks;       /**< and waits for the kernel's locks */
    const char *dir;         /**< of the recording, absolute; exists and is empty */
};

/** Run the command. @return its exit status by the shell's rules; `*started` tells whether there was a command at all
 *  (if not, the reason has been said, and the status is ours). */
int record_run(const struct record_request *request, bool *started);

/** Wait until the command is over, without reaping it, and tell on standard error of deadlocks while they stand. */
void record_watch(pid_t pid, const char *dir);

/** Make dead processes' traces whole and say in one line what was recorded. @return 0, or -1 if the recording is not what
 *  was asked for (nothing there, events lost, not readable), having said so. */
int record_summary(const char *dir, const char *shown_dir);

#endif
