/* SPDX-License-Identifier: MIT */
/**
 * @file
 * OpenMP of a recording: parallel regions, and what their threads did and waited for.
 * Link with libupmu_analysis. OpenMP is recorded by libupmu_omp, which `upmu record --openmp` preloads.
 *
 *     struct upmu_openmp *o;
 *     struct upmu_openmp_region row = {.size = sizeof row};
 *     if (upmu_openmp_open(&o, "DIR") < 0)
 *         fprintf(stderr, "%s\n", upmu_error());
 *     for (size_t i = 0; upmu_openmp_region_at(o, i, &row) == 0; i++)
 *         printf("%" PRIx64 " %" PRIu64 "\n", row.site, row.work_ns);
 *     upmu_openmp_close(o);
 *
 * The time of a thread in a region is from the begin of the region to its end, and is divided without a rest: into work, waits by
 * reason (enum upmu_omp_construct), and the time within nested regions. Work is all that is no wait: overhead of the runtime
 * is a part of it. Waits are those of the runtime, whether the thread sleeps or is busy; explicit tasks that a thread runs
 * meanwhile are work.
 *
 * Functions that fill a struct take its `size` from the caller, set it to the bytes filled, and return 0; UPMU_E_END past the last
 * entry; UPMU_E_INVAL if an argument is NULL or `size` is too small. Strings are valid until upmu_openmp_close(). One recording may
 * be used by one thread at a time; no function is async-signal-safe.
 */
#ifndef UPMU_OPENMP_H
#define UPMU_OPENMP_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "upmu/api.h"
#include "upmu/trace.h"
#include "upmu/upmu.h"

UPMU_BEGIN_DECLS

/** OpenMP of a recording. */
struct upmu_openmp;

/**
 * Read the OpenMP events of a recording. Memory grows with the number of regions in the program, not with how often they run.
 * @param openmp out: to be closed with upmu_openmp_close(); NULL on failure
 * @param dir    path of the directory
 * @return 0; UPMU_E_STATE (no process of it has a region); UPMU_E_IO, UPMU_E_FORMAT, UPMU_E_VERSION (as upmu_trace_open());
 *         UPMU_E_INVAL (NULL); UPMU_E_NOMEM.
 */
UPMU_API UPMU_CHECKED int upmu_openmp_open(struct upmu_openmp **openmp, const char *dir);

/**
 * As upmu_openmp_open(), of a stretch: times are cut at its ends, and counts are of what has a part in it (of tasks that were created:
 * of those created in it). Regions, members and constructs without a part in it are left out; a process or thread without one has a
 * time of 0.
 * @param from_ns begin, nanoseconds since 1970; 0: the begin of the recording
 * @param to_ns   end; 0: the end of the recording
 * @return as upmu_openmp_open(); UPMU_E_INVAL (it ends before it begins).
 */
UPMU_API UPMU_CHECKED int upmu_openmp_open_between(struct upmu_openmp **openmp, const char *dir, uint64_t from_ns,
                                                   uint64_t to_ns);

/** Close and free; NULL does nothing. */
UPMU_API void upmu_openmp_close(struct upmu_openmp *openmp);

/** A process with OpenMP. */
struct upmu_openmp_process {
    size_t size;          /**< in: sizeof(struct upmu_openmp_process); out: bytes filled */
    size_t process;       /**< index for upmu_trace_process_at() and upmu_overview_symbol_at() */
    int32_t pid;          /**< process id */
    uint32_t method;      /**< 1: OMPT of LLVM's runtime; 2: wrappers of libgomp's functions */
    const char *runtime;  /**< version of the runtime, as far as it states one */
    uint64_t time_ns;     /**< from the start of the recording to the last event of the process */
    uint64_t parallel_ns; /**< of it within parallel regions of any thread */
    uint64_t regions;     /**< regions that ran, nested ones included */
    uint64_t unfinished;  /**< of these, the ones that had not ended at the end of the recording */
    uint64_t threads;     /**< threads that took part */
    uint64_t strays;      /**< events that belong to no region: some are lost or overwritten */
};
#define UPMU_OPENMP_PROCESS_SIZE_V1 UPMU_SIZE_V1_(struct upmu_openmp_process, 80)
UPMU_API UPMU_CHECKED int upmu_openmp_process_at(const struct upmu_openmp *openmp, size_t index,
                                                 struct upmu_openmp_process *out);

/** A parallel region of the program, of all the times it ran. */
struct upmu_openmp_region {
    size_t size;         /**< in: sizeof(struct upmu_openmp_region); out: bytes filled */
    size_t process;      /**< index for upmu_openmp_process_at() */
    uint64_t site;       /**< of the construct, for upmu_overview_symbol_at() */
    size_t parent;       /**< the region around it, the first time it ran; SIZE_MAX: none */
    uint64_t count;      /**< how often it ran */
    uint64_t unfinished; /**< of these, not ended at the end of the recording */
    uint64_t threads;    /**< size of the largest team */
    uint64_t elapsed_ns; /**< from its begin to its end */
    uint64_t time_ns;    /**< of all its threads: work, waits and nested regions */
    uint64_t work_ns;    /**< see above */
    uint64_t wait_ns;    /**< of all reasons, see upmu_openmp_region_wait_ns() */
    uint64_t nested_ns;  /**< within nested regions */
    uint64_t
        gain_ns; /**< what it would be shorter with the same work divided evenly: longest work of a thread - mean, each time */
    uint64_t tasks; /**< explicit tasks run */
};
#define UPMU_OPENMP_REGION_SIZE_V1 UPMU_SIZE_V1_(struct upmu_openmp_region, 112)
/** Region `index`: by process, then by elapsed time, the longest first. */
UPMU_API UPMU_CHECKED int upmu_openmp_region_at(const struct upmu_openmp *openmp, size_t index,
                                                struct upmu_openmp_region *out);

/** A thread of a region, of all the times it took part. */
struct upmu_openmp_member {
    size_t size;        /**< in: sizeof(struct upmu_openmp_member); out: bytes filled */
    size_t thread;      /**< index for upmu_openmp_thread_at() */
    int32_t tid;        /**< kernel thread id */
    uint32_t number;    /**< its thread number, the last time */
    uint64_t count;     /**< how often it took part */
    uint64_t time_ns;   /**< = work + waits + nested regions */
    uint64_t work_ns;   /**< as in struct upmu_openmp_region */
    uint64_t wait_ns;   /**< likewise */
    uint64_t nested_ns; /**< likewise */
    uint64_t tasks;     /**< explicit tasks run */
};
#define UPMU_OPENMP_MEMBER_SIZE_V1 UPMU_SIZE_V1_(struct upmu_openmp_member, 72)
/** Member `index` of region `region`, by thread number. */
UPMU_API UPMU_CHECKED int upmu_openmp_member_at(const struct upmu_openmp *openmp, size_t region, size_t index,
                                                struct upmu_openmp_member *out);

/** A thread that took part in regions, or began one. */
struct upmu_openmp_thread {
    size_t size;      /**< in: sizeof(struct upmu_openmp_thread); out: bytes filled */
    size_t process;   /**< index for upmu_openmp_process_at() */
    int32_t tid;      /**< kernel thread id */
    uint32_t begins;  /**< 1: it begins regions that are not nested; 0: it belongs to the runtime's pool */
    uint64_t time_ns; /**< of the thread, as far as it is recorded = work + wait + outside */
    uint64_t work_ns; /**< in regions */
    uint64_t wait_ns; /**< in regions */
    uint64_t
        outside_ns; /**< outside of regions: serial parts of a thread that begins regions, idle time of a pool's thread */
};
#define UPMU_OPENMP_THREAD_SIZE_V1 UPMU_SIZE_V1_(struct upmu_openmp_thread, 56)
UPMU_API UPMU_CHECKED int upmu_openmp_thread_at(const struct upmu_openmp *openmp, size_t index,
                                                struct upmu_openmp_thread *out);

/** A construct within regions: barrier, critical section, lock, loop, task, ... of all threads. */
struct upmu_openmp_construct {
    size_t size;          /**< in: sizeof(struct upmu_openmp_construct); out: bytes filled */
    size_t process;       /**< index for upmu_openmp_process_at() */
    size_t region;        /**< index for upmu_openmp_region_at(), of its first use; SIZE_MAX: outside of regions */
    uint64_t site;        /**< of the construct, for upmu_overview_symbol_at() */
    uint32_t construct;   /**< enum upmu_omp_construct */
    uint32_t reserved;    /**< 0 */
    uint64_t count;       /**< executions by a thread; of a task: how often it was created */
    uint64_t ns;          /**< waits for it; of work-sharing constructs and tasks the time within */
    uint64_t max_ns;      /**< the longest of these */
    uint64_t held_ns;     /**< of criticals, locks and the like: from the acquisition to the release */
    uint64_t max_held_ns; /**< the longest of these */
};
#define UPMU_OPENMP_CONSTRUCT_SIZE_V1 UPMU_SIZE_V1_(struct upmu_openmp_construct, 80)
/** Construct `index`, by process, then by `ns`, the longest first. */
UPMU_API UPMU_CHECKED int upmu_openmp_construct_at(const struct upmu_openmp *openmp, size_t index,
                                                   struct upmu_openmp_construct *out);

/** Waits of a region, of its member `member` (SIZE_MAX: of all), or of a thread, at `construct` (enum upmu_omp_construct). 0 past
 *  the last entry. */
UPMU_API uint64_t upmu_openmp_region_wait_ns(const struct upmu_openmp *openmp, size_t region, size_t member,
                                             uint32_t construct);
UPMU_API uint64_t upmu_openmp_thread_wait_ns(const struct upmu_openmp *openmp, size_t thread, uint32_t construct);

/** Length of the name of the function around a construct, in the name of the function that a compiler has made of its body: 5 of
 *  "solve._omp_fn.0"; 0: it has none, as ".omp_outlined..7"; of any other function, of all of its name. NULL: 0. Thread safe. */
UPMU_API size_t upmu_openmp_host_length(const char *function);

UPMU_END_DECLS

#endif
