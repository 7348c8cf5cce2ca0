/* SPDX-License-Identifier: MIT */
/* Kinds of mutexes, and pthread_mutex_consistent(), which only robust ones have. Room: sync_trace; before it the program's
 * calls and mutex.c, after it record.c. */
#include "sync_trace/wrap/mutex_kind.h"

#include "sync_trace/wrap/resolve.h"

#ifdef __GLIBC__
/* As glibc has them in the mutex; a change would be a change of its ABI. */
enum { KIND_TYPE = 3, KIND_ROBUST = 16, KIND_PI = 32, KIND_PSHARED = 128 };

uint32_t sync_mutex_flags(const pthread_mutex_t *m)
{
    int kind = __atomic_load_n(&m->__data.__kind, __ATOMIC_RELAXED);
    uint32_t type = (kind & KIND_TYPE) == PTHREAD_MUTEX_RECURSIVE_NP    ? UPMU_TRACE_FLAG_RECURSIVE
                    : (kind & KIND_TYPE) == PTHREAD_MUTEX_ERRORCHECK_NP ? UPMU_TRACE_FLAG_ERRORCHECK
                                                                        : 0;
    /* glibc treats every robust mutex as shared: of these only the attributes tell. */
    bool shared = kind & KIND_PSHARED && !(kind & KIND_ROBUST);
    return type | (kind & KIND_ROBUST ? UPMU_TRACE_FLAG_ROBUST : 0) | (kind & KIND_PI ? UPMU_TRACE_FLAG_PI : 0) |
           (shared ? UPMU_TRACE_FLAG_PSHARED : 0);
}
#else
uint32_t sync_mutex_flags(const pthread_mutex_t *m)
{
    (void)m;
    return 0;
}
#endif

uint32_t sync_mutex_init_flags(const pthread_mutex_t *m, const pthread_mutexattr_t *attr)
{
    int shared;
    bool known = attr && pthread_mutexattr_getpshared(attr, &shared) == 0;
    return sync_mutex_flags(m) | (known && shared == PTHREAD_PROCESS_SHARED ? UPMU_TRACE_FLAG_PSHARED : 0);
}

UPMU_API int pthread_mutex_consistent(pthread_mutex_t *m)
{
    struct sync_thread *t = sync_recording();
    int rc = SYNC_REAL(mutex_consistent)(m);
    if (t)
        sync_event_flags(t, UPMU_TRACE_LOCK_CONSISTENT, UPMU_OBJECT_MUTEX, m, CALL_SITE(), rc, sync_mutex_flags(m));
    return rc;
}
