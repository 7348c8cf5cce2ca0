/* SPDX-License-Identifier: MIT */
/* Batches of events for upmu_trace_read(). */
#include "trace/read/batch.h"

#include <stdalign.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"

enum { BATCH_EVENTS_MAX = 4096, BATCH_BYTES = 256 * 1024 };

static size_t aligned(size_t bytes)
{
    return (bytes + alignof(struct upmu_value) - 1) & ~(alignof(struct upmu_value) - 1);
}

static int batch_no_memory(size_t bytes)
{
    return upmu_fail(UPMU_E_NOMEM, "out of memory for %zu bytes of events", bytes);
}

int batch_begin(struct batch *b, size_t n)
{
    b->used = b->used_bytes = 0;
    b->n_events = n < BATCH_EVENTS_MAX ? n : BATCH_EVENTS_MAX;
    if (b->n_events <= b->cap_events)
        return 0;
    struct upmu_trace_event *events = reallocarray(b->events, b->n_events, sizeof *events);
    if (!events)
        return batch_no_memory(b->n_events * sizeof *events);
    b->events = events;
    b->cap_events = b->n_events;
    return 0;
}

static int batch_grow(struct batch *b, size_t bytes)
{
    size_t all = bytes > BATCH_BYTES ? bytes : BATCH_BYTES;
    char *grown = realloc(b->bytes, all);
    if (!grown)
        return batch_no_memory(all);
    b->bytes = grown;
    b->n_bytes = all;
    return 0;
}

static const void *batch_copy(struct batch *b, const void *from, size_t bytes)
{
    void *to = memcpy(b->bytes + b->used_bytes, from, bytes);
    b->used_bytes += aligned(bytes);
    return to;
}

int batch_add(struct batch *b, const struct upmu_trace_event *e, const struct upmu_trace_event **copy)
{
    size_t name = e->name[0] ? strlen(e->name) + 1 : 0, values = e->n_values * sizeof *e->values;
    size_t bytes = aligned(name) + aligned(values);
    if (bytes > b->n_bytes - b->used_bytes) {
        if (b->used > 0) /* they point into the bytes */
            return 0;
        int rc = batch_grow(b, bytes);
        if (rc != 0)
            return rc;
    }
    struct upmu_trace_event *to = &b->events[b->used++];
    *to = *e;
    to->name = name ? batch_copy(b, e->name, name) : "";
    to->values = values ? batch_copy(b, e->values, values) : NULL;
    *copy = to;
    return 1;
}

void batch_free(struct batch *b)
{
    free(b->events);
    free(b->bytes);
}
