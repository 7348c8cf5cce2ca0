/* SPDX-License-Identifier: MIT */
/** @file What a thread's block keeps about calls that may wait for something else than a lock. */
#ifndef UPMU_SYNC_CALLS_H
#define UPMU_SYNC_CALLS_H

#include <stdint.h>

enum { SYNC_CALL_WRITES = 4, SYNC_CALL_DESCRIPTORS = 8 /**< powers of two */ };

struct sync_descriptor {
    uint64_t tick; /**< 0: none */
    uint64_t device, inode;
    int fd, type; /**< enum upmu_descriptor */
};

struct sync_calls {
    uint64_t tick; /**< begin of the call that the wait-state slot shows */
    long switches; /**< voluntary context switches of the thread when they were last read */
    struct sync_descriptor descriptors[SYNC_CALL_DESCRIPTORS]; /**< asked about last */
    /** The last calls that may have ended another thread's wait; read by that thread. */
    uint32_t n_writes;
    struct sync_call_write {
        uint64_t tick;
        int64_t target; /**< the descriptor written to, or the negative number of the signal sent */
    } writes[SYNC_CALL_WRITES];
};

#endif
