/* SPDX-License-Identifier: MIT */
/*
 * A forked child: its own trace, and locks inherited from its parent.
 *
 * In a child a mutex still has the thread id of its owner in the parent. If that thread forked, its owner now is the child's
 * only thread; any other owner does not exist here, and the mutex is never released.
 *
 * A child records from its first call that is safe to begin in. Locking is not (an allocator may be active below), but a
 * child that blocks in its very first lock would never get to another call. So in a child pthread_mutex_lock() goes through
 * fork_first_lock(): if a try fails there is nothing left to be careful of, and no allocator has a mutex that processes share,
 * or a robust one. Nor has one an rwlock of that kind, whose readers are known to this process alone: there it begins before the
 * first one.
 * Forks without handlers (vfork, _Fork, clone) change nothing.
 */
#include "sync_trace/fork.h"

#include <errno.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/cancel.h"
#include "base/error.h"
#include "base/tick.h"
#include "region/recorder.h"
#include "sync_trace/account/lock_order.h"
#include "sync_trace/gate.h"
#include "sync_trace/libc/layout.h"
#include "sync_trace/libc/resolve.h"
#include "sync_trace/state/notes.h"
#include "sync_trace/thread_life.h"
#include "trace/format/control.h"

enum { FORMER_MAX = 8 };

static struct {
    uint32_t installed;
    pid_t process;            /**< process that the other fields are of */
    uint32_t n;               /**< forks so far */
    pid_t former[FORMER_MAX]; /**< id of the forking thread in each parent */
    int (*mutex_lock)(pthread_mutex_t *);
    int (*read_lock)(pthread_rwlock_t *), (*write_lock)(pthread_rwlock_t *); /**< NULL: not replaced */
    /* The last fork of a process that records. A child inherits it, also through processes that do not record. */
    struct {
        pid_t process, thread;
        uint64_t tick, since;
        uint32_t n; /**< forks before it */
    } by;
    uint32_t n_noted; /**< begins and ends of children that were noted */
} forked;

/* Counts a child, which begins in its parent's mode of this moment, stopped if that is. Threads that fork at a time store the same, or the moment
 * of the other's fork. */
static void fork_note_child(const uint32_t *word)
{
    struct control_header *control = upmu_recorder_control_();
    uint32_t mode = __atomic_load_n(word, __ATOMIC_RELAXED);
    uint32_t chosen = control ? __atomic_load_n(&control->chosen, __ATOMIC_RELAXED) : 0;
    if (control && mode != MODE_OFF)
        __atomic_fetch_add(&control->children_forked, 1, __ATOMIC_RELAXED);
    if (chosen == 0)
        return; /* the program has ended recording, and no child begins it */
    sync_option_set(mode, mode);
    sync_option_set(chosen, chosen);
}

/* What the thread acquires from here on may run in parallel with the child. */
static void before_fork(void)
{
    if (__atomic_load_n(&sync_process.finished, __ATOMIC_RELAXED))
        return;
    sync_tls.forking = (uint32_t)syscall(SYS_gettid);
    const uint32_t *word = __atomic_load_n(&sync_gate.mode, __ATOMIC_ACQUIRE);
    if (!word)
        return;
    struct sync_thread *t = sync_tls.thread;
    if (t && sync_is_ready(t))
        sync_order_renew(t);
    fork_note_child(word);
    forked.by.process = getpid();
    forked.by.thread = (pid_t)sync_tls.forking;
    forked.by.since = __atomic_load_n(&sync_gate.since, __ATOMIC_RELAXED);
    forked.by.n = forked.n;
    forked.by.tick = tick_now();
}

uint64_t sync_fork_child_begins(void)
{
    struct sync_thread *t = sync_recording();
    if (!t)
        return 0;
    uint32_t before = sync_guard(t);
    sync_order_renew(t);
    sync_unguard(t, before);
    return tick_now();
}

/* The thread that may add a note about a child; NULL: none, or there are too many. */
static struct sync_thread *fork_noting(void)
{
    enum { NOTED_MAX = 1024 }; /* 40 bytes each, of a megabyte for all notes */
    struct sync_thread *t = sync_recording();
    if (!t || forked.n_noted >= NOTED_MAX)
        return NULL;
    forked.n_noted++;
    return t;
}

void sync_fork_child_spawned(pid_t child, uint64_t begin)
{
    struct sync_thread *t = begin != 0 ? fork_noting() : NULL;
    if (!t)
        return;
    uint32_t before = sync_guard(t);
    sync_note_spawned(child, t->tid, begin);
    sync_unguard(t, before);
}

void sync_fork_child_ended(pid_t child, uint64_t begin)
{
    struct sync_thread *t = fork_noting();
    if (!t)
        return;
    uint32_t before = sync_guard(t);
    sync_order_renew(t);
    sync_note_reaped(child, t->tid, tick_now(), begin);
    sync_unguard(t, before);
}

static int fork_first_lock(pthread_mutex_t *m);
static int fork_first_read_lock(pthread_rwlock_t *l);
static int fork_first_write_lock(pthread_rwlock_t *l);

/* Undo the replacement of the lock functions: the child begins to record. */
static void fork_restore_lock(void)
{
    if (__atomic_load_n(&sync_real.mutex_lock, __ATOMIC_RELAXED) == fork_first_lock)
        __atomic_store_n(&sync_real.mutex_lock, forked.mutex_lock, __ATOMIC_RELAXED);
    if (__atomic_load_n(&sync_real.rwlock_rdlock, __ATOMIC_RELAXED) == fork_first_read_lock)
        __atomic_store_n(&sync_real.rwlock_rdlock, forked.read_lock, __ATOMIC_RELAXED);
    if (__atomic_load_n(&sync_real.rwlock_wrlock, __ATOMIC_RELAXED) == fork_first_write_lock)
        __atomic_store_n(&sync_real.rwlock_wrlock, forked.write_lock, __ATOMIC_RELAXED);
}

/* The parent may have ended, and the child belong to another process since. */
static void fork_note_parent(void)
{
    struct control_header *control = upmu_recorder_control_();
    sync_note_parent(forked.by.process, forked.by.thread, forked.by.tick, forked.by.since);
    if (control && forked.n == forked.by.n + 1)
        __atomic_store_n(&control->parent, (uint32_t)forked.by.process, __ATOMIC_RELAXED);
}

void sync_child_start(void)
{
    uint32_t free_claim = 0;
    int saved = errno;
    struct cancel_hold cancel;
    cancel_hold(&cancel); /* making files has cancellation points, the caller may have none */
    if (__atomic_compare_exchange_n(&sync_gate.claimed, &free_claim, 1, false, __ATOMIC_ACQ_REL, __ATOMIC_RELAXED)) {
        fork_restore_lock();
        sync_threads_forget();
        uint32_t mode = sync_process.mode;
        bool records = upmu_recorder_stream_() && sync_gate_open(mode, mode == MODE_OFF) == 0;
        if (records && forked.by.process != 0)
            fork_note_parent();
        if (records) /* in a call of the program, which may hold locks: they are not held for this */
            __atomic_store_n(&sync_gate.ready, tick_now(), __ATOMIC_RELAXED);
    }
    errno = saved;
    cancel_resume(&cancel);
}

int sync_child_try(pthread_mutex_t *m)
{
    int rc = sync_lock_may_be_shared(m, UPMU_OBJECT_MUTEX) ? EBUSY : SYNC_REAL(mutex_trylock)(m);
    if (rc == EBUSY)
        sync_child_check();
    return rc;
}

/* pthread_mutex_lock() in a child that does not record yet: recording begins if it blocks. */
static int fork_first_lock(pthread_mutex_t *m)
{
    int (*real)(pthread_mutex_t *) = forked.mutex_lock;
    if (__atomic_load_n(&sync_gate.mode, __ATOMIC_ACQUIRE) || sync_gate.claimed)
        return real(m);
    int rc = sync_child_try(m);
    if (rc != EBUSY)
        return rc;
    return __atomic_load_n(&sync_gate.mode, __ATOMIC_ACQUIRE) ? pthread_mutex_lock(m) : real(m);
}

/* Begin to record before the child acquires its first process-shared rwlock. @return whether it records. */
static bool fork_begins_at(const pthread_rwlock_t *l)
{
    if (__atomic_load_n(&sync_gate.mode, __ATOMIC_ACQUIRE) || sync_gate.claimed ||
        !sync_lock_may_be_shared(l, UPMU_OBJECT_RWLOCK))
        return false;
    sync_child_check();
    return __atomic_load_n(&sync_gate.mode, __ATOMIC_ACQUIRE) != NULL;
}

static int fork_first_read_lock(pthread_rwlock_t *l)
{
    int (*real)(pthread_rwlock_t *) = forked.read_lock;
    return fork_begins_at(l) ? pthread_rwlock_rdlock(l) : real(l);
}

static int fork_first_write_lock(pthread_rwlock_t *l)
{
    int (*real)(pthread_rwlock_t *) = forked.write_lock;
    return fork_begins_at(l) ? pthread_rwlock_wrlock(l) : real(l);
}

/* Make the child's first rwlock calls go through fork_first_read_lock() and fork_first_write_lock(). */
static void fork_replace_rwlocks(void)
{
    int (*read)(pthread_rwlock_t *) = __atomic_load_n(&sync_real.rwlock_rdlock, __ATOMIC_RELAXED);
    int (*write)(pthread_rwlock_t *) = __atomic_load_n(&sync_real.rwlock_wrlock, __ATOMIC_RELAXED);
    if (read && read != fork_first_read_lock) {
        forked.read_lock = read;
        __atomic_store_n(&sync_real.rwlock_rdlock, fork_first_read_lock, __ATOMIC_RELAXED);
    }
    if (write && write != fork_first_write_lock) {
        forked.write_lock = write;
        __atomic_store_n(&sync_real.rwlock_wrlock, fork_first_write_lock, __ATOMIC_RELAXED);
    }
}

static void fork_child(void)
{
    if (__atomic_load_n(&sync_process.finished, __ATOMIC_RELAXED))
        return;
    if (forked.n < FORMER_MAX)
        forked.former[forked.n] = (pid_t)sync_tls.forking;
    forked.n++;
    forked.process = getpid();
    forked.n_noted = 0;
    if (__atomic_load_n(&sync_process.recording, __ATOMIC_RELAXED))
        fork_replace_rwlocks();
    int (*now)(pthread_mutex_t *) = __atomic_load_n(&sync_real.mutex_lock, __ATOMIC_RELAXED);
    if (!now || now == fork_first_lock || !__atomic_load_n(&sync_process.recording, __ATOMIC_RELAXED))
        return;
    forked.mutex_lock = now;
    __atomic_store_n(&sync_real.mutex_lock, fork_first_lock, __ATOMIC_RELAXED);
}

int sync_fork_start(void)
{
    forked.process = getpid();
    (void)SYNC_REAL(rwlock_rdlock); /* a child cannot look them up safely */
    (void)SYNC_REAL(rwlock_wrlock);
    if (forked.installed || pthread_atfork(before_fork, NULL, fork_child) == 0) {
        forked.installed = 1;
        return 0;
    }
    return upmu_fail(UPMU_E_NOMEM, "out of memory");
}

pid_t sync_fork_owner(pid_t owner)
{
    for (uint32_t i = 0; i < forked.n && i < FORMER_MAX; i++)
        if (forked.former[i] == owner && forked.process == getpid())
            return forked.process; /* the id of a child's first thread */
    return owner;
}

bool sync_fork_owner_is_gone(pid_t owner)
{
    if (sync_thread_by_tid(owner) || forked.n > FORMER_MAX || forked.process != getpid())
        return false;
    int saved = errno;
    bool gone = syscall(SYS_tgkill, forked.process, owner, 0) != 0 && errno == ESRCH;
    errno = saved;
    return gone;
}
