/* SPDX-License-Identifier: MIT */
/*
 * Functions that are run once: pthread_once() and C11's call_once(). Room: sync_trace; before it the program's calls, after
 * it record.c.
 *
 * It is a lock that the thread holds which runs the function, and that the others wait for: so a report tells who waited
 * for whose initialization. Calls that find it done, nearly all of them, are nothing but the real call; what the control
 * then contains is looked up at the start. The function is run by one of ours, which leaves it as the program's own does:
 * by returning, by an exception, by cancellation.
 */
#include <errno.h>
#include <threads.h>

#include "base/tick.h"
#include "sync_trace/held.h"
#include "sync_trace/lock_order.h"
#include "sync_trace/wrap/resolve.h"
#include "trace/write/writer.h"

_Static_assert(sizeof(once_flag) == sizeof(int) && sizeof(pthread_once_t) == sizeof(int), "the control is a number");

/* A call that may run the function; the innermost one of a thread is found through its block. */
struct sync_once_call {
    void (*function)(void);
    struct sync_thread *t;
    struct sync_once_call *outer;
    struct sync_wait wait;
    uint32_t mode;
    bool waits; /**< `wait` has begun and not ended */
    bool ran;
};

static void nothing(void)
{
}

void sync_once_start(void)
{
    pthread_once_t control = PTHREAD_ONCE_INIT;
    const pthread_once_t fresh = control;
    bool known = SYNC_REAL(once)(&control, nothing) == 0 && control != fresh;
    sync_process.once_done = control;
    sync_process.once_known = known;
}

static void write_run(struct sync_thread *t, int32_t kind, uint64_t tick, uintptr_t control, uintptr_t site)
{
    struct trace_sync e = {.kind = kind, .object_type = UPMU_OBJECT_ONCE, .object = control, .site = site};
    if (kind == UPMU_TRACE_LOCK_ACQUIRE)
        e.stack = sync_stack(t, tick, site);
    sync_write(t, tick, &e);
}

static void wait_is_over(struct sync_once_call *c)
{
    if (!c->waits)
        return;
    c->waits = false;
    c->wait.result = 0;
    sync_wait_end(&c->wait);
}

struct run {
    struct sync_thread *t;
    uintptr_t control;
    uintptr_t site;
    bool recorded;
};

static void run_begin(struct run *r, struct sync_once_call *c)
{
    int saved = errno;
    c->ran = true;
    wait_is_over(c); /* whoever ran it before has not come to its end */
    *r = (struct run){.t = c->t, .control = c->wait.lock, .site = c->wait.site, .recorded = c->mode != MODE_COUNTS};
    sync_count(r->t, r->control, UPMU_OBJECT_ONCE)->acquired++;
    if (r->recorded)
        sync_order(r->t, r->control, UPMU_OBJECT_ONCE, r->site, 0);
    uint64_t tick = r->recorded ? tick_now() : 0;
    sync_held_push(r->t, r->control, r->site, tick, r->recorded ? HELD_RECORDED : HELD_QUIET);
    if (r->recorded)
        write_run(r->t, UPMU_TRACE_LOCK_ACQUIRE, tick, r->control, r->site);
    errno = saved;
}

/* However the function is left. A forked child that it leaves finds its books empty. */
static void run_end(struct run *r)
{
    struct sync_held h;
    int saved = errno;
    if (sync_held_remove(r->t, r->control, &h) && r->recorded && sync_mode() != MODE_OFF)
        write_run(r->t, UPMU_TRACE_LOCK_RELEASE, tick_now(), r->control, 0);
    errno = saved;
}

/* What libc runs in place of the program's function. */
static void run_function(void)
{
    struct sync_once_call *c = sync_tls.thread->once;
    struct run r __attribute__((cleanup(run_end)));
    run_begin(&r, c);
    c->function();
}

static void call_end(struct sync_once_call *c)
{
    c->t->once = c->outer;
    wait_is_over(c);
}

/* Nobody ran it when we looked, and yet we were not asked to: somebody else came first, and we may have waited. */
static void tell_late(struct sync_once_call *c, uint64_t tick)
{
    int saved = errno;
    struct trace_sync e = {
        .kind = UPMU_TRACE_LOCK_BLOCK,
        .object_type = UPMU_OBJECT_ONCE,
        .object = c->wait.lock,
        .site = c->wait.site,
        .stack = sync_stack(c->t, tick, c->wait.site),
    };
    sync_write(c->t, tick, &e);
    e.kind = UPMU_TRACE_LOCK_ACQUIRED;
    e.stack = 0;
    sync_write(c->t, tick_now(), &e);
    errno = saved;
}

static int call(int *control, void (*function)(void), uintptr_t site, int (*real)(int *, void (*)(void)))
{
    uint32_t mode = sync_mode();
    int now = __atomic_load_n(control, __ATOMIC_ACQUIRE);
    bool done = sync_process.once_known && now == sync_process.once_done;
    struct sync_thread *t = mode == MODE_OFF || done ? NULL : sync_thread();
    if (LIKELY(!t))
        return real(control, function);
    struct sync_once_call c __attribute__((cleanup(call_end))) = {
        .function = function,
        .t = t,
        .outer = t->once,
        .mode = mode,
        .wait = {.t = t, .lock = (uintptr_t)control, .site = site, .type = UPMU_OBJECT_ONCE},
    };
    t->once = &c;
    uint64_t tick = tick_now();
    if (sync_process.once_known && now != 0) {
        c.waits = true;
        sync_wait_begin(&c.wait, mode, -1, false);
    }
    bool late = sync_process.once_known && !c.waits && mode != MODE_COUNTS;
    int rc = real(control, run_function);
    if (UNLIKELY(late && !c.ran))
        tell_late(&c, tick);
    return rc;
}

static int real_once(int *control, void (*function)(void))
{
    return SYNC_REAL(once)(control, function);
}

UPMU_API int pthread_once(pthread_once_t *control, void (*function)(void))
{
    return call(control, function, CALL_SITE(), real_once);
}

static int real_call_once(int *control, void (*function)(void))
{
    SYNC_REAL(call_once)((once_flag *)(void *)control, function);
    return 0;
}

UPMU_API void call_once(once_flag *control, void (*function)(void))
{
    (void)call((int *)(void *)control, function, CALL_SITE(), real_call_once);
}
