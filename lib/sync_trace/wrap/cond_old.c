/* SPDX-License-Identifier: MIT */
/*
 * Condition variables of programs linked before glibc 2.3.2: a pointer to the real one, made at its first use. Empty
 * where glibc never had them.
 */
#include <features.h>

#include "sync_trace/libc/cond_version.h"

#ifdef COND_OLD
#include "sync_trace/account/lock_life.h"
#include "sync_trace/libc/resolve.h"
#include "sync_trace/thread_life.h"
#include "sync_trace/wrap/cond.h"

struct old_cond;

#define OLD(name, ...)                              \
    UPMU_API int sync_cond_old_##name(__VA_ARGS__); \
    __asm__(".symver sync_cond_old_" #name ", pthread_cond_" #name "@" COND_OLD)

OLD(wait, struct old_cond *, pthread_mutex_t *);
OLD(timedwait, struct old_cond *, pthread_mutex_t *, const struct timespec *);
OLD(signal, struct old_cond *);
OLD(broadcast, struct old_cond *);
OLD(init, struct old_cond *, const pthread_condattr_t *);
OLD(destroy, struct old_cond *);

int sync_cond_old_wait(struct old_cond *cond, pthread_mutex_t *mutex)
{
    struct sync_cond_wait w
        __attribute__((cleanup(sync_cond_wait_end))) = {.cond = cond, .mutex = mutex, .site = CALL_SITE()};
    sync_cond_wait_begin(&w);
    w.result = SYNC_REAL(cond_old_wait)(cond, mutex);
    return w.result;
}

int sync_cond_old_timedwait(struct old_cond *cond, pthread_mutex_t *mutex, const struct timespec *until)
{
    struct sync_cond_wait w __attribute__((cleanup(sync_cond_wait_end))) = {
        .cond = cond, .mutex = mutex, .site = CALL_SITE(), .flags = UPMU_TRACE_FLAG_TIMED};
    sync_cond_wait_begin(&w);
    w.result = SYNC_REAL(cond_old_timedwait)(cond, mutex, until);
    return w.result;
}

int sync_cond_old_signal(struct old_cond *cond)
{
    sync_cond_signal_write(UPMU_TRACE_COND_SIGNAL, cond, CALL_SITE());
    return SYNC_REAL(cond_old_signal)(cond);
}

int sync_cond_old_broadcast(struct old_cond *cond)
{
    sync_cond_signal_write(UPMU_TRACE_COND_BROADCAST, cond, CALL_SITE());
    return SYNC_REAL(cond_old_broadcast)(cond);
}

int sync_cond_old_init(struct old_cond *cond, const pthread_condattr_t *attr)
{
    int rc = SYNC_REAL(cond_old_init)(cond, attr);
    struct sync_thread *t = rc == 0 ? sync_recording() : NULL;
    if (t)
        sync_lock_init(t, UPMU_OBJECT_COND, cond, CALL_SITE(), 0);
    return rc;
}

int sync_cond_old_destroy(struct old_cond *cond)
{
    struct sync_thread *t = sync_recording();
    int rc = SYNC_REAL(cond_old_destroy)(cond);
    if (t && rc == 0)
        sync_lock_destroy(t, UPMU_OBJECT_COND, cond, CALL_SITE(), 0);
    return rc;
}
#else
_Static_assert(1, "one version only");
#endif
