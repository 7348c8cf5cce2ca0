/* SPDX-License-Identifier: MIT */
/** @file The part of OMPT that is used, by the OpenMP 5.0 specification, so that no runtime's header is needed. */
#ifndef UPMU_OPENMP_OMPT_API_H
#define UPMU_OPENMP_OMPT_API_H

#include <stdint.h>

/** A word of the tool's, which the runtime keeps for a thread, region or task. */
union ompt_data {
    uint64_t value;
    void *ptr;
};

typedef void (*ompt_any)(void);
typedef ompt_any (*ompt_lookup)(const char *name);
typedef int (*ompt_set)(int event, ompt_any callback);

/** What ompt_start_tool() returns. */
struct ompt_result {
    int (*initialize)(ompt_lookup lookup, int device, union ompt_data *tool);
    void (*finalize)(union ompt_data *tool);
    union ompt_data tool;
};

enum ompt_event {
    OMPT_PARALLEL_BEGIN = 3,
    OMPT_PARALLEL_END = 4,
    OMPT_TASK_CREATE = 5,
    OMPT_TASK_SCHEDULE = 6,
    OMPT_IMPLICIT_TASK = 7,
    OMPT_SYNC_REGION_WAIT = 16,
    OMPT_MUTEX_RELEASED = 17,
    OMPT_WORK = 20,
    OMPT_MUTEX_ACQUIRE = 26,
    OMPT_MUTEX_ACQUIRED = 27,
    OMPT_NEST_LOCK = 28,
    OMPT_REDUCTION = 31,
};

enum ompt_endpoint { OMPT_BEGIN = 1, OMPT_END = 2 };

/** Bits of a task's flags. */
enum ompt_task_flag { OMPT_TASK_INITIAL = 1, OMPT_TASK_EXPLICIT = 4 };

enum ompt_task_status {
    OMPT_TASK_COMPLETE = 1,
    OMPT_TASK_YIELD = 2,
    OMPT_TASK_CANCEL = 3,
    OMPT_TASK_DETACH = 4,
    OMPT_TASK_SWITCH = 7,
};

enum ompt_sync {
    OMPT_SYNC_BARRIER = 1,
    OMPT_SYNC_BARRIER_IMPLICIT = 2,
    OMPT_SYNC_BARRIER_EXPLICIT = 3,
    OMPT_SYNC_BARRIER_OWN = 4, /* of the runtime: copyprivate, gcc's loops */
    OMPT_SYNC_TASKWAIT = 5,
    OMPT_SYNC_TASKGROUP = 6,
    OMPT_SYNC_REDUCTION = 7,
    OMPT_SYNC_BARRIER_WORK = 8,
    OMPT_SYNC_BARRIER_PARALLEL = 9,
    OMPT_SYNC_BARRIER_TEAMS = 10,
};

enum ompt_mutex {
    OMPT_MUTEX_LOCK = 1,
    OMPT_MUTEX_TEST_LOCK = 2,
    OMPT_MUTEX_NEST_LOCK = 3,
    OMPT_MUTEX_TEST_NEST_LOCK = 4,
    OMPT_MUTEX_CRITICAL = 5,
    OMPT_MUTEX_ATOMIC = 6,
    OMPT_MUTEX_ORDERED = 7,
};

enum ompt_work {
    OMPT_WORK_LOOP = 1,
    OMPT_WORK_SECTIONS = 2,
    OMPT_WORK_SINGLE_EXECUTOR = 3,
    OMPT_WORK_SINGLE_OTHER = 4,
    OMPT_WORK_TASKLOOP = 7,
    OMPT_WORK_LOOP_STATIC = 10,
    OMPT_WORK_LOOP_OTHER = 13,
};

#endif
