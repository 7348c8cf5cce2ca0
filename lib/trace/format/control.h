/* SPDX-License-Identifier: MIT */
/**
 * @file
 * Control file of a process: mode word, options and requests from outside.
 *
 * The writer holds a write lock on the open file description. The lock is released however the process ends, and is
 * visible from other pid namespaces. CTF readers ignore hidden files.
 *
 * The mailbox passes marks from outside. A sender holds flock() on the process's directory, finds `mail` 0, writes `text`
 * and stores its length in `mail` (release). The next event of the process records the text as a mark and stores 0.
 *
 * A switch of the mode is preceded by control_switch(): by the program itself, or by another process, which holds flock() on the
 * directory. The reader has all stretches without events from there: they need no event, which a stopped process would not write, a
 * ring would lose, and a killed process would not add.
 */
#ifndef UPMU_TRACE_CONTROL_H
#define UPMU_TRACE_CONTROL_H

#include <assert.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#define CONTROL_FILE ".control"
#define CONTROL_MAGIC "upmuctl"

enum {
    CONTROL_VERSION = 2, /**< 2: the mode word is that of sync tracing, and there is a mailbox */
    CONTROL_BYTES = 4096,
    CONTROL_MAIL_MAX = 255, /**< bytes of a mark */
};

/** Why an event is lost. The values are part of the format. */
enum control_loss {
    LOSS_PACKET = 0, /**< no packet could be written, see `refusal` */
    LOSS_HANDLER =
        1,           /**< a signal handler interrupted the recorder, and its slots were full or its call not recorded */
    LOSS_THREAD = 2, /**< no memory or file for a thread */
    LOSS_LOCKS = 3,  /**< no space in a thread's table of locks */
    LOSS_STACKS = 4, /**< no space in the table of call stacks */
    LOSS_NAMES = 5,  /**< too many names of locks before recording began */
    LOSS_KERNEL = 6, /**< the kernel's buffer of scheduling records was full */
    LOSS_TRUNCATED = 7, /**< another program truncated the file */
    LOSS_CAUSES,
    LOSS_CAUSES_MAX = 8, /**< in the file; the others are reserved */
};

/** Waits whose length can trigger a snapshot. The values are part of the format. */
enum control_wait {
    CONTROL_WAIT_LOCK = 0,    /**< mutexes, rwlocks, spin locks, announced locks, pthread_once() */
    CONTROL_WAIT_COND = 1,    /**< condition variables */
    CONTROL_WAIT_SEM = 2,     /**< semaphores */
    CONTROL_WAIT_BARRIER = 3, /**< barriers */
    CONTROL_WAIT_JOIN = 4,    /**< ends of threads */
    CONTROL_WAIT_FUTEX = 5,   /**< futexes of the program's own */
    CONTROL_WAITS,
    CONTROL_WAITS_MAX = 8, /**< in the file; the others are reserved */
};

/** A request for a snapshot (trigger.h). */
struct control_request {
    uint64_t tick;  /**< when the threshold was exceeded */
    uint64_t ticks; /**< duration of the region or wait */
    int32_t tid;
    char text[332]; /**< the trigger */
};

/** Why recording ended before the process. The values are part of the format, and of `upmu_trace_process.stopped`. */
enum control_stopped {
    CONTROL_STOPPED_NOT = 0,
    CONTROL_STOPPED_LIMIT = 1,      /**< at the size limit */
    CONTROL_STOPPED_RESTRICTED = 2, /**< the program restricted its system calls */
};

/** A stretch in which sync tracing was off, or only counted, by CLOCK_MONOTONIC_RAW. */
struct control_pause {
    uint64_t begin_raw_ns; /**< 0: it is being stored */
    uint64_t end_raw_ns;   /**< 0: it has not ended */
};

enum { CONTROL_PAUSES = 128 }; /* kept; of further ones there is the sum */

/** The mode word while sync tracing is off, and in mode counts; it is 1 + enum upmu_sync_mode. */
enum { CONTROL_OFF = 0, CONTROL_COUNTS = 4 };

/** Beginning of the file of CONTROL_BYTES; the rest is zero and reserved. */
struct control_header {
    char magic[8];
    uint32_t version;
    uint32_t bytes; /**< of this header */
    uint32_t pid;
    uint32_t complete;    /**< 1 once the final metadata is written */
    uint64_t start_ticks; /**< start time of the process, as in /proc/PID/stat outside of time namespaces */
    uint8_t boot_id[16];
    uint32_t
        mode; /**< CONTROL_OFF, or 1 + enum upmu_sync_mode; read on the traced path, written by processes of the user */
    uint32_t mail;    /**< bytes of `text`, to be recorded as a mark; 0 = the mailbox is empty */
    uint64_t lost;    /**< events lost, whether or not they reached a stream */
    uint64_t clamped; /**< events whose tick was raised to the one before */
    uint32_t chosen;  /**< mode word to restore from CONTROL_OFF; 0 = the process does not read the mode word */
    char text[CONTROL_MAIL_MAX + 1];   /**< the mailbox: senders hold flock() on the directory */
    uint32_t refusal;                  /**< errno of the last packet that failed; ENOBUFS: the size limit; 0 = none */
    uint64_t overwritten;              /**< events replaced by later ones in the rings of all threads */
    uint32_t stopped;                  /**< enum control_stopped */
    uint64_t lost_by[LOSS_CAUSES_MAX]; /**< `lost` by enum control_loss */
    uint64_t resumed_raw_ns;           /**< CLOCK_MONOTONIC_RAW when `mode` left CONTROL_OFF last */
    uint32_t snapshot_ready; /**< 1: a request is accepted; taken by the thread that makes it, set by the recorder */
    uint32_t snapshot_asked; /**< 1: `request` is complete; the recorder sets it to 0 */
    uint64_t exceeded;       /**< thresholds of triggers exceeded so far */
    uint32_t triggers;       /**< triggers that the process compares durations with */
    uint32_t on_deadlock;    /**< 1: a deadlock is a trigger, too */
    uint64_t wait_ticks[CONTROL_WAITS_MAX]; /**< thresholds of waits by enum control_wait; 0: none */
    struct control_request request;
    uint64_t memory; /**< private memory of the recorder when recording ended, in bytes; 0: not known */
    uint32_t
        blocks; /**< threads for which it was: ended threads leave theirs to later ones; 0: locks were not recorded */
    uint32_t memory_unknown;    /**< 1: a part of it could not be found */
    uint32_t children_filtered; /**< forked children that are not recorded, since a filter may forbid it */
    uint32_t children_failed;   /**< forked children that are not recorded, since they could not make their files */
    uint32_t pauses;            /**< begun so far, those without an entry in `pause` included */
    uint32_t reserved;
    uint64_t paused_more_ns; /**< total of those without an entry that have ended */
    uint64_t more_raw_ns;    /**< begin of the last one without an entry; 0: it has ended */
    struct control_pause pause[CONTROL_PAUSES];
    uint32_t children_forked; /**< calls of fork() while the process recorded locks */
    uint32_t
        parent; /**< process id of the parent when recording of locks began; 0: not known, or in another namespace */
    uint32_t modes; /**< mode words that have been on, as bits: 1 << word */
    uint32_t reserved2;
    uint64_t counted[CONTROL_PAUSES / 64]; /**< bit per entry of `pause`: mode counts was on */
};

static_assert(offsetof(struct control_header, mode) == 48, "the layout is shared with other processes");
static_assert(offsetof(struct control_header, mail) == 52, "mode and mailbox share a cache line");
static_assert(offsetof(struct control_header, text) == 76, "no padding before the text");
static_assert(offsetof(struct control_header, refusal) == 332, "former padding");
static_assert(offsetof(struct control_header, overwritten) == 336, "the layout is shared with other processes");
static_assert(offsetof(struct control_header, stopped) == 344, "the layout is shared with other processes");
static_assert(offsetof(struct control_header, lost_by) == 352, "the layout is shared with other processes");
static_assert(offsetof(struct control_header, resumed_raw_ns) == 416, "the layout is shared with other processes");
static_assert(offsetof(struct control_header, snapshot_ready) == 424, "the layout is shared with other processes");
static_assert(offsetof(struct control_header, wait_ticks) == 448, "the layout is shared with other processes");
static_assert(offsetof(struct control_header, request) == 512, "the layout is shared with other processes");
static_assert(offsetof(struct control_header, memory) == 864, "the layout is shared with other processes");
static_assert(offsetof(struct control_header, children_filtered) == 880, "the layout is shared with other processes");
static_assert(offsetof(struct control_header, pauses) == 888, "the layout is shared with other processes");
static_assert(offsetof(struct control_header, pause) == 912, "the layout is shared with other processes");
static_assert(offsetof(struct control_header, children_forked) == 2960, "the layout is shared with other processes");
static_assert(offsetof(struct control_header, modes) == 2968, "the layout is shared with other processes");
static_assert(offsetof(struct control_header, counted) == 2976, "the layout is shared with other processes");
static_assert(sizeof(struct control_header) <= CONTROL_BYTES, "the header fits the file");

/** Whether a mode word is one in which locks and threads have events. */
static inline bool control_mode_has_events(uint32_t mode)
{
    return mode != CONTROL_OFF && mode != CONTROL_COUNTS;
}

/** The same of `modes`. */
static inline bool control_modes_have_events(uint32_t modes)
{
    return (modes & ~(1U << CONTROL_OFF | 1U << CONTROL_COUNTS)) != 0;
}

/* The end is stored once: of two threads that switch at a time, one is first. */
static inline void control_pause_end(struct control_pause *pause, uint64_t raw_ns)
{
    uint64_t not_yet = 0;
    (void)__atomic_compare_exchange_n(&pause->end_raw_ns, &not_yet, raw_ns, false, __ATOMIC_RELEASE, __ATOMIC_RELAXED);
}

/** Events end now, by CLOCK_MONOTONIC_RAW: before CONTROL_OFF, or with `counted` CONTROL_COUNTS, is stored in `mode`. */
static inline void control_pause(struct control_header *h, uint64_t raw_ns, bool counted)
{
    uint32_t i = __atomic_fetch_add(&h->pauses, 1, __ATOMIC_RELAXED);
    /* One that has not ended although recording is on was never switched to: its process was killed before. */
    if (i > 0 && i <= CONTROL_PAUSES)
        control_pause_end(&h->pause[i - 1], __atomic_load_n(&h->pause[i - 1].begin_raw_ns, __ATOMIC_RELAXED));
    if (i < CONTROL_PAUSES && counted)
        __atomic_fetch_or(&h->counted[i / 64], (uint64_t)1 << i % 64, __ATOMIC_RELAXED);
    __atomic_store_n(i < CONTROL_PAUSES ? &h->pause[i].begin_raw_ns : &h->more_raw_ns, raw_ns, __ATOMIC_RELEASE);
}

/** Events or counts begin now, by CLOCK_MONOTONIC_RAW: before `mode` is stored. */
static inline void control_resume(struct control_header *h, uint64_t raw_ns)
{
    uint32_t n = __atomic_load_n(&h->pauses, __ATOMIC_RELAXED);
    uint64_t since = n > CONTROL_PAUSES ? __atomic_exchange_n(&h->more_raw_ns, 0, __ATOMIC_RELAXED) : 0;
    if (since != 0 && since < raw_ns)
        __atomic_fetch_add(&h->paused_more_ns, raw_ns - since, __ATOMIC_RELAXED);
    if (n > 0 && n <= CONTROL_PAUSES)
        control_pause_end(&h->pause[n - 1], raw_ns);
    __atomic_store_n(&h->resumed_raw_ns, raw_ns, __ATOMIC_RELEASE);
}

/* Mode counts ends: only if it was on from the beginning it is not a stretch yet. */
static inline void control_counts_end(struct control_header *h)
{
    if (__atomic_load_n(&h->pauses, __ATOMIC_RELAXED) == 0)
        control_pause(h, 1, true);
}

/** The mode word is to change now, by CLOCK_MONOTONIC_RAW, which is before `to` is stored. */
static inline void control_switch(struct control_header *h, uint32_t from, uint32_t to, uint64_t raw_ns)
{
    bool had_events = control_mode_has_events(from), has_events = control_mode_has_events(to);
    __atomic_fetch_or(&h->modes, 1U << to, __ATOMIC_RELAXED);
    if (from == to || (had_events && has_events))
        return;
    if (from == CONTROL_COUNTS)
        control_counts_end(h);
    if (!had_events)
        control_resume(h, raw_ns);
    if (!has_events)
        control_pause(h, raw_ns, to == CONTROL_COUNTS);
}

/** Count lost events. */
static inline void control_lose(struct control_header *h, enum control_loss cause, uint64_t n)
{
    __atomic_fetch_add(&h->lost, n, __ATOMIC_RELAXED);
    __atomic_fetch_add(&h->lost_by[cause], n, __ATOMIC_RELAXED);
}

/** Add a library's own memory, by own_memory_count(). */
static inline void control_add_memory(struct control_header *h, uint64_t bytes)
{
    if (bytes == UINT64_MAX)
        __atomic_store_n(&h->memory_unknown, 1, __ATOMIC_RELAXED);
    else
        __atomic_fetch_add(&h->memory, bytes, __ATOMIC_RELAXED);
}

/** Start time of a process in clock ticks since boot of the host; 0 if there is none (a real one is never 0). `pid` 0: of the calling
 *  process, whatever pid namespace /proc is of. */
uint64_t control_start_ticks(pid_t pid);

/** Whether two start times are of one process. Both are known; by an offset that is not a number of ticks they differ by one. */
static inline bool control_same_start(uint64_t a, uint64_t b)
{
    return a != 0 && b != 0 && a - b + 1 <= 2;
}

/** The id of a process in its innermost pid namespace; 0 if there is none. */
pid_t control_inner_pid(pid_t pid);

/** This boot's id: as bytes, and as text of 36 characters with its NUL. @return 0 or -errno. */
int control_boot_id(uint8_t id[16], char text[37]);

/** Open a file of a recording for reading: regular files only, links not followed; never blocks on another file type in
 *  its place. `path` is looked up as openat() does. @return descriptor or -errno. */
int control_open_at(int dirfd, const char *path);

/** Whether the process that writes the directory `dirfd` is alive. @return 1, 0 (also without a control file), or
 *  -errno if that is unknown. */
int control_is_running(int dirfd);

#endif
