/* SPDX-License-Identifier: MIT */
/**
 * @file
 * Sampling of other processes: where their threads spend CPU time, or where events of the CPU or kernel occur, with call stacks.
 * Link with libupmu_analysis; `upmu record -F` has the same on the command line. upmu/samples.h reads the result.
 *
 *     struct upmu_sampler *s;
 *     struct upmu_sampler_opts opts = {.size = sizeof opts, .frequency = 999};
 *     int rc = upmu_sampler_open(&s, "DIR", &opts);
 *     if (rc == 0)
 *         rc = upmu_sampler_attach(s, pid, UPMU_SAMPLER_RUNNING);
 *     while (rc == 0 && !over)
 *         sleep_ms(upmu_sampler_drain(s));
 *     upmu_sampler_close(s, NULL);
 *
 * The kernel takes the samples and puts them in rings of this process; nothing runs in the sampled processes. Threads and child
 * processes that are created later are sampled, too. A sampler may be used by one thread at a time; no function here is
 * async-signal-safe.
 */
#ifndef UPMU_SAMPLER_H
#define UPMU_SAMPLER_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "upmu/api.h"
#include "upmu/upmu.h"

UPMU_BEGIN_DECLS

/** A recording of samples. */
struct upmu_sampler;

/** Call stacks of samples. */
enum upmu_sampler_stacks {
    UPMU_SAMPLER_FRAME_POINTERS = 0, /**< by the kernel, along frame pointers: complete only in code that has them */
    UPMU_SAMPLER_COPY = 1,           /**< a copy of the top of the stack, unwound when it is read: x86-64 and arm64 */
    UPMU_SAMPLER_NONE = 2,           /**< the sampled address only */
};

/** Options; NULL or all zero but `size`: 999 samples per second of CPU time, with frame pointers. */
struct upmu_sampler_opts {
    size_t size; /**< sizeof(struct upmu_sampler_opts) */
    /** Name of an event that counts tasks; NULL: task-clock. "uprobe:FILE:FUNCTION": calls of functions of a program or library,
     *  of which every one is a sample unless `frequency` or `period` is set; "uprobe-time:FILE:FUNCTION": with the time until each
     *  returns. FUNCTION may have *, ? and [ ] as patterns of file names. Both need CAP_PERFMON. */
    const char *event;
    uint64_t frequency;   /**< samples per second in which the event runs, 1 to 100,000; excludes `period` */
    uint64_t period;      /**< events per sample; of task-clock nanoseconds, at least 10,000 */
    int32_t stacks;       /**< enum upmu_sampler_stacks */
    uint32_t stack_bytes; /**< of each copied stack, 512 to 65,528, a multiple of 8; 0: 8,192 */
    size_t ring_bytes; /**< memory of each CPU's ring; 0: 512 KiB, with copies 2 MiB. Less if the limits allow less */
};
#define UPMU_SAMPLER_OPTS_SIZE_V1 UPMU_SIZE_V1_(struct upmu_sampler_opts, 48)

/**
 * Create the samples file in a directory, and test whether the kernel samples the event for this user.
 * @param sampler out: to be closed with upmu_sampler_close(); NULL on failure
 * @param dir     directory of a recording; it exists, and has no samples yet
 * @param opts    may be NULL; not used after the call
 * @return 0; UPMU_E_PERM, UPMU_E_SECCOMP, UPMU_E_NO_SYSCALL, UPMU_E_NO_PMU, UPMU_E_UNSUPPORTED (the event, or its sampling, is
 *         not available; the message has the cause); UPMU_E_NAME (event); UPMU_E_MLOCK; UPMU_E_IO (the file); UPMU_E_INVAL
 *         (NULL, `opts`); UPMU_E_NOMEM; UPMU_E_SYSTEM.
 */
UPMU_API UPMU_CHECKED int upmu_sampler_open(struct upmu_sampler **sampler, const char *dir,
                                            const struct upmu_sampler_opts *opts);

/** When sampling begins. */
enum upmu_sampler_begin {
    UPMU_SAMPLER_AT_EXEC = 1, /**< when the process, which has one thread, executes its program */
    UPMU_SAMPLER_RUNNING = 2, /**< now: all its threads */
};

/**
 * Sample a process, and the threads and processes it creates from then on; not the child processes that it has already.
 * @param begin enum upmu_sampler_begin
 * @return 0; UPMU_E_GONE (no such process); UPMU_E_PERM (process of another user); UPMU_E_NFILES (one descriptor per thread and
 *         CPU is needed); UPMU_E_MLOCK; UPMU_E_INVAL (NULL, `begin`); UPMU_E_NOMEM; UPMU_E_SYSTEM. After a failure a part of the
 *         threads may be sampled: close the sampler.
 */
UPMU_API UPMU_CHECKED int upmu_sampler_attach(struct upmu_sampler *sampler, pid_t pid, int begin);

/**
 * Write what is in the rings to the file.
 * @return milliseconds after which to call it again, 1 to 100, by the rate at which the rings fill up; UPMU_E_IO (the file could
 *         not be written; what could not is counted); UPMU_E_INVAL (NULL).
 */
UPMU_API int upmu_sampler_drain(struct upmu_sampler *sampler);

/** Numbers about a recording of samples. */
struct upmu_sampler_result {
    size_t size;        /**< in: sizeof(struct upmu_sampler_result); out: bytes filled */
    uint64_t samples;   /**< samples written */
    uint64_t lost;      /**< samples lost because a ring was full */
    uint64_t unwritten; /**< bytes that could not be written */
    uint64_t count;     /**< the event's count in all sampled threads; of task-clock nanoseconds */
};
#define UPMU_SAMPLER_RESULT_SIZE_V1 UPMU_SIZE_V1_(struct upmu_sampler_result, 40)

/**
 * End sampling, write the rest and free the sampler; NULL does nothing.
 * @param result may be NULL
 * @return 0; UPMU_E_IO (a part could not be written); UPMU_E_INVAL (size of `result`). The sampler is freed in each case.
 */
UPMU_API int upmu_sampler_close(struct upmu_sampler *sampler, struct upmu_sampler_result *result);

UPMU_END_DECLS

#endif
