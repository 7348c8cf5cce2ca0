/* SPDX-License-Identifier: MIT */
/** @file What upmu_set is made of. Room: core; before it the public API, after it counters.c. Private to set*.c. */
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
    struct reading *base;    /**< where each event's count starts: zero of the set */
    struct reading *stopped; /**< where switches stood when the set was stopped: they have no event to stop */
    unsigned char arena[];   /**< counters, then the three rows above */
};

struct upmu_set {
    struct upmu_set_opts opts;
    struct counter_list list;
    struct set_instance **instances;
    size_t n_instances, cap_instances;
    size_t threads;                /**< of the process at the last look, 0: none was taken */
    char (*names)[EVENT_NAME_MAX]; /**< as counted, see counters_name() */
    char **reasons;                /**< why an event is not counted, or NULL */
    uint64_t process; /**< caller_process() that opened the set: a forked child has neither its pages nor its command */
    uint64_t owner;   /**< caller_thread() that opened a UPMU_TARGET_THREAD set, else 0 */
    char *program;    /**< argv[0] of the command; the caller's argv is not used after the open */
    pid_t tid;        /**< kernel id of the owner */
    uint64_t target_start; /**< when the process or thread counted began, by /proc; 0: not known */
    pid_t command;         /**< 0 before its start */
    pid_t spawned;
    int gate; /**< releases the command, -1 once done */
    bool started, running, waited;
    bool checked; /**< since it was last started, all members were seen to run as long as their group */
    int status;
    struct kernel_usage used_before, used; /**< of the command: before its exec, and in all once it was waited for */
    uint64_t doubted;                      /**< bit i: event i last read a 0 that is no number */
    uint64_t jumped;       /**< bit i: event i has read more than can have happened, since the last reset */
    uint64_t elsewhere;    /**< bit i: event i is counted on other CPUs for this one, too */
    uint64_t out_of_range; /**< bit i: derived event i last came out as no number */
};
_Static_assert(PLAN_EVENTS_MAX <= 64, "an event has a bit in upmu_set.doubted");

/** Whether the calling thread may use the set: its owner if it counts a thread, else any of the process. Inline, since
 *  counters run while stop and read ask. */
static inline bool set_is_callers(const struct upmu_set *set)
{
    return set->process == caller_process() && (!set->owner || set->owner == caller_thread());
}
/** The message for others. @return UPMU_E_STATE. */
int set_foreign(const struct upmu_set *set, const char *call) __attribute__((cold));
/** Note when the process or thread counted began, so that a later one with its id is not mistaken for it. */
void set_note_start(struct upmu_set *set);
/** Open one more instance. @return 0; UPMU_E_GONE if the thread ended meanwhile (nothing is added); UPMU_E_NOMEM. */
int set_add_instance(struct upmu_set *set, pid_t pid, int cpu);
/** Close and free the instances from index `from` on. In a forked child pass `forked`: see counters_close(). */
void set_drop_instances(struct upmu_set *set, size_t from, bool forked);
/** Attach to every thread of opts.pid. @return 0, UPMU_E_GONE, UPMU_E_INVAL (it is a thread), UPMU_E_PERM, UPMU_E_STATE, UPMU_E_NOMEM.
 */
int set_attach_process(struct upmu_set *set);
/** Attach to the thread opts.pid. @return 0, UPMU_E_GONE, UPMU_E_NOMEM. */
int set_attach_task(struct upmu_set *set);
/** Start opts.argv behind a gate and open its counters. @return 0, UPMU_E_IO, UPMU_E_GONE, UPMU_E_NOMEM;
 *  UPMU_E_PERM if the set is strict and the kernel would not let the command be counted. */
int set_prepare_command(struct upmu_set *set);

#endif
