/* SPDX-License-Identifier: MIT */
/** @file Internals of struct upmu_set. Private to set*.c. */
#ifndef UPMU_CORE_SET_H
#define UPMU_CORE_SET_H

#include <stdbool.h>
#include <sys/types.h>

#include "core/set/caller.h"
#include "core/set/counters.h"

/** One thread, process or CPU of a set. */
struct set_instance {
    pid_t pid;
    struct counters counters;
    uint64_t *words;         /**< the last reading */
    struct reading *base;    /**< baseline of each event */
    struct reading *stopped; /**< switches and times when the set was stopped: they have no event to stop */
    unsigned char arena[];   /**< counters, then `base`, `stopped` and `words` */
};

struct upmu_set {
    struct upmu_set_opts opts;
    struct counter_list list;
    struct set_instance **instances;
    size_t n_instances, cap_instances;
    size_t threads;                /**< of the process when last listed; 0: never listed */
    char (*names)[EVENT_NAME_MAX]; /**< as counted, see counters_name() */
    char **reasons;                /**< why an event is not counted, or NULL */
    uint64_t process;      /**< caller_process() of the opener: a forked child has neither its pages nor its command */
    uint64_t owner;        /**< caller_thread() that opened a UPMU_TARGET_THREAD set, else 0 */
    char *program;         /**< argv[0] of the command; the caller's argv is not used after the open */
    pid_t tid;             /**< kernel id of the owner */
    uint64_t target_start; /**< start time of the target from /proc; 0: unknown */
    pid_t command;         /**< 0 before it is started */
    pid_t spawned;
    int gate; /**< releases the command; -1 afterwards */
    bool started, running, waited;
    bool checked; /**< since the last start, all members were found to run as long as their group */
    int status;
    struct kernel_usage used_before, used; /**< of the command: before its exec, and in total after the wait */
    uint64_t doubted;                      /**< bit i: the last reading of event i was a 0 that is not a count */
    uint64_t jumped;                       /**< bit i: event i has read an impossible count since the last reset */
    uint64_t elsewhere;                    /**< bit i: event i is counted on another CPU on behalf of this one */
    uint64_t out_of_range;                 /**< bit i: the last value of derived event i was out of range */
};
_Static_assert(PLAN_EVENTS_MAX <= 64, "an event has a bit in upmu_set.doubted");

/** Context switches and times from getrusage: no event counts them, so they have none to stop. */
static inline bool set_is_eventless(const struct counter *counter)
{
    return counter->switches || counter->usage;
}

static inline struct reading reading_since(const struct reading *before, struct reading now)
{
    now.count -= before->count;
    now.enabled -= before->enabled;
    now.running -= before->running;
    return now;
}

static inline void reading_advance(struct reading *r, const struct reading *by)
{
    r->count += by->count;
    r->enabled += by->enabled;
    r->running += by->running;
}

/** Whether the calling thread may use the set: its owner for UPMU_TARGET_THREAD, else any thread of the process.
 *  Inline, because counters run during stop and read. */
static inline bool set_is_callers(const struct upmu_set *set)
{
    return set->process == caller_process() && (!set->owner || set->owner == caller_thread());
}
/** Whether the set counts another process or thread. */
static inline bool set_counts_others(uint32_t target)
{
    return target == UPMU_TARGET_PROCESS || target == UPMU_TARGET_TASK;
}
/** Set the message for other callers. @return UPMU_E_STATE. */
int set_foreign(const struct upmu_set *set, const char *call) __attribute__((cold));
/** Record the start time of the target, so that a later process or thread with the same id is not mistaken for it. */
void set_note_start(struct upmu_set *set);
/** Open one more instance. @return 0; UPMU_E_GONE if the thread has ended (nothing is added); UPMU_E_NOMEM. */
int set_add_instance(struct upmu_set *set, pid_t pid, int cpu);
/** Close and free the instances from index `from` on. Pass `forked` in a forked child: see counters_close(). */
void set_drop_instances(struct upmu_set *set, size_t from, bool forked);
/** Attach to every thread of opts.pid. @return 0, UPMU_E_GONE, UPMU_E_INVAL (it is a thread), UPMU_E_PERM, UPMU_E_STATE, UPMU_E_NOMEM.
 */
int set_attach_process(struct upmu_set *set);
/** Attach to the thread opts.pid. @return 0, UPMU_E_GONE, UPMU_E_NOMEM. */
int set_attach_task(struct upmu_set *set);
/** Start opts.argv behind a gate and open its counters. @return 0, UPMU_E_IO, UPMU_E_GONE, UPMU_E_NOMEM;
 *  UPMU_E_PERM if the set is strict and the kernel does not permit counting the command. */
int set_prepare_command(struct upmu_set *set);

#endif
