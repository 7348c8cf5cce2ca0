/* SPDX-License-Identifier: MIT */
/*
 * Wrappers of sem_wait(), sem_post() and the like.
 *
 * Waiting is a cancellation point even if it would not block: a pending cancellation is tested before the try, which is
 * none. (sem_clockwait() is no cancellation point in that case, in glibc.) A semaphore used as a lock has a holder; a wait
 * for any other one has none, and posts are candidates. A post is an event if a thread waits, in mode `all` always; before it
 * is that of the release, if it ends a hold whose begin is known.
 *
 * Waiters are counted by the wrappers, not read from libc's semaphore, so that no post of a recorded wait is missed. A
 * wait is recorded before a second try, and a post tests before and after: one that ended a wait begun in between is
 * recorded late, with a tick right after the beginning of that wait. For a semaphore shared with other processes the
 * value decides.
 */
#include <errno.h>
#include <semaphore.h>

#include "base/tick.h"
#include "sync_trace/account/acquire.h"
#include "sync_trace/account/lock_life.h"
#include "sync_trace/account/python_try.h"
#include "sync_trace/account/sem_permits.h"
#include "sync_trace/account/wait.h"
#include "sync_trace/account/waiters.h"
#include "sync_trace/early.h"
#include "sync_trace/fork.h"
#include "sync_trace/libc/layout.h"
#include "sync_trace/libc/resolve.h"
#include "sync_trace/state/held.h"
#include "sync_trace/thread_life.h"

/* ---------------------------------------------------------------------------------------------------- waiting */

/* The blocking call to make once a try has failed. */
struct sem_method {
    int (*wait)(sem_t *s, const struct sem_method *method);
    bool is_cancelled; /**< a cancellation point even if it would not block */
    clockid_t clock;
    const struct timespec *until;
};

static int sem_method_wait(sem_t *s, const struct sem_method *method)
{
    (void)method;
    return SYNC_REAL(sem_wait)(s);
}

static int sem_method_timed(sem_t *s, const struct sem_method *method)
{
    return SYNC_REAL(sem_timedwait)(s, method->until);
}

static int sem_method_clock(sem_t *s, const struct sem_method *method)
{
    return SYNC_REAL(sem_clockwait)(s, method->clock, method->until);
}

/* A call in progress. */
struct sem_call {
    sem_t *s;
    const struct sem_method *method; /* NULL: a try */
    uintptr_t site;
    const uintptr_t *frame; /* of the wrapper, see sync_origin_copy() */
    uint32_t request_stack; /* from sync_request(), 0: none */
};

/* UPMU_TRACE_FLAG_TIMED, UPMU_TRACE_FLAG_TRIED, or 0. */
static uint32_t sem_how(const struct sem_call *call)
{
    return !call->method ? sync_python_try_flags(call->site) : call->method->until ? UPMU_TRACE_FLAG_TIMED : 0;
}

__attribute__((always_inline)) static inline void sem_acquired(struct sync_thread *t, uint32_t mode,
                                                               const struct sem_call *call)
{
    sem_t *s = call->s;
    uint32_t permits = sync_sem_permits(s);
    if (permits == 1 && UNLIKELY(t->depth != 0) && mode != MODE_COUNTS)
        sync_order_check(t, (uintptr_t)s, UPMU_OBJECT_SEM, call->site, sem_how(call));
    struct sync_count *c = sync_count(t, (uintptr_t)s, UPMU_OBJECT_SEM);
    c->acquired++;
    if (call->request_stack) {
        (void)stream_fast_sync(t->stream, tick_now(), UPMU_TRACE_LOCK_ACQUIRE, UPMU_OBJECT_SEM, (uintptr_t)s,
                               call->request_stack);
    } else if (mode == MODE_ALL || c->stamps > 0) {
        sync_acquired_slow(t, mode, c, (uintptr_t)s, call->site, 0);
        permits = sync_sem_permits(s); /* a post may have shown its use meanwhile */
    }
    uint64_t since = sync_sem_acquired(t, mode, s, permits, call->site, call->request_stack ? NULL : call->frame);
    if (since && call->request_stack)
        sync_origin_known(t, since, call->request_stack);
}

static int sem_wait_blocking(struct sync_thread *t, uint32_t mode, const struct sem_call *call)
{
    sem_t *s = call->s;
    const struct sem_method *method = call->method;
    uintptr_t site = call->site;
    struct sync_wait w __attribute__((cleanup(sync_wait_end))) = {
        .t = t, .lock = (uintptr_t)s, .site = site, .type = UPMU_OBJECT_SEM, .request_stack = call->request_stack};
    bool lock = sync_sem_permits(s) == 1;
    w.flags = sync_sem_shared_flag(s) | (method->until ? UPMU_TRACE_FLAG_TIMED : 0);
    if (lock && mode != MODE_COUNTS)
        sync_order_check(t, (uintptr_t)s, UPMU_OBJECT_SEM, site, w.flags & UPMU_TRACE_FLAG_TIMED);
    sync_early_check(t);
    sync_wait_begin(&w, mode, lock ? -1 : 0, false);
    struct sync_early_wait early __attribute__((cleanup(sync_early_wait_end)));
    sync_early_wait_begin(&early, &w);
    waiters_recorded(s, tick_now());
    int rc = method->wait(s, method);
    w.result = rc == 0 ? 0 : errno;
    sync_early_wait_end(&early);
    uint64_t since = rc == 0 ? sync_sem_acquired(t, mode, s, sync_sem_permits(s), site, NULL) : 0;
    if (since && w.stack)
        sync_origin_known(t, since, w.stack);
    return rc;
}

/* @return whether it is acquired now. Keeps errno. */
__attribute__((always_inline)) static inline bool sem_try(struct sync_thread *t, uint32_t mode,
                                                          const struct sem_call *call)
{
    int saved = errno;
    bool got = SYNC_REAL(sem_trywait)(call->s) == 0;
    errno = saved;
    if (got)
        sem_acquired(t, mode, call);
    return got;
}

/* Also when the thread is canceled. */
static void sem_wait_cleanup(const sem_t **s)
{
    waiters_end(*s);
}

/* The try has failed. From here on posts see a waiter; an earlier post is found by the second try. */
__attribute__((noinline)) static int sem_wait_announced(struct sync_thread *t, uint32_t mode,
                                                        const struct sem_call *call)
{
    const sem_t *on __attribute__((cleanup(sem_wait_cleanup))) = call->s;
    waiters_begin(on);
    return sem_try(t, mode, call) ? 0 : sem_wait_blocking(t, mode, call);
}

/* A wait that begins while nothing is recorded. */
struct sem_early {
    sem_t *sem;
    struct sync_early wait;
    int result;
};

/* Also when the thread is canceled. */
static void sem_early_end(struct sem_early *w)
{
    int saved = errno;
    sync_early_lock_end(&w->wait, w->result);
    waiters_end(w->sem);
    struct sync_thread *t = w->result == 0 && sync_mode() != MODE_OFF ? sync_thread() : NULL;
    if (t)
        (void)sync_sem_acquired(t, sync_mode(), w->sem, sync_sem_permits(w->sem), w->wait.site, NULL);
    errno = saved;
}

__attribute__((noinline)) static int sem_wait_early(sem_t *s, const struct sem_method *method, uintptr_t site)
{
    struct sem_early w __attribute__((cleanup(sem_early_end))) = {
        .sem = s,
        .result = ECANCELED,
        .wait = {.kind = UPMU_TRACE_LOCK_BLOCK, .type = UPMU_OBJECT_SEM, .key = (uintptr_t)s, .site = site}};
    w.wait.flags = sync_sem_shared_flag(s) | (method->until ? UPMU_TRACE_FLAG_TIMED : 0);
    waiters_begin(s);
    (void)sync_early_begin(&w.wait);
    int rc = method->wait(s, method);
    w.result = rc == 0 ? 0 : errno;
    return rc;
}

static int sem_wait_any(sem_t *s, const struct sem_method *method, uintptr_t site, const uintptr_t *frame)
{
    uint32_t mode = sync_mode();
    if (UNLIKELY(mode == MODE_OFF && sync_sem_seems_taken(s)))
        return sem_wait_early(s, method, site);
    if (LIKELY(mode == MODE_OFF || !sync_deadline_is_valid(method->clock, method->until)))
        return method->wait(s, method);
    if (method->is_cancelled)
        pthread_testcancel();
    struct sync_thread *t = sync_thread();
    if (!t)
        return method->wait(s, method);
    const struct sem_call call = {.s = s,
                                  .method = method,
                                  .site = site,
                                  .frame = frame,
                                  .request_stack = sync_request(t, mode, UPMU_OBJECT_SEM, (uintptr_t)s, site)};
    return sem_try(t, mode, &call) ? 0 : sem_wait_announced(t, mode, &call);
}

static const struct sem_method sem_plain = {.wait = sem_method_wait, .is_cancelled = true, .clock = CLOCK_REALTIME};

__attribute__((noinline)) static int sem_wait_on(sem_t *s, uintptr_t site)
{
    return sem_wait_any(s, &sem_plain, site, SYNC_ORIGIN_FRAME());
}

/* The try has failed, and errno was `saved`. */
__attribute__((noinline)) static int sem_wait_quiet(struct sync_thread *t, uint32_t mode, sem_t *s, uintptr_t site,
                                                    int saved)
{
    const struct sem_call call = {.s = s, .method = &sem_plain, .site = site, .frame = SYNC_ORIGIN_FRAME()};
    errno = saved;
    return sem_wait_announced(t, mode, &call);
}

__attribute__((noinline)) static int sem_acquired_on(struct sync_thread *t, uint32_t mode, sem_t *s, uintptr_t site)
{
    const struct sem_call call = {.s = s, .method = &sem_plain, .site = site, .frame = SYNC_ORIGIN_FRAME()};
    sem_acquired(t, mode, &call);
    return 0;
}

/* While the thread holds no lock; then a semaphore that is used as a lock costs little. */
static inline __attribute__((always_inline)) int sem_wait_quietly(sem_t *s, const uint32_t mode, uintptr_t site)
{
    struct sync_thread *t = sync_tls.thread;
    int (*real)(sem_t *) = __atomic_load_n(&sync_real.sem_trywait, __ATOMIC_RELAXED);
    bool canceled = __atomic_load_n(&sync_process.canceled, __ATOMIC_RELAXED) != 0;
    if (UNLIKELY(!sync_holds_nothing(t) || !real || canceled))
        return sem_wait_on(s, site);
    int saved = *t->error;
    if (UNLIKELY(real(s) != 0))
        return sem_wait_quiet(t, mode, s, site, saved);
    const uint64_t tick = LIKELY(mode == MODE_HOLDERS) ? tick_now() : 0;
    struct sync_count *c = sync_count_first(t, (uintptr_t)s, UPMU_OBJECT_SEM);
    bool known = __atomic_load_n(&c->lock, __ATOMIC_RELAXED) == (uintptr_t)s;
    if (UNLIKELY(!known || c->stamps > 0 || !sync_sem_is_lock(s)))
        return sem_acquired_on(t, mode, s, site);
    c->acquired++;
    sync_held_push_first(t, (uintptr_t)s, site, tick, mode == MODE_HOLDERS);
    return 0;
}

/* Functions of their own: every saved register is measurable. */
__attribute__((noinline, flatten)) static int sem_wait_holders(sem_t *s, uintptr_t site)
{
    return sem_wait_quietly(s, MODE_HOLDERS, site);
}

__attribute__((noinline, flatten)) static int sem_wait_contended(sem_t *s, uintptr_t site)
{
    return sem_wait_quietly(s, MODE_CONTENDED, site);
}

UPMU_API int sem_wait(sem_t *s)
{
    int (*real)(sem_t *) = __atomic_load_n(&sync_real.sem_wait, __ATOMIC_RELAXED);
    sync_child_check();
    uint32_t mode = sync_mode();
    if (LIKELY(mode == MODE_OFF))
        return LIKELY(real && !sync_sem_seems_taken(s)) ? real(s) : sem_wait_on(s, CALL_SITE());
    if (LIKELY(mode == MODE_HOLDERS))
        return sem_wait_holders(s, CALL_SITE());
    return mode == MODE_CONTENDED ? sem_wait_contended(s, CALL_SITE()) : sem_wait_on(s, CALL_SITE());
}

UPMU_API int sem_timedwait(sem_t *s, const struct timespec *until)
{
    sync_child_check();
    const struct sem_method timed = {
        .wait = sem_method_timed, .is_cancelled = true, .clock = CLOCK_REALTIME, .until = until};
    return sem_wait_any(s, &timed, CALL_SITE(), SYNC_ORIGIN_FRAME());
}

UPMU_API int sem_clockwait(sem_t *s, clockid_t clock, const struct timespec *until)
{
    sync_child_check();
    const struct sem_method clocked = {.wait = sem_method_clock, .clock = clock, .until = until};
    return sem_wait_any(s, &clocked, CALL_SITE(), SYNC_ORIGIN_FRAME());
}

UPMU_API int sem_trywait(sem_t *s)
{
    uint32_t mode = sync_mode();
    struct sync_thread *t = mode == MODE_OFF ? NULL : sync_thread();
    int rc = SYNC_REAL(sem_trywait)(s);
    if (t && rc == 0) {
        sem_acquired(t, mode, &(struct sem_call){.s = s, .site = CALL_SITE(), .frame = SYNC_ORIGIN_FRAME()});
    } else if (t) {
        const struct lock_call call = {.key = (uintptr_t)s, .type = UPMU_OBJECT_SEM, .site = CALL_SITE()};
        sync_try_failed(t, mode, &call, errno);
    }
    return rc;
}

/* ---------------------------------------------------------------------------------------------------- posting */

static bool sem_has_waiters(sem_t *s, uint64_t before)
{
    int value;
    if (waiters_present(before))
        return true;
    return sync_sem_shared_flag(s) && SYNC_REAL(sem_getvalue)(s, &value) == 0 && value <= 0;
}

static void sem_write_post(struct sync_thread *t, uint64_t tick, const sem_t *s, uintptr_t site, uint32_t flags)
{
    int saved = errno;
    const struct trace_sync e = {
        .kind = UPMU_TRACE_SEM_POST,
        .object_type = UPMU_OBJECT_SEM,
        .object = (uintptr_t)s,
        .flags = flags,
        .site = site,
        .stack = sync_stack(t, tick, site),
    };
    sync_write(t, tick, &e);
    errno = saved;
}

/* A post, and before it the end of the hold `held`, if there is one. */
static void sem_write_release(struct sync_thread *t, uint64_t tick, const sem_t *s, const struct sync_held *held,
                              uintptr_t site, uint32_t flags)
{
    const struct lock_call call = {.key = (uintptr_t)s, .type = UPMU_OBJECT_SEM, .site = site};
    if (held->lock && sync_held_since(held->since) != 0)
        sync_release_write(t, &call, held, tick);
    sem_write_post(t, tick, s, site, flags);
}

__attribute__((noinline, cold)) static void sem_write_late_post(struct sync_thread *t, const sem_t *s, uintptr_t site)
{
    uint64_t wait_tick = waiters_tick(s); /* 0: no wait was recorded yet, here or in a shared slot */
    sem_write_post(t, wait_tick ? wait_tick : tick_now(), s, site, 0);
}

/* After the call the semaphore may be gone; only its address is used. */
static int sem_post_unwanted(struct sync_thread *t, sem_t *s, uint64_t before, uintptr_t site)
{
    int rc = SYNC_REAL(sem_post)(s);
    if (UNLIKELY(waiters_load(s) != before))
        sem_write_late_post(t, s, site);
    return rc;
}

__attribute__((noinline)) static int sem_post_recorded(sem_t *s, uint32_t mode, uintptr_t site)
{
    struct sync_thread *t = mode == MODE_OFF || mode == MODE_COUNTS ? NULL : sync_thread();
    uint64_t before = waiters_load(s);
    struct sync_held held;
    held.lock = 0; /* the rest is set with it */
    bool wanted = t && (mode == MODE_ALL || sem_has_waiters(s, before));
    enum sync_sem_release released = sync_sem_released(sync_release_thread(mode), mode, s, wanted ? &held : NULL);
    bool early = released == SYNC_SEM_HELD_BEFORE;
    bool recorded = wanted || (t && early);
    if (t)
        sync_early_check(t);
    if (recorded)
        sem_write_release(t, tick_now(), s, &held, site, early ? UPMU_TRACE_FLAG_BEFORE : 0);
    if (UNLIKELY(released == SYNC_SEM_NOT_HELD))
        sync_sem_not_a_lock(__atomic_load_n(&sync_gate.mode, __ATOMIC_ACQUIRE) ? sync_thread() : NULL, s, site);
    return t && !recorded ? sem_post_unwanted(t, s, before, site) : SYNC_REAL(sem_post)(s);
}

/* The release of a semaphore that is used as a lock, was acquired last, and that no thread waits for. */
__attribute__((noinline, flatten)) static int sem_post_quietly(sem_t *s, uint32_t mode, uintptr_t site)
{
    struct sync_thread *t = sync_tls.thread;
    int (*real)(sem_t *) = __atomic_load_n(&sync_real.sem_post, __ATOMIC_RELAXED);
    uint64_t before = waiters_load(s);
    bool quiet = (LIKELY(mode == MODE_HOLDERS) || mode == MODE_CONTENDED) && !waiters_present(before) && real;
    if (UNLIKELY(!quiet || !sync_release_at_once(t, mode, (uintptr_t)s)))
        return sem_post_recorded(s, mode, site);
    int rc = real(s);
    if (UNLIKELY(waiters_load(s) != before))
        sem_write_late_post(t, s, site);
    return rc;
}

UPMU_API int sem_post(sem_t *s)
{
    uint32_t mode = sync_mode();
    int (*real)(sem_t *) = __atomic_load_n(&sync_real.sem_post, __ATOMIC_RELAXED);
    return LIKELY(sync_release_is_idle(mode) && real) ? real(s) : sem_post_quietly(s, mode, CALL_SITE());
}

UPMU_API int sem_init(sem_t *s, int shared, unsigned value)
{
    uint32_t mode = sync_mode();
    int rc = SYNC_REAL(sem_init)(s, shared, value);
    struct sync_thread *t = mode == MODE_OFF || mode == MODE_COUNTS || rc != 0 ? NULL : sync_thread();
    if (rc == 0)
        sync_sem_created(s, shared != 0, value);
    if (t)
        sync_lock_init(t, UPMU_OBJECT_SEM, s, CALL_SITE(), shared ? UPMU_TRACE_FLAG_PSHARED : 0);
    return rc;
}

UPMU_API int sem_destroy(sem_t *s)
{
    uint32_t mode = sync_mode();
    struct sync_thread *t = mode == MODE_OFF || mode == MODE_COUNTS ? NULL : sync_thread();
    int rc = SYNC_REAL(sem_destroy)(s);
    if (rc == 0)
        sync_sem_destroyed(s);
    if (t && rc == 0)
        sync_lock_destroy(t, UPMU_OBJECT_SEM, s, CALL_SITE(), 0);
    return rc;
}
