/* SPDX-License-Identifier: MIT */
/**
 * @file
 * Heap of a recording: bytes allocated, live and at the peak, by call path, from sampled allocations (upmu record --heap).
 * Link with libupmu_analysis.
 *
 *     struct upmu_heap *h;
 *     struct upmu_heap_path p = UPMU_INIT(struct upmu_heap_path);
 *     if (upmu_heap_open(&h, "DIR") < 0)
 *         fprintf(stderr, "%s\n", upmu_error());
 *     for (size_t i = 0; upmu_heap_path_at(h, i, &p) == 0; i++)
 *         printf("%" PRIu64 "\n", p.peak_bytes);
 *     upmu_heap_close(h);
 *
 * A sample stands for the bytes allocated since the sample before, so all numbers but those of samples are estimates: the relative
 * standard deviation of a sum of n samples is 1 / sqrt(n). Functions that fill a struct take its `size` from the caller and return 0;
 * UPMU_E_END past the last entry; UPMU_E_INVAL if an argument is NULL or `size` is too small. One object may be used by one thread at
 * a time; no function here is async-signal-safe.
 */
#ifndef UPMU_HEAP_H
#define UPMU_HEAP_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "upmu/api.h"
#include "upmu/upmu.h"

UPMU_BEGIN_DECLS

/** The heap of a recording. */
struct upmu_heap;

/**
 * Read the sampled allocations of a recording. A recording that is still being written is read as it is now.
 * @param heap out: to be closed with upmu_heap_close(); NULL on failure
 * @param dir  path of the directory
 * @return 0; UPMU_E_STATE (there is none); UPMU_E_IO; UPMU_E_FORMAT, UPMU_E_VERSION; UPMU_E_INVAL (NULL); UPMU_E_NOMEM.
 */
UPMU_API UPMU_CHECKED int upmu_heap_open(struct upmu_heap **heap, const char *dir);

/**
 * As upmu_heap_open(), of a stretch: allocations in it, blocks live at its end (or that of the process, if it ends before), and the
 * peak within. A block allocated before is live in it until it is freed, unless the event of its allocation was overwritten or
 * lost. Processes and paths without a part in it are left out.
 * @param from_ns begin, nanoseconds since 1970; 0: the begin of the recording
 * @param to_ns   end; 0: the end of the recording
 * @return as upmu_heap_open(); UPMU_E_STATE (no process with samples runs in it); UPMU_E_INVAL (it ends before it begins).
 */
UPMU_API UPMU_CHECKED int upmu_heap_open_between(struct upmu_heap **heap, const char *dir, uint64_t from_ns,
                                                 uint64_t to_ns);

/** Close and free; NULL does nothing. */
UPMU_API void upmu_heap_close(struct upmu_heap *heap);

/** A process. */
struct upmu_heap_process {
    size_t size;               /**< in: sizeof(struct upmu_heap_process); out: bytes filled */
    uint64_t process;          /**< its index in upmu_overview_process_at() */
    uint64_t period;           /**< mean number of bytes between two samples */
    uint64_t samples;          /**< sampled allocations */
    uint64_t allocated_bytes;  /**< of all allocations */
    uint64_t allocated_blocks; /**< their number */
    uint64_t live_bytes;       /**< not freed at the end of the recording or stretch */
    uint64_t live_blocks;      /**< their number */
    uint64_t peak_bytes;       /**< most bytes live at one time */
    uint64_t peak_ns;          /**< that time, nanoseconds since 1970 */
    uint64_t strays; /**< blocks that were freed whose allocation is not in the recording: it was overwritten or lost */
    pid_t pid;       /**< its id */
    uint32_t reserved; /**< 0 */
};
#define UPMU_HEAP_PROCESS_SIZE_V1 UPMU_SIZE_V1_(struct upmu_heap_process, 96)
/** Process `i`, by falling peak. */
UPMU_API UPMU_CHECKED int upmu_heap_process_at(const struct upmu_heap *heap, size_t i, struct upmu_heap_process *out);

/** What one call path has allocated. */
struct upmu_heap_path {
    size_t size;               /**< in: sizeof(struct upmu_heap_path); out: bytes filled */
    uint64_t process;          /**< its index in upmu_overview_process_at() */
    uint64_t site;             /**< where the function of malloc()'s family was called */
    uint64_t samples;          /**< sampled allocations */
    uint64_t allocated_bytes;  /**< of all its allocations */
    uint64_t allocated_blocks; /**< their number */
    uint64_t live_bytes;       /**< not freed at the end of the recording or stretch */
    uint64_t live_blocks;      /**< their number */
    uint64_t peak_bytes;       /**< its bytes live at the time of the process's peak */
    uint32_t stack;            /**< call stack, for upmu_overview_frame_at(); 0: none, `site` is all that is known */
    uint32_t reserved;         /**< 0 */
};
#define UPMU_HEAP_PATH_SIZE_V1 UPMU_SIZE_V1_(struct upmu_heap_path, 80)
/** Path `i`, by falling `peak_bytes`, then `allocated_bytes`. */
UPMU_API UPMU_CHECKED int upmu_heap_path_at(const struct upmu_heap *heap, size_t i, struct upmu_heap_path *out);

UPMU_END_DECLS

#endif
