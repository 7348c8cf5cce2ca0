/* SPDX-License-Identifier: MIT */
/*
 * Wrappers of pthread_cond_*.
 *
 * The C library releases and acquires the mutex inside the wait, where no wrapper sees it: both are recorded here, also
 * if the wait ends by a timeout, an error, or the thread's cancellation (which acquires the mutex before it unwinds).
 */
#include <errno.h>

#include "base/tick.h"
#include "sync_trace/account/acquire.h"
#include "sync_trace/account/lock_life.h"
#include "sync_trace/account/lock_order.h"
#include "sync_trace/account/waiters.h"
#include "sync_trace/emit/event.h"
#include "sync_trace/emit/wait_state.h"
#include "sync_trace/fork.h"
#include "sync_trace/libc/cond_version.h"
#include "sync_trace/libc/layout.h"
#include "sync_trace/libc/resolve.h"
#include "sync_trace/state/held.h"
#include "sync_trace/thread_life.h"
#include "sync_trace/wrap/cond.h"
#include "trace/format/control.h"

COND_DECLARE(init);
COND_DECLARE(destroy);
COND_DECLARE(wait);
COND_DECLARE(timedwait);
COND_DECLARE(signal);
COND_DECLARE(broadcast);

static struct trace_sync cond_event(const struct sync_cond_wait *w, int32_t kind, uint32_t stack)
{
    return (struct trace_sync){
        .kind = kind,
        .object_type = UPMU_OBJECT_COND,
        .object = (uintptr_t)w->cond,
        .object2 = (uintptr_t)w->mutex,
        .flags = w->flags,
        .site = w->site,
        .stack = stack,
        .result = kind == UPMU_TRACE_COND_WAKE ? w->result : 0,
    };
}

/* The mutex is released: recorded by COND_WAIT, or without it by a release as any other. @return whether the thread was
 * recorded to hold it; `h` is how. */
static bool cond_release(const struct sync_cond_wait *w, uint32_t mode, struct sync_held *h)
{
    const struct lock_call call = {.key = (uintptr_t)w->mutex, .type = UPMU_OBJECT_MUTEX, .site = w->site};
    struct sync_thread *t = w->t ? w->t : sync_release_thread(mode);
    bool held = t && w->mutex && sync_held_remove(t, call.key, h);
    if (held && !w->recorded && h->wanted != HELD_QUIET)
        sync_release_write(t, &call, h, tick_now());
    return held;
}

/* Nothing is recorded. The mutex may be held from an earlier recording: it is released first, since the thread's block is guarded from
 * sync_early_begin() on. @return false if something is recorded by now. */
static bool cond_wait_early(struct sync_cond_wait *w)
{
    struct sync_held h;
    w->early = (struct sync_early){.kind = UPMU_TRACE_COND_WAIT,
                                   .type = UPMU_OBJECT_COND,
                                   .key = (uintptr_t)w->cond,
                                   .mutex = (uintptr_t)w->mutex,
                                   .site = w->site,
                                   .flags = w->flags};
    (void)cond_release(w, MODE_OFF, &h);
    waiters_need(w->cond, w->mutex);
    waiters_begin(w->cond);
    if (sync_early_begin(&w->early))
        return true;
    waiters_end(w->cond);
    return false;
}

/* @return whether the end is to be recorded as any other, or at least that the mutex is acquired. */
static bool cond_wait_early_end(struct sync_cond_wait *w)
{
    w->t = sync_early_end(&w->early);
    w->recorded = w->t != NULL;
    w->held = w->mutex != NULL;
    if (!w->recorded) {
        waiters_end(w->cond);
        w->t = sync_mode() == MODE_OFF ? NULL : sync_thread(); /* begun in between */
    }
    return w->t != NULL;
}

void sync_cond_wait_begin(struct sync_cond_wait *w)
{
    uint32_t mode = sync_mode();
    struct sync_held h = {0};
    int saved = errno;
    w->result = ECANCELED;
    w->is_early = !control_mode_has_events(mode) && cond_wait_early(w);
    if (w->is_early) {
        errno = saved;
        return;
    }
    mode = sync_mode();
    w->t = mode == MODE_OFF ? NULL : sync_thread();
    w->recorded = w->t && mode != MODE_COUNTS;
    uint64_t tick = w->recorded ? tick_now() : 0;
    w->held = cond_release(w, mode, &h);
    if (!w->t) {
        errno = saved;
        return;
    }
    uint32_t before = 0;
    if (!w->held && w->mutex && w->recorded && sync_held_before(w->t, (uintptr_t)w->mutex, &h)) {
        w->held = true;
        before = UPMU_TRACE_FLAG_BEFORE;
    }
    /* The mutex is acquired again whatever ends the wait: other locks are held meanwhile. */
    if (w->held && w->recorded)
        sync_order_check(w->t, (uintptr_t)w->mutex, UPMU_OBJECT_MUTEX, w->site, 0);
    if (w->recorded) {
        sync_early_check(w->t);
        sync_lock_register((uintptr_t)w->cond, UPMU_OBJECT_COND);
        waiters_need(w->cond, w->mutex);
        waiters_begin(w->cond);
        struct trace_sync e = cond_event(w, UPMU_TRACE_COND_WAIT, sync_stack(w->t, tick, w->site));
        e.holder_site = h.site;
        e.holder_since = sync_held_since(h.since);
        e.flags |= before;
        sync_write(w->t, tick, &e);
        e.flags |= w->mutex ? sync_mutex_flags(w->mutex) & UPMU_TRACE_FLAG_ROBUST : 0;
        sync_wait_state_block(w->t, tick, &e);
    }
    errno = saved;
}

void sync_cond_wait_end(struct sync_cond_wait *w)
{
    int saved = errno;
    if (w->is_early ? !cond_wait_early_end(w) : !w->t) {
        errno = saved;
        return;
    }
    uint64_t tick = w->recorded || w->is_early ? tick_now() : 0;
    uint64_t counted = w->recorded && sync_option(counters) ? HELD_COUNTED : 0;
    if (w->held)
        sync_held_push(w->t, (uintptr_t)w->mutex, w->site, tick | counted, w->recorded ? HELD_RECORDED : HELD_QUIET);
    if (w->recorded) {
        waiters_end(w->cond);
        struct trace_sync e = cond_event(w, UPMU_TRACE_COND_WAKE, 0);
        sync_wait_state_unblock(w->t);
        sync_write(w->t, tick, &e);
    }
    errno = saved;
}

/* The state of a wait by any of libc's functions. */
#define COND_WAIT(cond_, mutex_, flags_)                                                                          \
    {                                                                                                             \
        .cond = (cond_), .mutex = (mutex_), .site = CALL_SITE(), .flags = (flags_) | sync_cond_shared_flag(cond_) \
    }

int COND_NAME(wait)(pthread_cond_t *cond, pthread_mutex_t *mutex)
{
    sync_child_check();
    struct sync_cond_wait w __attribute__((cleanup(sync_cond_wait_end))) = COND_WAIT(cond, mutex, 0);
    sync_cond_wait_begin(&w);
    w.result = SYNC_REAL(cond_wait)(cond, mutex);
    return w.result;
}

int COND_NAME(timedwait)(pthread_cond_t *cond, pthread_mutex_t *mutex, const struct timespec *until)
{
    sync_child_check();
    struct sync_cond_wait w __attribute__((cleanup(sync_cond_wait_end))) =
        COND_WAIT(cond, mutex, UPMU_TRACE_FLAG_TIMED);
    sync_cond_wait_begin(&w);
    w.result = SYNC_REAL(cond_timedwait)(cond, mutex, until);
    return w.result;
}

UPMU_API int pthread_cond_clockwait(pthread_cond_t *cond, pthread_mutex_t *mutex, clockid_t clock,
                                    const struct timespec *until)
{
    sync_child_check();
    struct sync_cond_wait w __attribute__((cleanup(sync_cond_wait_end))) =
        COND_WAIT(cond, mutex, UPMU_TRACE_FLAG_TIMED);
    sync_cond_wait_begin(&w);
    w.result = SYNC_REAL(cond_clockwait)(cond, mutex, clock, until);
    return w.result;
}

/* A signal without waiters, as a queue sends for every task while all its workers run. */
static void cond_write_unwaited(struct sync_thread *t, int32_t kind, const void *cond, uintptr_t site)
{
    int saved = errno;
    uint64_t tick = tick_now();
    const struct trace_sync e = {
        .kind = kind,
        .object_type = UPMU_OBJECT_COND,
        .object = (uintptr_t)cond,
        .site = site,
        .stack = sync_site_id(t, tick, site),
    };
    sync_write(t, tick, &e);
    errno = saved;
}

/* A woken thread waits for the mutex inside libc, where no wrapper sees it: the release that ends this is recorded. */
static void cond_record_release(struct sync_thread *t, const void *cond)
{
    struct sync_held h;
    uintptr_t mutex = waiters_mutex(cond);
    if (mutex != 0 && !sync_held_record(t, mutex))
        (void)sync_held_search(mutex, &h);
}

void sync_cond_signal_write(int32_t kind, const void *cond, uintptr_t site)
{
    struct sync_thread *t = sync_recording();
    if (!t)
        return;
    bool waited = waiters_present(waiters_load(cond));
    if (waited)
        cond_record_release(t, cond);
    if (waited || sync_mode() == MODE_ALL) {
        sync_lock_register((uintptr_t)cond, UPMU_OBJECT_COND);
        sync_event(t, kind, UPMU_OBJECT_COND, cond, site, 0);
    } else {
        cond_write_unwaited(t, kind, cond, site);
    }
}

int COND_NAME(signal)(pthread_cond_t *cond)
{
    sync_child_check();
    sync_cond_signal_write(UPMU_TRACE_COND_SIGNAL, cond, CALL_SITE());
    return SYNC_REAL(cond_signal)(cond);
}

int COND_NAME(broadcast)(pthread_cond_t *cond)
{
    sync_child_check();
    sync_cond_signal_write(UPMU_TRACE_COND_BROADCAST, cond, CALL_SITE());
    return SYNC_REAL(cond_broadcast)(cond);
}

int COND_NAME(init)(pthread_cond_t *cond, const pthread_condattr_t *attr)
{
    int rc = SYNC_REAL(cond_init)(cond, attr);
    struct sync_thread *t = rc == 0 ? sync_recording() : NULL;
    if (t)
        sync_lock_init(t, UPMU_OBJECT_COND, cond, CALL_SITE(), 0);
    return rc;
}

int COND_NAME(destroy)(pthread_cond_t *cond)
{
    struct sync_thread *t = sync_recording();
    int rc = SYNC_REAL(cond_destroy)(cond);
    if (t && rc == 0)
        sync_lock_destroy(t, UPMU_OBJECT_COND, cond, CALL_SITE(), 0);
    return rc;
}
