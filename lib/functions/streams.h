/* SPDX-License-Identifier: MIT */
/** @file Events of one thread: blocks of its file as calls and returns in proper nesting. */
#ifndef UPMU_FUNCTIONS_STREAMS_H
#define UPMU_FUNCTIONS_STREAMS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "func/format/layout.h"

/** A call that has not returned. */
struct stream_call {
    uint32_t node;
    uint64_t begin_raw_ns;
};

/** What the next event is. */
struct stream_event {
    uint64_t raw_ns, begin_raw_ns;
    uint32_t row, depth, tid;
    bool leaves, inferred;
};

/** A thread's events, and how far they are read. */
struct functions_stream {
    char *path;
    uint32_t pid, first_tid;
    uint64_t begin_tick, begin_raw_ns, end_tick; /**< end 0: not known */
    uint64_t from_raw_ns, to_raw_ns;             /**< of the stretch; all times without one */
    uint64_t offset_ns;                          /**< of event times to CLOCK_MONOTONIC_RAW; 0 without a stretch */
    double ns_per_tick;
    int64_t inner_ns, outer_ns; /**< the recorder's own cost of a call, in its time and in its caller's */
    uint32_t *rows;             /**< function of each node, UINT32_MAX: none */
    uint32_t *parents;          /**< node that calls each node */
    uint32_t n_nodes;
    uint64_t first_block, blocks, in_ring; /**< in_ring: blocks of the file; 0: it is read in order */
    uint64_t last_bytes;                   /**< of the last block */
    bool one_leaf;                         /**< of FUNC_VERSION_ONE_LEAF */
    /* Reading: */
    uint64_t block; /**< read so far */
    uint64_t *words;
    size_t n, at;
    uint64_t high, tick, word;
    uint64_t leaf, leaf_tick; /**< the return of a call that has one word for both; 0: none */
    uint32_t tid, next_tid;
    struct stream_call *stack;
    size_t depth, cap;
    size_t closing; /**< calls that end now, without an event */
    uint32_t *opening;
    size_t n_opening; /**< nodes that begin now, the outermost last */
    bool begun, ended;
};

/** Where the events of a valid tree are. @return whether it has any. */
bool stream_locate(struct functions_stream *s, const struct func_tree *t);
/** Bytes of events. */
uint64_t stream_bytes(const struct functions_stream *s);
/** Read from the first event on. @return 0; UPMU_E_NOMEM. */
int stream_begin(struct functions_stream *s);
/** @return 0; UPMU_E_END; UPMU_E_IO; UPMU_E_NOMEM. */
int stream_next(struct functions_stream *s, struct stream_event *out);
void stream_free(struct functions_stream *s);

#endif
