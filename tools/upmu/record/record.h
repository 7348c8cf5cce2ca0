/* SPDX-License-Identifier: MIT */
/** @file Steps of upmu record: command line, preparation, run, summary. */
#ifndef UPMU_TOOL_RECORD_H
#define UPMU_TOOL_RECORD_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "record_snapshots.h"
#include "ui/output.h"
#include "upmu/sampler.h"

struct upmu_deadlock_watch;

struct record_request {
    char **argv;             /**< the command */
    char *program;           /**< the file that will be executed */
    char *library;           /**< what is preloaded */
    char *functions;         /**< libupmu_func, preloaded as well; NULL: functions are not recorded */
    const char *events;      /**< counters, or NULL */
    const char *mode;        /**< holders, contended, all, counts */
    char *mpi;               /**< libupmu_mpi, preloaded as well; NULL: MPI is not recorded */
    bool record_mpi;         /**< calls of MPI, too */
    bool mpi_locks;          /**< and the locks within them */
    const char *mpi_ranks;   /**< list of ranks whose calls are recorded; NULL: all */
    char *openmp;            /**< libupmu_omp, preloaded as well; NULL: OpenMP is not recorded */
    char *heap;              /**< libupmu_heap, preloaded as well; NULL: the heap is not recorded */
    bool record_heap;        /**< allocations, too */
    uint64_t heap_period;    /**< bytes allocated per sample; 0: 512 KiB */
    bool record_openmp;      /**< regions of OpenMP, too */
    bool is_rank;            /**< upmu record itself is started by an MPI launcher: the ranks share the directory */
    bool function_events;    /**< with the time of each call and return */
    bool record_functions;   /**< functions built with -finstrument-functions, too */
    const char *wrap_calls;  /**< patterns of functions whose calls are recorded without hooks; NULL: none */
    bool paused;             /**< nothing is recorded until `upmu ctl` starts it */
    const char *stacks;      /**< "none", a number of frames, or NULL for the library's choice */
    const char *sample;      /**< "none", a number, or NULL for the library's choice */
    bool requests;           /**< calls for locks, too */
    bool all_stacks;         /**< stacks of releases and ends of waits, too */
    bool no_calls;           /**< no waits in calls that are not about locks */
    const char *policy;      /**< "ring", "limit", "stop", or NULL: files grow */
    const char *policy_size; /**< as it was given */
    const char *packet;      /**< size of packets, as it was given, or NULL for the library's choice */
    const char *deadlocks;   /**< file for reports of deadlocks; NULL: standard error */
    bool wait_all;           /**< watch until all recorded processes have ended */
    uint64_t ran_ns;         /**< out: time for which the command was watched */
    bool sched;              /**< switches of threads, too */
    bool kernel_locks;       /**< and waits for the kernel's locks */
    bool sampling;           /**< samples, too, with these options */
    struct upmu_sampler_opts sampler_opts;
    struct upmu_sampler *sampler; /**< NULL: no samples are taken */
    uint64_t timer_frequency;     /**< samples per second that the program takes itself by timers; 0: none */
    /** Called when the process `pid` is being sampled, if not NULL. */
    void (*begun)(const struct record_request *request, void *arg);
    void *begun_arg;
    long pid;  /**< process to be sampled while it runs; 0: a command is run */
    char *dir; /**< of the recording, absolute; exists and is empty */
    struct snapshot_request snapshots;
    char *shown; /**< `dir` as given by the user */
    int output;  /**< descriptor for what the command writes on its standard output and error; -1: ours */
};

/** Find the command's file and the library, and make the directory (`output`, or one of our choice, `*shown` as given
 *  by the user). @return EXIT_OK, or the exit status to end with, with a message; to be released in both cases. */
int record_prepare(struct record_request *request, const char *output, char **shown);
void record_release(struct record_request *request, char *shown);

/** Start the command. @return EXIT_OK with its process id; or the exit status to end with, with a message. */
int record_start(const struct record_request *request, pid_t *pid);
/** Wait for the end of the command. @return its exit status by the shell's rules. */
int record_end(pid_t pid);

/** Run the command. @return its exit status by the shell's rules; `*started` is whether the command was executed
 *  (if not, the reason was printed, and the status is that of upmu). */
int record_run(struct record_request *request, bool *started);

struct upmu_snapshot_watch;

/** Pauses between two looks at a recording: for requests of snapshots, and for deadlocks. */
enum { RECORD_POLL_MS = 10, RECORD_LOOK_MS = 100 };

/** What is watched in a running recording. */
struct record_watch {
    struct upmu_deadlock_watch *deadlocks; /**< NULL: they cannot be found */
    struct upmu_snapshot_watch *snapshots; /**< NULL: none are taken */
    struct upmu_mpi_watch *ranks;          /**< NULL: no MPI is recorded */
    const char *dir;                       /**< of the recording */
    struct output *out;                    /**< for reports of deadlocks; NULL: none are printed */
};

/** Watch the recording `dir`; `snapshots` is released with the watch. */
void record_watch_open(struct record_watch *w, const char *dir, struct upmu_snapshot_watch *snapshots,
                       struct output *out);
/** Search for deadlocks across the ranks of an MPI job as well; `dir` is kept. */
void record_watch_ranks(struct record_watch *w, const char *dir);
/** Take snapshots that are requested and, if `deadlocks`, report those that have occurred: about ten times a second. */
void record_watch_step(struct record_watch *w, bool deadlocks);
void record_watch_close(struct record_watch *w);

/** Wait for the end of the command, or with `wait_all` of all recorded processes, without reaping it; write samples, report deadlocks, and take snapshots. */
void record_watch(struct record_request *request, pid_t pid);

/** Begin to record samples, if that was asked for. @return EXIT_OK, or the exit status to end with, with a message. */
int record_sample_open(struct record_request *request);
/** End the samples, and print a line about them if something was sampled. @return EXIT_OK, or EXIT_FAILED after a message. */
int record_sample_close(struct record_request *request, bool attached);
/** Sample the process `request->pid` until it ends or a signal ends the recording. @return the exit status. */
int record_running(struct record_request *request, const char *shown_dir);
/** Find the directory (`output`, or one of our choice beginning with `name`) and make it: fills `request->dir`. @return EXIT_OK,
 *  or EXIT_FAILED after a message. */
int record_directory(struct record_request *request, const char *output, const char *name, char **shown);

/** Repair the traces of ended processes, store symbols of run-time generated code, and print one line about the recording,
 *  with the `view` of upmu report that shows most ("", or an option and a blank). `ns`: time of recording, 0: unknown. `failed`: a launcher
 *  of ranks that has failed, or NULL. @return 0, or -1 after a message if the recording is incomplete (empty, events lost, not readable). */
int record_summary(const char *dir, const char *shown_dir, const char *view, uint64_t ns, const char *failed);
/** Print why requested switches of threads or waits for the kernel's locks are not in the recording: once where processes have the
 *  same reason, nothing if they are. */
void record_explain_switches(const char *dir);

#endif
