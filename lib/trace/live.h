/* SPDX-License-Identifier: MIT */
/**
 * @file
 * What the threads of a process stand at: DIR/<process>/.live. Room: trace (format). Before it: sync_trace, which writes
 * a thread's slot when the thread blocks; after it: lib/analysis, which reads it while the process lives and after.
 *
 * A thread that is about to wait writes down what it waits for and all that it holds. While it waits none of that
 * changes, so the file is the truth about every thread that stands, and costs threads that run nothing. It is a file and
 * not memory of the process, so that a reader needs no permission to look into the process, does not disturb it, and
 * finds the same after the process was killed. Readers of CTF pass over hidden files.
 *
 * A slot is written between two changes of `version` (odd while it is being written). A reader that finds a thread
 * waiting looks again later: the same even version means that the thread has stood there all the time.
 */
#ifndef UPMU_TRACE_LIVE_H
#define UPMU_TRACE_LIVE_H

#include <assert.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#define LIVE_FILE ".live"
#define LIVE_MAGIC "upmuliv"

enum {
    LIVE_VERSION = 1,
    LIVE_SLOT_BYTES = 64 * 1024, /**< a multiple of every page size; most of it is never written, and takes no room */
    LIVE_FIRST_BYTES = 4096,     /**< of a slot have room on the disk from the beginning */
    LIVE_SLOTS_MAX = 1 << 16,
    LIVE_HEAD_BYTES = 128, /**< of a slot, before the locks held */
};

/** At the beginning of the file, alone in its LIVE_SLOT_BYTES. */
struct live_header {
    char magic[8];
    uint32_t version;
    uint32_t slot_bytes;
    uint32_t pid;
    uint32_t slots;   /**< slots made so far */
    uint32_t begun;   /**< threads that have begun recording since the start */
    uint32_t created; /**< threads the program has made since the start, and the first one */
    /* What somebody outside saw of the process while all of its threads stood (live_facts). */
    uint64_t seen_ns; /**< when; 0: nobody looked */
    uint64_t caught;  /**< signals with a handler, bit n-1 for signal n */
    uint32_t timers;  /**< POSIX timers */
    uint32_t unknown; /**< threads without a slot */
    uint32_t outside; /**< waits that somebody in another process could end, and 1; 0: not counted */
};

enum live_state {
    LIVE_FREE = 0,
    LIVE_RUNS = 1,
    LIVE_WAITS = 2,
    LIVE_ENDED = 3, /**< the thread has ended, and held locks */
};

/** What was seen of a mutex after its waiter had written its slot. */
enum live_owner {
    LIVE_OWNER_UNKNOWN = 0,
    LIVE_OWNER_SEEN = 1, /**< `peer` had it */
    LIVE_OWNER_GONE = 2, /**< `peer` had it, and is no thread of the process */
};

struct live_held {
    uint64_t lock;     /**< 0: somebody else has given it back */
    uint64_t site;     /**< where it was taken */
    uint64_t since_ns; /**< nanoseconds since 1970; 0 = not known */
    uint32_t shared;   /**< as a reader */
    uint32_t unused;
};

/** A slot; the locks held follow it (live_held()). */
struct live_slot {
    uint32_t version; /**< odd while it is being written */
    uint32_t state;   /**< enum live_state */
    int32_t tid;
    int32_t peer;   /**< the lock's holder, or the thread joined; 0 = not known */
    int32_t kind;   /**< enum upmu_trace_kind of the event that began the wait */
    int32_t type;   /**< enum upmu_object_type */
    uint32_t flags; /**< enum upmu_trace_flag */
    uint32_t stack; /**< its number in the trace, 0 = none */
    uint64_t object, object2;
    uint64_t site;
    uint64_t since_ns;
    uint64_t handle;  /**< pthread_t */
    uint64_t wait_no; /**< waits of this slot so far */
    char name[16];
    uint32_t n_held;
    uint32_t forgotten; /**< held locks that did not fit */
    uint32_t owner;     /**< enum live_owner */
    uint32_t unused32;
    uint64_t unused[2];
};

static_assert(sizeof(struct live_header) <= LIVE_SLOT_BYTES, "the header has a slot's room");
static_assert(sizeof(struct live_slot) == LIVE_HEAD_BYTES, "other processes know the layout");

enum { LIVE_HELD_MAX = (LIVE_SLOT_BYTES - LIVE_HEAD_BYTES) / 32 };

/** Bytes of a slot with `n` locks held. */
static inline size_t live_bytes(uint32_t n)
{
    return LIVE_HEAD_BYTES + n * sizeof(struct live_held);
}

/** The locks held of a slot that lies in its file. */
static inline struct live_held *live_held(struct live_slot *s)
{
    return (struct live_held *)(void *)(s + 1);
}

#endif
