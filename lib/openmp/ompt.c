/* SPDX-License-Identifier: MIT */
/*
 * Tool of LLVM's OpenMP runtime.
 *
 * The runtime finds ompt_start_tool() by name. Only one tool can be active: without UPMU_OPENMP the answer is NULL, so that the
 * next one is asked. Callbacks may come after this library's destructor, and after fork() in the child.
 */
#include <dlfcn.h>
#include <errno.h>
#include <stddef.h>
#include <string.h>

#include "openmp/events.h"
#include "openmp/ompt_api.h"
#include "openmp/process.h"
#include "openmp/quiet.h"
#include "openmp/runtime.h"
#include "upmu/api.h"

/* The site of a wrapper in between, once, or the runtime's own. */
static inline uintptr_t ompt_site(const void *codeptr)
{
    uintptr_t site = omp_tls.site;
    if (LIKELY(site == 0))
        return (uintptr_t)codeptr;
    omp_tls.site = 0;
    return site;
}

/* --------------------------------------------------------------------------------------------------------- regions */

static void ompt_parallel_begin(union ompt_data *task, const void *frame, union ompt_data *parallel, unsigned threads,
                                int flags, const void *codeptr)
{
    (void)task, (void)frame, (void)flags;
    uintptr_t site = ompt_site(codeptr);
    if (parallel)
        parallel->value =
            omp_region_begin(OMP_METHOD_OMPT, threads, site, (uintptr_t)codeptr, __builtin_frame_address(0));
    omp_tls.alone = threads == 1;
}

static void ompt_parallel_end(union ompt_data *parallel, union ompt_data *task, int flags, const void *codeptr)
{
    (void)task, (void)flags, (void)codeptr;
    if (parallel)
        omp_write(UPMU_OMP_PARALLEL_END, UPMU_OMP_NONE, 0, parallel->value);
}

/* At the end the runtime gives no region: it is the thread's last one. That of the thread that began the region follows at once. */
static void ompt_implicit_task(int endpoint, union ompt_data *parallel, union ompt_data *task, unsigned threads,
                               unsigned number, int flags)
{
    (void)threads;
    if (flags & OMPT_TASK_INITIAL)
        return;
    if (endpoint == OMPT_BEGIN) {
        if (task)
            task->value = 0;
        if (omp_tls.alone) {
            omp_tls.alone = 0;
            return;
        }
        omp_write(UPMU_OMP_MEMBER, UPMU_OMP_NONE, number, parallel ? parallel->value : 0);
    } else if (number != 0) {
        omp_write(UPMU_OMP_MEMBER_END, UPMU_OMP_NONE, 0, parallel ? parallel->value : 0);
    }
}

/* ----------------------------------------------------------------------------------------------------------- waits */

static uint32_t ompt_sync_construct(int kind)
{
    switch (kind) {
    case OMPT_SYNC_BARRIER_EXPLICIT:
        return UPMU_OMP_BARRIER_EXPLICIT;
    case OMPT_SYNC_TASKWAIT:
        return UPMU_OMP_TASKWAIT;
    case OMPT_SYNC_TASKGROUP:
        return UPMU_OMP_TASKGROUP;
    case OMPT_SYNC_REDUCTION:
        return UPMU_OMP_REDUCTION;
    case OMPT_SYNC_BARRIER:
        return UPMU_OMP_BARRIER;
    default:
        return UPMU_OMP_BARRIER_IMPLICIT;
    }
}

static void ompt_sync_region(int kind, int endpoint, union ompt_data *parallel, union ompt_data *task,
                             const void *codeptr)
{
    (void)parallel, (void)task;
    if (endpoint == OMPT_BEGIN)
        omp_write(UPMU_OMP_WAIT, ompt_sync_construct(kind), 0, ompt_site(codeptr));
    else
        omp_write(UPMU_OMP_WAITED, ompt_sync_construct(kind), 0, 0);
}

static void ompt_reduction(int kind, int endpoint, union ompt_data *parallel, union ompt_data *task,
                           const void *codeptr)
{
    (void)kind;
    ompt_sync_region(OMPT_SYNC_REDUCTION, endpoint, parallel, task, codeptr);
}

/* The fields of an event about a mutex of each kind, 0 if it has none: a table, as critical sections and locks are short. OpenMP has
 * no kinds above 7. */
#define OMPT_MUTEX_EVENTS(event, tries)                                                                     \
    {                                                                                                       \
        [0] = OMP_FIELDS(event, UPMU_OMP_LOCK, 0), [OMPT_MUTEX_LOCK] = OMP_FIELDS(event, UPMU_OMP_LOCK, 0), \
        [OMPT_MUTEX_TEST_LOCK] = (tries) ? OMP_FIELDS(event, UPMU_OMP_LOCK, 0) : 0,                         \
        [OMPT_MUTEX_NEST_LOCK] = OMP_FIELDS(event, UPMU_OMP_NEST_LOCK, 0),                                  \
        [OMPT_MUTEX_TEST_NEST_LOCK] = (tries) ? OMP_FIELDS(event, UPMU_OMP_NEST_LOCK, 0) : 0,               \
        [OMPT_MUTEX_CRITICAL] = OMP_FIELDS(event, UPMU_OMP_CRITICAL, 0),                                    \
        [OMPT_MUTEX_ATOMIC] = OMP_FIELDS(event, UPMU_OMP_ATOMIC, 0),                                        \
        [OMPT_MUTEX_ORDERED] = OMP_FIELDS(event, UPMU_OMP_ORDERED, 0),                                      \
    }
enum { OMPT_MUTEX_KINDS = 8 };
static const uint64_t ompt_mutex_wait[OMPT_MUTEX_KINDS] = OMPT_MUTEX_EVENTS(UPMU_OMP_WAIT, 0),
                      ompt_mutex_waited[OMPT_MUTEX_KINDS] = OMPT_MUTEX_EVENTS(UPMU_OMP_WAITED, 1),
                      ompt_mutex_release[OMPT_MUTEX_KINDS] = OMPT_MUTEX_EVENTS(UPMU_OMP_RELEASE, 1);

static inline void ompt_mutex_write(const uint64_t fields[OMPT_MUTEX_KINDS], int kind, uint64_t value)
{
    omp_write_fields(fields[(unsigned)kind % OMPT_MUTEX_KINDS], value);
}

/* A try does not wait; and if it fails, there is no end. Before version 15 the kind of a try is that of a lock. */
static void ompt_mutex_acquire(int kind, unsigned hint, unsigned way, uint64_t lock, const void *codeptr)
{
    (void)hint, (void)way, (void)lock;
    uint64_t first = ompt_mutex_wait[(unsigned)kind % OMPT_MUTEX_KINDS];
    bool waits = first != 0;
    if (UNLIKELY(omp_tls.site != 0))
        waits = ompt_site(codeptr) != OMP_SITE_TRY && waits;
    if (LIKELY(waits))
        omp_write_fields(first, (uintptr_t)codeptr);
}

static void ompt_mutex_acquired(int kind, uint64_t lock, const void *codeptr)
{
    (void)codeptr;
    ompt_mutex_write(ompt_mutex_waited, kind, lock);
}

static void ompt_mutex_released(int kind, uint64_t lock, const void *codeptr)
{
    (void)codeptr;
    ompt_mutex_write(ompt_mutex_release, kind, lock);
}

/* For a nestable lock that the thread already holds, the runtime calls this instead of mutex_acquired and mutex_released. */
static void ompt_nest_lock(int endpoint, uint64_t lock, const void *codeptr)
{
    (void)codeptr;
    omp_write(endpoint == OMPT_BEGIN ? UPMU_OMP_WAITED : UPMU_OMP_RELEASE, UPMU_OMP_NEST_LOCK, 0, lock);
}

/* ------------------------------------------------------------------------------------------------- tasks and work */

static void ompt_task_create(union ompt_data *task, const void *frame, union ompt_data *made, int flags,
                             int dependences, const void *codeptr)
{
    (void)task, (void)frame, (void)dependences;
    if (!made || !(flags & OMPT_TASK_EXPLICIT))
        return;
    uintptr_t site = ompt_site(codeptr);
    made->value = site ? site : 1; /* marks it as an explicit one */
    omp_write(UPMU_OMP_TASK_CREATE, UPMU_OMP_NONE, 0, site);
}

static void ompt_task_schedule(union ompt_data *prior, int status, union ompt_data *next)
{
    bool ends = status == OMPT_TASK_COMPLETE || status == OMPT_TASK_CANCEL || status == OMPT_TASK_DETACH;
    bool begins = status == OMPT_TASK_SWITCH || status == OMPT_TASK_YIELD;
    if (ends && prior && prior->value)
        omp_write(UPMU_OMP_TASK_END, UPMU_OMP_NONE, 0, 0);
    else if (begins && next && next->value)
        omp_write(UPMU_OMP_TASK, UPMU_OMP_NONE, 0, next->value);
}

static uint32_t ompt_work_construct(int kind)
{
    if (kind == OMPT_WORK_LOOP || (kind >= OMPT_WORK_LOOP_STATIC && kind <= OMPT_WORK_LOOP_OTHER))
        return UPMU_OMP_LOOP;
    switch (kind) {
    case OMPT_WORK_SECTIONS:
        return UPMU_OMP_SECTIONS;
    case OMPT_WORK_SINGLE_EXECUTOR:
        return UPMU_OMP_SINGLE;
    case OMPT_WORK_TASKLOOP:
        return UPMU_OMP_TASKLOOP;
    default:
        return UPMU_OMP_OTHER;
    }
}

static void ompt_work(int kind, int endpoint, union ompt_data *parallel, union ompt_data *task, uint64_t count,
                      const void *codeptr)
{
    (void)parallel, (void)task, (void)count;
    if (kind == OMPT_WORK_SINGLE_OTHER)
        return;
    if (endpoint == OMPT_BEGIN)
        omp_write(UPMU_OMP_ENTER, ompt_work_construct(kind), 0, ompt_site(codeptr));
    else if (endpoint == OMPT_END)
        omp_write(UPMU_OMP_LEAVE, ompt_work_construct(kind), 0, 0);
}

/* ----------------------------------------------------------------------------------------------------------- start */

/* The callbacks differ in their parameters. */
#define OMPT_CALLBACK(event, callback) \
    {                                  \
        event, (ompt_any)(callback)    \
    }

static int ompt_initialize(ompt_lookup lookup, int device, union ompt_data *tool)
{
    static const struct {
        int event;
        ompt_any callback;
    } callbacks[] = {
        OMPT_CALLBACK(OMPT_PARALLEL_BEGIN, ompt_parallel_begin),
        OMPT_CALLBACK(OMPT_PARALLEL_END, ompt_parallel_end),
        OMPT_CALLBACK(OMPT_IMPLICIT_TASK, ompt_implicit_task),
        OMPT_CALLBACK(OMPT_SYNC_REGION_WAIT, ompt_sync_region),
        OMPT_CALLBACK(OMPT_REDUCTION, ompt_reduction),
        OMPT_CALLBACK(OMPT_MUTEX_ACQUIRE, ompt_mutex_acquire),
        OMPT_CALLBACK(OMPT_MUTEX_ACQUIRED, ompt_mutex_acquired),
        OMPT_CALLBACK(OMPT_MUTEX_RELEASED, ompt_mutex_released),
        OMPT_CALLBACK(OMPT_NEST_LOCK, ompt_nest_lock),
        OMPT_CALLBACK(OMPT_TASK_CREATE, ompt_task_create),
        OMPT_CALLBACK(OMPT_TASK_SCHEDULE, ompt_task_schedule),
        OMPT_CALLBACK(OMPT_WORK, ompt_work),
    };
    (void)device, (void)tool;
    ompt_any found = lookup("ompt_set_callback");
    if (!found)
        return 0; /* the tool is inactive */
    ompt_set set = (ompt_set)found;
    for (size_t i = 0; i < sizeof callbacks / sizeof *callbacks; i++)
        (void)set(callbacks[i].event, callbacks[i].callback); /* what a runtime does not have is not recorded */
    void *address;
    memcpy(&address, &lookup, sizeof address);
    __atomic_store_n(&omp_process.ompt_module, omp_runtime_module(address), __ATOMIC_RELEASE);
    return 1;
}

static void ompt_finalize(union ompt_data *tool)
{
    (void)tool;
}

UPMU_API struct ompt_result *ompt_start_tool(unsigned version, const char *runtime);
struct ompt_result *ompt_start_tool(unsigned version, const char *runtime)
{
    static struct ompt_result result = {.initialize = ompt_initialize, .finalize = ompt_finalize};
    int saved = errno;
    (void)version;
    bool on = omp_process_begin();
    if (on)
        omp_quiet(__builtin_extract_return_addr(__builtin_return_address(0)));
    if (on && runtime)
        strncpy(omp_process.runtime, runtime, sizeof omp_process.runtime - 1);
    errno = saved;
    return on ? &result : NULL;
}
