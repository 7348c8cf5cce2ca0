/* SPDX-License-Identifier: MIT */
/**
 * @file
 * Layout of the wait-state file DIR/<process>/.live: what each thread waits for and holds.
 *
 * A thread that is about to wait writes down what it waits for and all that it holds. While it waits none of that
 * changes, so the file is the truth about every thread that stands, and costs threads that run nothing. It is a file and
 * not memory of the process, so that a reader needs no permission to look into the process, does not disturb it, and
 * finds the same after the process was killed. Readers of CTF pass over hidden files.
 *
 * A slot is written between two changes of `version` (odd while it is being written). A reader that finds a thread
 * waiting looks again later: the same even version means that the thread has stood there all the time. What one word tells
 * (that the thread runs again, that the owner was seen) is stored without that; after the former the version is another one.
 *
 * A report must not have to read the trace, which may be long, while its threads stand. So a slot has the call stack of its
 * wait, and behind the header stand notes of what else a report names: modules, and names that the program gave.
 */
#ifndef UPMU_TRACE_WAIT_STATE_H
#define UPMU_TRACE_WAIT_STATE_H

#include <assert.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#define WAIT_FILE_NAME ".live"
#define WAIT_FILE_MAGIC "upmuliv"

enum {
    WAIT_FILE_VERSION = 2, /**< 2: call stacks and notes */
    WAIT_FILE_SLOT_BYTES =
        64 * 1024,                /**< a multiple of every page size; most of it is never written, and takes no room */
    WAIT_FILE_FIRST_BYTES = 4096, /**< of a slot have room on the disk from the beginning */
    WAIT_FILE_NOTES_STEP = 16 * 1024, /**< and of the header with its notes; then as many more at a time */
    WAIT_FILE_SLOTS_MAX = 1 << 16,
    WAIT_FILE_HEAD_BYTES = 128, /**< of a slot, before its call stack */
    WAIT_FILE_FRAMES_MAX = 64,
    WAIT_FILE_NAMED_BITS = 4096,
    WAIT_FILE_HEADER_BYTES = 1024 * 1024, /**< the header with its notes; the slots follow */
};

/** The header, where a slot is meant by its index. */
#define WAIT_FILE_HEADER_INDEX UINT32_MAX

/** At the beginning of the file; the notes follow it (wait_file_note_at()). */
struct wait_file_header {
    char magic[8];
    uint32_t version;
    uint32_t slot_bytes;
    uint32_t pid;
    uint32_t slots;   /**< slots made so far */
    uint32_t begun;   /**< threads that have begun recording since the start */
    uint32_t created; /**< threads the program has made since the start, and the first one */
    /* What somebody outside saw of the process while all of its threads stood (live_facts). */
    uint64_t seen_ns;       /**< when; 0: nobody looked */
    uint64_t caught;        /**< signals with a handler, bit n-1 for signal n */
    uint32_t timers;        /**< POSIX timers */
    uint32_t unknown;       /**< threads without a slot */
    uint32_t outside;       /**< waits that somebody in another process could end, and 1; 0: not counted */
    uint32_t notes;         /**< bytes of notes so far */
    uint32_t notes_missing; /**< 1: one could not be written, only the trace has all */
    /* When somebody outside saw the process alive, last: CLOCK_MONOTONIC_RAW and CLOCK_REALTIME; 0: nobody did. What its
     * threads stood at when it was killed lasted at least until then. */
    uint64_t alive_raw_ns, alive_ns;
    uint64_t named[WAIT_FILE_NAMED_BITS / 64]; /**< hashes of the addresses that have had a name */
};

enum wait_file_note_kind {
    WAIT_FILE_NOTE_NONE = 0,   /**< it is just being written */
    WAIT_FILE_NOTE_MODULE = 1, /**< value: base, start, end; texts: build-id, path */
    WAIT_FILE_NOTE_NAME = 2,   /**< value: address, enum upmu_object_type, 0; texts: "", name */
    WAIT_FILE_NOTE_END = 3,    /**< value: address of what was named and is no more, or begins anew */
};

/** Notes stand one behind the other, in the order in which they were written. */
struct wait_file_note {
    uint32_t bytes; /**< with the texts, a multiple of 8; 0: not begun yet */
    uint32_t kind;  /**< enum wait_file_note_kind, stored last */
    uint64_t value[3];
    char texts[]; /**< two, each with its NUL */
};

enum wait_file_state {
    WAIT_FILE_FREE = 0,
    WAIT_FILE_RUNNING = 1,
    WAIT_FILE_BLOCKED = 2,
    WAIT_FILE_ENDED = 3, /**< the thread has ended, and held locks */
};

/** What was seen of a mutex after its waiter had written its slot. */
enum wait_file_owner {
    WAIT_FILE_OWNER_UNKNOWN = 0,
    WAIT_FILE_OWNER_SEEN = 1, /**< `peer` had it */
    WAIT_FILE_OWNER_GONE = 2, /**< `peer` had it, and is no thread of the process */
};

struct wait_file_held {
    uint64_t lock;     /**< 0: somebody else has given it back */
    uint64_t site;     /**< where it was taken */
    uint64_t since_ns; /**< nanoseconds since 1970; 0 = not known */
    uint32_t shared;   /**< as a reader */
    uint32_t type;     /**< enum upmu_object_type; 0 = not known */
};

/** A slot; its call stack (wait_file_stack()) and the locks held (wait_file_held()) follow it. */
struct wait_file_slot {
    uint32_t version; /**< odd while it is being written */
    uint32_t state;   /**< enum wait_file_state */
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
    uint32_t owner;     /**< enum wait_file_owner */
    uint32_t unused32;
    uint64_t unused[2];
};

/** The call stack of a wait. */
struct wait_file_stack {
    uint32_t id; /**< its number in the trace; where it is not the slot's, these are not its frames */
    uint16_t n;
    uint8_t method;    /**< enum upmu_stack_method */
    uint8_t truncated; /**< 1: there were more frames */
    uint64_t frames[WAIT_FILE_FRAMES_MAX];
};

static_assert(sizeof(struct wait_file_header) <= WAIT_FILE_NOTES_STEP, "the header has room from the beginning");
static_assert(sizeof(struct wait_file_header) % 8 == 0, "notes are aligned");
static_assert(sizeof(struct wait_file_note) == 32, "other processes know the layout");
static_assert(sizeof(struct wait_file_slot) == WAIT_FILE_HEAD_BYTES, "other processes know the layout");

enum {
    WAIT_FILE_HELD_AT = WAIT_FILE_HEAD_BYTES + sizeof(struct wait_file_stack),
    WAIT_FILE_HELD_MAX = (WAIT_FILE_SLOT_BYTES - WAIT_FILE_HELD_AT) / 32,
    WAIT_FILE_NOTES_AT = sizeof(struct wait_file_header),
    WAIT_FILE_NOTES_MAX = WAIT_FILE_HEADER_BYTES - WAIT_FILE_NOTES_AT,
};

/** Bytes of a slot with `n` locks held. */
static inline size_t wait_file_bytes(uint32_t n)
{
    return WAIT_FILE_HELD_AT + n * sizeof(struct wait_file_held);
}

/** Where slot `index` begins in the file; the header at WAIT_FILE_HEADER_INDEX. */
static inline off_t wait_file_slot_at(uint32_t index)
{
    return index == WAIT_FILE_HEADER_INDEX ? 0 : WAIT_FILE_HEADER_BYTES + (off_t)index * WAIT_FILE_SLOT_BYTES;
}

/** The call stack of a slot that lies in its file. */
static inline struct wait_file_stack *wait_file_stack(struct wait_file_slot *s)
{
    return (struct wait_file_stack *)(void *)(s + 1);
}

/** The locks held of a slot that lies in its file. */
static inline struct wait_file_held *wait_file_held(struct wait_file_slot *s)
{
    return (struct wait_file_held *)(void *)(wait_file_stack(s) + 1);
}

/** The note that begins `at` bytes behind the header. */
static inline struct wait_file_note *wait_file_note_at(struct wait_file_header *h, uint32_t at)
{
    return (struct wait_file_note *)(void *)((char *)(h + 1) + at);
}

/** Which bit of `named` stands for an address. */
static inline uint32_t wait_file_named_bit(uint64_t address)
{
    return (uint32_t)(address * 0x9e3779b97f4a7c15u >> 52);
}

#endif
