/* SPDX-License-Identifier: MIT */
/*
 * Barriers. Room: sync_trace; before it the program's calls, after it record.c.
 *
 * Arriving is waiting for all but the last, so there is nothing to filter: every arrival is an event and every leaving
 * another one, with the result that marks one thread, in glibc the one that came last. Waiting for a barrier is no
 * cancellation point.
 */
#include <errno.h>
#include <string.h>

#include "base/tick.h"
#include "sync_trace/wrap/resolve.h"
#include "sync_trace/sync.h"
#include "trace/write/writer.h"

/* Whether other processes may arrive. */
static uint32_t shared_flag(const pthread_barrier_t *b)
{
#ifdef __GLIBC__
    int32_t shared; /* glibc: in, round, count, and whether it is shared */
    memcpy(&shared, (const char *)b + 3 * sizeof(uint32_t), sizeof shared);
    return shared ? UPMU_TRACE_FLAG_PSHARED : 0;
#else
    (void)b;
    return UPMU_TRACE_FLAG_PSHARED; /* not known: then nothing is said to be hopeless */
#endif
}

bool sync_barrier_is_full(const pthread_barrier_t *b)
{
#ifdef __GLIBC__
    /* How many have come in all rounds, how many had when this one began, and how many make it full. */
    const uint32_t *in = (const void *)b, *round = in + 1, *count = in + 2;
    return __atomic_load_n(in, __ATOMIC_RELAXED) + 1 - __atomic_load_n(round, __ATOMIC_RELAXED) >= *count;
#else
    (void)b;
    return true; /* not known: then nobody is said to wait for ever */
#endif
}

static void write_barrier(struct sync_thread *t, int32_t kind, uint64_t tick, const pthread_barrier_t *b,
                          uintptr_t site, uint32_t stack, int result)
{
    struct trace_sync e = {
        .kind = kind,
        .object_type = UPMU_OBJECT_BARRIER,
        .object = (uintptr_t)b,
        .flags = shared_flag(b),
        .site = site,
        .stack = stack,
        .result = result,
    };
    sync_write(t, tick, &e);
    if (kind == UPMU_TRACE_BARRIER_ARRIVE)
        sync_live_begin(t, tick, &e);
}

static void arrive(struct sync_thread *t, const pthread_barrier_t *b, uintptr_t site)
{
    int saved = errno;
    /* The stack first: its time is not the barrier's. */
    uint32_t stack = sync_stack(t, tick_now(), site);
    uint64_t tick = tick_now();
    __atomic_store_n(&t->waiting, (uintptr_t)b, __ATOMIC_RELAXED);
    write_barrier(t, UPMU_TRACE_BARRIER_ARRIVE, tick, b, site, stack, 0);
    sync_counts_write_sometimes(t, tick);
    errno = saved;
}

static void leave(struct sync_thread *t, const pthread_barrier_t *b, uintptr_t site, int result)
{
    int saved = errno;
    __atomic_store_n(&t->waiting, 0, __ATOMIC_RELAXED);
    sync_live_end(t);
    write_barrier(t, UPMU_TRACE_BARRIER_LEAVE, tick_now(), b, site, 0, result);
    errno = saved;
}

UPMU_API int pthread_barrier_wait(pthread_barrier_t *b)
{
    sync_child_check();
    uint32_t mode = sync_mode();
    struct sync_thread *t = mode == MODE_OFF ? NULL : sync_thread();
    if (!t)
        return SYNC_REAL(barrier_wait)(b);
    sync_count(t, (uintptr_t)b, UPMU_OBJECT_BARRIER)->acquired++;
    if (mode == MODE_COUNTS)
        return SYNC_REAL(barrier_wait)(b);
    uintptr_t site = CALL_SITE();
    arrive(t, b, site);
    int rc = SYNC_REAL(barrier_wait)(b);
    leave(t, b, site, rc);
    return rc;
}

UPMU_API int pthread_barrier_init(pthread_barrier_t *b, const pthread_barrierattr_t *attr, unsigned count)
{
    int rc = SYNC_REAL(barrier_init)(b, attr, count), shared = 0;
    struct sync_thread *t = rc == 0 ? sync_recording() : NULL;
    if (t) {
        bool known = attr && pthread_barrierattr_getpshared(attr, &shared) == 0;
        uint32_t flags = known && shared == PTHREAD_PROCESS_SHARED ? UPMU_TRACE_FLAG_PSHARED : 0;
        sync_event_flags(t, UPMU_TRACE_LOCK_INIT, UPMU_OBJECT_BARRIER, b, CALL_SITE(), 0, flags);
    }
    return rc;
}

/* Destroying waits for those who have not left yet: it comes first. */
UPMU_API int pthread_barrier_destroy(pthread_barrier_t *b)
{
    struct sync_thread *t = sync_recording();
    int rc = SYNC_REAL(barrier_destroy)(b);
    if (t && rc == 0)
        sync_event(t, UPMU_TRACE_LOCK_DESTROY, UPMU_OBJECT_BARRIER, b, CALL_SITE(), 0);
    return rc;
}
