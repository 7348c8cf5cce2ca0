/* SPDX-License-Identifier: MIT */
/** @file Steps of upmu record: command line, preparation, run, summary. */
#ifndef UPMU_TOOL_RECORD_H
#define UPMU_TOOL_RECORD_H

#include <stdbool.h>
#include <sys/types.h>

struct record_request {
    char **argv;             /**< the command */
    char *program;           /**< the file that will be executed */
    char *library;           /**< what is preloaded */
    const char *events;      /**< counters, or NULL */
    const char *mode;        /**< contended, holders, all, counts */
    bool paused;             /**< nothing is recorded until `upmu ctl` starts it */
    const char *stacks;      /**< "none", a number of frames, or NULL for the library's choice */
    const char *sample;      /**< "none", a number, or NULL for the library's choice */
    bool requests;           /**< calls for locks, too */
    const char *policy;      /**< "ring", "limit", "stop", or NULL: files grow */
    const char *policy_size; /**< as it was given */
    const char *packet;      /**< size of packets, as it was given, or NULL for the library's choice */
    const char *deadlocks;   /**< file to tell of deadlocks in; NULL: standard error */
    bool sched;              /**< switches of threads, too */
    bool kernel_locks;       /**< and waits for the kernel's locks */
    char *dir;               /**< of the recording, absolute; exists and is empty */
    int output;              /**< descriptor for what the command writes on its standard output and error; -1: ours */
};

/** Find the command's file and the library, and make the directory (`output`, or one of our choice, `*shown` as the user
 *  knows it). @return EXIT_OK, or the exit status to end with, with a message; to be released in both cases. */
int record_prepare(struct record_request *request, const char *output, char **shown);
void record_release(struct record_request *request, char *shown);

/** Start the command. @return EXIT_OK with its process id; or the exit status to end with, with a message. */
int record_start(const struct record_request *request, pid_t *pid);
/** Wait for the end of the command. @return its exit status by the shell's rules. */
int record_end(pid_t pid);

/** Run the command. @return its exit status by the shell's rules; `*started` tells whether there was a command at all
 *  (if not, the reason has been said, and the status is ours). */
int record_run(const struct record_request *request, bool *started);

/** Wait until the command is over, without reaping it, and tell of deadlocks while they stand: in
 *  `file`, NULL: on standard error. */
void record_watch(pid_t pid, const char *dir, const char *file);

/** Make dead processes' traces whole, keep beside them what would be lost, and say in one line what was recorded.
 *  @return 0, or -1 if the recording is not what was asked for (nothing there, events lost, not readable), having said
 *  so. */
int record_summary(const char *dir, const char *shown_dir);

#endif
