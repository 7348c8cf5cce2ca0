/* SPDX-License-Identifier: MIT */
/*
 * Wrappers of libgomp's parallel regions.
 *
 * The region's function is replaced by one that records the begin and end of each member's part, and runs it. libgomp has no
 * event for the barrier at the end: a member waits in it from the end of its part to the end of the region.
 */
#include "openmp/wrap.h"

/* On the stack of the thread that begins the region: it returns after all members have used it. */
struct team {
    void *reductions; /* first: libgomp reads its table of reductions there */
    void (*function)(void *);
    void *data;
    int (*number)(void), (*count)(void); /* omp_get_thread_num(), omp_get_num_threads() */
    uint64_t region;
    bool alone; /* one thread was asked for */
};

static void team_run(void *argument)
{
    const struct team *t = argument;
    uint64_t region = t->region;
    bool alone = t->alone;
    if (!alone) {
        int number = t->number ? t->number() : 0;
        omp_write(UPMU_OMP_MEMBER, UPMU_OMP_NONE, (uint32_t)number, region);
        alone = number == 0 && t->count && t->count() == 1;
    }
    t->function(t->data);
    __asm__ volatile(""); /* no jump: readers find the body in a stack by this function, its caller */
    if (!alone)           /* else the region ends at once */
        omp_write(UPMU_OMP_MEMBER_END, UPMU_OMP_NONE, 0, region);
}

static void team_begin(struct team *t, unsigned threads, uintptr_t site, const void *frame)
{
    static struct omp_function number = {.name = "omp_get_thread_num"}, count = {.name = "omp_get_num_threads"};
    t->alone = threads == 1;
    if (!t->alone) {
        void *address = omp_runtime_function(&number, site);
        memcpy(&t->number, &address, sizeof t->number);
        address = omp_runtime_function(&count, site);
        memcpy(&t->count, &address, sizeof t->count);
    }
    t->region = omp_region_begin(OMP_METHOD_WRAPPERS, threads, omp_site_of_body(t->function), site, frame);
}

static void team_end(const struct team *t)
{
    omp_write(UPMU_OMP_PARALLEL_END, UPMU_OMP_NONE, 0, t->region);
}

/* A wrapper that is one jump while nothing is recorded: libgomp ends a region by a system call, after which a return to the wrapper is
 * slow. A process without libgomp has one thread. */
#define REGION(wrapper, result, PARAMETERS, ARGUMENTS)  \
    OMP_JUMPING(wrapper, result, PARAMETERS, ARGUMENTS, \
                omp_is_on() ? NULL : __atomic_load_n(&wrapper##_behind.real, __ATOMIC_ACQUIRE))

#define PARALLEL(name, PARAMETERS, ARGUMENTS)                          \
    REGION(name, void, PARAMETERS, ARGUMENTS)                          \
    {                                                                  \
        OMP_REAL_BEHIND(name, name##_behind);                          \
        struct team t = {.function = function, .data = data};          \
        enum omp_way way = omp_way_of(&name##_behind, address);        \
        if (!real) {                                                   \
            function(data);                                            \
            return;                                                    \
        }                                                              \
        if (way == OMP_RECORD) {                                       \
            team_begin(&t, threads, site, __builtin_frame_address(0)); \
            function = team_run;                                       \
            data = &t;                                                 \
        }                                                              \
        omp_site_leave(way, omp_site_of_body(t.function));             \
        real ARGUMENTS;                                                \
        omp_site_clear(way);                                           \
        if (way == OMP_RECORD)                                         \
            team_end(&t);                                              \
    }
#define LOOP(name)                                                                                                 \
    PARALLEL(name,                                                                                                 \
             (void (*function)(void *), void *data, unsigned threads, long start, long end, long step, long chunk, \
              unsigned flags),                                                                                     \
             (function, data, threads, start, end, step, chunk, flags))
#define LOOP_RUNTIME(name)                                                                                         \
    PARALLEL(                                                                                                      \
        name,                                                                                                      \
        (void (*function)(void *), void *data, unsigned threads, long start, long end, long step, unsigned flags), \
        (function, data, threads, start, end, step, flags))

PARALLEL(GOMP_parallel, (void (*function)(void *), void *data, unsigned threads, unsigned flags),
         (function, data, threads, flags))
PARALLEL(GOMP_parallel_sections,
         (void (*function)(void *), void *data, unsigned threads, unsigned count, unsigned flags),
         (function, data, threads, count, flags))
LOOP(GOMP_parallel_loop_static)
LOOP(GOMP_parallel_loop_dynamic)
LOOP(GOMP_parallel_loop_guided)
LOOP(GOMP_parallel_loop_nonmonotonic_dynamic)
LOOP(GOMP_parallel_loop_nonmonotonic_guided)
LOOP_RUNTIME(GOMP_parallel_loop_runtime)
LOOP_RUNTIME(GOMP_parallel_loop_nonmonotonic_runtime)
LOOP_RUNTIME(GOMP_parallel_loop_maybe_nonmonotonic_runtime)

REGION(GOMP_parallel_reductions, unsigned, (void (*function)(void *), void *data, unsigned threads, unsigned flags),
       (function, data, threads, flags))
{
    OMP_REAL_BEHIND(GOMP_parallel_reductions, GOMP_parallel_reductions_behind);
    struct team t = {.function = function, .data = data};
    enum omp_way way = omp_way_of(&GOMP_parallel_reductions_behind, address);
    unsigned members = 1;
    if (!real) {
        function(data);
        return members;
    }
    if (way == OMP_RECORD) {
        memcpy(&t.reductions, data, sizeof t.reductions);
        team_begin(&t, threads, site, __builtin_frame_address(0));
        function = team_run;
        data = &t;
    }
    omp_site_leave(way, omp_site_of_body(t.function));
    members = real(function, data, threads, flags);
    omp_site_clear(way);
    if (way == OMP_RECORD)
        team_end(&t);
    return members;
}
