/* SPDX-License-Identifier: MIT */
/*
 * Semaphores. Room: sync_trace; before it the program's calls, after it record.c.
 *
 * Waiting is a cancellation point even when it would not wait: a pending cancellation is looked for before the try, which
 * knows of none. (sem_clockwait() is none in that case, in glibc.) A wait names no holder; the semaphore's posts are the
 * candidates. A post is an event where somebody waits, in mode `all` always. A semaphore that is used as a lock (sem_lock.h)
 * is among the locks its thread holds.
 *
 * Who waits is known from our own waits, not from what libc keeps in a semaphore: of a wait that is not recorded no post is
 * missed. A wait is told of before it tries once more, and a post looks before and after: one that ended a wait which began in
 * between is told late, as if it had come right after that wait's beginning. Of a semaphore that other processes may wait for, the value decides.
 */
#include <errno.h>
#include <semaphore.h>
#include <string.h>

#include "base/tick.h"
#include "sync_trace/lockable.h"
#include "sync_trace/wrap/resolve.h"
#include "sync_trace/wrap/sem_lock.h"
#include "sync_trace/sync.h"
#include "sync_trace/wrap/waits.h"
#include "trace/write/writer.h"

struct waits_place sync_waits[WAITS_PLACES];

/* ---------------------------------------------------------------------------------------------------- waiting */

/* How to wait once trying has failed. */
struct way {
    int (*wait)(sem_t *s, const struct way *way);
    bool is_cancelled; /**< it is a cancellation point even when it would not wait */
    clockid_t clock;
    const struct timespec *until;
};

static int way_wait(sem_t *s, const struct way *way)
{
    (void)way;
    return SYNC_REAL(sem_wait)(s);
}

static int way_timed(sem_t *s, const struct way *way)
{
    return SYNC_REAL(sem_timedwait)(s, way->until);
}

static int way_clock(sem_t *s, const struct way *way)
{
    return SYNC_REAL(sem_clockwait)(s, way->clock, way->until);
}

/* `how`: UPMU_TRACE_FLAG_TIMED, UPMU_TRACE_FLAG_TRIED; `asked`: what sync_request() has said. */
static void taken(struct sync_thread *t, uint32_t mode, sem_t *s, uintptr_t site, uint32_t how, uint32_t asked)
{
    uint32_t places = sync_sem_places(s);
    if (places == 1 && UNLIKELY(t->depth != 0) && mode != MODE_COUNTS)
        sync_order(t, (uintptr_t)s, UPMU_OBJECT_SEM, site, how);
    struct sync_count *c = sync_count(t, (uintptr_t)s, UPMU_OBJECT_SEM);
    c->acquired++;
    if (asked) {
        (void)stream_fast_sync(t->stream, tick_now(), UPMU_TRACE_LOCK_ACQUIRE, UPMU_OBJECT_SEM, (uintptr_t)s, asked);
    } else if (mode == MODE_ALL || c->stamps > 0) {
        sync_taken_slow(t, mode, c, (uintptr_t)s, site, 0);
        places = sync_sem_places(s); /* a post may have told otherwise meanwhile */
    }
    sync_sem_held(t, mode, s, places, site);
}

/* Whether other processes may post it. */
static uint32_t shared_flag(const sem_t *s)
{
#ifdef __GLIBC__
    int32_t shared; /* glibc: the value, as wide as an atomic is, then whether it is shared */
    memcpy(&shared, (const char *)s + (sizeof(void *) == 8 ? 8 : 4), sizeof shared);
    return shared ? UPMU_TRACE_FLAG_PSHARED : 0;
#else
    (void)s;
    return UPMU_TRACE_FLAG_PSHARED; /* not known: then nothing is said to be hopeless */
#endif
}

static int wait_slow(struct sync_thread *t, uint32_t mode, sem_t *s, const struct way *way, uintptr_t site,
                     uint32_t asked)
{
    struct sync_wait w __attribute__((cleanup(sync_wait_end))) = {
        .t = t, .lock = (uintptr_t)s, .site = site, .type = UPMU_OBJECT_SEM, .asked = asked};
    w.flags = shared_flag(s) | (way->until ? UPMU_TRACE_FLAG_TIMED : 0);
    if (sync_sem_places(s) == 1 && mode != MODE_COUNTS)
        sync_order(t, (uintptr_t)s, UPMU_OBJECT_SEM, site, w.flags & UPMU_TRACE_FLAG_TIMED);
    sync_wait_begin(&w, mode, 0, false);
    waits_told(s, tick_now());
    int rc = way->wait(s, way);
    w.result = rc == 0 ? 0 : errno;
    if (rc == 0)
        sync_sem_held(t, mode, s, sync_sem_places(s), site);
    return rc;
}

/* @return whether it is taken now. Keeps errno. */
static bool take(struct sync_thread *t, uint32_t mode, sem_t *s, const struct way *way, uintptr_t site, uint32_t asked)
{
    int saved = errno;
    bool got = SYNC_REAL(sem_trywait)(s) == 0;
    errno = saved;
    if (got)
        taken(t, mode, s, site, way->until ? UPMU_TRACE_FLAG_TIMED : 0, asked);
    return got;
}

/* Also when the thread is cancelled. */
static void wait_ends(const sem_t **s)
{
    waits_end(*s);
}

/* Trying has failed. From here on who posts sees that somebody waits; what was posted before that is not waited for. */
static int wait_seen(struct sync_thread *t, uint32_t mode, sem_t *s, const struct way *way, uintptr_t site,
                     uint32_t asked)
{
    const sem_t *on __attribute__((cleanup(wait_ends))) = s;
    waits_begin(on);
    return take(t, mode, s, way, site, asked) ? 0 : wait_slow(t, mode, s, way, site, asked);
}

static int wait_any(sem_t *s, const struct way *way, uintptr_t site)
{
    uint32_t mode = sync_mode();
    if (LIKELY(mode == MODE_OFF || !sync_deadline_is_valid(way->clock, way->until)))
        return way->wait(s, way);
    if (way->is_cancelled)
        pthread_testcancel();
    struct sync_thread *t = sync_thread();
    if (!t)
        return way->wait(s, way);
    uint32_t asked = sync_request(t, mode, UPMU_OBJECT_SEM, (uintptr_t)s, site);
    return take(t, mode, s, way, site, asked) ? 0 : wait_seen(t, mode, s, way, site, asked);
}

UPMU_API int sem_wait(sem_t *s)
{
    static const struct way plain = {.wait = way_wait, .is_cancelled = true, .clock = CLOCK_REALTIME};
    int (*real)(sem_t *) = __atomic_load_n(&sync_real.sem_wait, __ATOMIC_RELAXED);
    sync_child_check();
    if (LIKELY(sync_mode() == MODE_OFF && real))
        return real(s);
    return wait_any(s, &plain, CALL_SITE());
}

UPMU_API int sem_timedwait(sem_t *s, const struct timespec *until)
{
    sync_child_check();
    const struct way timed = {.wait = way_timed, .is_cancelled = true, .clock = CLOCK_REALTIME, .until = until};
    return wait_any(s, &timed, CALL_SITE());
}

UPMU_API int sem_clockwait(sem_t *s, clockid_t clock, const struct timespec *until)
{
    sync_child_check();
    const struct way clocked = {.wait = way_clock, .clock = clock, .until = until};
    return wait_any(s, &clocked, CALL_SITE());
}

UPMU_API int sem_trywait(sem_t *s)
{
    uint32_t mode = sync_mode();
    struct sync_thread *t = mode == MODE_OFF ? NULL : sync_thread();
    int rc = SYNC_REAL(sem_trywait)(s);
    if (t && rc == 0) {
        taken(t, mode, s, CALL_SITE(), UPMU_TRACE_FLAG_TRIED, 0);
    } else if (t) {
        const struct lockable as = {.key = (uintptr_t)s, .type = UPMU_OBJECT_SEM, .site = CALL_SITE()};
        lockable_tried(t, mode, &as, errno);
    }
    return rc;
}

/* ---------------------------------------------------------------------------------------------------- posting */

static bool is_wanted(sem_t *s, uint64_t before)
{
    int value;
    if (waits_go_on(before))
        return true;
    return shared_flag(s) && SYNC_REAL(sem_getvalue)(s, &value) == 0 && value <= 0;
}

static void tell_post(struct sync_thread *t, uint64_t tick, const sem_t *s, uintptr_t site)
{
    int saved = errno;
    const struct trace_sync e = {
        .kind = UPMU_TRACE_SEM_POST,
        .object_type = UPMU_OBJECT_SEM,
        .object = (uintptr_t)s,
        .site = site,
        .stack = sync_stack(t, tick, site),
    };
    sync_write(t, tick, &e);
    errno = saved;
}

/* After it the semaphore may be gone; its address is all that is looked at. */
static int post_unwanted(struct sync_thread *t, sem_t *s, uint64_t before, uintptr_t site)
{
    int rc = SYNC_REAL(sem_post)(s);
    if (UNLIKELY(waits_now(s) != before)) {
        uint64_t told = waits_tick(s); /* 0: no wait was told of yet, here or where its place is shared */
        tell_post(t, told ? told : tick_now(), s, site);
    }
    return rc;
}

__attribute__((noinline)) static int post_on(sem_t *s, uint32_t mode, uintptr_t site)
{
    struct sync_thread *t = mode == MODE_OFF || mode == MODE_COUNTS ? NULL : sync_thread();
    uint64_t before = waits_now(s);
    bool told = t && (mode == MODE_ALL || is_wanted(s, before));
    if (told)
        tell_post(t, tick_now(), s, site);
    sync_sem_given(lockable_holder(mode), s, site);
    return t && !told ? post_unwanted(t, s, before, site) : SYNC_REAL(sem_post)(s);
}

UPMU_API int sem_post(sem_t *s)
{
    uint32_t mode = sync_mode();
    int (*real)(sem_t *) = __atomic_load_n(&sync_real.sem_post, __ATOMIC_RELAXED);
    bool idle = lockable_is_idle(mode) && real && !sync_sem_any();
    return LIKELY(idle) ? real(s) : post_on(s, mode, CALL_SITE());
}

UPMU_API int sem_init(sem_t *s, int shared, unsigned value)
{
    uint32_t mode = sync_mode();
    int rc = SYNC_REAL(sem_init)(s, shared, value);
    struct sync_thread *t = mode == MODE_OFF || mode == MODE_COUNTS || rc != 0 ? NULL : sync_thread();
    if (rc == 0)
        sync_sem_made(s, shared != 0, value);
    if (t)
        sync_event_flags(t, UPMU_TRACE_LOCK_INIT, UPMU_OBJECT_SEM, s, CALL_SITE(), 0,
                         shared ? UPMU_TRACE_FLAG_PSHARED : 0);
    return rc;
}

UPMU_API int sem_destroy(sem_t *s)
{
    uint32_t mode = sync_mode();
    struct sync_thread *t = mode == MODE_OFF || mode == MODE_COUNTS ? NULL : sync_thread();
    int rc = SYNC_REAL(sem_destroy)(s);
    if (rc == 0)
        sync_sem_ended(s);
    if (t && rc == 0)
        sync_event(t, UPMU_TRACE_LOCK_DESTROY, UPMU_OBJECT_SEM, s, CALL_SITE(), 0);
    return rc;
}
