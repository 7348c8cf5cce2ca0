/* SPDX-License-Identifier: MIT */
/**
 * @file
 * Events out of bytes. Room: trace (reader). Before it: packets.c, which brings the bytes, and meta.c, which says how to
 * read them; after it: reader.c, which puts them into the order of time.
 */
#ifndef UPMU_TRACE_DECODE_H
#define UPMU_TRACE_DECODE_H

#include <stddef.h>
#include <stdint.h>

#include "trace/meta.h"
#include "upmu/trace.h"

/** A position in the content of a packet. */
struct decode_cursor {
    const uint8_t *pos;
    const uint8_t *end;
    uint64_t tick; /**< of the event before; that of the packet's begin at its start */
};

/**
 * Decode one event and move on. `e->name`, `e->kind`, `e->tick` are set; `values` (meta.n_counters of them) are filled and
 * `e->n_values` says whether there are any. A class unknown here gives kind 0.
 * @return NULL, or what is wrong with the bytes; then the cursor is of no more use.
 */
const char *decode_event(const struct meta *m, struct decode_cursor *c, struct upmu_trace_event *e,
                         struct upmu_value *values);

#endif
