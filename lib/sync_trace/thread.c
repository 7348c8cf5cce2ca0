/* SPDX-License-Identifier: MIT */
/*
 * Threads: creation, start, join, detach, name. Room: sync_trace; before it the program's calls, after it block.c, which
 * sees their ends however they come, and record.c.
 *
 * A new thread begins in our function, which is told by a slot of a fixed table whom to call: nothing is allocated, and
 * the creator does not wait. With all slots taken, more threads being created at this moment than there are slots, a
 * thread starts without its start event, which is counted as lost.
 */
#include <errno.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/tick.h"
#include "core/recorder.h"
#include "sync_trace/resolve.h"
#include "sync_trace/sync.h"
#include "trace/writer.h"

enum { SLOTS = 512 };

/* ThreadSanitizer sets a thread up in the function it gives us: in a library built with it, nothing may run before that,
 * so threads have no start event there. */
#if defined(__SANITIZE_THREAD__)
enum { BEGIN_THREADS = 0 };
#elif defined(__has_feature)
#if __has_feature(thread_sanitizer)
enum { BEGIN_THREADS = 0 };
#else
enum { BEGIN_THREADS = 1 };
#endif
#else
enum { BEGIN_THREADS = 1 };
#endif

struct start {
    uint32_t taken;
    pid_t creator;
    void *(*function)(void *);
    void *argument;
};

static struct start starts[SLOTS];

static struct start *slot_take(void)
{
    static uint32_t hint;
    uint32_t from = __atomic_fetch_add(&hint, 1, __ATOMIC_RELAXED);
    for (uint32_t i = 0; i < SLOTS; i++) {
        struct start *s = &starts[(from + i) % SLOTS];
        if (!__atomic_exchange_n(&s->taken, 1, __ATOMIC_ACQUIRE))
            return s;
    }
    return NULL;
}

static void slot_give(struct start *s)
{
    __atomic_store_n(&s->taken, 0, __ATOMIC_RELEASE);
}

/* The block of a thread that records events, not just counts. */
static struct sync_thread *recording(void)
{
    uint32_t mode = sync_mode();
    return mode == MODE_OFF || mode == MODE_COUNTS ? NULL : sync_thread();
}

static void write_thread(struct sync_thread *t, int32_t kind, uint64_t tick, pthread_t object, pid_t peer,
                         uintptr_t site, uint32_t stack, int result)
{
    struct trace_sync e = {
        .kind = kind,
        .object_type = UPMU_OBJECT_THREAD,
        .object = (uint64_t)object,
        .peer = peer,
        .site = site,
        .stack = stack,
        .result = result,
    };
    sync_write(t, tick, &e);
}

static void *begin_thread(void *arg)
{
    struct start s = *(struct start *)arg;
    slot_give(arg);
    sync_tls.starting = 1;
    struct sync_thread *t = recording();
    sync_tls.starting = 0;
    if (t) {
        write_thread(t, UPMU_TRACE_THREAD_START, tick_now(), pthread_self(), s.creator, 0, 0, 0);
        upmu_recorder_thread_begin_();
    }
    return s.function(s.argument);
}

static int create_recorded(struct sync_thread *t, pthread_t *thread, const pthread_attr_t *attr,
                           void *(*function)(void *), void *argument, uintptr_t site)
{
    struct start *s = BEGIN_THREADS ? slot_take() : NULL;
    if (s)
        *s = (struct start){.taken = 1, .creator = t->tid, .function = function, .argument = argument};
    else if (BEGIN_THREADS)
        upmu_recorder_lost_(1);
    int saved = errno;
    sync_modules_check(t);
    uint64_t tick = tick_now();
    uint32_t stack = sync_stack(t, tick, site);
    errno = saved;
    int rc = s ? SYNC_REAL(create)(thread, attr, begin_thread, s) : SYNC_REAL(create)(thread, attr, function, argument);
    if (rc != 0 && s)
        slot_give(s);
    saved = errno;
    write_thread(t, UPMU_TRACE_THREAD_CREATE, tick, rc == 0 ? *thread : 0, 0, site, stack, rc);
    errno = saved;
    return rc;
}

UPMU_API int pthread_create(pthread_t *thread, const pthread_attr_t *attr, void *(*function)(void *), void *argument)
{
    sync_child_check();
    struct sync_thread *t = recording();
    int rc = t ? create_recorded(t, thread, attr, function, argument, CALL_SITE())
               : SYNC_REAL(create)(thread, attr, function, argument);
    if (rc == 0)
        sync_live_created();
    return rc;
}

/* --------------------------------------------------------------------------------------------------- joining */

struct join {
    struct sync_thread *t; /**< NULL: not recorded */
    pthread_t thread;
    pid_t tid;
    uintptr_t site;
    uint32_t flags; /**< enum upmu_trace_flag */
    int result;
};

static void join_begin(struct join *j)
{
    int saved = errno;
    j->result = ECANCELED;
    j->t = recording();
    if (!j->t)
        return;
    const struct sync_thread *other = sync_thread_by_handle(j->thread);
    j->tid = other ? __atomic_load_n(&other->tid, __ATOMIC_RELAXED) : 0;
    uint64_t tick = tick_now();
    struct trace_sync e = {
        .kind = UPMU_TRACE_THREAD_JOIN,
        .object_type = UPMU_OBJECT_THREAD,
        .object = (uint64_t)j->thread,
        .flags = j->flags,
        .peer = j->tid,
        .site = j->site,
        .stack = sync_stack(j->t, tick, j->site),
    };
    sync_write(j->t, tick, &e);
    sync_live_begin(j->t, &e);
    errno = saved;
}

/* Runs when the join has returned, and when it is left by cancellation. */
static void join_end(struct join *j)
{
    int saved = errno;
    if (j->t) {
        sync_live_end(j->t);
        write_thread(j->t, UPMU_TRACE_THREAD_JOINED, tick_now(), j->thread, j->tid, j->site, 0, j->result);
    }
    errno = saved;
}

UPMU_API int pthread_join(pthread_t thread, void **value)
{
    sync_child_check();
    struct join j __attribute__((cleanup(join_end))) = {.thread = thread, .site = CALL_SITE()};
    join_begin(&j);
    j.result = SYNC_REAL(join)(thread, value);
    return j.result;
}

UPMU_API int pthread_timedjoin_np(pthread_t thread, void **value, const struct timespec *until)
{
    struct join j
        __attribute__((cleanup(join_end))) = {.thread = thread, .site = CALL_SITE(), .flags = UPMU_FLAG_TIMED};
    join_begin(&j);
    j.result = SYNC_REAL(timedjoin)(thread, value, until);
    return j.result;
}

UPMU_API int pthread_clockjoin_np(pthread_t thread, void **value, clockid_t clock, const struct timespec *until)
{
    struct join j
        __attribute__((cleanup(join_end))) = {.thread = thread, .site = CALL_SITE(), .flags = UPMU_FLAG_TIMED};
    join_begin(&j);
    j.result = SYNC_REAL(clockjoin)(thread, value, clock, until);
    return j.result;
}

/* Does not wait: only a thread that was joined is an event. */
UPMU_API int pthread_tryjoin_np(pthread_t thread, void **value)
{
    int rc = SYNC_REAL(tryjoin)(thread, value);
    struct sync_thread *t = rc == 0 ? recording() : NULL;
    if (t)
        sync_event(t, UPMU_TRACE_THREAD_JOINED, UPMU_OBJECT_THREAD, (const void *)thread, CALL_SITE(), rc);
    return rc;
}

/* -------------------------------------------------------------------------------------------- the rest of a life */

UPMU_API int pthread_detach(pthread_t thread)
{
    struct sync_thread *t = recording();
    int rc = SYNC_REAL(detach)(thread);
    if (t)
        sync_event(t, UPMU_TRACE_THREAD_DETACH, UPMU_OBJECT_THREAD, (const void *)thread, CALL_SITE(), rc);
    return rc;
}

UPMU_API int pthread_setname_np(pthread_t thread, const char *name)
{
    int rc = SYNC_REAL(setname)(thread, name);
    struct sync_thread *t = rc == 0 ? recording() : NULL;
    if (t) {
        const struct sync_thread *other = sync_thread_by_handle(thread);
        struct trace_sync e = {
            .kind = UPMU_TRACE_THREAD_NAME,
            .object_type = UPMU_OBJECT_THREAD,
            .object = (uint64_t)thread,
            .peer = other ? __atomic_load_n(&other->tid, __ATOMIC_RELAXED) : 0,
            .name = name,
        };
        sync_write(t, tick_now(), &e);
    }
    return rc;
}
