/* SPDX-License-Identifier: MIT */
/*
 * Signals while upmu stat counts.
 *
 * Handlers are used, never SIG_IGN: a handler is reset by exec, so the command starts with the dispositions we were
 * given. A handler reaches its data only through the process, hence the two variables of this file.
 */
#include <errno.h>
#include <signal.h>

#include "stat.h"

static volatile sig_atomic_t first_signal;
static volatile sig_atomic_t forward_to;

static bool signal_is_passed_on(int signal_number)
{
    return signal_number == SIGTERM || signal_number == SIGHUP;
}

static void on_signal(int signal_number)
{
    int saved = errno;
    if (first_signal == 0)
        first_signal = signal_number;
    if (forward_to > 0 && signal_is_passed_on(signal_number))
        (void)kill(forward_to, signal_number); /* a command that is already over needs it no more */
    errno = saved;
}

/* That a child has ended interrupts a wait. */
static void signal_child(int signal_number)
{
    (void)signal_number;
}

/* Also where it was ignored: the kernel would reap the command, and keep its status to itself. */
static void signals_catch_children(void)
{
    struct sigaction ours = {.sa_handler = signal_child, .sa_flags = SA_RESTART | SA_NOCLDSTOP};
    sigemptyset(&ours.sa_mask);
    (void)sigaction(SIGCHLD, &ours, NULL); /* cannot fail: it may be caught */
}

void stat_signals_catch(void)
{
    static const int caught[] = {SIGINT, SIGQUIT, SIGTERM, SIGHUP};
    struct sigaction ours = {.sa_handler = on_signal, .sa_flags = SA_RESTART};
    struct sigaction before;

    sigemptyset(&ours.sa_mask);
    for (size_t i = 0; i < sizeof caught / sizeof *caught; i++)
        if (sigaction(caught[i], NULL, &before) == 0 && before.sa_handler != SIG_IGN)
            (void)sigaction(caught[i], &ours, NULL); /* cannot fail: these four may be caught */
    signals_catch_children();
}

void stat_signals_forward(pid_t pid)
{
    forward_to = pid;
    if (pid > 0 && signal_is_passed_on(first_signal))
        (void)kill(pid, first_signal);
}

int stat_signals_seen(void)
{
    return first_signal;
}
