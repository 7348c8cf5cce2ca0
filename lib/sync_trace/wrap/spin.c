/* SPDX-License-Identifier: MIT */
/*
 * Spin locks. Room: sync_trace; before it the program's calls, after it lockable.h.
 *
 * A spin lock does not tell who has it: a waiter looks through the locks all threads hold, which costs nothing until
 * somebody spins. Which value means "free" differs from machine to machine, and is looked up at the start.
 */
#include <errno.h>

#include "sync_trace/lockable.h"
#include "sync_trace/wrap/resolve.h"

void sync_spin_start(void)
{
    pthread_spinlock_t l;
    if (SYNC_REAL(spin_init)(&l, PTHREAD_PROCESS_PRIVATE) != 0)
        return;
    int free_value = l;
    bool differs = SYNC_REAL(spin_lock)(&l) == 0 && l != free_value;
    sync_process.spin_free = free_value;
    sync_process.spin_known = SYNC_REAL(spin_unlock)(&l) == 0 && differs && l == free_value;
    SYNC_REAL(spin_destroy)(&l);
}

static inline struct lockable lockable_of(pthread_spinlock_t *l, uintptr_t site)
{
    return (struct lockable){.key = (uintptr_t)l, .type = UPMU_OBJECT_SPIN, .site = site};
}

__attribute__((noinline)) static int wait_for(struct sync_thread *t, uint32_t mode, pthread_spinlock_t *l,
                                              const struct lockable *as)
{
    struct sync_wait w = {.t = t, .lock = as->key, .site = as->site, .type = UPMU_OBJECT_SPIN, .asked = as->asked};
    sync_wait_begin(&w, mode, -1, false);
    w.result = SYNC_REAL(spin_lock)(l);
    sync_wait_end(&w);
    return w.result;
}

__attribute__((noinline)) static int wait_plain(struct sync_thread *t, pthread_spinlock_t *l, uintptr_t site)
{
    const struct lockable as = lockable_of(l, site);
    return wait_for(t, MODE_CONTENDED, l, &as);
}

__attribute__((noinline)) static int lock_on(pthread_spinlock_t *l, uint32_t mode, uintptr_t site)
{
    struct sync_thread *t = mode == MODE_OFF ? NULL : sync_thread();
    if (!t)
        return SYNC_REAL(spin_lock)(l);
    struct lockable as = lockable_of(l, site);
    as.asked = sync_request(t, mode, UPMU_OBJECT_SPIN, as.key, site);
    if (UNLIKELY(SYNC_REAL(spin_trylock)(l) != 0))
        return wait_for(t, mode, l, &as);
    lockable_taken(t, mode, &as, 0);
    return 0;
}

/* Mode contended where nothing else is held, on its own: every saved register is felt. */
__attribute__((noinline, flatten)) static int lock_contended(pthread_spinlock_t *l, uintptr_t site)
{
    struct sync_thread *t = sync_tls.thread;
    int (*real)(pthread_spinlock_t *) = __atomic_load_n(&sync_real.spin_trylock, __ATOMIC_RELAXED);
    if (UNLIKELY(!lockable_is_usual(t) || !real))
        return lock_on(l, MODE_CONTENDED, site);
    if (UNLIKELY(real(l) != 0))
        return wait_plain(t, l, site);
    lockable_taken_quietly(t, (uintptr_t)l, UPMU_OBJECT_SPIN, site);
    return 0;
}

UPMU_API int pthread_spin_lock(pthread_spinlock_t *l)
{
    uint32_t mode = sync_mode();
    int (*real)(pthread_spinlock_t *) = __atomic_load_n(&sync_real.spin_lock, __ATOMIC_RELAXED);
    if (LIKELY(mode == MODE_OFF && real))
        return real(l);
    return LIKELY(mode == MODE_CONTENDED) ? lock_contended(l, CALL_SITE()) : lock_on(l, mode, CALL_SITE());
}

UPMU_API int pthread_spin_trylock(pthread_spinlock_t *l)
{
    uint32_t mode = sync_mode();
    struct sync_thread *t = mode == MODE_OFF ? NULL : sync_thread();
    int rc = SYNC_REAL(spin_trylock)(l);
    struct lockable as = lockable_of(l, CALL_SITE());
    as.how = UPMU_TRACE_FLAG_TRIED;
    if (t && rc == 0)
        lockable_taken(t, mode, &as, 0);
    else if (t)
        lockable_tried(t, mode, &as, rc);
    return rc;
}

/* Taken while nothing was recorded, or released by somebody who does not have it: certain if it is free, or another
 * thread is known to hold it. */
static int unlock_unknown(struct sync_thread *t, uint32_t mode, pthread_spinlock_t *l, uintptr_t site)
{
    struct sync_held held;
    bool is_free = sync_process.spin_known && *l == sync_process.spin_free;
    bool misuse = is_free || sync_held_search((uintptr_t)l, &held) != NULL;
    int rc = SYNC_REAL(spin_unlock)(l);
    if (rc == 0)
        sync_live_taken_away((uintptr_t)l);
    if (misuse && mode != MODE_OFF && mode != MODE_COUNTS)
        sync_event(t, UPMU_TRACE_LOCK_MISUSE, UPMU_OBJECT_SPIN, (const void *)(uintptr_t)l, site, rc);
    return rc;
}

__attribute__((noinline)) static int unlock_slow(struct sync_thread *t, pthread_spinlock_t *l, uint32_t mode,
                                                 uintptr_t site)
{
    const struct lockable as = lockable_of(l, site);
    struct lockable_release r;
    if (!lockable_release(t, mode, &as, &r))
        return unlock_unknown(t, mode, l, site);
    int rc = SYNC_REAL(spin_unlock)(l);
    lockable_released(t, &as, &r, rc != 0);
    return rc;
}

__attribute__((noinline, flatten)) static int unlock_on(pthread_spinlock_t *l, uint32_t mode, uintptr_t site)
{
    struct sync_thread *t = lockable_holder(mode);
    if (LIKELY(!t || lockable_release_quietly(t, mode, (uintptr_t)l)))
        return SYNC_REAL(spin_unlock)(l);
    return unlock_slow(t, l, mode, site);
}

UPMU_API int pthread_spin_unlock(pthread_spinlock_t *l)
{
    uint32_t mode = sync_mode();
    int (*real)(pthread_spinlock_t *) = __atomic_load_n(&sync_real.spin_unlock, __ATOMIC_RELAXED);
    return lockable_is_idle(mode) && real ? real(l) : unlock_on(l, mode, CALL_SITE());
}

UPMU_API int pthread_spin_init(pthread_spinlock_t *l, int shared)
{
    int rc = SYNC_REAL(spin_init)(l, shared);
    struct sync_thread *t = rc == 0 ? sync_recording() : NULL;
    if (t)
        sync_event_flags(t, UPMU_TRACE_LOCK_INIT, UPMU_OBJECT_SPIN, (const void *)(uintptr_t)l, CALL_SITE(), 0,
                         shared == PTHREAD_PROCESS_SHARED ? UPMU_TRACE_FLAG_PSHARED : 0);
    return rc;
}

UPMU_API int pthread_spin_destroy(pthread_spinlock_t *l)
{
    struct sync_thread *t = sync_recording();
    int rc = SYNC_REAL(spin_destroy)(l);
    if (t && rc == 0)
        sync_event(t, UPMU_TRACE_LOCK_DESTROY, UPMU_OBJECT_SPIN, (const void *)(uintptr_t)l, CALL_SITE(), 0);
    return rc;
}
