/* SPDX-License-Identifier: MIT */
/** @file Gate and thread-local state of OpenMP recording. */
#ifndef UPMU_OPENMP_STATE_H
#define UPMU_OPENMP_STATE_H

#include <stdbool.h>
#include <stdint.h>

#define LIKELY(x) __builtin_expect(!!(x), 1)
#define UNLIKELY(x) __builtin_expect(!!(x), 0)

/** How OpenMP is recorded, as struct upmu_trace_omp_env has it. */
enum omp_method { OMP_METHOD_OMPT = 1, OMP_METHOD_WRAPPERS = 2 };

/** State of a thread. */
struct omp_tls {
    uintptr_t
        site; /**< call site of the GOMP_ or omp_ function that runs in LLVM's runtime; 0: none; or OMP_SITE_TRY */
    uint32_t
        alone; /**< nonzero: the region that the thread has begun is its own, and its part has no event of its own */
    uint64_t region, regions_end; /**< the last number of a region, and the last one that the thread has taken */
};
/** Instead of a call site: the function tries a lock and does not wait. */
#define OMP_SITE_TRY ((uintptr_t)1)
extern _Thread_local struct omp_tls omp_tls __attribute__((tls_model("initial-exec"), visibility("hidden")));

/** State of the process. A forked child inherits all of it except `described`. */
struct omp_process {
    uint32_t on;           /**< nonzero: recording */
    uintptr_t fast;        /**< all bits set: recording, and the clock is read without a system call; else 0 */
    uint32_t described;    /**< the process's OMP_ENV is written */
    uint64_t regions;      /**< numbers of regions that threads have taken */
    uintptr_t ompt_module; /**< load address of LLVM's runtime; 0: there is no OMPT */
    char runtime[128];     /**< its version */
};
extern struct omp_process omp_process __attribute__((visibility("hidden")));

/** Whether OpenMP events are recorded now. */
static inline bool omp_is_on(void)
{
    return __atomic_load_n(&omp_process.on, __ATOMIC_RELAXED) != 0;
}

#define OMP_CALL_SITE() ((uintptr_t)__builtin_extract_return_addr(__builtin_return_address(0)))

#endif
