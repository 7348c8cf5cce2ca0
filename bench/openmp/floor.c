/* SPDX-License-Identifier: MIT */
/*
 * The least that recording a construct of OpenMP can cost, for bench_openmp.sh: preloaded in place of libupmu_omp.
 *
 * Each event of libupmu_omp is one tick and 16 bytes in a thread-local ring, without a file, a lost event, a signal handler, or a
 * switch. libgomp's functions are wrapped, LLVM's runtime calls a tool; which events there are is copied from lib/openmp.
 */
#include <dlfcn.h>
#include <stddef.h>
#include <stdint.h>

#include "base/tick.h"
#include "openmp/ompt_api.h"

enum { RING = 1024 };

static _Thread_local struct {
    uint64_t tick, value;
} ring[RING];
static _Thread_local unsigned at;

static inline void event(uint64_t value)
{
    unsigned i = at++ % RING;
    ring[i].value = value;
    ring[i].tick = tick_isa();
}

/* -------------------------------------------------------------------------------------------------------- libgomp */

#define REAL(name, PARAMETERS)                    \
    static void(*real_##name) PARAMETERS;         \
    if (__builtin_expect(real_##name == NULL, 0)) \
    *(void **)(void *)&real_##name = dlsym(RTLD_NEXT, #name)

#define TWO_EVENTS(name, PARAMETERS, ARGUMENTS) \
    void name PARAMETERS;                       \
    void name PARAMETERS                        \
    {                                           \
        REAL(name, PARAMETERS);                 \
        event(1);                               \
        real_##name ARGUMENTS;                  \
        event(2);                               \
    }
#define ONE_EVENT(name, PARAMETERS, ARGUMENTS) \
    void name PARAMETERS;                      \
    void name PARAMETERS                       \
    {                                          \
        REAL(name, PARAMETERS);                \
        event(3);                              \
        real_##name ARGUMENTS;                 \
    }

#ifdef FLOOR_LIBGOMP
TWO_EVENTS(GOMP_critical_start, (void), ())
ONE_EVENT(GOMP_critical_end, (void), ())
TWO_EVENTS(omp_set_lock, (void *lock), (lock))
ONE_EVENT(omp_unset_lock, (void *lock), (lock))
TWO_EVENTS(GOMP_barrier, (void), ())

struct team {
    void (*function)(void *);
    void *data;
};

static void team_run(void *arg)
{
    const struct team *t = arg;
    event(5);
    t->function(t->data);
    event(6);
}

void GOMP_parallel(void (*function)(void *), void *data, unsigned threads, unsigned flags);
void GOMP_parallel(void (*function)(void *), void *data, unsigned threads, unsigned flags)
{
    struct team t = {function, data};
    REAL(GOMP_parallel, (void (*)(void *), void *, unsigned, unsigned));
    event(4);
    if (threads == 1) /* the region is the thread's part */
        real_GOMP_parallel(function, data, threads, flags);
    else
        real_GOMP_parallel(team_run, &t, threads, flags);
    event(7);
}
#endif

/* --------------------------------------------------------------------------------------------------------- libomp */

#ifdef FLOOR_LIBOMP
static void any(void)
{
    event(8);
}

/* Not of a region of one thread, whose begin is that of the thread's part. */
static void implicit_task(int endpoint, union ompt_data *parallel, union ompt_data *task, unsigned threads)
{
    (void)endpoint, (void)parallel, (void)task;
    if (threads > 1)
        event(9);
}

static int initialize(ompt_lookup lookup, int device, union ompt_data *tool)
{
    static const int events[] = {OMPT_PARALLEL_BEGIN, OMPT_PARALLEL_END,   OMPT_SYNC_REGION_WAIT,
                                 OMPT_MUTEX_ACQUIRE,  OMPT_MUTEX_ACQUIRED, OMPT_MUTEX_RELEASED};
    ompt_any found = lookup("ompt_set_callback");
    (void)device, (void)tool;
    if (!found)
        return 0;
    for (size_t i = 0; i < sizeof events / sizeof *events; i++)
        (void)((ompt_set)found)(events[i], any); /* it reads none of its arguments */
    (void)((ompt_set)found)(OMPT_IMPLICIT_TASK, (ompt_any)implicit_task);
    return 1;
}

static void finalize(union ompt_data *tool)
{
    (void)tool;
}

struct ompt_result *ompt_start_tool(unsigned version, const char *runtime);
struct ompt_result *ompt_start_tool(unsigned version, const char *runtime)
{
    static struct ompt_result result = {.initialize = initialize, .finalize = finalize};
    (void)version, (void)runtime;
    return &result;
}
#endif
