/* SPDX-License-Identifier: MIT */
/*
 * The signal of overflows: its number, its handler, and the objects of each thread.
 *
 * A thread's list is changed by that thread alone, and read by its handler, which may interrupt each change: a change is one
 * store.
 */
#include <errno.h>
#include <pthread.h>

#include "base/context.h"
#include "base/error.h"
#include "core/overflow/overflow.h"

static int signal_number; /* 0: none was chosen so far */
static _Thread_local struct upmu_overflow *signal_objects __attribute__((tls_model("initial-exec")));

static struct upmu_overflow *signal_sender(const siginfo_t *info)
{
    struct upmu_overflow *o = __atomic_load_n(&signal_objects, __ATOMIC_RELAXED);
    while (o && !overflow_source_sent(o, info))
        o = __atomic_load_n(&o->next, __ATOMIC_RELAXED);
    return o;
}

static void signal_on_overflow(int number, siginfo_t *info, void *context)
{
    int saved = errno;
    struct upmu_overflow *o = signal_sender(info);
    (void)number;
    if (o && o->is_started) {
        uint64_t periods = info->si_code == SI_TIMER && info->si_overrun > 0 ? 1 + (uint64_t)info->si_overrun : 1;
        const struct upmu_overflow_sample sample = {.size = sizeof sample,
                                                    .overflow = o,
                                                    .pc = context_pc(context),
                                                    .events = periods * o->opts.period,
                                                    .context = context};
        o->calls++;
        o->events += sample.events;
        o->opts.callback(&sample, o->opts.arg);
    }
    if (o)
        overflow_source_continue(o);
    errno = saved;
}

/* Faults of the function go to the program's own handlers. */
static void signal_fill_mask(sigset_t *mask)
{
    static const int faults[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGTRAP, SIGABRT, SIGSYS};
    sigfillset(mask);
    for (size_t i = 0; i < sizeof faults / sizeof *faults; i++)
        sigdelset(mask, faults[i]);
}

/* From the highest on, for programs count from the lowest; the one below SIGRTMAX is that of libupmu_sync's timers. Threads that
 * call this at once find the same one: a handler of ours counts as free. */
int overflow_signal_number(void)
{
    struct sigaction now, ours = {.sa_sigaction = signal_on_overflow, .sa_flags = SA_SIGINFO | SA_RESTART | SA_ONSTACK};
    int number = __atomic_load_n(&signal_number, __ATOMIC_ACQUIRE);
    signal_fill_mask(&ours.sa_mask);
    for (int s = SIGRTMAX - 2; number == 0 && s > SIGRTMIN; s--) {
        if (sigaction(s, NULL, &now) != 0)
            continue;
        bool is_ours = (now.sa_flags & SA_SIGINFO) && now.sa_sigaction == signal_on_overflow;
        if (is_ours || (now.sa_handler == SIG_DFL && sigaction(s, &ours, NULL) == 0))
            number = s;
    }
    __atomic_store_n(&signal_number, number, __ATOMIC_RELEASE);
    return number;
}

int overflow_signal_check(void)
{
    struct sigaction now;
    sigset_t blocked;
    int number = __atomic_load_n(&signal_number, __ATOMIC_ACQUIRE);
    if (sigaction(number, NULL, &now) != 0 || !(now.sa_flags & SA_SIGINFO) || now.sa_sigaction != signal_on_overflow)
        return upmu_fail(UPMU_E_STATE,
                         "upmu_overflow_start: the program has changed the handler of signal %d, which "
                         "overflows use. Leave its action as it is",
                         number);
    if (pthread_sigmask(SIG_SETMASK, NULL, &blocked) != 0 || sigismember(&blocked, number) == 1)
        return upmu_fail(UPMU_E_STATE,
                         "upmu_overflow_start: the thread blocks signal %d, which overflows use. Unblock it", number);
    return 0;
}

void overflow_signal_add(struct upmu_overflow *o)
{
    o->next = signal_objects;
    __atomic_store_n(&signal_objects, o, __ATOMIC_RELEASE);
}

void overflow_signal_remove(struct upmu_overflow *o)
{
    struct upmu_overflow **at = &signal_objects;
    while (*at && *at != o)
        at = &(*at)->next;
    if (*at)
        __atomic_store_n(at, o->next, __ATOMIC_RELEASE);
}
