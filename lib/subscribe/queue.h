/* SPDX-License-Identifier: MIT */
/** @file Bounded queue of copied events. Not thread safe. */
#ifndef UPMU_SUBSCRIBE_QUEUE_H
#define UPMU_SUBSCRIBE_QUEUE_H

#include <stdbool.h>
#include <stddef.h>

#include "upmu/trace.h"

/** A copied event; `name` and `values` are in `data`. */
struct queue_event {
    struct upmu_trace_event event;
    void *data; /**< NULL: the event has neither */
};

struct queue {
    struct queue_event *events; /**< grows up to `max` */
    size_t cap, max;
    size_t first, n;
};

/** Add a copy. @return 1; 0: the queue is full; UPMU_E_NOMEM. */
int queue_put(struct queue *q, const struct upmu_trace_event *event);
/** Take the oldest one; its data belong to the caller. @return false: there is none. */
bool queue_take(struct queue *q, struct queue_event *out);
void queue_free(struct queue *q);

#endif
