/* SPDX-License-Identifier: MIT */
/**
 * @file
 * Subscription to a recording while it is written, for profilers that embed libupmu: sums of waits at an interval, and events in
 * a queue of a fixed length. The recording is that of the calling process, or of any other one. A thread of the subscription
 * reads the growing trace, so that the recorded threads have no further cost, wait for nothing, and lose no event because
 * of a slow subscriber. With UPMU_TRACE_MEMORY as the directory of its recording, the program writes nothing to disk. Link with
 * libupmu_analysis.
 *
 *     struct upmu_subscription_opts opts = {.size = sizeof opts, .queue = 10000};
 *     struct upmu_subscription *s;
 *     const struct upmu_trace_event *events[64];
 *     int n = upmu_subscription_open(&s, &opts);
 *     while (n >= 0 && running) {
 *         n = upmu_subscription_read(s, events, 64, 1000);
 *         for (int i = 0; i < n; i++)
 *             show(events[i]);
 *     }
 *     upmu_subscription_close(s);
 *
 * The thread of the subscription is part of a recording of its own process, as the thread "upmu-subscribe"; its events are not
 * in the queue. No function here is async-signal-safe. In a forked child a subscription of the parent must not be used.
 */
#ifndef UPMU_SUBSCRIPTION_H
#define UPMU_SUBSCRIPTION_H

#include <stddef.h>
#include <stdint.h>

#include "upmu/api.h"
#include "upmu/monitor.h"
#include "upmu/trace.h"

UPMU_BEGIN_DECLS

/** A subscription. */
struct upmu_subscription;

/** upmu_subscription_opts.queue: no events. */
#define UPMU_SUBSCRIPTION_NO_EVENTS UINT32_MAX

/** Options of upmu_subscription_open(); NULL or all zero but `size`: events of the calling process, no sums. */
struct upmu_subscription_opts {
    size_t size;          /**< sizeof(struct upmu_subscription_opts) */
    const char *dir;      /**< directory of the recording; NULL: that of the calling process */
    uint32_t interval_ms; /**< time between two readings of the trace, milliseconds; 0: 100 */
    uint32_t queue;       /**< events kept until they are read, at most 1 << 24; newer ones are dropped; 0: 4096 */
    /** Which events get into the queue; NULL: all. It is not used after the call. */
    const struct upmu_trace_filter_opts *filter;
    /** Called by the thread of the subscription after each reading, with the sums of waits (upmu/monitor.h), valid during the
     *  call; NULL: no sums. It may take any time and lock anything, but must not close the subscription. */
    void (*update)(void *arg, struct upmu_monitor *monitor);
    void *arg; /**< first argument of `update` */
};
#define UPMU_SUBSCRIPTION_OPTS_SIZE_V1 UPMU_SIZE_V1_(struct upmu_subscription_opts, 48)

/**
 * Begin to read a recording. Events from before the call are in the queue, too, as far as they fit.
 * @param subscription out: to be closed with upmu_subscription_close(); NULL on failure
 * @param opts NULL: the defaults; not used after the call
 * @return 0; UPMU_E_STATE (the calling process records nothing), UPMU_E_INVAL (`subscription` is NULL, `opts`; neither events nor sums), UPMU_E_SYSTEM (no thread could
 *         be created), UPMU_E_NOMEM; the errors of upmu_trace_open(). Thread safe.
 */
UPMU_API UPMU_CHECKED int upmu_subscription_open(struct upmu_subscription **subscription,
                                                 const struct upmu_subscription_opts *opts);

/**
 * Take events from the queue, the oldest first, each once.
 * @param events out: array of `n` pointers, of which the first ones are set; the events, with their names and values, are valid
 *        until the next call of upmu_subscription_read() or upmu_subscription_close()
 * @param timeout_ms how long to wait for an event, milliseconds; 0: not at all; -1: without limit
 * @return the number of events; 0: none in that time; UPMU_E_INVAL (NULL, `n` is 0, no queue); the error that ended the
 *         reading of the trace, after the last event: UPMU_E_IO, UPMU_E_FORMAT, UPMU_E_NOMEM. For one thread at a time.
 */
UPMU_API UPMU_CHECKED int upmu_subscription_read(struct upmu_subscription *subscription,
                                                 const struct upmu_trace_event **events, size_t n, int timeout_ms);

/** Numbers about a subscription. */
struct upmu_subscription_totals {
    size_t size;      /**< in: sizeof(struct upmu_subscription_totals); out: bytes filled */
    uint64_t updates; /**< readings of the trace */
    uint64_t events;  /**< events that were put into the queue */
    uint64_t dropped; /**< events that were not, because it was full */
    uint64_t
        missed; /**< packets of rings overwritten before they were read; their events are neither counted nor queued */
    uint64_t damages; /**< streams that were not read completely */
};
#define UPMU_SUBSCRIPTION_TOTALS_SIZE_V1 UPMU_SIZE_V1_(struct upmu_subscription_totals, 48)
/** Read the numbers. @return 0; UPMU_E_INVAL (NULL, size). Thread safe. */
UPMU_API UPMU_CHECKED int upmu_subscription_totals_read(struct upmu_subscription *subscription,
                                                        struct upmu_subscription_totals *out);

/** End the thread of the subscription, after a call of `update` in progress, and free all; NULL does nothing. */
UPMU_API void upmu_subscription_close(struct upmu_subscription *subscription);

UPMU_END_DECLS

#endif
