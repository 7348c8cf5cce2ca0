/* SPDX-License-Identifier: MIT */
/*
 * Wrappers of pthread_rwlock_*.
 *
 * A thread may hold an rwlock for reading several times: each is an entry of its own among the locks held, with the
 * lock's address plus 1 as key, so that readers and writers are never confused.
 *
 * An rwlock is contended if a try fails. Before glibc 2.30 the try functions could leave other threads asleep permanently
 * (bug 23844) in a program that never calls them: there the try is a timed call with a deadline in the past.
 *
 * A waiter records the writer, from glibc's field if sync_layout_start() has verified it; otherwise the thread found to
 * hold the lock, for several readers one of them. All readers are asked to record their release, since the last one ends
 * the wait.
 */
#include <errno.h>

#include "sync_trace/account/acquire.h"
#include "sync_trace/account/lock_life.h"
#include "sync_trace/account/wait.h"
#include "sync_trace/early.h"
#include "sync_trace/emit/wait_state.h"
#include "sync_trace/fork.h"
#include "sync_trace/libc/layout.h"
#include "sync_trace/libc/resolve.h"
#include "sync_trace/thread_life.h"

typedef pthread_rwlock_t rwlock;

/* ------------------------------------------------------------------------------------------------ acquiring */

/* The blocking call to make once a try has failed. */
struct rwlock_method {
    int (*lock)(rwlock *l, const struct rwlock_method *method);
    clockid_t clock;
    const struct timespec *until; /**< NULL: no deadline */
};

static int rwlock_read_plain(rwlock *l, const struct rwlock_method *method)
{
    (void)method;
    return SYNC_REAL(rwlock_rdlock)(l);
}

static int rwlock_read_timed(rwlock *l, const struct rwlock_method *method)
{
    return SYNC_REAL(rwlock_timedrdlock)(l, method->until);
}

static int rwlock_read_clock(rwlock *l, const struct rwlock_method *method)
{
    return SYNC_REAL(rwlock_clockrdlock)(l, method->clock, method->until);
}

static int rwlock_write_plain(rwlock *l, const struct rwlock_method *method)
{
    (void)method;
    return SYNC_REAL(rwlock_wrlock)(l);
}

static int rwlock_write_timed(rwlock *l, const struct rwlock_method *method)
{
    return SYNC_REAL(rwlock_timedwrlock)(l, method->until);
}

static int rwlock_write_clock(rwlock *l, const struct rwlock_method *method)
{
    return SYNC_REAL(rwlock_clockwrlock)(l, method->clock, method->until);
}

static int rwlock_try_read(rwlock *l)
{
    const struct timespec past = {0};
    return LIKELY(!sync_layout.rwlock_try_by_time) ? SYNC_REAL(rwlock_tryrdlock)(l)
                                                   : SYNC_REAL(rwlock_timedrdlock)(l, &past);
}

static int rwlock_try_write(rwlock *l)
{
    const struct timespec past = {0};
    return LIKELY(!sync_layout.rwlock_try_by_time) ? SYNC_REAL(rwlock_trywrlock)(l)
                                                   : SYNC_REAL(rwlock_timedwrlock)(l, &past);
}

__attribute__((noinline)) static int rwlock_wait_for(struct sync_thread *t, uint32_t mode, rwlock *l,
                                                     const struct lock_call *call, const struct rwlock_method *method)
{
    struct sync_wait w = {.t = t,
                          .lock = call->key,
                          .site = call->site,
                          .type = UPMU_OBJECT_RWLOCK,
                          .request_stack = call->request_stack};
    w.flags = method->until ? UPMU_TRACE_FLAG_TIMED : 0;
    sync_early_check(t);
    pid_t writer = sync_rwlock_writer(l);
    sync_wait_begin(&w, mode, writer > 0 ? writer : -1, false);
    struct sync_early_wait early;
    sync_early_wait_begin(&early, &w);
    w.result = method->lock(l, method);
    sync_early_wait_end(&early);
    sync_wait_end(&w);
    return w.result;
}

/* Nothing is recorded, and the lock is taken. In a forked child, recording begins here. */
__attribute__((noinline)) static int rwlock_wait_early(rwlock *l, bool shared, const struct rwlock_method *method,
                                                       uintptr_t site)
{
    struct sync_early w = {
        .kind = UPMU_TRACE_LOCK_BLOCK, .type = UPMU_OBJECT_RWLOCK, .key = (uintptr_t)l + shared, .site = site};
    w.flags = method->until ? UPMU_TRACE_FLAG_TIMED : 0;
    sync_child_check();
    bool noted = sync_mode() == MODE_OFF && sync_early_begin(&w);
    struct sync_thread *t = noted ? NULL : sync_thread();
    if (t) {
        const struct lock_call call = {.key = w.key, .type = w.type, .site = site};
        return rwlock_wait_for(t, sync_mode(), l, &call, method);
    }
    int rc = method->lock(l, method);
    sync_early_lock_end(&w, rc);
    return rc;
}

static inline __attribute__((always_inline)) int rwlock_lock_any(rwlock *l, bool shared, uint32_t mode,
                                                                 const struct rwlock_method *method, uintptr_t site)
{
    bool refused = mode == MODE_OFF || (method->until && !sync_deadline_is_valid(method->clock, method->until));
    struct sync_thread *t = refused ? NULL : sync_thread();
    if (UNLIKELY(!t && mode == MODE_OFF && sync_rwlock_seems_taken(l, shared)))
        return rwlock_wait_early(l, shared, method, site);
    if (LIKELY(!t))
        return method->lock(l, method);
    const struct lock_call call = {.key = (uintptr_t)l + shared,
                                   .type = UPMU_OBJECT_RWLOCK,
                                   .site = site,
                                   .flags = method->until ? UPMU_TRACE_FLAG_TIMED : 0,
                                   .request_stack =
                                       sync_request(t, mode, UPMU_OBJECT_RWLOCK, (uintptr_t)l + shared, site)};
    if (UNLIKELY((shared ? rwlock_try_read(l) : rwlock_try_write(l)) != 0))
        return rwlock_wait_for(t, mode, l, &call, method);
    sync_acquired(t, mode, &call, 0);
    return 0;
}

/* Not inlined, so that the wrapper needs no frame while tracing is off. */
__attribute__((noinline)) static int rwlock_read_on(rwlock *l, uint32_t mode, uintptr_t site)
{
    static const struct rwlock_method plain = {.lock = rwlock_read_plain};
    return rwlock_lock_any(l, true, mode, &plain, site);
}

__attribute__((noinline)) static int rwlock_read_wait(struct sync_thread *t, uint32_t mode, rwlock *l, uintptr_t site)
{
    static const struct rwlock_method plain = {.lock = rwlock_read_plain};
    const struct lock_call call = {.key = (uintptr_t)l + 1, .type = UPMU_OBJECT_RWLOCK, .site = site};
    return rwlock_wait_for(t, mode, l, &call, &plain);
}

/* Not inlined, so that the wrapper needs no frame while tracing is off. */
__attribute__((noinline)) static int rwlock_write_on(rwlock *l, uint32_t mode, uintptr_t site)
{
    static const struct rwlock_method plain = {.lock = rwlock_write_plain};
    return rwlock_lock_any(l, false, mode, &plain, site);
}

__attribute__((noinline)) static int rwlock_write_wait(struct sync_thread *t, uint32_t mode, rwlock *l, uintptr_t site)
{
    static const struct rwlock_method plain = {.lock = rwlock_write_plain};
    const struct lock_call call = {.key = (uintptr_t)l, .type = UPMU_OBJECT_RWLOCK, .site = site};
    return rwlock_wait_for(t, mode, l, &call, &plain);
}

/* While no other lock is held. */
static inline __attribute__((always_inline)) int rwlock_lock_quietly(rwlock *l, bool shared, const uint32_t mode,
                                                                     uintptr_t site)
{
    struct sync_thread *t = sync_tls.thread;
    int (*real)(rwlock *) =
        __atomic_load_n(shared ? &sync_real.rwlock_tryrdlock : &sync_real.rwlock_trywrlock, __ATOMIC_RELAXED);
    if (UNLIKELY(!sync_holds_nothing(t) || !real || sync_layout.rwlock_try_by_time))
        return shared ? rwlock_read_on(l, mode, site) : rwlock_write_on(l, mode, site);
    if (UNLIKELY(real(l) != 0))
        return shared ? rwlock_read_wait(t, mode, l, site) : rwlock_write_wait(t, mode, l, site);
    return sync_acquired_quietly(t, mode, (uintptr_t)l + shared, UPMU_OBJECT_RWLOCK, site);
}

/* Modes holders and contended, functions of their own: every saved register is measurable. */
__attribute__((noinline, flatten)) static int rwlock_read_holders(rwlock *l, uintptr_t site)
{
    return rwlock_lock_quietly(l, true, MODE_HOLDERS, site);
}

__attribute__((noinline, flatten)) static int rwlock_read_contended(rwlock *l, uintptr_t site)
{
    return rwlock_lock_quietly(l, true, MODE_CONTENDED, site);
}

__attribute__((noinline, flatten)) static int rwlock_write_holders(rwlock *l, uintptr_t site)
{
    return rwlock_lock_quietly(l, false, MODE_HOLDERS, site);
}

__attribute__((noinline, flatten)) static int rwlock_write_contended(rwlock *l, uintptr_t site)
{
    return rwlock_lock_quietly(l, false, MODE_CONTENDED, site);
}

UPMU_API int pthread_rwlock_rdlock(rwlock *l)
{
    uint32_t mode = sync_mode();
    int (*real)(rwlock *) = __atomic_load_n(&sync_real.rwlock_rdlock, __ATOMIC_RELAXED);
    if (LIKELY(mode == MODE_OFF))
        return LIKELY(real && !sync_rwlock_seems_taken(l, true)) ? real(l) : rwlock_read_on(l, mode, CALL_SITE());
    if (LIKELY(mode == MODE_HOLDERS))
        return rwlock_read_holders(l, CALL_SITE());
    return mode == MODE_CONTENDED ? rwlock_read_contended(l, CALL_SITE()) : rwlock_read_on(l, mode, CALL_SITE());
}

UPMU_API int pthread_rwlock_timedrdlock(rwlock *l, const struct timespec *until)
{
    const struct rwlock_method timed = {.lock = rwlock_read_timed, .clock = CLOCK_REALTIME, .until = until};
    return rwlock_lock_any(l, true, sync_mode(), &timed, CALL_SITE());
}

UPMU_API int pthread_rwlock_clockrdlock(rwlock *l, clockid_t clock, const struct timespec *until)
{
    const struct rwlock_method clocked = {.lock = rwlock_read_clock, .clock = clock, .until = until};
    return rwlock_lock_any(l, true, sync_mode(), &clocked, CALL_SITE());
}

UPMU_API int pthread_rwlock_wrlock(rwlock *l)
{
    uint32_t mode = sync_mode();
    int (*real)(rwlock *) = __atomic_load_n(&sync_real.rwlock_wrlock, __ATOMIC_RELAXED);
    if (LIKELY(mode == MODE_OFF))
        return LIKELY(real && !sync_rwlock_seems_taken(l, false)) ? real(l) : rwlock_write_on(l, mode, CALL_SITE());
    if (LIKELY(mode == MODE_HOLDERS))
        return rwlock_write_holders(l, CALL_SITE());
    return mode == MODE_CONTENDED ? rwlock_write_contended(l, CALL_SITE()) : rwlock_write_on(l, mode, CALL_SITE());
}

UPMU_API int pthread_rwlock_timedwrlock(rwlock *l, const struct timespec *until)
{
    const struct rwlock_method timed = {.lock = rwlock_write_timed, .clock = CLOCK_REALTIME, .until = until};
    return rwlock_lock_any(l, false, sync_mode(), &timed, CALL_SITE());
}

UPMU_API int pthread_rwlock_clockwrlock(rwlock *l, clockid_t clock, const struct timespec *until)
{
    const struct rwlock_method clocked = {.lock = rwlock_write_clock, .clock = clock, .until = until};
    return rwlock_lock_any(l, false, sync_mode(), &clocked, CALL_SITE());
}

static int rwlock_try_any(rwlock *l, bool shared, uintptr_t site)
{
    uint32_t mode = sync_mode();
    struct sync_thread *t = mode == MODE_OFF ? NULL : sync_thread();
    const struct lock_call call = {
        .key = (uintptr_t)l + shared, .type = UPMU_OBJECT_RWLOCK, .site = site, .flags = UPMU_TRACE_FLAG_TRIED};
    int rc = shared ? SYNC_REAL(rwlock_tryrdlock)(l) : SYNC_REAL(rwlock_trywrlock)(l);
    if (t && rc == 0)
        sync_acquired(t, mode, &call, 0);
    else if (t)
        sync_try_failed(t, mode, &call, rc);
    return rc;
}

UPMU_API int pthread_rwlock_tryrdlock(rwlock *l)
{
    return rwlock_try_any(l, true, CALL_SITE());
}

UPMU_API int pthread_rwlock_trywrlock(rwlock *l)
{
    return rwlock_try_any(l, false, CALL_SITE());
}

/* ------------------------------------------------------------------------------------------------ releasing */

/* The lock is not among those this thread is recorded to hold: acquired before the recording, or released by a thread that
 * does not hold it. The latter is certain if another known thread is the writer, or the lock is free. */
static int rwlock_unlock_unknown(struct sync_thread *t, uint32_t mode, rwlock *l, uintptr_t site)
{
    pid_t writer = sync_rwlock_writer(l);
    bool misuse = sync_rwlock_is_free(l) || (writer > 0 && writer != t->tid && sync_thread_by_tid(writer) != NULL);
    bool reads = writer == 0;
    const struct lock_call call = {.key = (uintptr_t)l + reads, .type = UPMU_OBJECT_RWLOCK, .site = site};
    sync_early_check(t);
    uint64_t tick = tick_now();
    int rc = SYNC_REAL(rwlock_unlock)(l);
    /* Acquired unrecorded it is this thread's, and entries of other threads stay. An ended thread cannot release its
     * locks any more: then the entry was that. */
    if (rc == 0 && misuse)
        sync_wait_state_disown_holder((uintptr_t)l);
    else if (rc == 0)
        sync_wait_state_disown(0, (uintptr_t)l);
    if (misuse && mode != MODE_OFF && mode != MODE_COUNTS)
        sync_event(t, UPMU_TRACE_LOCK_MISUSE, UPMU_OBJECT_RWLOCK, l, site, rc);
    if (!misuse && rc == 0 && (writer <= 0 || sync_fork_owner(writer) == t->tid))
        sync_release_before(t, &call, tick);
    return rc;
}

__attribute__((noinline)) static int rwlock_unlock_slow(struct sync_thread *t, rwlock *l, uint32_t mode, uintptr_t site)
{
    struct lock_call call = {.key = (uintptr_t)l, .type = UPMU_OBJECT_RWLOCK, .site = site};
    struct lock_release r;
    if (!sync_release_begin(t, mode, &call, &r)) {
        call.key++;
        if (!sync_release_begin(t, mode, &call, &r))
            return rwlock_unlock_unknown(t, mode, l, site);
    }
    int rc = SYNC_REAL(rwlock_unlock)(l);
    sync_release_end(t, &call, &r, rc != 0);
    return rc;
}

__attribute__((noinline, flatten)) static int rwlock_unlock_on(rwlock *l, uint32_t mode, uintptr_t site)
{
    struct sync_thread *t = sync_release_thread(mode);
    if (LIKELY(!t || sync_release_quietly(t, mode, (uintptr_t)l + 1) || sync_release_quietly(t, mode, (uintptr_t)l)))
        return SYNC_REAL(rwlock_unlock)(l);
    return rwlock_unlock_slow(t, l, mode, site);
}

UPMU_API int pthread_rwlock_unlock(rwlock *l)
{
    uint32_t mode = sync_mode();
    int (*real)(rwlock *) = __atomic_load_n(&sync_real.rwlock_unlock, __ATOMIC_RELAXED);
    struct sync_thread *t = sync_tls.thread;
    bool at_once = sync_release_is_idle(mode) || sync_release_at_once(t, mode, (uintptr_t)l + 1) ||
                   sync_release_at_once(t, mode, (uintptr_t)l);
    return LIKELY(at_once && real) ? real(l) : rwlock_unlock_on(l, mode, CALL_SITE());
}

/* --------------------------------------------------------------------------------------------- life of a lock */

UPMU_API int pthread_rwlock_init(rwlock *l, const pthread_rwlockattr_t *attr)
{
    int rc = SYNC_REAL(rwlock_init)(l, attr), shared = 0;
    struct sync_thread *t = rc == 0 ? sync_recording() : NULL;
    if (t) {
        bool known = attr && pthread_rwlockattr_getpshared(attr, &shared) == 0;
        uint32_t flags = known && shared == PTHREAD_PROCESS_SHARED ? UPMU_TRACE_FLAG_PSHARED : 0;
        sync_lock_init(t, UPMU_OBJECT_RWLOCK, l, CALL_SITE(), flags);
    }
    return rc;
}

UPMU_API int pthread_rwlock_destroy(rwlock *l)
{
    struct sync_thread *t = sync_recording();
    int rc = SYNC_REAL(rwlock_destroy)(l);
    if (t && rc == 0)
        sync_lock_destroy(t, UPMU_OBJECT_RWLOCK, l, CALL_SITE(), 0);
    return rc;
}
