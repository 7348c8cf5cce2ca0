/* SPDX-License-Identifier: MIT */
/* Wrappers of libgomp's barriers, and of critical sections, locks and waits for tasks. */
#include "openmp/wrap.h"

/* A function that waits. */
#define WAIT(name, construct, result, none, PARAMETERS, ARGUMENTS) \
    OMP_WRAPPER(name, result, PARAMETERS, ARGUMENTS)               \
    {                                                              \
        OMP_REAL_BEHIND(name, name##_behind);                      \
        if (!real)                                                 \
            return none;                                           \
        if (omp_way_of(&name##_behind, address) != OMP_RECORD)     \
            OMP_JUMP real ARGUMENTS;                               \
        omp_write(UPMU_OMP_WAIT, construct, 0, site);              \
        result value = real ARGUMENTS;                             \
        omp_write(UPMU_OMP_WAITED, construct, 0, 0);               \
        return value;                                              \
    }

/* The same without a result; `lock` is the address of what is acquired. */
#define ACQUIRE(name, construct, lock, PARAMETERS, ARGUMENTS)        \
    OMP_WRAPPER(name, void, PARAMETERS, ARGUMENTS)                   \
    {                                                                \
        OMP_REAL_BEHIND(name, name##_behind);                        \
        if (!real)                                                   \
            return;                                                  \
        if (omp_way_of(&name##_behind, address) != OMP_RECORD)       \
            OMP_JUMP real ARGUMENTS;                                 \
        omp_write(UPMU_OMP_WAIT, construct, 0, site);                \
        real ARGUMENTS;                                              \
        omp_write(UPMU_OMP_WAITED, construct, 0, (uintptr_t)(lock)); \
    }

#define RELEASE(name, construct, lock, PARAMETERS, ARGUMENTS)             \
    OMP_WRAPPER(name, void, PARAMETERS, ARGUMENTS)                        \
    {                                                                     \
        OMP_REAL_BEHIND(name, name##_behind);                             \
        if (!real)                                                        \
            return;                                                       \
        if (omp_way_of(&name##_behind, address) == OMP_RECORD)            \
            omp_write(UPMU_OMP_RELEASE, construct, 0, (uintptr_t)(lock)); \
        OMP_JUMP real ARGUMENTS;                                          \
    }

/* A try does not wait: if it has succeeded, the lock is acquired. */
#define TRY(name, construct)                                           \
    UPMU_API int name(void *lock);                                     \
    int name(void *lock)                                               \
    {                                                                  \
        OMP_REAL(name);                                                \
        enum omp_way way = omp_way_of(&behind, address);               \
        if (!real)                                                     \
            return 0;                                                  \
        omp_site_leave(way, OMP_SITE_TRY);                             \
        int value = real(lock);                                        \
        omp_site_clear(way);                                           \
        if (way == OMP_RECORD && value)                                \
            omp_write(UPMU_OMP_WAITED, construct, 0, (uintptr_t)lock); \
        return value;                                                  \
    }

/* The names of C, and those of Fortran with an underscore. */
#define LOCKS_OF_FORTRAN(kind, construct)                               \
    ACQUIRE(omp_set_##kind##_, construct, lock, (void *lock), (lock))   \
    RELEASE(omp_unset_##kind##_, construct, lock, (void *lock), (lock)) \
    TRY(omp_test_##kind##_, construct)
#define LOCKS_OF_C(kind, construct)                                  \
    ACQUIRE(omp_set_##kind, construct, lock, (void *lock), (lock))   \
    RELEASE(omp_unset_##kind, construct, lock, (void *lock), (lock)) \
    TRY(omp_test_##kind, construct)

LOCKS_OF_C(lock, UPMU_OMP_LOCK)
LOCKS_OF_C(nest_lock, UPMU_OMP_NEST_LOCK)
LOCKS_OF_FORTRAN(lock, UPMU_OMP_LOCK)
LOCKS_OF_FORTRAN(nest_lock, UPMU_OMP_NEST_LOCK)

ACQUIRE(GOMP_critical_start, UPMU_OMP_CRITICAL, NULL, (void), ())
RELEASE(GOMP_critical_end, UPMU_OMP_CRITICAL, NULL, (void), ())
ACQUIRE(GOMP_critical_name_start, UPMU_OMP_CRITICAL, name, (void **name), (name))
RELEASE(GOMP_critical_name_end, UPMU_OMP_CRITICAL, name, (void **name), (name))
ACQUIRE(GOMP_atomic_start, UPMU_OMP_ATOMIC, NULL, (void), ())
RELEASE(GOMP_atomic_end, UPMU_OMP_ATOMIC, NULL, (void), ())
ACQUIRE(GOMP_ordered_start, UPMU_OMP_ORDERED, NULL, (void), ())
RELEASE(GOMP_ordered_end, UPMU_OMP_ORDERED, NULL, (void), ())

ACQUIRE(GOMP_barrier, UPMU_OMP_BARRIER, NULL, (void), ())
WAIT(GOMP_barrier_cancel, UPMU_OMP_BARRIER, bool, false, (void), ())
ACQUIRE(GOMP_loop_end, UPMU_OMP_BARRIER_IMPLICIT, NULL, (void), ())
WAIT(GOMP_loop_end_cancel, UPMU_OMP_BARRIER_IMPLICIT, bool, false, (void), ())
ACQUIRE(GOMP_sections_end, UPMU_OMP_BARRIER_IMPLICIT, NULL, (void), ())
WAIT(GOMP_sections_end_cancel, UPMU_OMP_BARRIER_IMPLICIT, bool, false, (void), ())
WAIT(GOMP_single_copy_start, UPMU_OMP_COPYPRIVATE, void *, NULL, (void), ())
ACQUIRE(GOMP_taskwait, UPMU_OMP_TASKWAIT, NULL, (void), ())
ACQUIRE(GOMP_taskwait_depend, UPMU_OMP_TASKWAIT, NULL, (void **depend), (depend))
ACQUIRE(GOMP_taskgroup_end, UPMU_OMP_TASKGROUP, NULL, (void), ())

/* The next part of an ordered loop waits for the turn of the one before. */
#define ORDERED_NEXT(schedule)                                                                                       \
    WAIT(GOMP_loop_ordered_##schedule##_next, UPMU_OMP_ORDERED, bool, false, (long *start, long *end), (start, end)) \
    WAIT(GOMP_loop_ull_ordered_##schedule##_next, UPMU_OMP_ORDERED, bool, false,                                     \
         (unsigned long long *start, unsigned long long *end), (start, end))
ORDERED_NEXT(static)
ORDERED_NEXT(dynamic)
ORDERED_NEXT(guided)
ORDERED_NEXT(runtime)
