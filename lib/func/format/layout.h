/* SPDX-License-Identifier: MIT */
/**
 * @file
 * Files of recorded functions: one with the process's modules, one per thread with its calling-context tree, and in trace mode one
 * per thread with its events.
 *
 * The files are mapped and written in place, so that they are readable while the process runs and after it was killed. CTF
 * readers ignore hidden files. They are sparse: regions have fixed offsets, and space is reserved as they grow.
 */
#ifndef UPMU_FUNC_LAYOUT_H
#define UPMU_FUNC_LAYOUT_H

#include <assert.h>
#include <stddef.h>
#include <stdint.h>

#define FUNC_PROCESS_FILE ".functions"
#define FUNC_THREAD_FILE ".functions_%u"        /**< number of the thread's tree, from 0 on */
#define FUNC_EVENTS_FILE ".functions_events_%u" /**< of the thread with that tree */
#define FUNC_COUNTS_FILE ".functions_counts_%u" /**< of the thread with that tree */
#define FUNC_PROCESS_MAGIC "upmufnc"
#define FUNC_THREAD_MAGIC "upmuctx"

enum {
    FUNC_VERSION = 7,
    FUNC_VERSION_OLDEST = 5,   /**< readable, too: it has no FUNC_EVENT_LEAF */
    FUNC_VERSION_ONE_LEAF = 6, /**< the same: the node of each FUNC_EVENT_LEAF has FUNC_LEAF_BITS_BEFORE bits */
    FUNC_HEADER_BYTES = 4096,
    FUNC_NOTES_BYTES = 4 << 20, /**< of the notes of modules, at most */
    FUNC_STEP_BYTES = 65536,    /**< space is reserved in such steps */
    FUNC_BLOCK_BYTES = 65536,   /**< of a block of events */
    FUNC_BLOCK_SLACK = 128,     /**< bytes at its end for events that were begun before the next block was */
};

/**
 * Events are words of 64 bits in blocks: the lower half has the lower half of a tick, the upper half a node of the tree that is
 * entered, or with FUNC_EVENT_EXIT left, or one of the numbers below. A call without events in between is one word where func_leaf() has
 * space for its ticks. A word of 0 has no event. Each block begins with FUNC_EVENT_TIME, so that it can be read alone.
 */
#define FUNC_EVENT_EXIT 0x80000000u
#define FUNC_EVENT_LEAF 0x40000000u      /**< the ticks of the call, above FUNC_LEAF_BITS of its node */
#define FUNC_EVENT_LEAF_LONG 0x20000000u /**< with it: above FUNC_LEAF_BITS_LONG */
#define FUNC_EVENT_TIME 0x7fffffffu      /**< the lower half is the upper half of the ticks that follow */
#define FUNC_EVENT_THREAD 0x7ffffffeu    /**< the lower half is the id of the thread that uses the tree from here on */
enum { FUNC_LEAF_BITS = 21, FUNC_LEAF_BITS_LONG = 13, FUNC_LEAF_BITS_BEFORE = 22 };
/* At most; one more would make it one of the numbers above. */
enum { FUNC_LEAF_TICKS = 255, FUNC_LEAF_TICKS_LONG = 65534 };

/** The upper half of the word of a call of `node` that took so many ticks; 0: it has none. Nodes are numbered as they are first called: the
 *  first ones, which most programs stay below, have more space for ticks. */
static inline uint32_t func_leaf(uint32_t node, uint64_t ticks)
{
    if (ticks <= FUNC_LEAF_TICKS_LONG && node < 1u << FUNC_LEAF_BITS_LONG)
        return FUNC_EVENT_LEAF | FUNC_EVENT_LEAF_LONG | (uint32_t)ticks << FUNC_LEAF_BITS_LONG | node;
    if (ticks <= FUNC_LEAF_TICKS && node < 1u << FUNC_LEAF_BITS)
        return FUNC_EVENT_LEAF | (uint32_t)ticks << FUNC_LEAF_BITS | node;
    return 0;
}

/** An address of a function has 48 bits. In that of a function whose module was unloaded, the upper 16 have the number of the
 *  module's note, from 1 on, or FUNC_NO_MODULE. FUNC_SAME_MODULE: there is a later node for the same function. */
enum { FUNC_ADDRESS_BITS = 48, FUNC_NO_MODULE = 65535, FUNC_SAME_MODULE = 65534 };
#define FUNC_ADDRESS_MASK ((UINT64_C(1) << FUNC_ADDRESS_BITS) - 1)

/** Why a call is in no tree. The values are part of the format. */
enum func_loss {
    FUNC_LOSS_NODES = 0,   /**< the thread's tree was full, or its file could not grow */
    FUNC_LOSS_DEPTH = 1,   /**< calls nested too deep */
    FUNC_LOSS_THREAD = 2,  /**< no memory or file for a thread, or it had ended */
    FUNC_LOSS_HANDLER = 3, /**< a signal handler interrupted the set-up of its thread */
    FUNC_LOSSES = 4,
};

/** Beginning of the process's file. Notes follow at FUNC_HEADER_BYTES. */
struct func_process_header {
    char magic[8];
    uint32_t version;
    uint32_t pid;
    uint64_t hz;          /**< ticks per second */
    uint64_t begin_tick;  /**< recording began */
    uint64_t end_tick;    /**< 0: it has not ended, or the process was killed */
    uint32_t inner_ticks; /**< own cost of a call that its measured duration contains; subtracted when recorded */
    uint32_t outer_ticks; /**< own cost of a call that only its caller's duration contains; subtracted when recorded */
    uint32_t threads;     /**< files of threads made so far */
    uint32_t notes;       /**< bytes of the notes */
    uint32_t notes_lost;  /**< modules that have no note */
    uint32_t counters;    /**< events that were asked for */
    uint32_t counted;     /**< 1: the trees have counts */
    uint32_t sourceless;  /**< functions selected by source whose source was not found */
    uint64_t lost[FUNC_LOSSES];        /**< calls without a thread's tree */
    uint64_t begin_raw_ns, end_raw_ns; /**< CLOCK_MONOTONIC_RAW at `begin_tick` and `end_tick` */
};

/** An event that is counted in calls: FUNC_COUNTERS_MAX of them at FUNC_COUNTERS_AT of the process's file. */
struct func_counter {
    char name[80];
    char reason[112];     /**< why it has no counts, or what they are; "": none */
    int64_t inner, outer; /**< own counts of a call, as `inner_ticks` and `outer_ticks` */
    int32_t cause;        /**< enum upmu_code: why it has no counts; 0: it has */
    uint32_t reserved[3];
};
enum { FUNC_COUNTERS_MAX = 16, FUNC_COUNTERS_AT = 512 };

/** A count and its times in ns. Sums of differences: a short part may be below 0. */
struct func_sum {
    int64_t count, enabled, running;
};

/** What calls of a node have counted of an event. The file of a thread's counts has `counters` of them for each node. */
struct func_count {
    struct func_sum inclusive; /**< of nested calls of the same node the outermost only; without the hooks' counts */
    struct func_sum exclusive; /**< still with `inner` for each call */
    uint32_t inclusive_lost;   /**< calls without a count */
    uint32_t exclusive_lost;   /**< calls without one, or with a called function without one */
    uint64_t reserved;
};
static_assert(sizeof(struct func_count) == 64, "a count is a cache line");

/** A module, followed by its build-id and its path, each with a NUL. */
struct func_note {
    uint32_t bytes; /**< with its texts, a multiple of 8; stored last */
    uint32_t gone;  /**< 1: the module was unloaded */
    uint64_t base, start, end;
};

/**
 * A call path: a function called by its parent. Calls that return to an active function of the path (recursion) are a node
 * of their own below the caller, with `child` = FUNC_RECURSION | the active function's node; further calls are that node's
 * children, so that no path has a function twice. So do calls of functions that are not selected, with the node of their
 * caller: what they call is a child of the caller. Node 0 is the thread, node 1 has what could not be recorded.
 */
struct func_node {
    uint64_t function;  /**< address; 0 = none */
    uint64_t calls;     /**< calls that returned */
    uint64_t inclusive; /**< ticks, of nested calls of the same node the outermost only; a sum of signed numbers */
    uint64_t exclusive; /**< ticks without those of children, still with `inner_ticks` for each call */
    int64_t min, max;   /**< inclusive ticks of a call; below 0 if it was shorter than the hooks' cost */
    uint32_t child;     /**< first child, 0 = none */
    uint32_t next;      /**< next sibling, 0 = none */
    uint32_t active;    /**< calls that have not returned */
    uint32_t last;      /**< offset of the child that was searched last from the first node, a cache */
};
static_assert(sizeof(struct func_node) == 64, "a node is a cache line");

enum { FUNC_NODE_THREAD = 0, FUNC_NODE_LOST = 1, FUNC_NODES_FIXED = 2 };
#define FUNC_RECURSION 0x80000000u
#define FUNC_SKIPPED 0x40000000u /**< with FUNC_RECURSION: a function that is not selected */
#define FUNC_CHILD_MASK (~(FUNC_RECURSION | FUNC_SKIPPED))

/** A call that has not returned. Frame 0 is the thread's. */
struct func_frame {
    uint64_t start;    /**< tick */
    uint64_t children; /**< ticks of calls that returned, with the hooks' cost around them */
    uint64_t cost;     /**< ticks of the hooks in calls that returned */
    uint64_t cfa;      /**< address of the hook's frame, to find frames that were left without a return */
    uint64_t hook;     /**< return address of the hook */
    uint64_t site;     /**< return address of the function that the code belongs to */
    uint64_t node;     /**< address of the node that counts this call */
    uint64_t inside;   /**< calls within that returned; with counts only */
};
static_assert(sizeof(struct func_frame) == 64, "shared with readers");

enum { FUNC_KNOWN_BITS = 8 };

/** Beginning of a thread's file. Frames and nodes follow. */
struct func_tree {
    /* The first cache line is used by each hook; addresses are those in the process, where the file is mapped at `self`. */
    uint64_t top;         /**< address of the last frame */
    uint64_t frames_end;  /**< address of the end of the space reserved for frames */
    uint64_t nodes_start; /**< address of the nodes */
    uint32_t inner_ticks; /**< as in the process's file */
    uint32_t outer_ticks;
    uint64_t events_min;  /**< ticks: shorter calls have no events */
    uint64_t event;       /**< address of the next event; 0: none are recorded. Beyond `events_end`: a block is full */
    uint64_t events_end;  /**< address of the slack at the end of the block */
    uint64_t events_high; /**< upper half of the ticks in this block */
    /* the second one when the tree grows */
    char magic[8];
    uint64_t self;
    uint32_t version;
    uint32_t number;
    uint32_t nodes;       /**< nodes made */
    uint32_t nodes_ready; /**< nodes that space is reserved for */
    uint32_t nodes_max;
    uint32_t frames_max;
    uint64_t frames_at, nodes_at;  /**< offsets */
    uint64_t lost_open;            /**< calls below the last frame that are not recorded */
    uint32_t tid;                  /**< of the last thread that used this tree */
    uint32_t lives;                /**< threads that used it */
    uint64_t begin_tick, end_tick; /**< of the last one; end 0: it has not ended */
    char name[16];                 /**< of the last one */
    uint64_t lost[FUNC_LOSSES];
    uint64_t left;         /**< frames left without a return: longjmp(), exceptions, threads that ended */
    uint64_t unmatched;    /**< returns without a call: entered before recording began, or switched stacks */
    uint64_t events_base;  /**< address of the mapped part of the file of events */
    uint64_t events_from;  /**< its offset in the file */
    uint64_t events_bytes; /**< its length; of a ring all of the file */
    uint64_t events_lost;  /**< events that could not be written */
    uint64_t events_short; /**< calls without events because they were shorter */
    uint64_t events_wraps; /**< times that a ring began again */
    uint32_t events_ring;  /**< 1: the file is a ring; 0: it grows */
    uint32_t events_full;  /**< 1: no space is left */
    uint32_t interval;     /**< of the gate, that the open calls belong to (switch.h) */
    uint32_t selected;     /**< number of the selection that the nodes were made with */
    uint64_t counts;       /**< address of the counts of nodes; 0: there are none */
    uint64_t counts_open;  /**< address of those of frames */
    uint64_t stopped;      /**< calls that ended because recording was stopped, or other functions were selected */
    /** A cache of searched children, by function and call site: offset of the child from the first node, and in the upper half that of
     *  the node of its caller's frame. */
    uint64_t known[1 << FUNC_KNOWN_BITS];
};
static_assert(offsetof(struct func_tree, magic) == 64, "the first cache line is of the hooks");
static_assert(sizeof(struct func_tree) <= FUNC_HEADER_BYTES, "the header fits");

static_assert(FUNC_COUNTERS_AT + FUNC_COUNTERS_MAX * sizeof(struct func_counter) <= FUNC_HEADER_BYTES, "they fit");
static_assert(sizeof(struct func_process_header) <= FUNC_COUNTERS_AT, "the header fits");

#endif
