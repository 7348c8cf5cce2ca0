/* SPDX-License-Identifier: MIT */
/**
 * @file
 * CTF metadata of a stream.
 *
 * The layout comes from the trace itself, the meaning from schema.c by name: fields and classes that a newer minor
 * version added are passed over, those an older one lacks are simply not there.
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

/** One step of decoding: `count` items of `type`, meant for `slot`, the first for counter `first`. */
struct meta_op {
    enum schema_type type;
    enum schema_slot slot;
    bool array;    /**< one item per counter */
    bool sequence; /**< as many items as the number of the step before says */
    uint32_t first;
    uint32_t count;
    uint32_t at; /**< in an even class: bytes before it */
};

/** A class of events. */
struct meta_class {
    bool defined;
    bool readable; /**< every type is known, so that its events can be passed over at least */
    bool has_raw;
    bool has_values; /**< there is something about counters */
    bool even;       /**< nothing but single numbers, none about counters: every event has `bytes` */
    uint32_t bytes;
    int32_t kind;        /**< enum upmu_trace_kind or schema_kind, 0 = not known here */
    int32_t object_type; /**< where no field says so */
    uint32_t flags;      /**< likewise */
    size_t n_ops;
    size_t first_op; /**< in meta.ops */
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
    bool complete;
    bool stopped;        /**< at its limit; a killed process's control file may know better */
    uint64_t packets;    /**< with events, that the files which grow have at least; 0: not said */
    uint64_t ring_bytes; /**< of each packet of a ring; 0: files are in order */
    bool portable_clock; /**< ticks are nanoseconds: nothing to fit */
    struct clock_triple origin;
    struct clock_map clock;
    char clock_uuid[37];
    size_t clock_begin, clock_end; /**< where the clock block stands in the text */
    size_t n_counters;
    const char **counters; /**< names */
    size_t n_classes;
    struct meta_class *classes; /**< by id */
    struct meta_op *ops;
    char *strings; /**< what the pointers above point into */
};

/**
 * Parse `text`; `name` is for messages.
 * @return 0; UPMU_E_FORMAT, UPMU_E_VERSION, UPMU_E_NOMEM (message set). After a failure there is nothing to free.
 */
int meta_parse(struct meta *m, const char *text, size_t len, const char *name);
void meta_free(struct meta *m);

#endif
