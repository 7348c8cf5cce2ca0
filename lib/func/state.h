/* SPDX-License-Identifier: MIT */
/**
 * @file
 * Gate, settings and thread-local state of function recording.
 *
 * What a forked child must not use is in memory that the kernel zeroes for it (MADV_WIPEONFORK): the threads' links to their
 * trees, which are shared with the parent, and the tables of trees and modules.
 */
#ifndef UPMU_FUNC_STATE_H
#define UPMU_FUNC_STATE_H

#include <assert.h>
#include <limits.h>
#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/tiny_lock.h"
#include "func/format/layout.h"
#include "func/format/switch.h"
#include "upmu/api.h"

#define LIKELY(x) __builtin_expect(!!(x), 1)
#define UNLIKELY(x) __builtin_expect(!!(x), 0)

/** Code that -finstrument-functions of our own build must not touch. */
#define FUNC_PLAIN __attribute__((no_instrument_function))

#if UINTPTR_MAX > UINT32_MAX
enum { FUNC_NODES_DEFAULT = 1 << 18, FUNC_FRAMES_MAX = 1 << 18, FUNC_TREES_MAX = 8192, FUNC_TREES_OWN = 256 };
#else
enum { FUNC_NODES_DEFAULT = 1 << 14, FUNC_FRAMES_MAX = 1 << 15, FUNC_TREES_MAX = 1024, FUNC_TREES_OWN = 64 };
#endif
enum { FUNC_NODES_MIN = 64, FUNC_NODES_MAX = 1 << 22, FUNC_MODULES_MAX = 4096 };

/** A thread's link to its tree; NULL: it has none, or this is a forked child. */
struct func_thread {
    struct func_tree *tree;
    uint64_t slow; /**< address of the frame of a slow hook that uses the tree; 0: none does */
    uint64_t left; /**< a hook that a signal handler interrupted below this address may have been left by longjmp() */
    uint32_t gate; /**< with which hooks record at once; 0 while one uses the tree, and where they never do */
    uint32_t used; /**< by a thread that runs */
    uint32_t number;
};

struct func_tls {
    struct func_thread *thread; /**< never NULL */
    uint32_t busy;              /**< the tree is being made */
    uint32_t refused;           /**< none can be made, or the thread has ended */
    uint32_t rounds;            /**< destructor rounds so far */
    uint32_t selects;           /**< symbols of a module are being read */
};
extern _Thread_local struct func_tls func_tls __attribute__((tls_model("initial-exec"), visibility("hidden")));

/** The one word that hooks read while they are off, in a page that has nothing else: it is replaced by that of a file (gate.c). */
struct func_gate_area {
    char before[FUNC_SWITCH_STEP];
    uint32_t gate;
    char after[FUNC_SWITCH_STEP - sizeof(uint32_t)];
} __attribute__((aligned(64)));
extern struct func_gate_area func_gate_area __attribute__((visibility("hidden")));

static inline uint32_t *func_gate(void)
{
    return &func_gate_area.gate;
}

static inline uint32_t func_gate_read(void)
{
    return __atomic_load_n(func_gate(), __ATOMIC_RELAXED);
}

extern struct func_thread func_no_thread;

/** State that a forked child finds zeroed. */
struct func_shared {
    struct tiny_lock lock;   /**< guards the list of trees */
    struct tiny_lock select; /**< held while the selection is changed */
    uint32_t alive;          /**< the process has its file */
    uint32_t claimed;        /**< a child is making its own */
    uint32_t trees;
    struct func_process_header *header; /**< NULL: it could not be made */
    uint64_t lost[FUNC_LOSSES];         /**< while there is no header */
    /* modules.c */
    uint32_t modules_busy;
    uint32_t modules_stale; /**< a function is in no known module */
    uint32_t n_modules;
    uint32_t n_notes;
    struct func_range {
        uint64_t start, end, file; /**< `file` is a hash of build-id and path; start 0: unloaded */
        uint32_t note;             /**< offset among the notes, UINT32_MAX: none */
        uint32_t number;           /**< of the note, from 1 on */
    } module[FUNC_MODULES_MAX];
    struct func_thread thread[FUNC_TREES_MAX];
};

/** State that a forked child inherits. */
struct func_process {
    struct func_shared *shared;
    uint32_t nodes_max;          /**< of a thread */
    uint32_t to_trace;           /**< files in the process's trace; else memory */
    uint32_t to_events;          /**< with the events of each call */
    uint32_t begun;              /**< recording was set up */
    uint32_t ended;              /**< it has ended, for good */
    uint32_t last_gate;          /**< then the gate before */
    struct func_switch *control; /**< the process's switch; of a forked child that of its parent until its first call */
    uint64_t ring_bytes;         /**< of a thread's events; 0: they grow */
    uint32_t counters;           /**< events that are counted in calls; 0: none */
    uint32_t inner_ticks;        /**< see struct func_process_header */
    uint32_t outer_ticks;
    pthread_key_t end_key;
    char dir[PATH_MAX]; /**< of the process's trace */
    char *csv;          /**< prefix of the CSV files, or NULL */
    pid_t pid;          /**< of the process that began */
};
extern struct func_process func_process __attribute__((visibility("hidden")));

/** Count calls that are in no tree. Signal safe. */
void func_lost(enum func_loss cause, uint64_t n);

/** One moment on both clocks: the tightest of a few tries. */
void func_moment(uint64_t *tick, uint64_t *raw_ns);

#endif
