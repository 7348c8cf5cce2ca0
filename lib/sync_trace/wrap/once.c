/* SPDX-License-Identifier: MIT */
/*
 * Wrappers of pthread_once(), call_once(), and of the guards of C++ variables that a function initializes at its first call.
 *
 * The control is recorded as a lock held by the thread that runs the function, which other threads wait for. A call that
 * finds the function done is only the real call; sync_layout_start() has determined the control's value. The program's
 * function is called by once_run_function(), which is left in the same way: by return, exception or cancellation.
 */
#include <errno.h>
#include <threads.h>
#include <unistd.h>

#include "base/tick.h"
#include "sync_trace/account/lock_order.h"
#include "sync_trace/account/wait.h"
#include "sync_trace/emit/event.h"
#include "sync_trace/libc/layout.h"
#include "sync_trace/libc/resolve.h"
#include "sync_trace/state/counts.h"
#include "sync_trace/state/held.h"
#include "sync_trace/wrap/library_lock.h"

_Static_assert(sizeof(once_flag) == sizeof(int) && sizeof(pthread_once_t) == sizeof(int), "the control is a number");

/* A call that may run the function; the thread's block has the innermost one. */
struct sync_once_call {
    void (*function)(void);
    struct sync_thread *t;
    struct sync_once_call *outer;
    struct sync_wait wait;
    uint32_t mode;
    bool waits; /**< `wait` is in progress */
    bool ran;
};

static void once_write_run(struct sync_thread *t, int32_t kind, uint64_t tick, uintptr_t control, uintptr_t site)
{
    struct trace_sync e = {.kind = kind, .object_type = UPMU_OBJECT_ONCE, .object = control, .site = site};
    if (kind == UPMU_TRACE_LOCK_ACQUIRE)
        e.stack = sync_stack(t, tick, site);
    sync_write(t, tick, &e);
}

static void once_wait_is_over(struct sync_once_call *c)
{
    if (!c->waits)
        return;
    c->waits = false;
    c->wait.result = 0;
    sync_wait_end(&c->wait);
}

/* The thread begins to run the function. */
static void once_hold(struct sync_thread *t, uint32_t mode, uintptr_t control, uintptr_t site)
{
    bool recorded = mode != MODE_COUNTS;
    int saved = errno;
    sync_count(t, control, UPMU_OBJECT_ONCE)->acquired++;
    if (recorded)
        sync_order_check(t, control, UPMU_OBJECT_ONCE, site, 0);
    uint64_t tick = recorded ? tick_now() : 0;
    sync_held_push(t, control, site, tick, recorded ? HELD_RECORDED : HELD_QUIET);
    if (recorded)
        once_write_run(t, UPMU_TRACE_LOCK_ACQUIRE, tick, control, site);
    errno = saved;
}

struct run {
    struct sync_thread *t;
    uintptr_t control;
    uintptr_t site;
    bool recorded;
};

static void once_run_begin(const struct run *r, struct sync_once_call *c)
{
    c->ran = true;
    once_wait_is_over(c); /* the thread that ran it before did not complete it */
    once_hold(r->t, c->mode, r->control, r->site);
}

/* However the function is left. In a forked child the block is empty. */
static void once_run_end(struct run *r)
{
    struct sync_held h;
    int saved = errno;
    if (sync_held_remove(r->t, r->control, &h) && r->recorded) /* also if recording was stopped meanwhile */
        once_write_run(r->t, UPMU_TRACE_LOCK_RELEASE, tick_now(), r->control, sync_stacks_always() ? r->site : 0);
    errno = saved;
}

/* Called by libc in place of the program's function. */
static void once_run_function(void)
{
    struct sync_once_call *c = sync_tls.thread->once;
    struct run r __attribute__((cleanup(once_run_end))) = {
        .t = c->t, .control = c->wait.lock, .site = c->wait.site, .recorded = c->mode != MODE_COUNTS};
    once_run_begin(&r, c);
    c->function();
}

static void once_call_end(struct sync_once_call *c)
{
    c->t->once = c->outer;
    once_wait_is_over(c);
}

/* The function was not running before the call, and was not run by it: another thread was first, and this one may have
 * waited. */
static void once_write_late(struct sync_once_call *c, uint64_t tick)
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

static int once_call(int *control, void (*function)(void), uintptr_t site, int (*real)(int *, void (*)(void)))
{
    uint32_t mode = sync_mode();
    int now = __atomic_load_n(control, __ATOMIC_ACQUIRE);
    bool done = sync_layout.once && now == sync_layout.once_done;
    struct sync_thread *t = mode == MODE_OFF || done ? NULL : sync_thread();
    if (t && !sync_is_ready(t))
        t = NULL; /* of the unwinder, while it takes a stack */
    if (LIKELY(!t))
        return real(control, function);
    struct sync_once_call c __attribute__((cleanup(once_call_end))) = {
        .function = function,
        .t = t,
        .outer = t->once,
        .mode = mode,
        .wait = {.t = t, .lock = (uintptr_t)control, .site = site, .type = UPMU_OBJECT_ONCE},
    };
    t->once = &c;
    uint64_t tick = tick_now();
    if (sync_layout.once && now != 0) {
        c.waits = true;
        sync_wait_begin(&c.wait, mode, -1, false);
    }
    bool late = sync_layout.once && !c.waits && mode != MODE_COUNTS;
    int rc = real(control, once_run_function);
    if (UNLIKELY(late && !c.ran))
        once_write_late(&c, tick);
    return rc;
}

static int real_once(int *control, void (*function)(void))
{
    return SYNC_REAL(once)(control, function);
}

UPMU_API int pthread_once(pthread_once_t *control, void (*function)(void))
{
    return once_call(control, function, CALL_SITE(), real_once);
}

static int real_call_once(int *control, void (*function)(void))
{
    SYNC_REAL(call_once)((once_flag *)(void *)control, function);
    return 0;
}

UPMU_API void call_once(once_flag *control, void (*function)(void))
{
    (void)once_call((int *)(void *)control, function, CALL_SITE(), real_call_once);
}

/* ------------------------------------------------------------------------------------------ guards of C++ variables */

enum guard_function { GUARD_ACQUIRE, GUARD_RELEASE, GUARD_ABORT, GUARD_FUNCTIONS };

static const char *const guard_names[GUARD_FUNCTIONS] = {"__cxa_guard_acquire", "__cxa_guard_release",
                                                         "__cxa_guard_abort"};
static void *guard_found[GUARD_FUNCTIONS];

__attribute__((constructor)) static void guard_load(void)
{
    for (int i = 0; i < GUARD_FUNCTIONS; i++)
        guard_found[i] = library_find_early(guard_names[i], NULL);
}

/* Where there is no other: a linker finds these functions here and may leave the C++ library out as not needed. The layout is that of
 * libstdc++ on little-endian machines and of libc++: first byte initialized, second byte taken. */
static int guard_own_acquire(void *guard)
{
    enum { PAUSE_US = 50 };
    unsigned char *bytes = guard;
    for (unsigned char taken = 0; !__atomic_load_n(&bytes[0], __ATOMIC_ACQUIRE); taken = 0) {
        if (!__atomic_compare_exchange_n(&bytes[1], &taken, 1, false, __ATOMIC_ACQUIRE, __ATOMIC_RELAXED))
            usleep(PAUSE_US);
        else if (!__atomic_load_n(&bytes[0], __ATOMIC_ACQUIRE))
            return 1;
        else
            __atomic_store_n(&bytes[1], 0, __ATOMIC_RELAXED);
    }
    return 0;
}

static void guard_own_abort(void *guard)
{
    __atomic_store_n((unsigned char *)guard + 1, 0, __ATOMIC_RELEASE);
}

static void guard_own_release(void *guard)
{
    __atomic_store_n((unsigned char *)guard, 1, __ATOMIC_RELEASE);
    guard_own_abort(guard);
}

/* Those of a C++ library that a plug-in brings, or ours: all of them at the first acquisition, and for good. */
__attribute__((noinline, cold)) static void guard_find(uintptr_t site)
{
    void *const own[GUARD_FUNCTIONS] = {(void *)guard_own_acquire, (void *)guard_own_release, (void *)guard_own_abort};
    void *found[GUARD_FUNCTIONS];
    bool all = true;
    for (int i = 0; i < GUARD_FUNCTIONS; i++) {
        found[i] = library_find(guard_names[i], NULL, "libstdc++.so.6", site);
        all = all && found[i];
    }
    for (int i = 0; i < GUARD_FUNCTIONS; i++) {
        void *none = NULL;
        __atomic_compare_exchange_n(&guard_found[i], &none, all ? found[i] : own[i], false, __ATOMIC_RELEASE,
                                    __ATOMIC_RELAXED);
    }
}

static inline void *guard_real(enum guard_function function, uintptr_t site)
{
    if (UNLIKELY(!__atomic_load_n(&guard_found[function], __ATOMIC_ACQUIRE)))
        guard_find(site);
    return __atomic_load_n(&guard_found[function], __ATOMIC_ACQUIRE);
}

/** glibc 2.32: 0 once the process has had a second thread. */
extern char __libc_single_threaded __attribute__((weak)); // NOLINT(clang-diagnostic-reserved-identifier)

/* Whether the variable is initialized: the first byte, by the ABI. */
static bool guard_is_done(const void *guard)
{
    return __atomic_load_n((const char *)guard, __ATOMIC_ACQUIRE) != 0;
}

/* Whether a thread runs the initialization: the second byte is not 0 then, in libstdc++ of little-endian machines and in libc++. The only
 * thread does not wait: libstdc++ throws. */
static bool guard_is_taken(const void *guard)
{
    return __atomic_load_n((const char *)guard + 1, __ATOMIC_RELAXED) != 0 &&
           (&__libc_single_threaded == NULL || !__libc_single_threaded);
}

/* What the library waits by is a part of the wait. */
static int guard_acquire_inside(struct sync_thread *t, int (*real)(void *), void *guard)
{
    LIBRARY_INSIDE(t);
    return real(guard);
}

UPMU_API int sync_guard_acquire(void *guard) __asm__("__cxa_guard_acquire");
UPMU_API void sync_guard_release(void *guard) __asm__("__cxa_guard_release");
UPMU_API void sync_guard_abort(void *guard) __asm__("__cxa_guard_abort");

int sync_guard_acquire(void *guard)
{
    const uintptr_t site = CALL_SITE();
    int (*real)(void *) = (int (*)(void *))guard_real(GUARD_ACQUIRE, site);
    uint32_t mode = sync_mode();
    struct sync_thread *t = mode == MODE_OFF || guard_is_done(guard) ? NULL : sync_thread();
    if (!t || !sync_is_ready(t))
        return real(guard);
    struct sync_once_call c = {
        .t = t,
        .waits = guard_is_taken(guard),
        .wait = {.t = t, .lock = (uintptr_t)guard, .site = site, .type = UPMU_OBJECT_ONCE},
    };
    bool late = !c.waits && mode != MODE_COUNTS;
    uint64_t tick = tick_now();
    if (c.waits)
        sync_wait_begin(&c.wait, mode, -1, false);
    int runs = guard_acquire_inside(t, real, guard);
    once_wait_is_over(&c);
    if (runs)
        once_hold(t, mode, (uintptr_t)guard, site);
    else if (late)
        once_write_late(&c, tick);
    return runs;
}

static void guard_leave_inside(struct sync_thread *t, void (*real)(void *), void *guard)
{
    LIBRARY_INSIDE(t);
    real(guard);
}

static void guard_leave(enum guard_function how, void *guard, uintptr_t site)
{
    struct sync_thread *t = sync_release_thread(sync_mode());
    void (*real)(void *) = (void (*)(void *))guard_real(how, site);
    struct sync_held h;
    if (!t) {
        real(guard);
        return;
    }
    int saved = errno;
    if (sync_held_remove(t, (uintptr_t)guard, &h) && h.wanted != HELD_QUIET)
        once_write_run(t, UPMU_TRACE_LOCK_RELEASE, tick_now(), (uintptr_t)guard, sync_stacks_always() ? site : 0);
    errno = saved;
    guard_leave_inside(t, real, guard);
}

void sync_guard_release(void *guard)
{
    guard_leave(GUARD_RELEASE, guard, CALL_SITE());
}

void sync_guard_abort(void *guard)
{
    guard_leave(GUARD_ABORT, guard, CALL_SITE());
}
