/* SPDX-License-Identifier: MIT */
/**
 * @file
 * CTF metadata of a stream.
 *
 * The layout comes from the trace, the meaning from schema.c by name: unknown fields and classes of a newer minor version
 * are skipped, fields that an older one lacks are absent.
 */
#ifndef UPMU_TRACE_META_H
#define UPMU_TRACE_META_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/clock.h"
#include "trace/format/clockmap.h"
#include "trace/format/ctf.h"
#include "trace/format/schema.h"

enum {
    META_BYTES_MAX = 16 * 1024 * 1024,
    META_COUNTERS_MAX = 256,
    META_CLASSES_MAX = 1024,
    META_ARRAY_MAX = 65536,
    META_ITEMS_MAX = 65536, /**< fields of all events, and entries of env */
};

/** One step of decoding: `count` items of `type`, stored to `slot`, the first for counter `first`. */
struct meta_op {
    enum schema_type type;
    enum schema_slot slot;
    bool sequence; /**< its length is the number of the step before */
    uint32_t first;
    uint32_t count;
    uint32_t step; /**< of one item per counter: bytes of an item; else 0 */
    /* A run: numbers with no string or sequence between them. */
    size_t at;        /**< of a number: its offset in the run */
    size_t run_bytes; /**< of the first number of a run: bytes of the run; else 0 */
};

/** A class of events. */
struct meta_class {
    bool defined;
    bool readable; /**< defined, and every type is known, so that its events can at least be skipped */
    bool has_raw;
    bool has_values;     /**< some field is the value of a counter */
    bool whole;          /**< all that is known of each counter is in the event, or follows from its status */
    bool named;          /**< a name, then `packed` counters */
    bool fixed;          /**< single numbers only, none of counters: at most one run */
    int32_t kind;        /**< enum upmu_trace_kind or schema_kind, 0 = not known here */
    int32_t object_type; /**< if no field has it */
    uint32_t flags;      /**< likewise */
    size_t n_ops;
    size_t first_op; /**< in meta.ops */
    size_t
        packed; /**< how many of the ops precede those of packed counters, which are the last; 0: they are not packed */
};

struct meta {
    uint8_t uuid[CTF_UUID_BYTES];
    int32_t pid;
    const char *host;
    const char *command;
    const char *kernel;
    uint64_t start_ns;
    const char *sched_note; /**< "" if there is none */
    const char *futex_note; /**< likewise */
    const char *snapshot;   /**< why it was taken, of a snapshot; else "" */
    bool complete;
    uint32_t stopped;           /**< enum control_stopped; not set for a killed process, whose control file has it */
    uint64_t packets;           /**< least number of packets with events in growing files; 0: not recorded */
    uint64_t ring_bytes;        /**< of each packet of a ring; 0: files are in order */
    bool portable_clock;        /**< ticks are nanoseconds: nothing to fit */
    struct clock_triple origin; /**< of one point of the reference: that point */
    struct clock_reference reference;
    struct clock_map clock;
    char clock_uuid[37];
    size_t clock_begin, clock_end; /**< range of the clock block in the text */
    size_t n_counters;
    const char **counters; /**< names */
    size_t n_classes;
    struct meta_class *classes; /**< by id */
    struct meta_op *ops;
    char *strings; /**< storage of the strings above */
};

/**
 * Parse `text`; `name` is for messages.
 * @return 0; UPMU_E_FORMAT, UPMU_E_VERSION, UPMU_E_NOMEM (message set). After a failure there is nothing to free.
 */
int meta_parse(struct meta *m, const char *text, size_t len, const char *name);
void meta_free(struct meta *m);

#endif
