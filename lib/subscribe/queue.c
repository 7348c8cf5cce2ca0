/* SPDX-License-Identifier: MIT */
/* Bounded queue of copied events: a ring that grows up to its limit. */
#include "subscribe/queue.h"

#include <stdlib.h>
#include <string.h>

#include "base/error.h"

/* Grows the ring; its events move to the front. */
static bool queue_grow(struct queue *q)
{
    size_t cap = q->cap ? 2 * q->cap : 64;
    cap = cap < q->max ? cap : q->max;
    struct queue_event *all = calloc(cap, sizeof *all);
    if (!all)
        return false;
    for (size_t i = 0; i < q->n; i++)
        all[i] = q->events[(q->first + i) % q->cap];
    free(q->events);
    q->events = all;
    q->cap = cap;
    q->first = 0;
    return true;
}

static bool queue_copy(struct queue_event *to, const struct upmu_trace_event *event)
{
    size_t values = event->n_values * sizeof *event->values, name = event->name[0] ? strlen(event->name) + 1 : 0;
    *to = (struct queue_event){.event = *event};
    to->event.name = "";
    to->event.values = NULL;
    if (values + name == 0)
        return true;
    char *data = malloc(values + name);
    if (!data)
        return false;
    to->data = data;
    if (values) {
        memcpy(data, event->values, values);
        to->event.values = (const struct upmu_value *)to->data;
    }
    if (name) {
        memcpy(data + values, event->name, name);
        to->event.name = data + values;
    }
    return true;
}

int queue_put(struct queue *q, const struct upmu_trace_event *event)
{
    if (q->n == q->max)
        return 0;
    if ((q->n == q->cap && !queue_grow(q)) || !queue_copy(&q->events[(q->first + q->n) % q->cap], event))
        return upmu_fail(UPMU_E_NOMEM, "out of memory while queueing events");
    q->n++;
    return 1;
}

bool queue_take(struct queue *q, struct queue_event *out)
{
    if (q->n == 0)
        return false;
    *out = q->events[q->first];
    q->first = (q->first + 1) % q->cap;
    q->n--;
    return true;
}

void queue_free(struct queue *q)
{
    struct queue_event e;
    while (queue_take(q, &e))
        free(e.data);
    free(q->events);
    *q = (struct queue){0};
}
