/* SPDX-License-Identifier: MIT */
/*
 * Wrappers of pthread_mutex_*.
 *
 * A mutex is contended if a try fails: pthread_mutex_trylock() makes the same first attempt as pthread_mutex_lock(), so
 * fairness does not change. After EBUSY the real call is made and its result returned (EDEADLK for an error-checking mutex
 * of the caller's own). Robust mutexes are tried by a timed lock with a deadline in the past: glibc's trylock of one that
 * cannot be recovered leaves it locked, and the next thread would wait permanently.
 */
#include <errno.h>
#include <limits.h>

#include "sync_trace/account/acquire.h"
#include "sync_trace/account/lock_life.h"
#include "sync_trace/account/wait.h"
#include "sync_trace/early.h"
#include "sync_trace/emit/wait_state.h"
#include "sync_trace/fork.h"
#include "sync_trace/libc/layout.h"
#include "sync_trace/libc/resolve.h"
#include "sync_trace/thread_life.h"

/* The blocking call to make once a try has failed. */
struct lock_method {
    int (*lock)(pthread_mutex_t *m, const struct lock_method *method);
    clockid_t clock;
    const struct timespec *until;
};

static int mutex_method_lock(pthread_mutex_t *m, const struct lock_method *method)
{
    (void)method;
    return SYNC_REAL(mutex_lock)(m);
}

static const struct lock_method method_plain = {.lock = mutex_method_lock};

static int mutex_method_timed(pthread_mutex_t *m, const struct lock_method *method)
{
    return SYNC_REAL(mutex_timedlock)(m, method->until);
}

static int mutex_method_clock(pthread_mutex_t *m, const struct lock_method *method)
{
    return SYNC_REAL(mutex_clocklock)(m, method->clock, method->until);
}

static inline struct lock_call mutex_call(const pthread_mutex_t *m, uintptr_t site)
{
    return (struct lock_call){.key = (uintptr_t)m, .type = UPMU_OBJECT_MUTEX, .site = site};
}

/* ------------------------------------------------------------------------------------------------- locking */

static bool mutex_is_recursive(const pthread_mutex_t *m)
{
    return (sync_mutex_kind(m) & SYNC_KIND_TYPE) == PTHREAD_MUTEX_RECURSIVE_NP;
}

static int mutex_lock_any(struct sync_thread *t, uint32_t mode, pthread_mutex_t *m, const struct lock_method *method,
                          uintptr_t site);

/* Lock a mutex that another thread holds while recording is off: the wait is noted, for a recording that begins meanwhile. In a
 * forked child of a recorded process, recording begins here. */
__attribute__((noinline)) static int mutex_wait_early(pthread_mutex_t *m, const struct lock_method *method,
                                                      uintptr_t site)
{
    struct sync_early w = {.kind = UPMU_TRACE_LOCK_BLOCK, .type = UPMU_OBJECT_MUTEX, .key = (uintptr_t)m, .site = site};
    int rc = sync_child_is_new() ? sync_child_try(m) : EBUSY;
    if (rc != EBUSY)
        return rc;
    w.flags = sync_mutex_flags(m) | (method->until ? UPMU_TRACE_FLAG_TIMED : 0);
    bool noted = sync_mode() == MODE_OFF && sync_early_begin(&w);
    struct sync_thread *t = noted ? NULL : sync_thread();
    if (t)
        return mutex_lock_any(t, sync_mode(), m, method, site);
    rc = method->lock(m, method);
    sync_early_lock_end(&w, rc);
    return rc;
}

__attribute__((noinline)) static int mutex_wait(struct sync_thread *t, uint32_t mode, pthread_mutex_t *m,
                                                const struct lock_method *method, uintptr_t site,
                                                uint32_t request_stack)
{
    struct sync_wait w = {
        .t = t, .lock = (uintptr_t)m, .site = site, .type = UPMU_OBJECT_MUTEX, .request_stack = request_stack};
    sync_early_check(t);
    w.flags = sync_mutex_flags(m) | (method->until ? UPMU_TRACE_FLAG_TIMED : 0);
    pid_t owner = sync_mutex_owner(m);
    if (owner >= INT_MAX - 1)
        owner = 0; /* glibc's marks of a robust mutex whose owner died: it has no owner */
    bool is_private = (w.flags & (UPMU_TRACE_FLAG_PSHARED | UPMU_TRACE_FLAG_ROBUST)) == 0;
    sync_wait_begin(&w, mode, is_private ? sync_fork_owner(owner) : owner, mutex_is_recursive(m));
    if (is_private && owner > 0 && w.recorded) {
        bool gone = sync_fork_owner_is_gone(sync_fork_owner(owner));
        if (sync_mutex_owner(m) == owner)
            sync_wait_state_owner_seen(t, gone);
    }
    struct sync_early_wait early;
    sync_early_wait_begin(&early, &w);
    w.result = method->lock(m, method);
    sync_early_wait_end(&early);
    sync_wait_end(&w);
    return w.result;
}

__attribute__((noinline, cold)) static int mutex_lock_robust(struct sync_thread *t, uint32_t mode, pthread_mutex_t *m,
                                                             const struct lock_method *method, uintptr_t site,
                                                             uint32_t request_stack)
{
    struct lock_call call = mutex_call(m, site);
    const struct timespec past = {0};
    int rc = SYNC_REAL(mutex_timedlock)(m, &past);
    if (rc != 0 && rc != EOWNERDEAD) /* the call blocks, or fails again: then that is recorded */
        return mutex_wait(t, mode, m, method, site, request_stack);
    call.flags = method->until ? UPMU_TRACE_FLAG_TIMED : 0;
    call.request_stack = request_stack;
    sync_acquired(t, mode, &call, rc);
    return rc;
}

static inline int mutex_lock_any(struct sync_thread *t, uint32_t mode, pthread_mutex_t *m,
                                 const struct lock_method *method, uintptr_t site)
{
    struct lock_call call = mutex_call(m, site);
    call.flags = method->until ? UPMU_TRACE_FLAG_TIMED : 0;
    call.request_stack = sync_request(t, mode, UPMU_OBJECT_MUTEX, call.key, site);
    if (UNLIKELY(sync_mutex_is_robust(m)))
        return mutex_lock_robust(t, mode, m, method, site, call.request_stack);
    if (UNLIKELY(SYNC_REAL(mutex_trylock)(m) != 0))
        return mutex_wait(t, mode, m, method, site, call.request_stack);
    sync_acquired(t, mode, &call, 0);
    return 0;
}

/* Not inlined, so that the wrapper needs no frame and costs next to nothing while tracing is off. Flat, because each call
 * left in here is measurable in a pair of some ten nanoseconds. */
__attribute__((noinline, flatten)) static int mutex_lock_on(pthread_mutex_t *m, uint32_t mode, uintptr_t site)
{
    struct sync_thread *t = mode == MODE_OFF ? NULL : sync_thread();
    return LIKELY(t != NULL) ? mutex_lock_any(t, mode, m, &method_plain, site) : SYNC_REAL(mutex_lock)(m);
}

/* Mode all with requests, while no other lock is held; a function of its own as the following ones are. */
__attribute__((noinline, flatten)) static int mutex_lock_requested(struct sync_thread *t, pthread_mutex_t *m,
                                                                   int (*real)(pthread_mutex_t *), uintptr_t site)
{
    uint64_t tick;
    struct lock_call call = mutex_call(m, site);
    call.request_stack = sync_stack_then_tick(t, &tick, site);
    (void)stream_fast_sync(t->stream, tick, UPMU_TRACE_LOCK_REQUEST, UPMU_OBJECT_MUTEX, call.key, call.request_stack);
    if (UNLIKELY(real(m) != 0))
        return mutex_wait(t, MODE_ALL, m, &method_plain, site, call.request_stack);
    tick = tick_now();
    sync_count(t, call.key, UPMU_OBJECT_MUTEX)->acquired++;
    sync_acquired_all(t, &call, tick);
    return 0;
}

/* Mode all without stacks: a function of its own, because each saved register is measurable beside a tick and 16 bytes. */
__attribute__((noinline, flatten)) static int mutex_lock_all(pthread_mutex_t *m, uintptr_t site)
{
    struct sync_thread *t = sync_tls.thread;
    int (*real)(pthread_mutex_t *) = __atomic_load_n(&sync_real.mutex_trylock, __ATOMIC_RELAXED);
    if (UNLIKELY(!sync_holds_nothing(t) || !real || sync_mutex_is_robust(m)))
        return mutex_lock_on(m, MODE_ALL, site);
    if (UNLIKELY(sync_option(all_slow)))
        return sync_option(requests) ? mutex_lock_requested(t, m, real, site) : mutex_lock_on(m, MODE_ALL, site);
    if (UNLIKELY(real(m) != 0))
        return mutex_wait(t, MODE_ALL, m, &method_plain, site, 0);
    const uint64_t tick = tick_now();
    const struct lock_call call = mutex_call(m, site);
    sync_count(t, call.key, UPMU_OBJECT_MUTEX)->acquired++;
    sync_acquired_all(t, &call, tick);
    return 0;
}

static inline __attribute__((always_inline)) int mutex_lock_quietly(pthread_mutex_t *m, const uint32_t mode,
                                                                    uintptr_t site)
{
    struct sync_thread *t = sync_tls.thread;
    int (*real)(pthread_mutex_t *) = __atomic_load_n(&sync_real.mutex_trylock, __ATOMIC_RELAXED);
    if (UNLIKELY(!sync_holds_nothing(t) || !real || sync_mutex_is_robust(m)))
        return mutex_lock_on(m, mode, site);
    if (UNLIKELY(real(m) != 0))
        return mutex_wait(t, mode, m, &method_plain, site, 0);
    return sync_acquired_quietly(t, mode, (uintptr_t)m, UPMU_OBJECT_MUTEX, site);
}

/* Modes holders and contended while no other lock is held, functions of their own for the same reason. */
__attribute__((noinline, flatten)) static int mutex_lock_holders(pthread_mutex_t *m, uintptr_t site)
{
    return mutex_lock_quietly(m, MODE_HOLDERS, site);
}

__attribute__((noinline, flatten)) static int mutex_lock_contended(pthread_mutex_t *m, uintptr_t site)
{
    return mutex_lock_quietly(m, MODE_CONTENDED, site);
}

UPMU_API int pthread_mutex_lock(pthread_mutex_t *m)
{
    uint32_t mode = sync_mode();
    int (*real)(pthread_mutex_t *) = __atomic_load_n(&sync_real.mutex_lock, __ATOMIC_RELAXED);
    if (LIKELY(mode == MODE_OFF && real))
        return LIKELY(!sync_mutex_seems_taken(m)) ? real(m) : mutex_wait_early(m, &method_plain, CALL_SITE());
    if (LIKELY(mode == MODE_HOLDERS))
        return mutex_lock_holders(m, CALL_SITE());
    if (LIKELY(mode == MODE_CONTENDED))
        return mutex_lock_contended(m, CALL_SITE());
    return mode == MODE_ALL ? mutex_lock_all(m, CALL_SITE()) : mutex_lock_on(m, mode, CALL_SITE());
}

/* With a time limit, by a thread that is not recorded. */
static int mutex_lock_off(uint32_t mode, pthread_mutex_t *m, const struct lock_method *method, uintptr_t site)
{
    bool waits = mode == MODE_OFF && sync_mutex_seems_taken(m);
    return waits ? mutex_wait_early(m, method, site) : method->lock(m, method);
}

UPMU_API int pthread_mutex_timedlock(pthread_mutex_t *m, const struct timespec *until)
{
    const struct lock_method timed = {.lock = mutex_method_timed, .until = until};
    uint32_t mode = sync_mode();
    struct sync_thread *t = mode == MODE_OFF ? NULL : sync_thread();
    return t ? mutex_lock_any(t, mode, m, &timed, CALL_SITE()) : mutex_lock_off(mode, m, &timed, CALL_SITE());
}

UPMU_API int pthread_mutex_clocklock(pthread_mutex_t *m, clockid_t clock, const struct timespec *until)
{
    const struct lock_method clocked = {.lock = mutex_method_clock, .clock = clock, .until = until};
    uint32_t mode = sync_mode();
    struct sync_thread *t = mode == MODE_OFF || !sync_deadline_is_valid(clock, NULL) ? NULL : sync_thread();
    return t ? mutex_lock_any(t, mode, m, &clocked, CALL_SITE()) : mutex_lock_off(mode, m, &clocked, CALL_SITE());
}

UPMU_API int pthread_mutex_trylock(pthread_mutex_t *m)
{
    uint32_t mode = sync_mode();
    if (LIKELY(mode == MODE_OFF))
        return SYNC_REAL(mutex_trylock)(m);
    struct sync_thread *t = sync_thread();
    int rc = SYNC_REAL(mutex_trylock)(m);
    struct lock_call call = mutex_call(m, CALL_SITE());
    call.flags = UPMU_TRACE_FLAG_TRIED;
    if (t && (rc == 0 || rc == EOWNERDEAD))
        sync_acquired(t, mode, &call, rc);
    else if (t)
        sync_try_failed(t, mode, &call, rc);
    return rc;
}

/* ----------------------------------------------------------------------------------------------- unlocking */

/* The mutex is not among the locks this thread is recorded to hold: acquired before the recording, or released by a
 * thread that does not own it. */
static int mutex_unlock_unknown(struct sync_thread *t, uint32_t mode, pthread_mutex_t *m, uintptr_t site)
{
    pid_t owner = sync_mutex_owner(m);
    bool misuse = owner >= 0 && owner != t->tid && (owner == 0 || sync_thread_by_tid(owner) != NULL);
    bool owns = owner < 0 || sync_fork_owner(owner) == t->tid;
    const struct lock_call call = mutex_call(m, site);
    sync_early_check(t);
    uint64_t tick = tick_now();
    int rc = SYNC_REAL(mutex_unlock)(m);
    if (owner > 0 && owner != t->tid && rc == 0)
        sync_wait_state_disown(owner, (uintptr_t)m);
    if (misuse && mode != MODE_OFF && mode != MODE_COUNTS)
        sync_event(t, UPMU_TRACE_LOCK_MISUSE, UPMU_OBJECT_MUTEX, m, site, rc);
    if (owns && rc == 0)
        sync_release_before(t, &call, tick);
    return rc;
}

__attribute__((noinline)) static int mutex_unlock_slow(struct sync_thread *t, uint32_t mode, pthread_mutex_t *m,
                                                       uintptr_t site)
{
    const struct lock_call call = mutex_call(m, site);
    struct lock_release r;
    if (!sync_release_begin(t, mode, &call, &r))
        return mutex_unlock_unknown(t, mode, m, site);
    int rc = SYNC_REAL(mutex_unlock)(m);
    sync_release_end(t, &call, &r, rc != 0);
    return rc;
}

__attribute__((noinline, flatten)) static int mutex_unlock_on(pthread_mutex_t *m, uint32_t mode, struct sync_thread *t,
                                                              uintptr_t site)
{
    if (UNLIKELY(t == NULL || !sync_is_ready(t)) && (t = sync_release_thread(mode)) == NULL)
        return SYNC_REAL(mutex_unlock)(m);
    if (LIKELY(sync_release_quietly(t, mode, (uintptr_t)m)))
        return SYNC_REAL(mutex_unlock)(m);
    return mutex_unlock_slow(t, mode, m, site);
}

/* Mode all, for a lock that was acquired last and that no thread waits for. */
__attribute__((noinline, flatten)) static int mutex_unlock_all(pthread_mutex_t *m, struct sync_thread *t,
                                                               uintptr_t site)
{
    const struct sync_held *h = t && sync_is_ready(t) ? sync_held_top(t, (uintptr_t)m) : NULL;
    int (*real)(pthread_mutex_t *) = __atomic_load_n(&sync_real.mutex_unlock, __ATOMIC_RELAXED);
    bool usual = h && real && __atomic_load_n(&h->wanted, __ATOMIC_RELAXED) == HELD_RECORDED;
    if (UNLIKELY(!usual || h->since >= HELD_COUNTED || sync_option(all_stacks)))
        return mutex_unlock_on(m, MODE_ALL, t, site);
    uint64_t tick = tick_now();
    sync_held_pop(t, (uintptr_t)m);
    (void)stream_fast_sync(t->stream, tick, UPMU_TRACE_LOCK_RELEASE, UPMU_OBJECT_MUTEX, (uintptr_t)m, 0);
    return real(m);
}

/* A lock acquired while recording is removed from the held locks even if tracing is off by now. */
UPMU_API int pthread_mutex_unlock(pthread_mutex_t *m)
{
    uint32_t mode = sync_mode();
    int (*real)(pthread_mutex_t *) = __atomic_load_n(&sync_real.mutex_unlock, __ATOMIC_RELAXED);
    if (LIKELY(sync_release_is_idle(mode) && real))
        return real(m);
    struct sync_thread *t = sync_tls.thread;
    if (UNLIKELY(mode == MODE_ALL))
        return mutex_unlock_all(m, t, CALL_SITE());
    bool at_once = sync_release_at_once(t, mode, (uintptr_t)m);
    return LIKELY(at_once && real) ? real(m) : mutex_unlock_on(m, mode, t, CALL_SITE());
}

/* ---------------------------------------------------------------------------------------- init and destroy */

static __attribute__((noinline)) int mutex_init_on(pthread_mutex_t *m, const pthread_mutexattr_t *attr, uintptr_t site)
{
    int rc = SYNC_REAL(mutex_init)(m, attr);
    struct sync_thread *t = rc == 0 ? sync_recording() : NULL;
    if (t)
        sync_lock_init(t, UPMU_OBJECT_MUTEX, m, site, sync_mutex_init_flags(m, attr));
    return rc;
}

/* Open MPI initializes a mutex in each MPI_Iprobe(), which is left out. */
UPMU_API int pthread_mutex_init(pthread_mutex_t *m, const pthread_mutexattr_t *attr)
{
    int (*real)(pthread_mutex_t *, const pthread_mutexattr_t *) =
        __atomic_load_n(&sync_real.mutex_init, __ATOMIC_RELAXED);
    bool off = sync_mode() == MODE_OFF || sync_tls.leave_out.inside;
    return LIKELY(real != NULL) && off ? real(m, attr) : mutex_init_on(m, attr, CALL_SITE());
}

UPMU_API int pthread_mutex_destroy(pthread_mutex_t *m)
{
    struct sync_thread *t = sync_recording();
    int rc = SYNC_REAL(mutex_destroy)(m);
    if (t && rc == 0)
        sync_lock_destroy(t, UPMU_OBJECT_MUTEX, m, CALL_SITE(), 0);
    return rc;
}

UPMU_API int pthread_mutex_consistent(pthread_mutex_t *m)
{
    struct sync_thread *t = sync_recording();
    int rc = SYNC_REAL(mutex_consistent)(m);
    if (t)
        sync_event_flags(t, UPMU_TRACE_LOCK_CONSISTENT, UPMU_OBJECT_MUTEX, m, CALL_SITE(), rc, sync_mutex_flags(m));
    return rc;
}
