/* SPDX-License-Identifier: MIT */
/** @file Packets of a stream. */
#ifndef UPMU_TRACE_PACKETS_H
#define UPMU_TRACE_PACKETS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "trace/format/ctf.h"
#include "trace/read/meta.h"

enum packet_state {
    PACKET_NONE, /**< the regular end of the file */
    PACKET_GOOD,
    PACKET_UNFINISHED, /**< nothing is committed from here on: partly initialized, or only zeros */
    PACKET_BAD,        /**< not a packet of this trace, or a truncated one */
};

struct packet {
    struct ctf_packet head;
    uint64_t offset;
    uint64_t size;     /**< bytes, including the unused rest */
    uint64_t content;  /**< bytes that are committed, head included */
    uint64_t present;  /**< bytes of the content in the file: fewer if it was truncated */
    const char *wrong; /**< why it is bad */
};

/** Message and code for a failed system call on `path`. */
int packets_io_failed(const char *path, int err);

/** Open a stream file for reading; only regular files, links not followed. @return descriptor or -errno. */
int packets_open(const char *path);

/** Check the packet at `offset` of a file of `file_size` bytes. @return enum packet_state or -errno. */
int packet_at(int fd, uint64_t file_size, uint64_t offset, const uint8_t *uuid, struct packet *out);

/** Length of the packets of the stream file `path` if it is a ring, else 0. */
uint64_t packets_ring(const char *path, const struct meta *m);

/** The slot of a ring after the one at `offset`, without slots in holes; `file_size` after the last. */
uint64_t packets_next_slot(int fd, uint64_t offset, uint64_t file_size, uint64_t bytes);
/** Check the slot at `offset` of a ring of packets of `bytes`; PACKET_UNFINISHED if there is none at the moment. */
int packet_in_slot(int fd, uint64_t file_size, uint64_t offset, uint64_t bytes, const uint8_t *uuid,
                   struct packet *out);

/** The packet of a ring that follows number `after`, which is at `offset` (UINT64_MAX: the first packet): the next number, or
 *  the lowest above it if packets were overwritten. @return as packet_at(). */
int packet_in_ring(int fd, uint64_t file_size, uint64_t bytes, const uint8_t *uuid, uint64_t after, uint64_t offset,
                   struct packet *out);

/** pread() of exactly `len` bytes. @return 0, or -errno; -ENODATA if the file ends before. */
int packets_read(int fd, void *buffer, size_t len, uint64_t offset);

#endif
