/* SPDX-License-Identifier: MIT */
/*
 * Wrappers of mtx_* and cnd_* (threads.h); thrd_* is in thread.c, call_once() in once.c.
 *
 * The C library implements them with its own POSIX functions, which it calls without the wrappers. In the trace they are
 * mutexes and condition variables, and results are errno values.
 */
#include <threads.h>

#include "sync_trace/account/acquire.h"
#include "sync_trace/account/lock_life.h"
#include "sync_trace/account/wait.h"
#include "sync_trace/early.h"
#include "sync_trace/emit/wait_state.h"
#include "sync_trace/fork.h"
#include "sync_trace/libc/c11.h"
#include "sync_trace/libc/layout.h"
#include "sync_trace/libc/resolve.h"
#include "sync_trace/thread_life.h"
#include "sync_trace/wrap/cond.h"

/* ------------------------------------------------------------------------------------------------- mutexes */

static inline struct lock_call mtx_lock_call(const mtx_t *m, uintptr_t site)
{
    return (struct lock_call){.key = (uintptr_t)m, .type = UPMU_OBJECT_MUTEX, .site = site};
}

static int mtx_real_lock(mtx_t *m, const struct timespec *until)
{
    return until ? SYNC_REAL(mtx_timedlock)(m, until) : SYNC_REAL(mtx_lock)(m);
}

static int mtx_lock_any(mtx_t *m, uint32_t mode, const struct timespec *until, uintptr_t site);

/* Nothing is recorded, and the mutex is taken. */
__attribute__((noinline)) static int mtx_wait_early(mtx_t *m, const struct timespec *until, uintptr_t site)
{
    struct sync_early w = {.kind = UPMU_TRACE_LOCK_BLOCK, .type = UPMU_OBJECT_MUTEX, .key = (uintptr_t)m, .site = site};
    w.flags = sync_mtx_flags(m) | (until ? UPMU_TRACE_FLAG_TIMED : 0);
    if (!sync_early_begin(&w))
        return mtx_lock_any(m, sync_mode(), until, site);
    int rc = mtx_real_lock(m, until);
    sync_early_lock_end(&w, c11_errno(rc));
    return rc;
}

__attribute__((noinline)) static int mtx_wait_for(struct sync_thread *t, uint32_t mode, mtx_t *m,
                                                  const struct timespec *until, const struct lock_call *call)
{
    struct sync_wait w = {
        .t = t, .lock = call->key, .site = call->site, .type = UPMU_OBJECT_MUTEX, .request_stack = call->request_stack};
    uint32_t kind = sync_mtx_flags(m);
    sync_early_check(t);
    w.flags = kind | (until ? UPMU_TRACE_FLAG_TIMED : 0);
    pid_t owner = sync_mtx_owner(m);
    sync_wait_begin(&w, mode, sync_fork_owner(owner), kind & UPMU_TRACE_FLAG_RECURSIVE);
    if (owner > 0 && w.recorded) {
        bool gone = sync_fork_owner_is_gone(sync_fork_owner(owner));
        if (sync_mtx_owner(m) == owner)
            sync_wait_state_owner_seen(t, gone);
    }
    struct sync_early_wait early;
    sync_early_wait_begin(&early, &w);
    int rc = mtx_real_lock(m, until);
    w.result = c11_errno(rc);
    sync_early_wait_end(&early);
    sync_wait_end(&w);
    return rc;
}

/* In any mode, with and without a time limit. */
__attribute__((noinline)) static int mtx_lock_any(mtx_t *m, uint32_t mode, const struct timespec *until, uintptr_t site)
{
    struct sync_thread *t = mode == MODE_OFF ? NULL : sync_thread();
    if (LIKELY(!t))
        return mode == MODE_OFF && sync_mutex_seems_taken(m) ? mtx_wait_early(m, until, site) : mtx_real_lock(m, until);
    struct lock_call call = mtx_lock_call(m, site);
    call.request_stack = sync_request(t, mode, UPMU_OBJECT_MUTEX, call.key, site);
    if (UNLIKELY(SYNC_REAL(mtx_trylock)(m) != thrd_success))
        return mtx_wait_for(t, mode, m, until, &call);
    call.flags = until ? UPMU_TRACE_FLAG_TIMED : 0;
    sync_acquired(t, mode, &call, 0);
    return thrd_success;
}

__attribute__((noinline)) static int mtx_wait_plain(struct sync_thread *t, uint32_t mode, mtx_t *m, uintptr_t site)
{
    const struct lock_call call = mtx_lock_call(m, site);
    return mtx_wait_for(t, mode, m, NULL, &call);
}

static inline __attribute__((always_inline)) int mtx_lock_quietly(mtx_t *m, const uint32_t mode, uintptr_t site)
{
    struct sync_thread *t = sync_tls.thread;
    int (*real)(mtx_t *) = __atomic_load_n(&sync_real.mtx_trylock, __ATOMIC_RELAXED);
    if (UNLIKELY(!sync_holds_nothing(t) || !real))
        return mtx_lock_any(m, mode, NULL, site);
    if (UNLIKELY(real(m) != thrd_success))
        return mtx_wait_plain(t, mode, m, site);
    _Static_assert(thrd_success == 0, "what the call returns");
    return sync_acquired_quietly(t, mode, (uintptr_t)m, UPMU_OBJECT_MUTEX, site);
}

/* Modes holders and contended while no other lock is held, functions of their own: every saved register is measurable. */
__attribute__((noinline, flatten)) static int mtx_lock_holders(mtx_t *m, uintptr_t site)
{
    return mtx_lock_quietly(m, MODE_HOLDERS, site);
}

__attribute__((noinline, flatten)) static int mtx_lock_contended(mtx_t *m, uintptr_t site)
{
    return mtx_lock_quietly(m, MODE_CONTENDED, site);
}

UPMU_API int mtx_lock(mtx_t *m)
{
    uint32_t mode = sync_mode();
    int (*real)(mtx_t *) = __atomic_load_n(&sync_real.mtx_lock, __ATOMIC_RELAXED);
    if (LIKELY(mode == MODE_OFF && real))
        return LIKELY(!sync_mutex_seems_taken(m)) ? real(m) : mtx_wait_early(m, NULL, CALL_SITE());
    if (LIKELY(mode == MODE_HOLDERS))
        return mtx_lock_holders(m, CALL_SITE());
    return mode == MODE_CONTENDED ? mtx_lock_contended(m, CALL_SITE()) : mtx_lock_any(m, mode, NULL, CALL_SITE());
}

UPMU_API int mtx_timedlock(mtx_t *m, const struct timespec *until)
{
    return mtx_lock_any(m, sync_mode(), until, CALL_SITE());
}

UPMU_API int mtx_trylock(mtx_t *m)
{
    uint32_t mode = sync_mode();
    struct sync_thread *t = mode == MODE_OFF ? NULL : sync_thread();
    int rc = SYNC_REAL(mtx_trylock)(m);
    struct lock_call call = mtx_lock_call(m, CALL_SITE());
    call.flags = UPMU_TRACE_FLAG_TRIED;
    if (t && rc == thrd_success)
        sync_acquired(t, mode, &call, 0);
    else if (t)
        sync_try_failed(t, mode, &call, c11_errno(rc));
    return rc;
}

/* Release of a mutex that this thread is not known to hold, as in mutex.c. */
static int mtx_unlock_unknown(struct sync_thread *t, uint32_t mode, mtx_t *m, uintptr_t site)
{
    pid_t owner = sync_mtx_owner(m);
    bool misuse = owner >= 0 && owner != t->tid && (owner == 0 || sync_thread_by_tid(owner) != NULL);
    bool owns = owner < 0 || sync_fork_owner(owner) == t->tid;
    const struct lock_call call = mtx_lock_call(m, site);
    sync_early_check(t);
    uint64_t tick = tick_now();
    int rc = SYNC_REAL(mtx_unlock)(m);
    if (owner > 0 && owner != t->tid && rc == thrd_success)
        sync_wait_state_disown(owner, (uintptr_t)m);
    if (misuse && mode != MODE_OFF && mode != MODE_COUNTS)
        sync_event(t, UPMU_TRACE_LOCK_MISUSE, UPMU_OBJECT_MUTEX, m, site, c11_errno(rc));
    if (owns && rc == thrd_success)
        sync_release_before(t, &call, tick);
    return rc;
}

__attribute__((noinline)) static int mtx_unlock_slow(struct sync_thread *t, mtx_t *m, uint32_t mode, uintptr_t site)
{
    const struct lock_call call = mtx_lock_call(m, site);
    struct lock_release r;
    if (!sync_release_begin(t, mode, &call, &r))
        return mtx_unlock_unknown(t, mode, m, site);
    int rc = SYNC_REAL(mtx_unlock)(m);
    sync_release_end(t, &call, &r, rc != thrd_success);
    return rc;
}

/* mtx_unlock() while recording is on, or with locks held that were acquired while it was. */
__attribute__((noinline, flatten)) static int mtx_unlock_on(mtx_t *m, uint32_t mode, uintptr_t site)
{
    struct sync_thread *t = sync_release_thread(mode);
    if (LIKELY(!t || sync_release_quietly(t, mode, (uintptr_t)m)))
        return SYNC_REAL(mtx_unlock)(m);
    return mtx_unlock_slow(t, m, mode, site);
}

UPMU_API int mtx_unlock(mtx_t *m)
{
    uint32_t mode = sync_mode();
    int (*real)(mtx_t *) = __atomic_load_n(&sync_real.mtx_unlock, __ATOMIC_RELAXED);
    bool at_once = sync_release_is_idle(mode) || sync_release_at_once(sync_tls.thread, mode, (uintptr_t)m);
    return LIKELY(at_once && real) ? real(m) : mtx_unlock_on(m, mode, CALL_SITE());
}

UPMU_API int mtx_init(mtx_t *m, int type)
{
    int rc = SYNC_REAL(mtx_init)(m, type);
    struct sync_thread *t = rc == thrd_success ? sync_recording() : NULL;
    if (t)
        sync_lock_init(t, UPMU_OBJECT_MUTEX, m, CALL_SITE(), type & mtx_recursive ? UPMU_TRACE_FLAG_RECURSIVE : 0);
    return rc;
}

UPMU_API void mtx_destroy(mtx_t *m)
{
    struct sync_thread *t = sync_recording();
    SYNC_REAL(mtx_destroy)(m);
    if (t)
        sync_lock_destroy(t, UPMU_OBJECT_MUTEX, m, CALL_SITE(), 0);
}

/* ------------------------------------------------------------------------------------- condition variables */

UPMU_API int cnd_wait(cnd_t *cond, mtx_t *mutex)
{
    sync_child_check();
    struct sync_cond_wait w
        __attribute__((cleanup(sync_cond_wait_end))) = {.cond = cond, .mutex = mutex, .site = CALL_SITE()};
    sync_cond_wait_begin(&w);
    int rc = SYNC_REAL(cnd_wait)(cond, mutex);
    w.result = c11_errno(rc);
    return rc;
}

UPMU_API int cnd_timedwait(cnd_t *cond, mtx_t *mutex, const struct timespec *until)
{
    sync_child_check();
    struct sync_cond_wait w __attribute__((cleanup(sync_cond_wait_end))) = {
        .cond = cond, .mutex = mutex, .site = CALL_SITE(), .flags = UPMU_TRACE_FLAG_TIMED};
    sync_cond_wait_begin(&w);
    int rc = SYNC_REAL(cnd_timedwait)(cond, mutex, until);
    w.result = c11_errno(rc);
    return rc;
}

UPMU_API int cnd_signal(cnd_t *cond)
{
    sync_cond_signal_write(UPMU_TRACE_COND_SIGNAL, cond, CALL_SITE());
    return SYNC_REAL(cnd_signal)(cond);
}

UPMU_API int cnd_broadcast(cnd_t *cond)
{
    sync_cond_signal_write(UPMU_TRACE_COND_BROADCAST, cond, CALL_SITE());
    return SYNC_REAL(cnd_broadcast)(cond);
}

UPMU_API int cnd_init(cnd_t *cond)
{
    int rc = SYNC_REAL(cnd_init)(cond);
    struct sync_thread *t = rc == thrd_success ? sync_recording() : NULL;
    if (t)
        sync_lock_init(t, UPMU_OBJECT_COND, cond, CALL_SITE(), 0);
    return rc;
}

UPMU_API void cnd_destroy(cnd_t *cond)
{
    struct sync_thread *t = sync_recording();
    SYNC_REAL(cnd_destroy)(cond);
    if (t)
        sync_lock_destroy(t, UPMU_OBJECT_COND, cond, CALL_SITE(), 0);
}
