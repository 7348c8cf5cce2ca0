/* SPDX-License-Identifier: MIT */
/*
 * Samples of threads by timers of their CPU time, where perf_event is not available.
 *
 * Each thread has a POSIX timer of its CPU-time clock, which sends a real-time signal that the program does not use to this
 * thread. A process-wide timer (setitimer) would favor threads. The kernel checks these timers at its own ticks, 100 to 1000
 * times a second; a sample stands for all expirations since the one before. The first period of a thread is a random part of
 * one: else no sample would be in the first period of any thread.
 *
 * The handler reads the stack through the kernel, which fails where there is no memory, and unwinds the copy: it takes no
 * lock, and interrupts code of any kind. Where the recorder itself is interrupted there is no sample; that time shows as a
 * difference between the samples and the CPU time of the thread.
 */
#include "sync_trace/sample/cpu_timer.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <ucontext.h>
#include <unistd.h>

#include "base/context.h"
#include "base/error.h"
#include "base/tick.h"
#include "sync_trace/gate.h"
#include "sync_trace/libc/resolve.h"
#include "sync_trace/stack/cfi.h"
#include "sync_trace/stack/holder_stack.h"
#include "sync_trace/stack/modules.h"
#include "sync_trace/stack/stacks.h"
#include "trace/format/schema.h"
#include "trace/write/writer.h"

enum { TIMER_FREQUENCY_MAX = 100000 };
static const long timer_second = 1000000000;

static struct {
    int signal;              /**< 0: no samples */
    bool is_released;        /**< the program handles the signal itself: no timers any more */
    long period_ns;          /**< CPU time between two samples */
    struct sigaction action; /**< of the signal, as the program believes */
} timers;

static uint64_t timer_cpu_ns(void)
{
    struct timespec now;
    if (clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now) != 0)
        return 0;
    return (uint64_t)now.tv_sec * (uint64_t)timer_second + (uint64_t)now.tv_nsec;
}

/* ------------------------------------------------------------------------------------------------------- handler */

/* Registers at the signal. Callers are found on x86-64 only. */
static struct cfi_frame timer_frame(const ucontext_t *at)
{
#if defined(__x86_64__)
    const greg_t *r = at->uc_mcontext.gregs;
    return (struct cfi_frame){.pc = context_pc(at), .sp = (uintptr_t)r[REG_RSP], .bp = (uintptr_t)r[REG_RBP]};
#else
    return (struct cfi_frame){.pc = context_pc(at)};
#endif
}

static void timer_write(struct sync_thread *t, uintptr_t site, uint32_t stack, long period_ns, uint64_t periods)
{
    const uint64_t numbers[] = {site, stack, periods * (uint64_t)timers.period_ns, timer_cpu_ns(), (uint64_t)period_ns};
    (void)upmu_trace_numbers_(t->stream, tick_now(), SCHEMA_ID_SAMPLE, numbers, NULL); /* a loss is counted */
}

/* The callers of the code that was interrupted: their id, 0 without any. */
static uint32_t timer_stack(struct sync_thread *t, struct cfi_frame from)
{
    bool whole = false, is_new;
    size_t got = sync_option(depth) > 0 && from.sp ? sync_stack_read(t, from.sp) : 0;
    const struct cfi_memory live = {from.sp, got, t->snapshot};
    from.pc++; /* cfi_walk() takes it for a return address, and looks at the byte before */
    uint32_t n = got > 0 ? cfi_walk(from, &live, 1, t->frames, SYNC_FRAMES_MAX, &whole) : 0;
    if (n == 0) {
        t->frames[0] = (void *)from.pc;
        n = 1;
    }
    const void *const *frames = (const void *const *)t->frames;
    (void)sync_modules_add_stack(t, frames, n);
    t->method = UPMU_STACK_COPIED;
    return n > 1 ? sync_stack_id(t, tick_now(), frames + 1, n - 1, !whole, &is_new) : 0;
}

static void timer_on_signal(int signal, siginfo_t *info, void *context)
{
    int saved = errno;
    struct sync_thread *t = sync_tls.thread;
    (void)signal;
    if (info->si_code == SI_TIMER && t && sync_is_ready(t) && sync_mode() != MODE_OFF) {
        uint64_t periods = 1 + (info->si_overrun > 0 ? (uint64_t)info->si_overrun : 0);
        struct cfi_frame from = timer_frame(context);
        uint32_t before = sync_guard(t);
        timer_write(t, from.pc, timer_stack(t, from), timers.period_ns, periods);
        sync_unguard(t, before);
    }
    errno = saved;
}

/* --------------------------------------------------------------------------------------------------- start and end */

/* A real-time signal that the program has left alone so far, from the highest on: programs count from the lowest. */
static int timer_take_signal(void)
{
    struct sigaction now, ours = {.sa_sigaction = timer_on_signal, .sa_flags = SA_SIGINFO | SA_RESTART | SA_ONSTACK};
    sigfillset(&ours.sa_mask);
    sigdelset(&ours.sa_mask, SIGBUS); /* see trace/write/guard.h */
    for (int s = SIGRTMAX - 1; s > SIGRTMIN; s--)
        if (sigaction(s, NULL, &now) == 0 && now.sa_handler == SIG_DFL && sigaction(s, &ours, NULL) == 0)
            return s;
    return 0;
}

int sync_cpu_timer_start(void)
{
    const char *text = secure_getenv("UPMU_SYNC_CPU_SAMPLES");
    char *end;
    if (!text || !*text || timers.signal)
        return 0;
    long frequency = strtol(text, &end, 10);
    if (*end != '\0' || frequency < 1 || frequency > TIMER_FREQUENCY_MAX)
        return upmu_fail(UPMU_E_INVAL, "UPMU_SYNC_CPU_SAMPLES=%s is not a number from 1 to %d", text,
                         (int)TIMER_FREQUENCY_MAX);
    if (!CONTEXT_HAS_PC)
        return upmu_fail(UPMU_E_UNSUPPORTED,
                         "UPMU_SYNC_CPU_SAMPLES: signals do not show the interrupted address on this "
                         "instruction set. Record without samples");
    timers.period_ns = timer_second / frequency;
    timers.signal = timer_take_signal();
    return timers.signal
               ? 0
               : upmu_fail(UPMU_E_LIMIT,
                           "UPMU_SYNC_CPU_SAMPLES: the program handles every real-time signal. Record without samples");
}

/* From 1 ns to a whole period, evenly distributed (splitmix64 of the thread and the time). */
static long timer_first_ns(const struct sync_thread *t)
{
    uint64_t x = ((uint64_t)t->tid << 32) ^ tick_now();
    x += UINT64_C(0x9e3779b97f4a7c15);
    x = (x ^ x >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    x = (x ^ x >> 27) * UINT64_C(0x94d049bb133111eb);
    return 1 + (long)((x ^ x >> 31) % (uint64_t)timers.period_ns);
}

static struct timespec timer_span(long ns)
{
    return (struct timespec){ns / timer_second, ns % timer_second};
}

/* A thread that blocks the signal, perhaps to wait for all signals itself, has no timer. */
static bool timer_create_for(struct sync_thread *t)
{
    const struct itimerspec each = {timer_span(timers.period_ns), timer_span(timer_first_ns(t))};
    struct sigevent event = {.sigev_notify = SIGEV_THREAD_ID, .sigev_signo = timers.signal};
    sigset_t blocked;
    event._sigev_un._tid = t->tid;
    if (timers.is_released || pthread_sigmask(SIG_SETMASK, NULL, &blocked) != 0 || sigismember(&blocked, timers.signal))
        return false;
    return syscall(SYS_timer_create, CLOCK_THREAD_CPUTIME_ID, &event, &t->timer) == 0 &&
           syscall(SYS_timer_settime, t->timer, 0, &each, NULL) == 0;
}

void sync_cpu_timer_begin(struct sync_thread *t)
{
    int saved = errno;
    if (timers.signal == 0)
        return;
    bool has_timer = timer_create_for(t);
    __atomic_store_n(&t->has_timer, has_timer, __ATOMIC_RELEASE);
    if (sync_mode() != MODE_OFF)
        timer_write(t, 0, 0, has_timer ? timers.period_ns : 0, 0);
    errno = saved;
}

/* @return whether there was one. Two threads may be about to delete it. */
static bool timer_delete_of(struct sync_thread *t)
{
    return __atomic_exchange_n(&t->has_timer, 0, __ATOMIC_ACQ_REL) && syscall(SYS_timer_delete, t->timer) == 0;
}

void sync_cpu_timer_end(struct sync_thread *t)
{
    if (timers.signal == 0)
        return;
    bool had_timer = timer_delete_of(t);
    if (sync_mode() != MODE_OFF)
        timer_write(t, 0, 0, had_timer ? timers.period_ns : 0, 0);
}

bool sync_cpu_timer_in(const sigset_t *set)
{
    return timers.signal != 0 && sigismember(set, timers.signal) == 1;
}

bool sync_cpu_timer_sent(const siginfo_t *info)
{
    const struct sync_thread *t = sync_tls.thread;
    return timers.signal != 0 && info->si_signo == timers.signal && info->si_code == SI_TIMER && t &&
           info->si_timerid == t->timer;
}

void sync_cpu_timer_stop(void)
{
    struct sync_thread *t = timers.signal ? __atomic_load_n(&sync_gate.threads, __ATOMIC_ACQUIRE) : NULL;
    for (; t; t = t->next)
        (void)timer_delete_of(t);
}

bool sync_cpu_timer_has(int sig)
{
    return timers.signal != 0 && sig == timers.signal && !timers.is_released;
}

int sync_cpu_timer_action(const struct sigaction *set, struct sigaction *old)
{
    const struct sigaction before = timers.action;
    int rc = 0;
    if (set && set->sa_handler != SIG_DFL && set->sa_handler != SIG_IGN) {
        timers.is_released = true;
        sync_cpu_timer_stop();
        rc = SYNC_REAL(sigaction)(timers.signal, set, NULL);
    } else if (set) {
        timers.action = *set;
    }
    if (rc == 0 && old)
        *old = before;
    return rc;
}
