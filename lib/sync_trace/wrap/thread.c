/* SPDX-License-Identifier: MIT */
/*
 * Wrappers of pthread_create(), thrd_create(), joining, detaching, cancellation and naming of threads.
 *
 * A new thread begins in this library's function, which gets the program's function from a slot of a fixed table: nothing
 * is allocated, and the creator does not wait. If all slots are used, a thread starts without its start event, which is
 * counted as lost. Threads begin here while tracing is paused, too: it is the one place where libunwind can get its
 * memory for a thread without an allocator active below. thread_life.c handles the end of threads.
 */
#include <errno.h>
#include <sys/syscall.h>
#include <threads.h>
#include <time.h>
#include <unistd.h>

#include "base/sanitizer.h"
#include "base/tick.h"
#include "region/recorder.h"
#include "sync_trace/account/lock_order.h"
#include "sync_trace/early.h"
#include "sync_trace/emit/event.h"
#include "sync_trace/emit/wait_state.h"
#include "sync_trace/fork.h"
#include "sync_trace/libc/c11.h"
#include "sync_trace/libc/resolve.h"
#include "sync_trace/sample/cpu_timer.h"
#include "sync_trace/stack/modules.h"
#include "sync_trace/thread_life.h"
#include "trace/format/control.h"

enum { SLOTS = 512 };

/* ThreadSanitizer sets a thread up in the function it passes on: in a sanitizer build nothing may run before that, so
 * threads have no start event there. */
enum { BEGIN_THREADS = !UNDER_TSAN };

struct start {
    uint32_t taken;
    pid_t creator;
    uint32_t left_out;         /**< created by a library whose threads are not recorded */
    uint32_t stack_pages;      /**< see sync_tls */
    void *(*function)(void *); /**< POSIX, or */
    int (*function_c11)(void *);
    void *argument;
};

static struct start starts[SLOTS];

static struct start *start_slot_take(void)
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

static void start_slot_release(struct start *s)
{
    __atomic_store_n(&s->taken, 0, __ATOMIC_RELEASE);
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

static size_t thread_stack_bytes(const pthread_attr_t *given)
{
    size_t bytes = 0;
#ifdef __GLIBC__
    pthread_attr_t of_all;
    if (given)
        return pthread_attr_getstacksize(given, &bytes) == 0 ? bytes : 0;
    if (pthread_getattr_default_np(&of_all) == 0) {
        (void)pthread_attr_getstacksize(&of_all, &bytes); /* cannot fail with these arguments */
        pthread_attr_destroy(&of_all);
    }
#else
    (void)given;
#endif
    return bytes;
}

/* The new thread's first step: release the slot and record the start. */
static struct start thread_begin(struct start *slot)
{
    struct start s = *slot;
    start_slot_release(slot);
    sync_tls.stack_pages = s.stack_pages;
    if (s.left_out) {
        sync_tls.refused = REFUSED_ENDED;
        return s;
    }
    sigset_t before = sync_signals_block(); /* a handler's events must not come before the thread's start */
    sync_thread_begin();
    sync_tls.starting = 1;
    struct sync_thread *t = sync_recording();
    sync_tls.starting = 0;
    if (t) {
        /* As a return address, which is looked up by the byte before it. */
        uintptr_t start = s.function ? (uintptr_t)s.function + 1 : (uintptr_t)s.function_c11 + 1;
        write_thread(t, UPMU_TRACE_THREAD_START, tick_now(), pthread_self(), s.creator, start, 0, 0);
        /* After the event, whose time is that of its packet: making that is not of the thread's life. */
        sync_thread_usage_begin(t);
        upmu_recorder_thread_begin_();
    }
    sync_signals_restore(&before);
    if (t)
        sync_cpu_timer_begin(t);
    return s;
}

static void *begin_thread(void *arg)
{
    struct start s = thread_begin(arg);
    return s.function(s.argument);
}

static int begin_thread_c11(void *arg)
{
    struct start s = thread_begin(arg);
    return s.function_c11(s.argument);
}

/* A thread being created: `function` or `function_c11`. */
struct creation {
    pthread_t *thread;
    const pthread_attr_t *attr;
    void *(*function)(void *);
    int (*function_c11)(void *);
    void *argument;
};

/* @return the slot the new thread will read; NULL: it begins in the program's function. */
static struct start *thread_begin_prepare(pid_t creator, const struct creation *c)
{
    struct start *s = BEGIN_THREADS ? start_slot_take() : NULL;
    if (s)
        *s = (struct start){.taken = 1,
                            .creator = creator,
                            .left_out = sync_tls.leave_out.inside,
                            .function = c->function,
                            .function_c11 = c->function_c11,
                            .argument = c->argument,
                            .stack_pages = (uint32_t)(thread_stack_bytes(c->attr) / 4096)};
    return s;
}

static int thread_create_real(const struct creation *c, struct start *s)
{
    if (c->function_c11)
        return s ? SYNC_REAL(thrd_create)(c->thread, begin_thread_c11, s)
                 : SYNC_REAL(thrd_create)(c->thread, c->function_c11, c->argument);
    return s ? SYNC_REAL(create)(c->thread, c->attr, begin_thread, s)
             : SYNC_REAL(create)(c->thread, c->attr, c->function, c->argument);
}

/* At the limit of threads (RLIMIT_NPROC) a short-lived thread of the recorder, which opens a file for another thread, may have
 * the last place. */
static int thread_create_patiently(const struct creation *c, struct start *s)
{
    enum { TRIES = 20, PAUSE_US = 500 };
    int rc = thread_create_real(c, s);
    for (int i = 1; i < TRIES && rc == (c->function_c11 ? thrd_error : EAGAIN); i++) {
        struct timespec pause = {.tv_nsec = PAUSE_US * 1000L};
        (void)clock_nanosleep(CLOCK_MONOTONIC, 0, &pause, NULL);
        rc = thread_create_real(c, s);
    }
    return rc;
}

static int thread_create_begun(const struct creation *c, struct start *s)
{
    int rc = thread_create_patiently(c, s);
    if (rc != 0 && s)
        start_slot_release(s);
    if (rc == 0 && !sync_tls.leave_out.inside) /* a thread of a library that is left out never records */
        sync_wait_state_thread_created();
    return rc;
}

static int thread_create_recorded(struct sync_thread *t, const struct creation *c, uintptr_t site)
{
    struct start *s = thread_begin_prepare(t->tid, c);
    if (!s && BEGIN_THREADS)
        upmu_recorder_lost_(LOSS_THREAD, 1);
    int saved = errno;
    sync_modules_check(t);
    uint64_t tick = tick_now();
    uint32_t stack = sync_stack(t, tick, site);
    errno = saved;
    int rc = thread_create_begun(c, s);
    saved = errno;
    write_thread(t, UPMU_TRACE_THREAD_CREATE, tick, rc == 0 ? *c->thread : 0, 0, site, stack,
                 c->function_c11 ? c11_errno(rc) : rc);
    sync_order_renew(t);
    errno = saved;
    return rc;
}

static int thread_create(const struct creation *c, uintptr_t site)
{
    struct sync_thread *t = sync_recording();
    if (t)
        return thread_create_recorded(t, c, site);
    bool begun = __atomic_load_n(&sync_gate.mode, __ATOMIC_RELAXED) != NULL;
    return thread_create_begun(c, begun ? thread_begin_prepare((pid_t)syscall(SYS_gettid), c) : NULL);
}

UPMU_API int pthread_create(pthread_t *thread, const pthread_attr_t *attr, void *(*function)(void *), void *argument)
{
    sync_child_check();
    const struct creation c = {.thread = thread, .attr = attr, .function = function, .argument = argument};
    return thread_create(&c, CALL_SITE());
}

UPMU_API int thrd_create(thrd_t *thread, thrd_start_t function, void *argument)
{
    sync_child_check();
    const struct creation c = {.thread = thread, .function_c11 = function, .argument = argument};
    return thread_create(&c, CALL_SITE());
}

/* --------------------------------------------------------------------------------------------------- joining */

struct join {
    struct sync_thread *t; /**< NULL: not recorded */
    pthread_t thread;
    pid_t tid;
    uintptr_t site;
    uint32_t flags;
    int result;
    struct sync_early early; /**< it began while nothing was recorded */
};

static struct trace_sync join_event(const struct join *j, int32_t kind, uint32_t stack, int result)
{
    return (struct trace_sync){
        .kind = kind,
        .object_type = UPMU_OBJECT_THREAD,
        .object = (uint64_t)j->thread,
        .flags = j->flags,
        .peer = j->tid,
        .site = j->site,
        .stack = stack,
        .result = result,
    };
}

static void join_write(const struct join *j, int32_t kind, uint64_t tick, uint32_t stack, int result)
{
    struct trace_sync e = join_event(j, kind, stack, result);
    sync_write(j->t, tick, &e);
}

static pid_t join_tid(pthread_t thread)
{
    const struct sync_thread *other = sync_thread_by_handle(thread);
    return other ? __atomic_load_n(&other->tid, __ATOMIC_RELAXED) : 0;
}

static void join_begin(struct join *j)
{
    int saved = errno;
    j->result = ECANCELED;
    j->early = (struct sync_early){.kind = UPMU_TRACE_THREAD_JOIN,
                                   .type = UPMU_OBJECT_THREAD,
                                   .key = (uintptr_t)j->thread,
                                   .site = j->site,
                                   .flags = j->flags};
    if (!control_mode_has_events(sync_mode()) && sync_early_begin(&j->early))
        return;
    j->t = sync_recording();
    if (!j->t)
        return;
    sync_early_check(j->t);
    j->tid = join_tid(j->thread);
    uint64_t tick = tick_now();
    struct trace_sync e = join_event(j, UPMU_TRACE_THREAD_JOIN, sync_stack(j->t, tick, j->site), 0);
    sync_write(j->t, tick, &e);
    sync_wait_state_block(j->t, tick, &e);
    errno = saved;
}

/* Runs when the join has returned, and when it is left by cancellation. */
static void join_end(struct join *j)
{
    int saved = errno;
    if (!j->t)
        j->t = sync_early_end(&j->early);
    if (j->t) {
        sync_wait_state_unblock(j->t);
        join_write(j, UPMU_TRACE_THREAD_JOINED, tick_now(), 0, j->result);
        sync_order_renew(j->t);
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
    struct join j __attribute__((cleanup(join_end))) = {
        .thread = thread, .site = CALL_SITE(), .flags = until ? UPMU_TRACE_FLAG_TIMED : 0};
    join_begin(&j);
    j.result = SYNC_REAL(timedjoin)(thread, value, until);
    return j.result;
}

UPMU_API int pthread_clockjoin_np(pthread_t thread, void **value, clockid_t clock, const struct timespec *until)
{
    struct join j __attribute__((cleanup(join_end))) = {
        .thread = thread, .site = CALL_SITE(), .flags = until ? UPMU_TRACE_FLAG_TIMED : 0};
    join_begin(&j);
    j.result = SYNC_REAL(clockjoin)(thread, value, clock, until);
    return j.result;
}

UPMU_API int thrd_join(thrd_t thread, int *value)
{
    sync_child_check();
    struct join j __attribute__((cleanup(join_end))) = {.thread = thread, .site = CALL_SITE()};
    join_begin(&j);
    int rc = SYNC_REAL(thrd_join)(thread, value);
    j.result = c11_errno(rc);
    return rc;
}

/* Does not wait: a joined thread is an event, one that still runs only in mode all. */
UPMU_API int pthread_tryjoin_np(pthread_t thread, void **value)
{
    struct sync_thread *t = sync_recording();
    struct join j = {.t = t, .thread = thread, .tid = t ? join_tid(thread) : 0, .flags = UPMU_TRACE_FLAG_TRIED};
    int rc = SYNC_REAL(tryjoin)(thread, value);
    if (t && (rc == 0 || sync_mode() == MODE_ALL)) {
        int saved = errno;
        uint64_t tick = tick_now();
        j.site = CALL_SITE();
        join_write(&j, UPMU_TRACE_THREAD_JOINED, tick, sync_stack(t, tick, j.site), rc);
        sync_order_renew(t);
        errno = saved;
    }
    return rc;
}

/* -------------------------------------------------------------------------------------------- the rest of a life */

UPMU_API int pthread_detach(pthread_t thread)
{
    struct sync_thread *t = sync_recording();
    int rc = SYNC_REAL(detach)(thread);
    if (t)
        sync_event(t, UPMU_TRACE_THREAD_DETACH, UPMU_OBJECT_THREAD, (const void *)thread, CALL_SITE(), rc);
    return rc;
}

UPMU_API int thrd_detach(thrd_t thread)
{
    struct sync_thread *t = sync_recording();
    int rc = SYNC_REAL(thrd_detach)(thread);
    if (t)
        sync_event(t, UPMU_TRACE_THREAD_DETACH, UPMU_OBJECT_THREAD, (const void *)thread, CALL_SITE(), c11_errno(rc));
    return rc;
}

/* The tick is read before the call: the end of the other thread is later. */
UPMU_API int pthread_cancel(pthread_t thread)
{
    struct sync_thread *t = sync_recording();
    pid_t tid = t ? join_tid(thread) : 0;
    uint64_t tick = t ? tick_now() : 0;
    uintptr_t site = CALL_SITE();
    uint32_t stack = t ? sync_stack(t, tick, site) : 0;
    __atomic_store_n(&sync_process.canceled, 1, __ATOMIC_RELAXED);
    int rc = SYNC_REAL(cancel)(thread);
    if (t)
        write_thread(t, UPMU_TRACE_THREAD_CANCEL, tick, thread, tid, site, stack, rc);
    return rc;
}

UPMU_API int pthread_setname_np(pthread_t thread, const char *name)
{
    int rc = SYNC_REAL(setname)(thread, name);
    struct sync_thread *t = rc == 0 ? sync_recording() : NULL;
    if (t)
        sync_thread_name(t, thread, name);
    return rc;
}
