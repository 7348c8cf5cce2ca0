/* SPDX-License-Identifier: MIT */
/** @file CTF metadata of a process. */
#ifndef UPMU_TRACE_METADATA_H
#define UPMU_TRACE_METADATA_H

#include <stdint.h>
#include <sys/types.h>

#include "base/clock.h"
#include "trace/format/clockmap.h"
#include "trace/format/ctf.h"
#include "trace/format/schema.h"
#include "trace/write/counter.h"

struct textbuf;

/** Content of the metadata. */
struct metadata {
    uint8_t uuid[CTF_UUID_BYTES]; /**< of this trace */
    char clock_uuid[37];          /**< of the clock: the boot's id */
    pid_t pid;
    char host[65];
    char kernel[200];   /**< release and machine */
    char command[4096]; /**< arguments separated by blanks, cut if longer */
    const char *clock_source;
    uint64_t start_ns; /**< realtime when recording began */
    uint32_t complete;
    uint32_t stopped;     /**< recording ended before the process: enum control_stopped */
    uint64_t packets;     /**< finished ones with events when the process ended, not in rings; 0 before */
    char sched_note[256]; /**< why requested switches are not recorded, or "" */
    char futex_note[256]; /**< why requested futex waits are not counted, or "" */
    size_t ring_bytes;    /**< of each packet of a ring, 0: files grow */
    struct clock_triple origin;
    struct clock_reference reference; /**< the clock of another host, which `clock` follows */
    struct clock_map clock;
    size_t n_counters;
    const struct trace_counter *counters;
    char (*fields)[SCHEMA_FIELD_NAME_MAX]; /**< CTF field name of each counter */
};

/** Fill host, kernel and command from the running process. Missing items are "". */
void metadata_describe_process(struct metadata *m);

/** Write the whole text. */
void metadata_text(struct textbuf *out, const struct metadata *m);

#endif
