/* SPDX-License-Identifier: MIT */
/*
 * C11 mutexes and condition variables (threads.h): mtx_*, cnd_*. Room: sync_trace; before it the program's calls, after it
 * lockable.h and cond.h. (thrd_* is in thread.c, call_once() in once.c.)
 *
 * The C library has them on top of its own POSIX functions, which it calls where no wrapper sees it. Their objects are
 * mutexes and condition variables in the trace as well; results are those of threads.h: 0 is success there, too.
 *
 * In glibc an mtx_t is a mutex with its owner in the same place; that is believed after the check at the start which
 * mutexes have (process.c) and one of its own.
 */
#include <errno.h>
#include <sys/syscall.h>
#include <threads.h>
#include <unistd.h>

#include "sync_trace/wrap/cond.h"
#include "sync_trace/lockable.h"
#include "sync_trace/wrap/mutex_kind.h"
#include "sync_trace/wrap/resolve.h"

#ifdef __GLIBC__
_Static_assert(sizeof(mtx_t) == sizeof(pthread_mutex_t), "one is the other in glibc");

static pid_t owner_field(const mtx_t *m)
{
    return __atomic_load_n(&((const pthread_mutex_t *)(const void *)m)->__data.__owner, __ATOMIC_RELAXED);
}

void sync_c11_start(void)
{
    mtx_t m;
    pid_t self = (pid_t)syscall(SYS_gettid);
    if (!SYNC_REAL(mtx_init) || SYNC_REAL(mtx_init)(&m, mtx_plain) != thrd_success)
        return;
    bool known = SYNC_REAL(mtx_lock)(&m) == thrd_success && owner_field(&m) == self;
    sync_process.c11_owner_known = SYNC_REAL(mtx_unlock)(&m) == thrd_success && known && owner_field(&m) == 0;
    SYNC_REAL(mtx_destroy)(&m);
}

/* The owner's thread id, 0 = nobody, -1 = cannot be known. */
static pid_t owner_of(const mtx_t *m)
{
    return sync_process.c11_owner_known ? owner_field(m) : -1;
}

static uint32_t kind_of(const mtx_t *m)
{
    return sync_process.c11_owner_known ? sync_mutex_flags((const pthread_mutex_t *)(const void *)m) : 0;
}
#else
void sync_c11_start(void)
{
}

static pid_t owner_of(const mtx_t *m)
{
    (void)m;
    return -1;
}

static uint32_t kind_of(const mtx_t *m)
{
    (void)m;
    return 0;
}
#endif

/* ------------------------------------------------------------------------------------------------- mutexes */

static inline struct lockable lockable_of(const mtx_t *m, uintptr_t site)
{
    return (struct lockable){.key = (uintptr_t)m, .type = UPMU_OBJECT_MUTEX, .site = site};
}

static int real_lock(mtx_t *m, const struct timespec *until)
{
    return until ? SYNC_REAL(mtx_timedlock)(m, until) : SYNC_REAL(mtx_lock)(m);
}

__attribute__((noinline)) static int wait_for(struct sync_thread *t, uint32_t mode, mtx_t *m,
                                              const struct timespec *until, const struct lockable *as)
{
    struct sync_wait w = {.t = t, .lock = as->key, .site = as->site, .type = UPMU_OBJECT_MUTEX, .asked = as->asked};
    uint32_t kind = kind_of(m);
    w.flags = kind | (until ? UPMU_TRACE_FLAG_TIMED : 0);
    pid_t owner = owner_of(m);
    sync_wait_begin(&w, mode, sync_forked_owner(owner), kind & UPMU_TRACE_FLAG_RECURSIVE);
    if (owner > 0 && w.recorded) {
        bool gone = sync_forked_is_gone(sync_forked_owner(owner));
        if (owner_of(m) == owner)
            sync_live_owner(t, gone);
    }
    w.result = real_lock(m, until);
    sync_wait_end(&w);
    return w.result;
}

__attribute__((noinline)) static int lock_any(mtx_t *m, uint32_t mode, const struct timespec *until, uintptr_t site)
{
    struct sync_thread *t = mode == MODE_OFF ? NULL : sync_thread();
    if (LIKELY(!t))
        return real_lock(m, until);
    struct lockable as = lockable_of(m, site);
    as.asked = sync_request(t, mode, UPMU_OBJECT_MUTEX, as.key, site);
    if (UNLIKELY(SYNC_REAL(mtx_trylock)(m) != thrd_success))
        return wait_for(t, mode, m, until, &as);
    as.how = until ? UPMU_TRACE_FLAG_TIMED : 0;
    lockable_taken(t, mode, &as, 0);
    return thrd_success;
}

__attribute__((noinline)) static int wait_plain(struct sync_thread *t, mtx_t *m, uintptr_t site)
{
    const struct lockable as = lockable_of(m, site);
    return wait_for(t, MODE_CONTENDED, m, NULL, &as);
}

/* Mode contended where nothing else is held, on its own: every saved register is felt. */
__attribute__((noinline, flatten)) static int lock_contended(mtx_t *m, uintptr_t site)
{
    struct sync_thread *t = sync_tls.thread;
    int (*real)(mtx_t *) = __atomic_load_n(&sync_real.mtx_trylock, __ATOMIC_RELAXED);
    if (UNLIKELY(!lockable_is_usual(t) || !real))
        return lock_any(m, MODE_CONTENDED, NULL, site);
    if (UNLIKELY(real(m) != thrd_success))
        return wait_plain(t, m, site);
    lockable_taken_quietly(t, (uintptr_t)m, UPMU_OBJECT_MUTEX, site);
    return thrd_success;
}

UPMU_API int mtx_lock(mtx_t *m)
{
    uint32_t mode = sync_mode();
    int (*real)(mtx_t *) = __atomic_load_n(&sync_real.mtx_lock, __ATOMIC_RELAXED);
    if (LIKELY(mode == MODE_OFF && real))
        return real(m);
    return LIKELY(mode == MODE_CONTENDED) ? lock_contended(m, CALL_SITE()) : lock_any(m, mode, NULL, CALL_SITE());
}

UPMU_API int mtx_timedlock(mtx_t *m, const struct timespec *until)
{
    return lock_any(m, sync_mode(), until, CALL_SITE());
}

UPMU_API int mtx_trylock(mtx_t *m)
{
    uint32_t mode = sync_mode();
    struct sync_thread *t = mode == MODE_OFF ? NULL : sync_thread();
    int rc = SYNC_REAL(mtx_trylock)(m);
    struct lockable as = lockable_of(m, CALL_SITE());
    as.how = UPMU_TRACE_FLAG_TRIED;
    if (t && rc == thrd_success)
        lockable_taken(t, mode, &as, 0);
    else if (t)
        lockable_tried(t, mode, &as, rc);
    return rc;
}

/* As mutex.c has it. */
static int unlock_unknown(struct sync_thread *t, uint32_t mode, mtx_t *m, uintptr_t site)
{
    pid_t owner = owner_of(m);
    bool misuse = owner >= 0 && owner != t->tid && (owner == 0 || sync_thread_by_tid(owner) != NULL);
    int rc = SYNC_REAL(mtx_unlock)(m);
    if (owner > 0 && owner != t->tid && rc == thrd_success)
        sync_live_disown(owner, (uintptr_t)m);
    if (misuse && mode != MODE_OFF && mode != MODE_COUNTS)
        sync_event(t, UPMU_TRACE_LOCK_MISUSE, UPMU_OBJECT_MUTEX, m, site, rc);
    return rc;
}

__attribute__((noinline)) static int unlock_slow(struct sync_thread *t, mtx_t *m, uint32_t mode, uintptr_t site)
{
    const struct lockable as = lockable_of(m, site);
    struct lockable_release r;
    if (!lockable_release(t, mode, &as, &r))
        return unlock_unknown(t, mode, m, site);
    int rc = SYNC_REAL(mtx_unlock)(m);
    lockable_released(t, &as, &r, rc != thrd_success);
    return rc;
}

__attribute__((noinline, flatten)) static int unlock_on(mtx_t *m, uint32_t mode, uintptr_t site)
{
    struct sync_thread *t = lockable_holder(mode);
    if (LIKELY(!t || lockable_release_quietly(t, mode, (uintptr_t)m)))
        return SYNC_REAL(mtx_unlock)(m);
    return unlock_slow(t, m, mode, site);
}

UPMU_API int mtx_unlock(mtx_t *m)
{
    uint32_t mode = sync_mode();
    int (*real)(mtx_t *) = __atomic_load_n(&sync_real.mtx_unlock, __ATOMIC_RELAXED);
    return lockable_is_idle(mode) && real ? real(m) : unlock_on(m, mode, CALL_SITE());
}

UPMU_API int mtx_init(mtx_t *m, int type)
{
    int rc = SYNC_REAL(mtx_init)(m, type);
    struct sync_thread *t = rc == thrd_success ? sync_recording() : NULL;
    if (t)
        sync_event_flags(t, UPMU_TRACE_LOCK_INIT, UPMU_OBJECT_MUTEX, m, CALL_SITE(), 0,
                         type & mtx_recursive ? UPMU_TRACE_FLAG_RECURSIVE : 0);
    return rc;
}

UPMU_API void mtx_destroy(mtx_t *m)
{
    struct sync_thread *t = sync_recording();
    SYNC_REAL(mtx_destroy)(m);
    if (t)
        sync_event(t, UPMU_TRACE_LOCK_DESTROY, UPMU_OBJECT_MUTEX, m, CALL_SITE(), 0);
}

/* ------------------------------------------------------------------------------------- condition variables */

UPMU_API int cnd_wait(cnd_t *cond, mtx_t *mutex)
{
    sync_child_check();
    struct sync_cond_wait w
        __attribute__((cleanup(sync_cond_wait_end))) = {.cond = cond, .mutex = mutex, .site = CALL_SITE()};
    sync_cond_wait_begin(&w);
    w.result = SYNC_REAL(cnd_wait)(cond, mutex);
    return w.result;
}

UPMU_API int cnd_timedwait(cnd_t *cond, mtx_t *mutex, const struct timespec *until)
{
    sync_child_check();
    struct sync_cond_wait w __attribute__((cleanup(sync_cond_wait_end))) = {
        .cond = cond, .mutex = mutex, .site = CALL_SITE(), .flags = UPMU_TRACE_FLAG_TIMED};
    sync_cond_wait_begin(&w);
    w.result = SYNC_REAL(cnd_timedwait)(cond, mutex, until);
    return w.result;
}

UPMU_API int cnd_signal(cnd_t *cond)
{
    sync_cond_tell(UPMU_TRACE_COND_SIGNAL, cond, CALL_SITE());
    return SYNC_REAL(cnd_signal)(cond);
}

UPMU_API int cnd_broadcast(cnd_t *cond)
{
    sync_cond_tell(UPMU_TRACE_COND_BROADCAST, cond, CALL_SITE());
    return SYNC_REAL(cnd_broadcast)(cond);
}

UPMU_API int cnd_init(cnd_t *cond)
{
    int rc = SYNC_REAL(cnd_init)(cond);
    struct sync_thread *t = rc == thrd_success ? sync_recording() : NULL;
    if (t)
        sync_event(t, UPMU_TRACE_LOCK_INIT, UPMU_OBJECT_COND, cond, CALL_SITE(), 0);
    return rc;
}

UPMU_API void cnd_destroy(cnd_t *cond)
{
    struct sync_thread *t = sync_recording();
    SYNC_REAL(cnd_destroy)(cond);
    if (t)
        sync_event(t, UPMU_TRACE_LOCK_DESTROY, UPMU_OBJECT_COND, cond, CALL_SITE(), 0);
}
