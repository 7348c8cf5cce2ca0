/* SPDX-License-Identifier: MIT */
/**
 * @file
 * Sampling of the calling thread by itself: a function of the program is called each time an event has counted a period.
 *
 *     static void on_overflow(const struct upmu_overflow_sample *s, void *counts)
 *     {
 *         histogram_add(counts, s->pc);
 *     }
 *
 *     struct upmu_overflow *o;
 *     struct upmu_overflow_opts opts = {.size = sizeof opts, .event = "cycles", .period = 1000000,
 *                                       .callback = on_overflow, .arg = counts};
 *     int rc = upmu_overflow_open(&o, &opts);
 *     if (rc == 0)
 *         rc = upmu_overflow_start(o);
 *     work();
 *     upmu_overflow_stop(o);
 *     upmu_overflow_close(o);
 *
 * The kernel sends the thread a real-time signal at each overflow, and the function is called in its handler: it may only call
 * what is async-signal-safe, must return, and finds errno restored. The handler is set at the first upmu_overflow_open(), for a
 * signal that the program does not use, and stays. Other threads are sampled by objects of their own.
 *
 * An event stops at its overflow until the function has returned, so that signals cannot pile up, and the function itself is not
 * sampled. If perf_event is not available, a clock (task-clock, cpu-clock) is replaced by a timer of the thread's CPU time: it
 * continues during the function, and expires at ticks of the kernel, 100 to 1000 a second; `events` has what the call stands for.
 *
 * An object is for the thread that opened it, which closes it before it ends. Before execve() stop it: a signal that is pending
 * then would end the new program. upmu/sampler.h samples whole programs, with call stacks.
 */
#ifndef UPMU_OVERFLOW_H
#define UPMU_OVERFLOW_H

#include <stddef.h>
#include <stdint.h>

#include "upmu/api.h"
#include "upmu/upmu.h"

UPMU_BEGIN_DECLS

/** An event of a thread that calls a function. */
struct upmu_overflow;

/** What the function is called for. Valid during the call. */
struct upmu_overflow_sample {
    size_t size;                    /**< bytes filled */
    struct upmu_overflow *overflow; /**< the object */
    uint64_t pc;     /**< address of the interrupted instruction; 0 if it is unknown on this instruction set */
    uint64_t events; /**< counted since the call before: the period; of a timer, all periods that have expired */
    void *context;   /**< ucontext_t with the registers of the interrupted code */
};
#define UPMU_OVERFLOW_SAMPLE_SIZE_V1 UPMU_SIZE_V1_(struct upmu_overflow_sample, 40)

/** Options. */
struct upmu_overflow_opts {
    size_t size;       /**< sizeof(struct upmu_overflow_opts) */
    const char *event; /**< name of an event that counts tasks; NULL: task-clock */
    uint64_t period;   /**< events per call, at least 1; of clocks nanoseconds, at least 10,000 */
    /** Called in a signal handler of the thread, with all other signals but those of faults blocked; not NULL. It may call
     *  upmu_overflow_stop() and upmu_overflow_info_read(). */
    void (*callback)(const struct upmu_overflow_sample *sample, void *arg);
    void *arg; /**< its second argument */
};
#define UPMU_OVERFLOW_OPTS_SIZE_V1 UPMU_SIZE_V1_(struct upmu_overflow_opts, 40)

/** How overflows are noticed. */
enum upmu_overflow_source {
    UPMU_OVERFLOW_PERF = 1,  /**< an event of perf_event */
    UPMU_OVERFLOW_TIMER = 2, /**< a timer of the thread's CPU time */
};

/** State of an object. Strings are valid until it is closed. */
struct upmu_overflow_info {
    size_t size;        /**< in: sizeof(struct upmu_overflow_info); out: bytes filled */
    const char *event;  /**< canonical name of the event */
    const char *reason; /**< why a timer is used instead of perf_event; "" if it is not */
    uint64_t period;    /**< events per call */
    uint64_t calls;     /**< calls of the function so far */
    uint64_t events;    /**< events of these calls together */
    uint64_t count;     /**< what the event has counted while started; for timers the CPU time */
    int32_t source;     /**< enum upmu_overflow_source */
    int32_t signal;     /**< number of the signal */
    uint32_t user_only; /**< 1: kernel mode is not counted: the kernel does not permit it */
    uint32_t reserved;  /**< 0 */
};
#define UPMU_OVERFLOW_INFO_SIZE_V1 UPMU_SIZE_V1_(struct upmu_overflow_info, 72)

/**
 * Prepare calls for an event of the calling thread. They begin with upmu_overflow_start().
 * @param overflow out: to be closed with upmu_overflow_close(); NULL on failure
 * @param opts     not used after the call
 * @return 0; UPMU_E_NAME (event); UPMU_E_UNSUPPORTED (absent on this CPU, a sum of several events, or one that does not overflow:
 *         the message has the cause); UPMU_E_PERM, UPMU_E_SECCOMP, UPMU_E_NO_SYSCALL, UPMU_E_NO_PMU (not available here, and the
 *         event is no clock); UPMU_E_NFILES; UPMU_E_LIMIT (the program uses all real-time signals); UPMU_E_INVAL (NULL, `opts`);
 *         UPMU_E_NOMEM; UPMU_E_SYSTEM. Thread safe, not async-signal-safe.
 */
UPMU_API UPMU_CHECKED int upmu_overflow_open(struct upmu_overflow **overflow, const struct upmu_overflow_opts *opts);

/**
 * Begin or continue to count and call.
 * @return 0, also if it is started; UPMU_E_STATE (another thread or a forked child; the thread blocks the signal, or the program
 *         has set another handler for it); UPMU_E_INVAL (NULL); UPMU_E_SYSTEM. Not async-signal-safe.
 */
UPMU_API UPMU_CHECKED int upmu_overflow_start(struct upmu_overflow *overflow);

/**
 * Stop. There are no calls after it has returned.
 * @return 0, also if it is stopped; UPMU_E_STATE (another thread or a forked child); UPMU_E_INVAL (NULL). Async-signal-safe, and
 *         then sets no message.
 */
UPMU_API int upmu_overflow_stop(struct upmu_overflow *overflow);

/** Read the state. @return 0; UPMU_E_STATE (another thread or a forked child); UPMU_E_INVAL (NULL, size). Async-signal-safe if it
 *  succeeds. */
UPMU_API UPMU_CHECKED int upmu_overflow_info_read(const struct upmu_overflow *overflow,
                                                  struct upmu_overflow_info *info);

/** Stop and free; NULL does nothing. In a forked child it frees the child's copy. Not in the callback, not async-signal-safe.
 *  @return 0; UPMU_E_STATE (another thread: nothing is freed). */
UPMU_API int upmu_overflow_close(struct upmu_overflow *overflow);

UPMU_END_DECLS

#endif
