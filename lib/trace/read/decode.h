/* SPDX-License-Identifier: MIT */
/** @file Decoding of events. */
#ifndef UPMU_TRACE_DECODE_H
#define UPMU_TRACE_DECODE_H

#include <stddef.h>
#include <stdint.h>

#include "trace/read/meta.h"
#include "upmu/trace.h"

/** Cost of events on the recording machine, in picoseconds; all 0: not recorded. */
struct context_cost {
    uint64_t full, compact, stack;
};

/** A position in the content of a packet. */
struct decode_cursor {
    const uint8_t *pos;
    const uint8_t *end;
    uint64_t tick; /**< of the previous event; at the start of a packet, of its begin */
};

/** An event, two of MPI, a stack or a module. Pointers go into the bytes decoded. */
struct decoded {
    struct upmu_trace_event event;
    uint32_t method;
    uint32_t truncated;
    uint32_t n_frames;
    const uint8_t *frames; /**< n_frames times 8 bytes, unaligned; of a stack, or further requests of MPI */
    uint64_t base, start, end;
    const char *build_id;
    struct context_cost cost;
    uint64_t mpi_begin;                 /**< tick at which the MPI call began */
    uint32_t mpi_made;                  /**< MPI call that made the request */
    int32_t mpi_source, mpi_source_tag; /**< of what MPI_Sendrecv() has received */
    uint64_t mpi_received;
};

/**
 * Decode one event and advance. `out->event` gets all fields of the class, zeros for the rest, `holder_since` as a tick;
 * its `time_ns`, `process`, `pid` and `tid` are left alone. `values` (meta.n_counters of them) are filled if the class has
 * any. An unknown class gives kind 0; stacks and modules give enum schema_kind.
 * @return NULL, or the damage found; then the cursor is invalid.
 */
const char *decode_event(const struct meta *m, struct decode_cursor *c, struct decoded *out, struct upmu_value *values);

#endif
