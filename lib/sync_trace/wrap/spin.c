/* SPDX-License-Identifier: MIT */
/*
 * Wrappers of pthread_spin_*.
 *
 * A spin lock has no owner field: a waiter searches the locks that all threads hold.
 */
#include <errno.h>

#include "sync_trace/account/acquire.h"
#include "sync_trace/account/lock_life.h"
#include "sync_trace/account/wait.h"
#include "sync_trace/early.h"
#include "sync_trace/emit/wait_state.h"
#include "sync_trace/libc/layout.h"
#include "sync_trace/libc/resolve.h"
#include "sync_trace/thread_life.h"

static inline struct lock_call spin_lock_call(pthread_spinlock_t *l, uintptr_t site)
{
    return (struct lock_call){.key = (uintptr_t)l, .type = UPMU_OBJECT_SPIN, .site = site};
}

__attribute__((noinline)) static int spin_wait_for(struct sync_thread *t, uint32_t mode, pthread_spinlock_t *l,
                                                   const struct lock_call *call)
{
    struct sync_wait w = {
        .t = t, .lock = call->key, .site = call->site, .type = UPMU_OBJECT_SPIN, .request_stack = call->request_stack};
    sync_early_check(t);
    sync_wait_begin(&w, mode, -1, false);
    w.result = SYNC_REAL(spin_lock)(l);
    sync_wait_end(&w);
    return w.result;
}

__attribute__((noinline)) static int spin_wait_plain(struct sync_thread *t, uint32_t mode, pthread_spinlock_t *l,
                                                     uintptr_t site)
{
    const struct lock_call call = spin_lock_call(l, site);
    return spin_wait_for(t, mode, l, &call);
}

__attribute__((noinline)) static int spin_lock_on(pthread_spinlock_t *l, uint32_t mode, uintptr_t site)
{
    struct sync_thread *t = mode == MODE_OFF ? NULL : sync_thread();
    if (!t)
        return SYNC_REAL(spin_lock)(l);
    struct lock_call call = spin_lock_call(l, site);
    call.request_stack = sync_request(t, mode, UPMU_OBJECT_SPIN, call.key, site);
    if (UNLIKELY(SYNC_REAL(spin_trylock)(l) != 0))
        return spin_wait_for(t, mode, l, &call);
    sync_acquired(t, mode, &call, 0);
    return 0;
}

/* Nothing is recorded, and the lock is taken. */
__attribute__((noinline)) static int spin_wait_early(pthread_spinlock_t *l, uintptr_t site)
{
    struct sync_early w = {.kind = UPMU_TRACE_LOCK_BLOCK, .type = UPMU_OBJECT_SPIN, .key = (uintptr_t)l, .site = site};
    if (!sync_early_begin(&w))
        return spin_lock_on(l, sync_mode(), site);
    int rc = SYNC_REAL(spin_lock)(l);
    sync_early_lock_end(&w, rc);
    return rc;
}

static inline __attribute__((always_inline)) int spin_lock_quietly(pthread_spinlock_t *l, const uint32_t mode,
                                                                   uintptr_t site)
{
    struct sync_thread *t = sync_tls.thread;
    int (*real)(pthread_spinlock_t *) = __atomic_load_n(&sync_real.spin_trylock, __ATOMIC_RELAXED);
    if (UNLIKELY(!sync_holds_nothing(t) || !real))
        return spin_lock_on(l, mode, site);
    if (UNLIKELY(real(l) != 0))
        return spin_wait_plain(t, mode, l, site);
    return sync_acquired_quietly(t, mode, (uintptr_t)l, UPMU_OBJECT_SPIN, site);
}

/* Modes holders and contended while no other lock is held, functions of their own: every saved register is measurable. */
__attribute__((noinline, flatten)) static int spin_lock_holders(pthread_spinlock_t *l, uintptr_t site)
{
    return spin_lock_quietly(l, MODE_HOLDERS, site);
}

__attribute__((noinline, flatten)) static int spin_lock_contended(pthread_spinlock_t *l, uintptr_t site)
{
    return spin_lock_quietly(l, MODE_CONTENDED, site);
}

UPMU_API int pthread_spin_lock(pthread_spinlock_t *l)
{
    uint32_t mode = sync_mode();
    if (LIKELY(mode == MODE_OFF && sync_layout.spin_inline))
        return LIKELY(sync_spin_take(l)) ? 0 : spin_wait_early(l, CALL_SITE());
    int (*real)(pthread_spinlock_t *) = __atomic_load_n(&sync_real.spin_lock, __ATOMIC_RELAXED);
    if (mode == MODE_OFF && real)
        return LIKELY(!sync_spin_seems_taken(l)) ? real(l) : spin_wait_early(l, CALL_SITE());
    if (LIKELY(mode == MODE_HOLDERS))
        return spin_lock_holders(l, CALL_SITE());
    return mode == MODE_CONTENDED ? spin_lock_contended(l, CALL_SITE()) : spin_lock_on(l, mode, CALL_SITE());
}

UPMU_API int pthread_spin_trylock(pthread_spinlock_t *l)
{
    uint32_t mode = sync_mode();
    struct sync_thread *t = mode == MODE_OFF ? NULL : sync_thread();
    int rc = SYNC_REAL(spin_trylock)(l);
    struct lock_call call = spin_lock_call(l, CALL_SITE());
    call.flags = UPMU_TRACE_FLAG_TRIED;
    if (t && rc == 0)
        sync_acquired(t, mode, &call, 0);
    else if (t)
        sync_try_failed(t, mode, &call, rc);
    return rc;
}

/* Acquired before the recording, or released by a thread that does not hold it: certain if it is free, or another
 * thread is known to hold it. */
static int spin_unlock_unknown(struct sync_thread *t, uint32_t mode, pthread_spinlock_t *l, uintptr_t site)
{
    struct sync_held held;
    bool is_free = sync_layout.spin && *l == sync_layout.spin_free;
    bool misuse = is_free || sync_held_search((uintptr_t)l, &held) != NULL;
    const struct lock_call call = spin_lock_call(l, site);
    sync_early_check(t);
    uint64_t tick = tick_now();
    int rc = SYNC_REAL(spin_unlock)(l);
    if (rc == 0)
        sync_wait_state_disown_holder((uintptr_t)l);
    if (rc == 0 && !misuse)
        sync_release_before(t, &call, tick);
    if (misuse && mode != MODE_OFF && mode != MODE_COUNTS)
        sync_event(t, UPMU_TRACE_LOCK_MISUSE, UPMU_OBJECT_SPIN, (const void *)(uintptr_t)l, site, rc);
    return rc;
}

__attribute__((noinline)) static int spin_unlock_slow(struct sync_thread *t, pthread_spinlock_t *l, uint32_t mode,
                                                      uintptr_t site)
{
    const struct lock_call call = spin_lock_call(l, site);
    struct lock_release r;
    if (!sync_release_begin(t, mode, &call, &r))
        return spin_unlock_unknown(t, mode, l, site);
    int rc = SYNC_REAL(spin_unlock)(l);
    sync_release_end(t, &call, &r, rc != 0);
    return rc;
}

__attribute__((noinline, flatten)) static int spin_unlock_on(pthread_spinlock_t *l, uint32_t mode, uintptr_t site)
{
    struct sync_thread *t = sync_release_thread(mode);
    if (LIKELY(!t || sync_release_quietly(t, mode, (uintptr_t)l)))
        return SYNC_REAL(spin_unlock)(l);
    return spin_unlock_slow(t, l, mode, site);
}

UPMU_API int pthread_spin_unlock(pthread_spinlock_t *l)
{
    uint32_t mode = sync_mode();
    bool at_once = sync_release_is_idle(mode) || sync_release_at_once(sync_tls.thread, mode, (uintptr_t)l);
    if (LIKELY(at_once && sync_layout.spin_inline)) {
        sync_spin_give(l);
        return 0;
    }
    int (*real)(pthread_spinlock_t *) = __atomic_load_n(&sync_real.spin_unlock, __ATOMIC_RELAXED);
    return LIKELY(at_once && real) ? real(l) : spin_unlock_on(l, mode, CALL_SITE());
}

UPMU_API int pthread_spin_init(pthread_spinlock_t *l, int shared)
{
    int rc = SYNC_REAL(spin_init)(l, shared);
    struct sync_thread *t = rc == 0 ? sync_recording() : NULL;
    if (t)
        sync_lock_init(t, UPMU_OBJECT_SPIN, (const void *)(uintptr_t)l, CALL_SITE(),
                       shared == PTHREAD_PROCESS_SHARED ? UPMU_TRACE_FLAG_PSHARED : 0);
    return rc;
}

UPMU_API int pthread_spin_destroy(pthread_spinlock_t *l)
{
    struct sync_thread *t = sync_recording();
    int rc = SYNC_REAL(spin_destroy)(l);
    if (t && rc == 0)
        sync_lock_destroy(t, UPMU_OBJECT_SPIN, (const void *)(uintptr_t)l, CALL_SITE(), 0);
    return rc;
}
