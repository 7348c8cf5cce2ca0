/* SPDX-License-Identifier: MIT */
/**
 * @file
 * The inside of sync tracing. Room: sync_trace; before it the program's POSIX calls, after it core's recorder and the
 * trace writer.
 *
 * How the pieces meet: a wrapper (mutex.c, rwlock.c, cond.c, sem.c, thread.c, custom.c, ...) looks at the mode word, takes its thread's
 * block (block.c), tries the real call, and keeps account in the block: a count per lock (counts.c) and the stack of
 * locks held (held.h). Only where something worth an event happens does it take a tick, a call stack (unwind.c, stacks.c)
 * and write (record.c).
 *
 * What a forked child must not see lies in memory that the kernel wipes for it: the gate (so the child is off), the
 * threads' blocks (so no block is ready) and the tables of stacks and modules (so its own trace gets them anew).
 */
#ifndef UPMU_SYNC_SYNC_H
#define UPMU_SYNC_SYNC_H

#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>
#include <time.h>

#include "base/tiny_lock.h"
#include "upmu/sync.h"
#include "upmu/trace.h"

#define LIKELY(x) __builtin_expect(!!(x), 1)
#define UNLIKELY(x) __builtin_expect(!!(x), 0)

/** Where the program called the function this is written in. */
#define CALL_SITE() ((uintptr_t)__builtin_extract_return_addr(__builtin_return_address(0)))

/** The mode word of the control file: 0 off, else 1 + enum upmu_sync_mode. */
enum sync_mode_word {
    MODE_OFF = 0,
    MODE_CONTENDED = 1 + UPMU_SYNC_CONTENDED,
    MODE_HOLDERS = 1 + UPMU_SYNC_HOLDERS,
    MODE_ALL = 1 + UPMU_SYNC_ALL,
    MODE_COUNTS = 1 + UPMU_SYNC_COUNTS,
};

enum {
    SYNC_HELD_MAX = 1024, /**< locks held by one thread, power of two; the oldest is forgotten beyond */
    SYNC_STAMPS = 64,     /**< acquisitions of a lock that are recorded after it was contended */
    SYNC_SAMPLE_DEFAULT = 1024,
    SYNC_FRAMES_MAX = 64, /**< of a stack */
    SYNC_FRAMES_DEFAULT = 16,
    SYNC_FRAMES_OWN = 8,   /**< our own frames, at most, at the inner end of what the unwinder gives */
    SYNC_TID_SLOTS = 8192, /**< power of two */
    SYNC_TID_PROBES = 16,
    SYNC_SITES = 64, /**< call sites a thread remembers the stack number of; power of two */
};

/* Pages are at most this large where the ISA is; the gate has one of its own. */
#if defined(__x86_64__) || defined(__i386__)
#define SYNC_PAGE_MAX 4096
#else
#define SYNC_PAGE_MAX 65536
#endif

/** A held lock: a waiter in another thread copies it. */
struct sync_held {
    uintptr_t lock;   /**< its key, see sync_key_object() */
    uintptr_t site;   /**< where it was acquired */
    uint64_t since;   /**< tick, 0 if it was not taken; with HELD_SAMPLED: see sync_held_since() */
    uintptr_t wanted; /**< HELD_QUIET, HELD_RECORDED, or the address of a lock somebody waits for */
    uint64_t number;  /**< of all that is held up to this one (order.h), 0 until it is needed */
};

/** In `since`: the acquisition is one of those sampled, so its release must say so. No tick is that large. */
#define HELD_SAMPLED (UINT64_C(1) << 63)

/** And: counters were read when it was acquired, so they are read at its release. */
#define HELD_COUNTED (UINT64_C(1) << 62)

static inline uint64_t sync_held_since(uint64_t since)
{
    return since & ~(HELD_SAMPLED | HELD_COUNTED);
}

enum { HELD_QUIET = 0, HELD_RECORDED = 1 /**< the acquisition is in the trace: so must the release be */ };
/* A waiter that is late may ask for a lock whose entry is another's by now, in place of either: whatever is not quiet has
 * its release recorded. */

/** Acquisitions of one lock by one thread since the thread's first. */
struct sync_count {
    uintptr_t lock; /**< its key, marked if it sleeps (counts.c); 0 = free slot */
    uint64_t acquired;
    uint64_t contended;
    uint32_t until;  /**< acquisitions until one has to be looked at: counted down on the way of every one */
    uint16_t stamps; /**< acquisitions still to be recorded, since it was contended */
    uint16_t type;   /**< enum upmu_object_type */
};

/** Open addressing; replaced by one twice as large when full, and never freed while others could read it. */
struct sync_counts {
    uint32_t mask;
    uint32_t used;
    uint64_t *written; /**< per slot: `acquired` as last recorded */
    struct sync_count slot[];
};

struct sync_once_call;

/** The takings a thread has told of, see order.h. */
enum { SYNC_ORDER_FIRST_BITS = 6 };
struct sync_order {
    uint64_t *known; /**< 2^(64 - shift) numbers */
    uint32_t shift;
    uint32_t used;
    uint32_t period; /**< between making and joining threads */
    uint32_t since;  /**< period in which the table was emptied */
    uint64_t salt;   /**< what is in every number: the period, and the rooms that the thread is in */
    uint64_t first[1 << SYNC_ORDER_FIRST_BITS];
};

/** Semaphores of several places that a thread has taken one of, and not given back, see sem_lock.h. */
enum { SYNC_ROOMS = 4, SYNC_ROOM_MOST = UPMU_PLACES_MOST };
struct sync_room {
    uintptr_t sem; /**< 0: free */
    uintptr_t site;
    uint64_t number;
    uint32_t places;
};

/** A call stack known again, see memo.h. */
enum { SYNC_MEMO_BITS = 5, SYNC_MEMO_WAYS = 2, SYNC_MEMO_WORDS = 64 };
struct sync_memo {
    uintptr_t frame, key; /**< sync_site_key() */
    uint32_t id, depth;
    uint32_t n;     /**< words to compare; 0: it is no memo yet */
    uint32_t words; /**< there so far */
    uint32_t hits;
    uint32_t missed, patience; /**< of the place: walks since a memo was learned, and how many before the next is */
    struct {
        uintptr_t value;
        uint32_t at; /**< behind `frame` */
    } word[SYNC_MEMO_WORDS];
};

/** A thread's block. Stays mapped for ever and goes from an ended thread to a new one, so that others may look at it
 *  at any time; only its thread writes, except for `wanted`. */
struct sync_thread {
    /* First what is seldom used. A block begins a page and so does a packet, whose head is stored to with every event: a
     * load whose address differs from such a store's in the upper bits alone would wait for it. */
    void *frames[SYNC_FRAMES_MAX + SYNC_FRAMES_OWN];

    uint32_t ready;   /**< 1: may record. 0: the recorder is at work in this thread, it has ended, or we are a child */
    uint32_t depth;   /**< of `held` */
    uint32_t version; /**< odd while a held lock is being entered */
    pid_t tid;
    struct sync_counts *counts;
    struct trace_stream *stream;
    struct sync_order order;
    struct sync_room rooms[SYNC_ROOMS];
    struct sync_held held[SYNC_HELD_MAX];
    struct sync_site {
        uintptr_t key; /**< sync_site_key() */
        uint32_t id;
    } sites[SYNC_SITES];
    struct sync_memo memos[1 << SYNC_MEMO_BITS][SYNC_MEMO_WAYS];

    uint32_t used;             /**< belongs to a thread: 1, or BLOCK_KEPT */
    uint32_t number;           /**< of the block, from 1 on; PLACES_MANY: there are too many for numbers */
    uint32_t forgotten;        /**< held locks that did not fit */
    uintptr_t waiting;         /**< the lock this thread is blocked on */
    uintptr_t announced;       /**< the lock of the program's own it waits for; its waiting may use other locks */
    uint64_t flushed;          /**< tick of the last writing of counts */
    struct sync_count nowhere; /**< counts of locks the table has no room for */
    uint32_t method;           /**< enum upmu_stack_method of what is in `frames` */
    pthread_t self;
    struct sync_once_call *once; /**< the innermost pthread_once() that is going on */
    char name[16];
    struct sync_thread *next; /**< all blocks */
    /* live.c: what others see of the thread while it waits. */
    struct live_slot *live; /**< NULL: there is none */
    uint32_t live_index;
    uint32_t live_room;   /**< bytes of it that can be written */
    uint32_t live_depth;  /**< waits within waits */
    uint64_t clock_tick;  /**< when the time of day was asked last, */
    uint64_t clock_ns;    /**< and what it was */
    uint32_t futex_value; /**< what the futex that it waits for has as long as it waits */
    bool futex_one;       /**< it is one; of several, values are not kept here */
    unsigned char live_outer[128];
};

struct sync_tls {
    struct sync_thread *thread;
    uint32_t busy;     /**< the block or what the unwinder needs is being made */
    uint32_t refused;  /**< it could not be made, or the thread has ended */
    uint32_t counting; /**< counters are being read */
    uint32_t starting; /**< the thread's start is still to be recorded: before that it has not begun */
    uint32_t unwinds;  /**< the unwinder has its memory for this thread */
    uint32_t rounds;   /**< destructor rounds seen */
    uint32_t forking;  /**< thread id, while this thread forks */
    uint32_t finding;  /**< the real free() is being looked for */
};
extern _Thread_local struct sync_tls sync_tls __attribute__((tls_model("initial-exec"), visibility("hidden")));

/** State a forked child finds zeroed. */
struct sync_gate {
    const uint32_t *mode; /**< the control file's word; NULL = off */
    struct sync_thread *threads;
    struct live_header *live;    /**< NULL: there is no file of what threads stand at */
    struct tiny_lock lock;       /**< guards the list of blocks, and whose a block's counts are */
    struct tiny_lock begin_lock; /**< begin and end */
    uint32_t claimed;            /**< a child is starting its own recording */
    uint32_t slots;              /**< live slots made; under `lock` */
    uint32_t kept;               /**< blocks of threads that ended with locks held */
    uint32_t recording;          /**< threads with a live slot now */
    uint32_t status;             /**< of these, those that wait */
    uint32_t asking, ask_again;  /**< standstill.c */
    uint32_t blocks;             /**< made; under `lock` */
    uint32_t nowhere;            /**< a thread has counted locks that its table has no room for */
    unsigned char rest[SYNC_PAGE_MAX - 3 * sizeof(void *) - 2 * sizeof(struct tiny_lock) - 9 * sizeof(uint32_t)];
};
_Static_assert(sizeof(struct sync_gate) == SYNC_PAGE_MAX, "the gate has its pages for itself");
extern struct sync_gate sync_gate;

/** What stays as it is in a child. */
struct sync_process {
    uint32_t begins;
    uint32_t set_up;             /**< tables and key are there */
    uint32_t recording;          /**< begun and not ended */
    uint32_t mode;               /**< word to start with, in a child too */
    uint32_t chosen;             /**< word for when it is off and somebody outside starts it */
    uint32_t depth;              /**< frames per stack, 0 = none */
    uintptr_t unloads;           /**< what sync_site_key() mixes in: another number after each module that went */
    uint32_t sample;             /**< one in so many acquisitions without contention is recorded, 0 = none */
    uint32_t owner_known;        /**< glibc's word for the owner of a mutex means what we think */
    uint32_t rwlock_known;       /**< so do glibc's fields of an rwlock */
    uint32_t rwlock_try_by_time; /**< the try functions of rwlocks are broken: use timed ones whose time has passed */
    uint32_t spin_known;         /**< `spin_free` tells whether a spin lock is free */
    int spin_free;
    uint32_t c11_owner_known; /**< `owner_known`, for mtx_t */
    uint32_t sched;           /**< the recorder has switches to read: it is asked at every event */
    uint32_t counters;        /**< counters are read at waits, and at the ends of holds that are HELD_COUNTED */
    uint32_t requests;        /**< in mode all, calls that would wait for a lock are events of their own */
    uint32_t all_slow;        /**< mode all takes stacks, or has requests */
    uint32_t once_known;      /**< `once_done` is what a pthread_once_t contains afterwards */
    int once_done;
    uint64_t write_every; /**< ticks between two writings of a thread's counts */
    uint64_t hz;          /**< ticks per second, roughly */
    double ns_per_tick;   /**< the same */
    struct {
        uint64_t full_ps, compact_ps, stack_ps;
    } cost; /**< of an event, of one in a compact class, of a stack beside; all 0 before they are measured */
    pthread_key_t end_key;
    struct sync_thread **by_tid;
    struct sync_thread **by_number;
    struct places *places; /**< where locks lie; NULL until `set_up` */
};
extern struct sync_process sync_process;

/** What a call site is remembered by: after a module went, nothing that was remembered before is found. */
static inline uintptr_t sync_site_key(uintptr_t site)
{
    return site ^ __atomic_load_n(&sync_process.unloads, __ATOMIC_RELAXED);
}

/* ---- mode and block: what every wrapper begins with */

static inline uint32_t sync_mode(void)
{
    const uint32_t *word = __atomic_load_n(&sync_gate.mode, __ATOMIC_ACQUIRE);
    return LIKELY(word == NULL) ? (uint32_t)MODE_OFF : __atomic_load_n(word, __ATOMIC_RELAXED);
}

/** The calling thread's block, made if need be; NULL if it cannot record now. Keeps errno. */
struct sync_thread *sync_thread_make(void);

static inline struct sync_thread *sync_thread(void)
{
    struct sync_thread *t = sync_tls.thread;
    return LIKELY(t != NULL && __atomic_load_n(&t->ready, __ATOMIC_RELAXED)) ? t : sync_thread_make();
}

/** Lock calls made between these two, by us or by a signal handler, pass straight through. */
static inline void sync_guard(struct sync_thread *t)
{
    __atomic_store_n(&t->ready, 0, __ATOMIC_RELAXED);
    __atomic_signal_fence(__ATOMIC_SEQ_CST);
}

static inline void sync_unguard(struct sync_thread *t)
{
    __atomic_signal_fence(__ATOMIC_SEQ_CST);
    __atomic_store_n(&t->ready, 1, __ATOMIC_RELAXED);
}

/** No signal handler runs from here on, for what is rare and too long for sync_guard(): what a handler locks between those
 *  two is missed. @return what to give back to sync_signals_back(). */
static inline sigset_t sync_signals_away(void)
{
    sigset_t all, before;
    sigfillset(&all);
    sigemptyset(&before);
    (void)pthread_sigmask(SIG_SETMASK, &all, &before); /* cannot fail with these arguments */
    return before;
}

static inline void sync_signals_back(const sigset_t *before)
{
    (void)pthread_sigmask(SIG_SETMASK, before, NULL);
}

/** In a forked child whose parent recorded: begin a recording of its own. Called where allocating is safe: at calls that
 *  no allocator, fork handler or signal handler makes. */
void sync_child_start(void);

static inline void sync_child_check(void)
{
    if (UNLIKELY(__atomic_load_n(&sync_process.recording, __ATOMIC_RELAXED) &&
                 !__atomic_load_n(&sync_gate.mode, __ATOMIC_RELAXED)))
        sync_child_start();
}

/* ---- block.c */

/** Make the tables and the key. @return 0; UPMU_E_NOMEM, UPMU_E_LIMIT, UPMU_E_SYSTEM. */
int sync_blocks_start(void);
/** In a child: forget the parent's block of this thread. */
void sync_blocks_forget(void);
/** A new thread, before the program's function: what may be allocated here and nowhere later. Recording is on or paused. */
void sync_thread_begin(void);
/** The calling thread ends: its last event, if it is recorded. */
void sync_thread_exit_event(struct sync_thread *t);
/** The live thread with this id; NULL. */
struct sync_thread *sync_thread_by_tid(pid_t tid);
/** The live thread with this handle; NULL. */
struct sync_thread *sync_thread_by_handle(pthread_t self);
/** Private memory a child finds zeroed; NULL. */
void *sync_map_wiped(size_t bytes);

/** The block of a thread that records events, not just counts; NULL. */
static inline struct sync_thread *sync_recording(void)
{
    uint32_t mode = sync_mode();
    return LIKELY(mode == MODE_OFF || mode == MODE_COUNTS) ? NULL : sync_thread();
}

/** The lock a key stands for. A key is the lock's address; an rwlock held for reading is under its address plus 1, so
 *  that it has a count and entries among the held locks of its own. (An rwlock is never at an odd address.) */
static inline uintptr_t sync_key_object(uintptr_t key, uint32_t type)
{
    return type == UPMU_OBJECT_RWLOCK ? key & ~(uintptr_t)1 : key;
}

static inline uint32_t sync_key_flags(uintptr_t key, uint32_t type)
{
    return type == UPMU_OBJECT_RWLOCK && key % 2 ? UPMU_TRACE_FLAG_SHARED : 0;
}

/** Whether a lock held under this key is held as a reader: not every odd key is, a lock of the program's own may lie at
 *  any address. */
bool sync_key_is_reader(const struct sync_thread *t, uintptr_t key);

/** Whether libc accepts this deadline. Where it looks before it tries, it must be asked first: trying would succeed. */
static inline bool sync_deadline_is_valid(clockid_t clock, const struct timespec *until)
{
    bool known = clock == CLOCK_REALTIME || clock == CLOCK_MONOTONIC;
    return known && (!until || (until->tv_nsec >= 0 && until->tv_nsec < 1000000000));
}

/* ---- rwlock.c, spin.c, once.c, c11.c: what the C library's locks look like inside, found out at the start */

void sync_rwlock_start(void);
void sync_spin_start(void);
void sync_once_start(void);
void sync_c11_start(void);

/* ---- live.c: what threads stand at, for readers outside the process (trace/format/wait_state.h) */

struct trace_sync;
struct live_header;
struct live_slot;

/** A block that nobody gets any more: its thread ended with locks held, and whoever waits for them is to be told. */
enum { BLOCK_KEPT = 2 };

/** Recording begins: make the file. */
void sync_live_start(void);
/** A new block: give it a slot. Under sync_gate.lock. */
void sync_live_slot(struct sync_thread *t);
/** A thread has the block now. */
void sync_live_enter(struct sync_thread *t);
/** The thread ends. @return true if it holds locks, and the block must be kept as it is. */
bool sync_live_leave(struct sync_thread *t);
/** The program has made a thread. */
void sync_live_created(void);
/** The thread is about to wait: `e` is the event that says so, `tick` is about now. */
void sync_live_begin(struct sync_thread *t, uint64_t tick, const struct trace_sync *e);
/** It waits no more. */
void sync_live_end(struct sync_thread *t);
/** The lock is no longer held by that thread, which did not give it back itself; 0: by no thread that has ended. */
void sync_live_disown(pid_t tid, uintptr_t lock);
/** The mutex that the thread has begun to wait for was seen, after that, to be still its peer's; `gone`: who is no thread
 *  of this process. */
void sync_live_owner(struct sync_thread *t, bool gone);
/** standstill.c: all threads that record wait now, or are about to as `t` is; `tick` is about now. Under sync_guard(). */
void sync_standstill(struct live_header *h, const struct sync_thread *t, uint64_t tick);
/** barrier.c: whoever arrives now is the last one, and does not wait. */
bool sync_barrier_is_full(const pthread_barrier_t *b);
/* notes.c: what a report names beside the threads, in the same file. Keep errno. */

void sync_note_module(uint64_t base, uint64_t start, uint64_t end, const char *build_id, const char *path);
/** The program has named an object; NULL and "" are no name. */
void sync_note_name(uint64_t object, int32_t type, const char *name);
/** What lies at the address ends, or begins. */
void sync_note_end(uint64_t object);

/** A lock whose owner nobody knows was given back by a thread that did not hold it: whoever seems to has it no more. */
void sync_live_taken_away(uintptr_t lock);

/* ---- forked.c: locks that a child has from its parent */

/** Once in a process. @return 0; UPMU_E_NOMEM. */
int sync_forked_start(void);
/** A child begins to record. */
void sync_forked_begun(void);
/** Whose a mutex is, by the thread id in it. */
pid_t sync_forked_owner(pid_t owner);
/** Whether there is no such thread in this process (any more). */
bool sync_forked_is_gone(pid_t owner);

/** In glibc: try functions of robust mutexes are not to be called. */
bool sync_mutex_is_robust(const pthread_mutex_t *m);

/* ---- order.c */

/** A thread has the block now. */
void sync_order_start(struct sync_thread *t);

/* ---- counts.c */

/** A new table of 2^n slots. */
struct sync_counts *sync_counts_new(uint32_t slots);
struct sync_count *sync_count_find(struct sync_thread *t, uintptr_t lock, uint32_t type);
/** The type of a lock that the thread has taken, UPMU_OBJECT_NONE if it is not among its counts. */
uint32_t sync_count_type(const struct sync_thread *t, uintptr_t key);
/** Forget what an ended thread counted. */
void sync_counts_clear(struct sync_thread *t);
/** Record what has changed since the last time, into `stream` (the thread's own, or one taken in its name). */
void sync_counts_write(struct sync_thread *t, struct trace_stream *stream);
/** A lock ends: record what every thread has counted of it, so that what comes to lie there has counts of its own. A
 *  `type` of UPMU_OBJECT_NONE becomes the one it was counted as. @return whether all of that is in the trace. */
bool sync_counts_final(struct sync_thread *t, uintptr_t object, int32_t *type);
/** The same as sync_counts_write() if the last time is long ago. */
void sync_counts_write_sometimes(struct sync_thread *t, uint64_t now);

static inline struct sync_count *sync_count(struct sync_thread *t, uintptr_t lock, uint32_t type)
{
    struct sync_counts *c = t->counts;
    struct sync_count *slot = &c->slot[(lock >> 4 ^ lock >> 12) & c->mask];
    uintptr_t found = __atomic_load_n(&slot->lock, __ATOMIC_RELAXED); /* others put it to sleep */
    return LIKELY(found == lock) ? slot : sync_count_find(t, lock, type);
}

/** The lock is contended: its next acquisitions are recorded. */
static inline void sync_count_stamp(struct sync_count *c)
{
    c->stamps = SYNC_STAMPS;
    c->until = 1;
}

/* ---- freed.c: locks that end because the memory they lie in does */

/** @return 0; UPMU_E_NOMEM. */
int sync_freed_start(void);
/** Something under this key was begun, or met for the first time by thread `t`, which counts it; NULL: nobody counts it yet.
 *  When its memory goes, it ends. */
void sync_lock_met(const struct sync_thread *t, uintptr_t key, uint32_t type);
/** It ends: all that was counted of it is written, as sync_counts_final() says. */
bool sync_lock_ended(struct sync_thread *t, uintptr_t object, int32_t *type);

/* ---- unwind.c, stacks.c, modules.c */

/** Open the unwinder. */
void sync_unwind_start(void);
/** The calling thread, which has no block yet, unwinds from now on by the fast way. May allocate: only where the program's
 *  allocator cannot be at work below us. Keeps errno. */
void sync_unwind_thread(void);
/** Code has changed its place: what libunwind has learned of addresses may be wrong from now on, and it cannot be made to
 *  forget it while other threads use it. All threads unwind by the other way. */
void sync_unwind_distrust(void);

int sync_stacks_start(void);
/** The call stack here from `site` outward, as a number for events of `*tick`; 0 there: it is taken once the stack is walked.
 *  Under sync_guard(). */
uint32_t sync_stack_here(struct sync_thread *t, uint64_t *tick, uintptr_t site);
/** Id of a stack, written to the trace before anything with a tick of `tick` or later can name it; 0 = none or lost. */
uint32_t sync_stack_id(struct sync_thread *t, uint64_t tick, const void *const *frames, uint32_t n, bool truncated);
/** Copy a stack that has an id to `frames`, which has room for SYNC_FRAMES_MAX. @return their number. */
uint32_t sync_stack_copy(uint32_t id, uint64_t *frames, uint8_t *method, uint8_t *truncated);
/** What was mapped from `start` to `end` is not any more: stacks through it are not met again. */
void sync_stacks_retire(uint64_t start, uint64_t end);

struct dl_phdr_info;

int sync_modules_start(void);
/** Record the modules not recorded yet, and those that went. Takes the loader's lock: not on the traced path. */
void sync_modules_scan(struct sync_thread *t);
/** Modules may have been unloaded. `t`: NULL if the calling thread cannot record it now. As sync_modules_scan(). */
void sync_modules_unloaded(struct sync_thread *t);
/** Whether an address lies in a recorded module; if not, the next safe place scans. */
void sync_modules_note(uintptr_t address);
/** Record the modules that a stack of this thread leads into, as far as they are not known and can be found without a lock.
 *  @return whether there were any: the unwinder knows more than it did. */
bool sync_modules_meet(struct sync_thread *t, const void *const *frames, uint32_t n_frames);
/** Where a module begins and ends. @return false if nothing of it is mapped. */
bool sync_module_extent(const struct dl_phdr_info *info, uint64_t *start, uint64_t *end);
/** Scan if a stack has led into an unknown module. */
void sync_modules_check(struct sync_thread *t);

/* ---- names.c */

/** Remember the name of an object until recording begins. Signal safe. */
void sync_names_keep(const void *object, int32_t type, const char *name);
/** The object is no more. */
void sync_names_forget(const void *object);
/** Record the names kept. */
void sync_names_write(struct sync_thread *t);

/* ---- record.c */

struct trace_sync;

/** Read the thread's counters for the event of this tick about `object`, which follows; 0: its tick is to be behind the
 *  reading. @return its tick. */
uint64_t sync_count_now(struct sync_thread *t, uint64_t tick, uintptr_t object);

/** A lock is about to be given back, and that will be recorded with this tick. Before it is: what the next holder makes of
 *  it is not counted here. */
static inline void sync_count_release(struct sync_thread *t, const struct sync_held *h, uint64_t tick, uintptr_t object)
{
    if (UNLIKELY(h->since & HELD_COUNTED))
        (void)sync_count_now(t, tick, object);
}

/** Write an event. With it the counters, if it begins or ends a wait, and what the kernel tells of the thread's switches. */
void sync_write(struct sync_thread *t, uint64_t tick, const struct trace_sync *e);
/** The call stack here, as an id for events of `tick`; without stacks, of the call site alone. */
uint32_t sync_stack(struct sync_thread *t, uint64_t tick, uintptr_t site);
/** The same of an event that comes after it, whose tick `*tick` becomes. Both keep errno. */
uint32_t sync_stack_first(struct sync_thread *t, uint64_t *tick, uintptr_t site);
/** Id of the stack that is the call site alone, at its first use in this thread. */
uint32_t sync_site_find(struct sync_thread *t, uint64_t tick, uintptr_t site);

static inline uint32_t sync_site_id(struct sync_thread *t, uint64_t tick, uintptr_t site)
{
    const struct sync_site *s = &t->sites[(site ^ site >> 6) % SYNC_SITES];
    return LIKELY(s->key == sync_site_key(site)) ? s->id : sync_site_find(t, tick, site);
}
/** Any other object's event: guard, tick, stack, write. */
void sync_event_flags(struct sync_thread *t, int32_t kind, int32_t type, const void *object, uintptr_t site,
                      int32_t result, uint32_t flags);

static inline void sync_event(struct sync_thread *t, int32_t kind, int32_t type, const void *object, uintptr_t site,
                              int32_t result)
{
    sync_event_flags(t, kind, type, object, site, result, 0);
}

/** Record that the thread calls for a lock, if that is asked for in this mode. @return the stack here, for what follows; 0:
 *  none was taken. */
uint32_t sync_request_tell(struct sync_thread *t, uint32_t type, uintptr_t key, uintptr_t site);

static inline uint32_t sync_request(struct sync_thread *t, uint32_t mode, uint32_t type, uintptr_t key, uintptr_t site)
{
    return UNLIKELY(mode == MODE_ALL && sync_process.requests) ? sync_request_tell(t, type, key, site) : 0;
}

/** A wait that is going on. */
struct sync_wait {
    struct sync_thread *t;
    uintptr_t lock; /**< its key */
    uintptr_t site;
    uint32_t type;
    uint32_t flags; /**< enum upmu_trace_flag, without what the key tells */
    uint32_t asked; /**< the stack of its request (sync_request()), 0: none */
    int32_t result; /**< of the call; ECANCELED until it has returned */
    bool recorded;
};
/** The thread is about to block: find the holder and record. `owner` is the holder's thread id, 0 = nobody, -1: look for
 *  who has the lock among the locks all threads hold. */
void sync_wait_begin(struct sync_wait *w, uint32_t mode, pid_t owner, bool outermost);
/** It has the lock now (result 0 or EOWNERDEAD), or has given up. Semaphores are not held by anybody. */
void sync_wait_end(struct sync_wait *w);
/** The part of an acquisition without a wait that is more than a count and a held lock. */
void sync_taken_slow(struct sync_thread *t, uint32_t mode, struct sync_count *c, uintptr_t lock, uintptr_t site,
                     int32_t result);

#endif
