/* SPDX-License-Identifier: MIT */
/*
 * Mutexes. Room: sync_trace; before it the program's calls, after it held.h, counts.c, record.c.
 *
 * Contention is decided by trying: pthread_mutex_trylock() makes the same first attempt as pthread_mutex_lock() does, so
 * fairness does not change. When it says EBUSY, the real call is made and its result is the answer (an error-checking
 * mutex of one's own says EDEADLK there). Robust mutexes are tried by a timed lock whose time has passed: glibc's trylock
 * of one that cannot be recovered leaves it locked, and who comes next would wait for ever.
 *
 * Who holds a mutex costs the uncontended path nothing: glibc keeps the owner's thread id in the mutex for its own use,
 * and a waiter finds the owner's block by that id. It is believed only after a check at the start (process.c); without
 * it a waiter looks through the held stacks of all threads.
 */
#include <errno.h>
#include <limits.h>

#include "base/tick.h"
#include "sync_trace/held.h"
#include "sync_trace/lockable.h"
#include "sync_trace/wrap/mutex_kind.h"
#include "sync_trace/lock_order.h"
#include "sync_trace/wrap/resolve.h"
#include "trace/write/stream_fast.h"
#include "trace/write/writer.h"

/* The owner's thread id, 0 = nobody, -1 = cannot be known. */
static inline pid_t owner_of(const pthread_mutex_t *m)
{
#ifdef __GLIBC__
    if (LIKELY(sync_process.owner_known))
        return __atomic_load_n(&m->__data.__owner, __ATOMIC_RELAXED);
#endif
    (void)m;
    return -1;
}

enum { KIND_TYPE_BITS = 3, KIND_ROBUST_BIT = 16 }; /* as glibc has them */

static inline int kind_of(const pthread_mutex_t *m)
{
#ifdef __GLIBC__
    return __atomic_load_n(&m->__data.__kind, __ATOMIC_RELAXED);
#else
    (void)m;
    return 0;
#endif
}

bool sync_mutex_is_robust(const pthread_mutex_t *m)
{
    return kind_of(m) & KIND_ROBUST_BIT;
}

static bool is_recursive(const pthread_mutex_t *m)
{
    return (kind_of(m) & KIND_TYPE_BITS) == PTHREAD_MUTEX_RECURSIVE_NP;
}

/* Mode all with the stack of the request, or without stacks: then the call site stands in for it. */
static inline void taken_all(struct sync_thread *t, uintptr_t lock, uintptr_t site, uint32_t asked)
{
    uint64_t tick = tick_now();
    sync_held_push(t, lock, site, tick, HELD_RECORDED);
    (void)stream_fast_sync(t->stream, tick, UPMU_TRACE_LOCK_ACQUIRE, UPMU_OBJECT_MUTEX, lock,
                           asked ? asked : sync_site_id(t, tick, site));
}

/* `how`: UPMU_TRACE_FLAG_TIMED, UPMU_TRACE_FLAG_TRIED; `asked`: what sync_request() has said. */
static inline __attribute__((always_inline)) void taken(struct sync_thread *t, uint32_t mode, pthread_mutex_t *m,
                                                        uintptr_t site, int result, uint32_t how, uint32_t asked)
{
    uintptr_t lock = (uintptr_t)m;
    if (UNLIKELY(t->depth != 0) && mode != MODE_COUNTS)
        sync_order(t, lock, UPMU_OBJECT_MUTEX, site, how);
    struct sync_count *c = sync_count(t, lock, UPMU_OBJECT_MUTEX);
    c->acquired++;
    if (UNLIKELY((mode != MODE_ALL && --c->until == 0) || result != 0))
        sync_taken_slow(t, mode, c, lock, site, result);
    else if (LIKELY(mode == MODE_CONTENDED || mode == MODE_COUNTS))
        sync_held_push(t, lock, site, 0, HELD_QUIET);
    else if (mode == MODE_HOLDERS)
        sync_held_push(t, lock, site, tick_now(), HELD_QUIET);
    else if (mode == MODE_ALL && (asked || sync_process.depth == 0))
        taken_all(t, lock, site, asked);
    else
        sync_taken_slow(t, mode, c, lock, site, result);
}

/* How to wait once trying has failed. */
struct way {
    int (*lock)(pthread_mutex_t *m, const struct way *way);
    clockid_t clock;
    const struct timespec *until;
};

static int way_lock(pthread_mutex_t *m, const struct way *way)
{
    (void)way;
    return SYNC_REAL(mutex_lock)(m);
}

static const struct way way_plain = {.lock = way_lock};

static int way_timed(pthread_mutex_t *m, const struct way *way)
{
    return SYNC_REAL(mutex_timedlock)(m, way->until);
}

static int way_clock(pthread_mutex_t *m, const struct way *way)
{
    return SYNC_REAL(mutex_clocklock)(m, way->clock, way->until);
}

__attribute__((noinline)) static int wait_for(struct sync_thread *t, uint32_t mode, pthread_mutex_t *m,
                                              const struct way *way, uintptr_t site, uint32_t asked)
{
    struct sync_wait w = {.t = t, .lock = (uintptr_t)m, .site = site, .type = UPMU_OBJECT_MUTEX, .asked = asked};
    w.flags = sync_mutex_flags(m) | (way->until ? UPMU_TRACE_FLAG_TIMED : 0);
    pid_t owner = owner_of(m);
    if (owner >= INT_MAX - 1)
        owner = 0; /* glibc's marks of a robust mutex whose owner died: nobody has it */
    bool own = (w.flags & (UPMU_TRACE_FLAG_PSHARED | UPMU_TRACE_FLAG_ROBUST)) == 0; /* no other process has it */
    sync_wait_begin(&w, mode, own ? sync_forked_owner(owner) : owner, is_recursive(m));
    if (own && owner > 0 && w.recorded) {
        bool gone = sync_forked_is_gone(sync_forked_owner(owner));
        if (owner_of(m) == owner)
            sync_live_owner(t, gone);
    }
    w.result = way->lock(m, way);
    sync_wait_end(&w);
    return w.result;
}

__attribute__((noinline, cold)) static int lock_robust(struct sync_thread *t, uint32_t mode, pthread_mutex_t *m,
                                                       const struct way *way, uintptr_t site, uint32_t asked)
{
    const struct timespec past = {0};
    int rc = SYNC_REAL(mutex_timedlock)(m, &past);
    if (rc != 0 && rc != EOWNERDEAD)
        return wait_for(t, mode, m, way, site, asked); /* or be refused again, and that is recorded */
    taken(t, mode, m, site, rc, way->until ? UPMU_TRACE_FLAG_TIMED : 0, asked);
    return rc;
}

static inline int lock_any(struct sync_thread *t, uint32_t mode, pthread_mutex_t *m, const struct way *way,
                           uintptr_t site)
{
    uint32_t asked = sync_request(t, mode, UPMU_OBJECT_MUTEX, (uintptr_t)m, site);
    if (UNLIKELY(kind_of(m) & KIND_ROBUST_BIT))
        return lock_robust(t, mode, m, way, site, asked);
    if (UNLIKELY(SYNC_REAL(mutex_trylock)(m) != 0))
        return wait_for(t, mode, m, way, site, asked);
    taken(t, mode, m, site, 0, way->until ? UPMU_TRACE_FLAG_TIMED : 0, asked);
    return 0;
}

/* Apart from the wrapper, so that the wrapper needs no frame and a call costs next to nothing while recording is off.
 * Flat, because each call left in here is felt in a pair of some ten nanoseconds. */
__attribute__((noinline, flatten)) static int lock_on(pthread_mutex_t *m, uint32_t mode, uintptr_t site)
{
    struct sync_thread *t = mode == MODE_OFF ? NULL : sync_thread();
    return LIKELY(t != NULL) ? lock_any(t, mode, m, &way_plain, site) : SYNC_REAL(mutex_lock)(m);
}

/* Mode all with requests, where nothing else is held, on its own as the following ones are. */
__attribute__((noinline, flatten)) static int lock_asked(struct sync_thread *t, pthread_mutex_t *m,
                                                         int (*real)(pthread_mutex_t *), uintptr_t site)
{
    uint64_t tick;
    uint32_t asked = sync_stack_first(t, &tick, site);
    (void)stream_fast_sync(t->stream, tick, UPMU_TRACE_LOCK_REQUEST, UPMU_OBJECT_MUTEX, (uintptr_t)m, asked);
    if (UNLIKELY(real(m) != 0))
        return wait_for(t, MODE_ALL, m, &way_plain, site, asked);
    sync_count(t, (uintptr_t)m, UPMU_OBJECT_MUTEX)->acquired++;
    taken_all(t, (uintptr_t)m, site, asked);
    return 0;
}

/* Mode all without stacks, on its own: beside a tick and 16 bytes every saved register is felt. */
__attribute__((noinline, flatten)) static int lock_all(pthread_mutex_t *m, uintptr_t site)
{
    struct sync_thread *t = sync_tls.thread;
    int (*real)(pthread_mutex_t *) = __atomic_load_n(&sync_real.mutex_trylock, __ATOMIC_RELAXED);
    if (UNLIKELY(!lockable_is_usual(t) || !real || (kind_of(m) & KIND_ROBUST_BIT)))
        return lock_on(m, MODE_ALL, site);
    if (UNLIKELY(sync_process.all_slow))
        return sync_process.requests ? lock_asked(t, m, real, site) : lock_on(m, MODE_ALL, site);
    if (UNLIKELY(real(m) != 0))
        return wait_for(t, MODE_ALL, m, &way_plain, site, 0);
    sync_count(t, (uintptr_t)m, UPMU_OBJECT_MUTEX)->acquired++;
    taken_all(t, (uintptr_t)m, site, 0);
    return 0;
}

/* Mode contended where nothing else is held, on its own for the same reason. */
__attribute__((noinline, flatten)) static int lock_contended(pthread_mutex_t *m, uintptr_t site)
{
    struct sync_thread *t = sync_tls.thread;
    int (*real)(pthread_mutex_t *) = __atomic_load_n(&sync_real.mutex_trylock, __ATOMIC_RELAXED);
    if (UNLIKELY(!lockable_is_usual(t) || !real || (kind_of(m) & KIND_ROBUST_BIT)))
        return lock_on(m, MODE_CONTENDED, site);
    if (UNLIKELY(real(m) != 0))
        return wait_for(t, MODE_CONTENDED, m, &way_plain, site, 0);
    lockable_taken_quietly(t, (uintptr_t)m, UPMU_OBJECT_MUTEX, site);
    return 0;
}

UPMU_API int pthread_mutex_lock(pthread_mutex_t *m)
{
    uint32_t mode = sync_mode();
    int (*real)(pthread_mutex_t *) = __atomic_load_n(&sync_real.mutex_lock, __ATOMIC_RELAXED);
    if (LIKELY(mode == MODE_OFF && real))
        return real(m);
    if (LIKELY(mode == MODE_CONTENDED))
        return lock_contended(m, CALL_SITE());
    return mode == MODE_ALL ? lock_all(m, CALL_SITE()) : lock_on(m, mode, CALL_SITE());
}

UPMU_API int pthread_mutex_timedlock(pthread_mutex_t *m, const struct timespec *until)
{
    const struct way timed = {.lock = way_timed, .until = until};
    uint32_t mode = sync_mode();
    struct sync_thread *t = mode == MODE_OFF ? NULL : sync_thread();
    return t ? lock_any(t, mode, m, &timed, CALL_SITE()) : SYNC_REAL(mutex_timedlock)(m, until);
}

UPMU_API int pthread_mutex_clocklock(pthread_mutex_t *m, clockid_t clock, const struct timespec *until)
{
    const struct way clocked = {.lock = way_clock, .clock = clock, .until = until};
    uint32_t mode = sync_mode();
    struct sync_thread *t = mode == MODE_OFF || !sync_deadline_is_valid(clock, NULL) ? NULL : sync_thread();
    return t ? lock_any(t, mode, m, &clocked, CALL_SITE()) : SYNC_REAL(mutex_clocklock)(m, clock, until);
}

UPMU_API int pthread_mutex_trylock(pthread_mutex_t *m)
{
    uint32_t mode = sync_mode();
    if (LIKELY(mode == MODE_OFF))
        return SYNC_REAL(mutex_trylock)(m);
    struct sync_thread *t = sync_thread();
    int rc = SYNC_REAL(mutex_trylock)(m);
    const struct lockable as = {.key = (uintptr_t)m, .type = UPMU_OBJECT_MUTEX, .site = CALL_SITE()};
    if (t && (rc == 0 || rc == EOWNERDEAD))
        taken(t, mode, m, as.site, rc, UPMU_TRACE_FLAG_TRIED, 0);
    else if (t)
        lockable_tried(t, mode, &as, rc);
    return rc;
}

/* ------------------------------------------------------------------------------------------------ unlocking */

/* Not among the locks we know this thread to hold. Either it was taken while nothing was recorded, which is passed over,
 * or it is released by somebody who does not have it: then nothing of ours changes and the misuse is told. */
static int unlock_unknown(struct sync_thread *t, uint32_t mode, pthread_mutex_t *m, uintptr_t site)
{
    pid_t owner = owner_of(m);
    bool misuse = owner >= 0 && owner != t->tid && (owner == 0 || sync_thread_by_tid(owner) != NULL);
    int rc = SYNC_REAL(mutex_unlock)(m);
    if (owner > 0 && owner != t->tid && rc == 0)
        sync_live_disown(owner, (uintptr_t)m);
    if (misuse && mode != MODE_OFF && mode != MODE_COUNTS)
        sync_event(t, UPMU_TRACE_LOCK_MISUSE, UPMU_OBJECT_MUTEX, m, site, rc);
    return rc;
}

static void write_release(struct sync_thread *t, uint64_t tick, pthread_mutex_t *m, uintptr_t site,
                          const struct sync_held *h)
{
    int saved = errno;
    bool wanted = h->wanted == (uintptr_t)m;
    struct trace_sync e = {
        .kind = UPMU_TRACE_LOCK_RELEASE,
        .object_type = UPMU_OBJECT_MUTEX,
        .object = (uintptr_t)m,
        .flags = h->since & HELD_SAMPLED ? UPMU_TRACE_FLAG_SAMPLED : 0,
    };
    if (wanted) {
        e.stack = sync_stack(t, tick, site);
        sync_count_stamp(sync_count(t, (uintptr_t)m, UPMU_OBJECT_MUTEX));
    }
    sync_write(t, tick, &e);
    errno = saved;
}

__attribute__((noinline)) static int unlock_slow(struct sync_thread *t, uint32_t mode, pthread_mutex_t *m,
                                                 uintptr_t site)
{
    struct sync_held h;
    if (!sync_held_remove(t, (uintptr_t)m, &h))
        return unlock_unknown(t, mode, m, site);
    bool record = (mode == MODE_ALL || h.wanted != HELD_QUIET) && mode != MODE_OFF && mode != MODE_COUNTS;
    uint64_t tick = record ? tick_now() : 0;
    if (record)
        sync_count_release(t, &h, tick, (uintptr_t)m);
    int rc = SYNC_REAL(mutex_unlock)(m);
    if (rc != 0)
        sync_held_push(t, h.lock, h.site, h.since, h.wanted); /* it still has the lock */
    else if (record)
        write_release(t, tick, m, site, &h);
    return rc;
}

__attribute__((noinline, flatten)) static int unlock_on(pthread_mutex_t *m, uint32_t mode, struct sync_thread *t,
                                                        uintptr_t site)
{
    if (UNLIKELY(t == NULL || !__atomic_load_n(&t->ready, __ATOMIC_RELAXED)))
        return SYNC_REAL(mutex_unlock)(m);
    const struct sync_held *h = sync_held_top(t, (uintptr_t)m);
    uintptr_t wanted = h ? __atomic_load_n(&h->wanted, __ATOMIC_RELAXED) : HELD_QUIET;
    if (LIKELY(h && mode != MODE_ALL && wanted == HELD_QUIET)) {
        sync_held_pop(t);
        return SYNC_REAL(mutex_unlock)(m);
    }
    return unlock_slow(t, mode, m, site);
}

/* Mode all: the usual case is last in first out, and nobody waits. */
__attribute__((noinline, flatten)) static int unlock_all(pthread_mutex_t *m, struct sync_thread *t, uintptr_t site)
{
    const struct sync_held *h =
        t && __atomic_load_n(&t->ready, __ATOMIC_RELAXED) ? sync_held_top(t, (uintptr_t)m) : NULL;
    int (*real)(pthread_mutex_t *) = __atomic_load_n(&sync_real.mutex_unlock, __ATOMIC_RELAXED);
    bool usual = h && real && __atomic_load_n(&h->wanted, __ATOMIC_RELAXED) == HELD_RECORDED;
    if (UNLIKELY(!usual || h->since >= HELD_COUNTED))
        return unlock_on(m, MODE_ALL, t, site);
    uint64_t tick = tick_now();
    sync_held_pop(t);
    int rc = real(m);
    (void)stream_fast_sync(t->stream, tick, UPMU_TRACE_LOCK_RELEASE, UPMU_OBJECT_MUTEX, (uintptr_t)m, 0);
    return rc;
}

/* A lock taken while recording is let go of in our books even if recording is off by now. */
UPMU_API int pthread_mutex_unlock(pthread_mutex_t *m)
{
    struct sync_thread *t = sync_tls.thread;
    uint32_t mode = sync_mode();
    int (*real)(pthread_mutex_t *) = __atomic_load_n(&sync_real.mutex_unlock, __ATOMIC_RELAXED);
    if (LIKELY(mode == MODE_OFF && real && (t == NULL || t->depth == 0)))
        return real(m);
    return mode == MODE_ALL ? unlock_all(m, t, CALL_SITE()) : unlock_on(m, mode, t, CALL_SITE());
}

/* ------------------------------------------------------------------------------------------- life of a mutex */

UPMU_API int pthread_mutex_init(pthread_mutex_t *m, const pthread_mutexattr_t *attr)
{
    uint32_t mode = sync_mode();
    int rc = SYNC_REAL(mutex_init)(m, attr);
    struct sync_thread *t = mode == MODE_OFF || mode == MODE_COUNTS || rc != 0 ? NULL : sync_thread();
    if (t)
        sync_event_flags(t, UPMU_TRACE_LOCK_INIT, UPMU_OBJECT_MUTEX, m, CALL_SITE(), rc,
                         sync_mutex_init_flags(m, attr));
    return rc;
}

UPMU_API int pthread_mutex_destroy(pthread_mutex_t *m)
{
    uint32_t mode = sync_mode();
    struct sync_thread *t = mode == MODE_OFF || mode == MODE_COUNTS ? NULL : sync_thread();
    int rc = SYNC_REAL(mutex_destroy)(m);
    if (t && rc == 0)
        sync_event(t, UPMU_TRACE_LOCK_DESTROY, UPMU_OBJECT_MUTEX, m, CALL_SITE(), rc);
    return rc;
}
