/* SPDX-License-Identifier: MIT */
/**
 * @file
 * Reader of the events of one stream file.
 *
 * No descriptor stays open and nothing is mapped: a recording may have more streams than a process may have open files,
 * and a file that shrinks during reading must cause an error and not a signal.
 */
#ifndef UPMU_TRACE_SOURCE_H
#define UPMU_TRACE_SOURCE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "trace/format/clockmap.h"
#include "trace/read/context.h"
#include "trace/read/decode.h"
#include "trace/read/meta.h"
#include "trace/read/packets.h"
#include "upmu/trace.h"

struct source {
    const struct meta *meta;
    struct context *context; /**< of the process: gets the stacks and modules; NULL: they are ignored */
    const char *path;
    uint32_t process;
    uint32_t order;      /**< among the sources, for events of equal time */
    uint64_t ring_bytes; /**< of each packet of a ring; 0: the packets are in the order of the file */
    bool broken;         /**< reading failed: not read again */
    uint64_t missed;     /**< packets of a ring that were overwritten before they were read */
    bool over;           /**< the file is gone or unreadable: no more events */
    bool ahead;          /**< of the records that are not events, only modules are kept */
    bool has_packet;
    bool names;     /**< the current packet follows a gap: its thread's name, whose event may be lost, is an event */
    bool has_grown; /**< the current packet, since its begin was read, or the last end for now */
    struct packet packet;
    uint8_t *data; /**< content of the packet */
    size_t capacity;
    struct decode_cursor cursor;
    uint64_t decoded;   /**< events of this packet so far */
    uint64_t floor;     /**< tick of the last event: the least begin of the next packet */
    struct decoded now; /**< the current event */
    bool has_last;      /**< the record is several events, and this one is the last of them */
    struct upmu_trace_event last;
    struct clock_steps clock;
    struct upmu_value *values;
};

/** Initialize the source of stream file `path` of a process; `order`: see struct source. `meta`, `context` and `path` must live as
 *  long as the source. @return 0; UPMU_E_NOMEM. */
int source_init(struct source *s, const struct meta *meta, struct context *context, const char *path, uint32_t process,
                uint32_t order);
/** Read the next event into s->now.event, and keep the stacks and modules before it. @return 1; 0 at the end; UPMU_E_FORMAT, UPMU_E_IO, UPMU_E_NOMEM. */
int source_next(struct source *s);
/** Keep the modules recorded between the current event of the source and `tick`, without a change of the source. */
void source_read_ahead(const struct source *s, uint64_t tick);
void source_free(struct source *s);

/** Count the events of a packet by decoding them. @return 0 or -errno. Damage ends the count. */
int source_count(int fd, const struct packet *p, const struct meta *m, uint64_t *events);

#endif
