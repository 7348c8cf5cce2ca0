/* SPDX-License-Identifier: MIT */
/**
 * @file
 * Layout of the wait-state file DIR/<process>/.live: what each thread waits for and holds.
 *
 * Before a thread waits, it writes the object of the wait and the locks it holds. Neither changes during the wait, so
 * the file is exact for each blocked thread and costs running threads nothing. Readers of a file need no permission to
 * inspect the process, do not disturb it, and can read it after a kill. CTF readers ignore hidden files.
 *
 * A slot is written between two increments of `version` (odd during the write). If a reader finds the same even version
 * twice, the thread was blocked in between, unless it has left the wait by a jump: that shows in the kernel only, and an
 * observer notes it in `left`. Single words (state running, owner seen) are stored without that protocol;
 * the next wait has another version.
 *
 * A report on a hang does not read the trace, which may be long: slots contain the call stack of the wait, and notes
 * after the header contain modules and object names.
 */
#ifndef UPMU_TRACE_WAIT_STATE_H
#define UPMU_TRACE_WAIT_STATE_H

#include <assert.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#define WAIT_FILE_NAME ".live"
#define WAIT_FILE_MAGIC "upmuliv"

enum {
    WAIT_FILE_VERSION = 4, /**< 4: the stack at which the lock waited for was acquired */
    WAIT_FILE_SLOT_BYTES =
        64 * 1024, /**< a multiple of every page size; most of it is never written and uses no disk space */
    WAIT_FILE_FIRST_BYTES = 4096,     /**< bytes of a slot that are allocated on disk at first */
    WAIT_FILE_NOTES_STEP = 16 * 1024, /**< bytes of the header and its notes, allocated at a time */
    WAIT_FILE_SLOTS_MAX = 1 << 16,
    WAIT_FILE_HEAD_BYTES = 128, /**< of a slot, before its call stack */
    WAIT_FILE_FRAMES_MAX = 256,
    WAIT_FILE_HOLDER_FRAMES_MAX = 64, /**< so that the first page of a slot has space for held locks */
    WAIT_FILE_NAMED_BITS = 4096,
    WAIT_FILE_SAME_MEMORY = INT32_MAX,    /**< another process has the memory of this one */
    WAIT_FILE_HEADER_BYTES = 1024 * 1024, /**< the header with its notes; the slots follow */
};

/** Slot index that means the header. */
#define WAIT_FILE_HEADER_INDEX UINT32_MAX

/** At the beginning of the file; the notes follow it (wait_file_note_at()). */
struct wait_file_header {
    char magic[8];
    uint32_t version;
    uint32_t slot_bytes;
    uint32_t pid;
    uint32_t slots;   /**< slots made so far */
    uint32_t begun;   /**< threads that have begun recording since the start */
    uint32_t created; /**< threads created since the start, plus the first one, without those that are left out */
    /* Findings of an outside observer while all threads were blocked (live_facts). */
    uint64_t seen_ns;       /**< when; 0: not inspected */
    uint64_t caught;        /**< signals with a handler, bit n-1 for signal n */
    uint32_t timers;        /**< POSIX timers */
    uint32_t unknown;       /**< threads without a slot */
    uint32_t outside;       /**< 1 + waits that another process could end, or WAIT_FILE_SAME_MEMORY; 0: not counted */
    uint32_t notes;         /**< bytes of notes so far */
    uint32_t notes_missing; /**< 1: one could not be written; the trace has all */
    /** Written by an outside observer of an MPI rank, in whole seconds since 1970: the process had recorded nothing for a second, and had
     *  used the CPU, or slept, since. 0: not observed. */
    uint32_t ran_s;
    /* Last time an outside observer saw the process alive, on CLOCK_MONOTONIC_RAW and CLOCK_REALTIME; 0: never. The waits
     * of a killed process lasted at least until then. */
    uint64_t alive_raw_ns, alive_ns;
    uint64_t named[WAIT_FILE_NAMED_BITS / 64]; /**< hashes of the addresses that were named */
};

enum wait_file_note_kind {
    WAIT_FILE_NOTE_NONE = 0,   /**< being written */
    WAIT_FILE_NOTE_MODULE = 1, /**< value: base, start, end; texts: build-id, path */
    WAIT_FILE_NOTE_NAME = 2,   /**< value: address, enum upmu_object_type, 0; texts: "", name */
    WAIT_FILE_NOTE_END = 3,    /**< value: address of a named object that has ended or is initialized again */
    /** A mapping with a lock that processes share. value: begin, end, offset in its file; texts: device and inode as in
     *  /proc/PID/maps, the kernel's boot id */
    WAIT_FILE_NOTE_SHARED = 4,
    /* Relations between processes, so that their lock orders can be compared. Ticks are those of events. */
    WAIT_FILE_NOTE_SELF = 5, /**< value: process id, tick at which the recording began, parent's process id */
    WAIT_FILE_NOTE_PARENT =
        6, /**< it was forked. value: parent's process id | thread id << 32, tick, the parent's own SELF tick */
    WAIT_FILE_NOTE_REAPED =
        7, /**< a child has ended and was waited for. value: its process id, 0: that of system() or popen() | thread that waited << 32,
                tick, tick at which that was called or 0 */
    WAIT_FILE_NOTE_SPAWNED =
        8, /**< posix_spawn() made a child. value: its process id | calling thread << 32, tick before it, 0 */
};

/** Notes follow each other in the order of writing. */
struct wait_file_note {
    uint32_t bytes; /**< with the texts, a multiple of 8; 0: free */
    uint32_t kind;  /**< enum wait_file_note_kind, stored last */
    uint64_t value[3];
    char texts[]; /**< two, each with its NUL */
};

enum wait_file_state {
    WAIT_FILE_FREE = 0,
    WAIT_FILE_RUNNING = 1,
    WAIT_FILE_BLOCKED = 2,
    WAIT_FILE_ENDED = 3, /**< the thread has ended while it held locks */
    /** The thread is in a call that may wait for something else than a lock. `object` (UPMU_TRACE_CALL_BLOCK), `flags`, `site` and
     *  `since_ns` are valid, stack and locks held are not. */
    WAIT_FILE_CALL = 4,
    /** The thread is about to wait, and pauses between two looks at the other threads: the slot is as in WAIT_FILE_BLOCKED. Of a
     *  live process it counts as running; a lock that could not be had is still waited for where the process was killed. */
    WAIT_FILE_PAUSED = 5,
    WAIT_FILE_CHILD = 6, /**< as WAIT_FILE_CALL, of a call that waits for a child; locks held are valid */
};

/** Owner of a mutex, read after the waiter wrote its slot. */
enum wait_file_owner {
    WAIT_FILE_OWNER_UNKNOWN = 0,
    WAIT_FILE_OWNER_SEEN = 1, /**< `peer` held it */
    WAIT_FILE_OWNER_GONE = 2, /**< `peer` held it, and is not a thread of the process */
};

struct wait_file_held {
    uint64_t lock;     /**< 0: released by another thread */
    uint64_t site;     /**< call site of the acquisition */
    uint64_t since_ns; /**< nanoseconds since 1970; 0 = not known */
    uint32_t shared;   /**< held as a reader */
    uint32_t type;     /**< enum upmu_object_type; 0 = not known */
};

/** A slot; its call stack (wait_file_stack()), that of the holder and the locks held (wait_file_held()) follow it. */
struct wait_file_slot {
    uint32_t version; /**< odd while it is being written */
    uint32_t state;   /**< enum wait_file_state */
    int32_t tid;
    int32_t peer;   /**< the lock's holder, or the thread joined; 0 = not known */
    int32_t kind;   /**< enum upmu_trace_kind of the event that began the wait */
    int32_t type;   /**< enum upmu_object_type */
    uint32_t flags; /**< enum upmu_trace_flag */
    uint32_t stack; /**< its id in the trace, 0 = none */
    uint64_t object, object2;
    uint64_t site;
    uint64_t since_ns;
    uint64_t handle;  /**< pthread_t */
    uint64_t wait_no; /**< waits of this slot so far */
    char name[16];
    uint32_t n_held;
    uint32_t forgotten;    /**< held locks that did not fit */
    uint32_t owner;        /**< enum wait_file_owner */
    uint32_t holder_stack; /**< id of the stack at which `peer` acquired the lock, 0 = not known */
    uint64_t
        left; /**< written by an outside observer: the version of a wait that the thread has left without an end of it; that plus one: once
                      seen elsewhere; else 0 */
    uint64_t unused;
};

/** The call stack of a wait. */
struct wait_file_stack {
    uint32_t id; /**< its id in the trace; if it differs from the slot's, these are not its frames */
    uint16_t n;
    uint8_t method;    /**< enum upmu_stack_method */
    uint8_t truncated; /**< 1: there were more frames */
    uint64_t frames[WAIT_FILE_FRAMES_MAX];
};

/** The call stack of the acquisition that a thread waits for: the innermost frames. */
struct wait_file_holder_stack {
    uint32_t id; /**< as in struct wait_file_stack, and so are the others */
    uint16_t n;
    uint8_t method;
    uint8_t truncated;
    uint64_t frames[WAIT_FILE_HOLDER_FRAMES_MAX];
};

static_assert(sizeof(struct wait_file_header) <= WAIT_FILE_NOTES_STEP, "the header is allocated from the beginning");
static_assert(sizeof(struct wait_file_header) % 8 == 0, "notes are aligned");
static_assert(sizeof(struct wait_file_note) == 32, "the layout is shared with other processes");
static_assert(sizeof(struct wait_file_slot) == WAIT_FILE_HEAD_BYTES, "the layout is shared with other processes");

enum {
    WAIT_FILE_HOLDER_AT = WAIT_FILE_HEAD_BYTES + sizeof(struct wait_file_stack),
    WAIT_FILE_HELD_AT = WAIT_FILE_HOLDER_AT + sizeof(struct wait_file_holder_stack),
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

/** Whether an observer found that the thread has left the wait that its slot shows. */
static inline bool wait_file_is_left(const struct wait_file_slot *s)
{
    return s->state == WAIT_FILE_BLOCKED && s->left != 0 && s->left == s->version;
}

/** The call stack of a slot inside the mapped file. */
static inline struct wait_file_stack *wait_file_stack(struct wait_file_slot *s)
{
    return (struct wait_file_stack *)(void *)(s + 1);
}

/** The call stack of the holder of a slot inside the mapped file. */
static inline struct wait_file_holder_stack *wait_file_holder_stack(struct wait_file_slot *s)
{
    return (struct wait_file_holder_stack *)(void *)(wait_file_stack(s) + 1);
}

/** The locks held of a slot inside the mapped file. */
static inline struct wait_file_held *wait_file_held(struct wait_file_slot *s)
{
    return (struct wait_file_held *)(void *)(wait_file_holder_stack(s) + 1);
}

/** The note that begins `at` bytes after the header. */
static inline struct wait_file_note *wait_file_note_at(struct wait_file_header *h, uint32_t at)
{
    return (struct wait_file_note *)(void *)((char *)(h + 1) + at);
}

/** Bit of an address in `named`. */
static inline uint32_t wait_file_named_bit(uint64_t address)
{
    return (uint32_t)(address * 0x9e3779b97f4a7c15u >> 52);
}

#endif
