/* SPDX-License-Identifier: MIT */
/*
 * Wrappers of pthread_barrier_*.
 *
 * All but the last thread to arrive wait, so nothing is filtered: each arrival is an event and each leaving another one,
 * with the result that marks one thread, in glibc the last to arrive. Waiting for a barrier is no cancellation point.
 */
#include <errno.h>

#include "base/tick.h"
#include "sync_trace/account/count_records.h"
#include "sync_trace/account/lock_life.h"
#include "sync_trace/early.h"
#include "sync_trace/emit/event.h"
#include "sync_trace/emit/wait_state.h"
#include "sync_trace/fork.h"
#include "sync_trace/libc/layout.h"
#include "sync_trace/libc/resolve.h"
#include "sync_trace/state/counts.h"
#include "sync_trace/thread_life.h"

static void write_barrier(struct sync_thread *t, int32_t kind, uint64_t tick, const pthread_barrier_t *b,
                          uintptr_t site, uint32_t stack, int result)
{
    struct trace_sync e = {
        .kind = kind,
        .object_type = UPMU_OBJECT_BARRIER,
        .object = (uintptr_t)b,
        .flags = sync_barrier_shared_flag(b),
        .site = site,
        .stack = stack,
        .result = result,
    };
    sync_write(t, tick, &e);
    if (kind == UPMU_TRACE_BARRIER_ARRIVE)
        sync_wait_state_block(t, tick, &e);
}

static void barrier_arrive(struct sync_thread *t, const pthread_barrier_t *b, uintptr_t site)
{
    int saved = errno;
    /* The stack first: its time is not part of the wait. */
    uint32_t stack = sync_stack(t, tick_now(), site);
    uint64_t tick = tick_now();
    __atomic_store_n(&t->waiting, (uintptr_t)b, __ATOMIC_RELAXED);
    write_barrier(t, UPMU_TRACE_BARRIER_ARRIVE, tick, b, site, stack, 0);
    sync_counts_write_due(t, tick);
    errno = saved;
}

static void barrier_leave(struct sync_thread *t, const pthread_barrier_t *b, uintptr_t site, int result)
{
    int saved = errno;
    __atomic_store_n(&t->waiting, 0, __ATOMIC_RELAXED);
    sync_wait_state_unblock(t);
    write_barrier(t, UPMU_TRACE_BARRIER_LEAVE, tick_now(), b, site, 0, result);
    errno = saved;
}

/* Begun while nothing is recorded. */
static int barrier_wait_early(pthread_barrier_t *b, struct sync_early *early)
{
    int rc = SYNC_REAL(barrier_wait)(b);
    struct sync_thread *t = sync_early_end(early);
    if (t)
        barrier_leave(t, b, early->site, rc);
    return rc;
}

UPMU_API int pthread_barrier_wait(pthread_barrier_t *b)
{
    sync_child_check();
    struct sync_early early = {
        .kind = UPMU_TRACE_BARRIER_ARRIVE, .type = UPMU_OBJECT_BARRIER, .key = (uintptr_t)b, .site = CALL_SITE()};
    early.flags = sync_barrier_shared_flag(b);
    uint32_t mode = sync_mode();
    if (mode == MODE_OFF && sync_early_begin(&early))
        return barrier_wait_early(b, &early);
    mode = sync_mode();
    struct sync_thread *t = mode == MODE_OFF ? NULL : sync_thread();
    if (!t)
        return SYNC_REAL(barrier_wait)(b);
    sync_early_check(t);
    sync_count(t, (uintptr_t)b, UPMU_OBJECT_BARRIER)->acquired++;
    if (mode == MODE_COUNTS && sync_early_begin(&early))
        return barrier_wait_early(b, &early);
    uintptr_t site = CALL_SITE();
    barrier_arrive(t, b, site);
    int rc = SYNC_REAL(barrier_wait)(b);
    barrier_leave(t, b, site, rc);
    return rc;
}

UPMU_API int pthread_barrier_init(pthread_barrier_t *b, const pthread_barrierattr_t *attr, unsigned count)
{
    int rc = SYNC_REAL(barrier_init)(b, attr, count), shared = 0;
    struct sync_thread *t = rc == 0 ? sync_recording() : NULL;
    if (t) {
        bool known = attr && pthread_barrierattr_getpshared(attr, &shared) == 0;
        uint32_t flags = known && shared == PTHREAD_PROCESS_SHARED ? UPMU_TRACE_FLAG_PSHARED : 0;
        sync_lock_init(t, UPMU_OBJECT_BARRIER, b, CALL_SITE(), flags);
    }
    return rc;
}

/* The real call comes first: it waits for threads that have not left yet. */
UPMU_API int pthread_barrier_destroy(pthread_barrier_t *b)
{
    struct sync_thread *t = sync_recording();
    int rc = SYNC_REAL(barrier_destroy)(b);
    if (t && rc == 0)
        sync_lock_destroy(t, UPMU_OBJECT_BARRIER, b, CALL_SITE(), 0);
    return rc;
}
