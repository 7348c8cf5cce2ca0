/* SPDX-License-Identifier: MIT */
/** @file Samples of threads by timers of their CPU time, where perf_event is not available. */
#ifndef UPMU_SYNC_CPU_TIMER_H
#define UPMU_SYNC_CPU_TIMER_H

#include <signal.h>
#include <stdbool.h>

#include "sync_trace/state/thread.h"

/** Take UPMU_SYNC_CPU_SAMPLES samples per second of CPU time of each thread that begins from now on; unset: none. @return 0;
 *  UPMU_E_INVAL (the variable); UPMU_E_LIMIT (the program handles all real-time signals); UPMU_E_UNSUPPORTED (instruction set). */
int sync_cpu_timer_start(void);
/** The calling thread begins, or becomes known: start its timer. Its signals are not blocked. */
void sync_cpu_timer_begin(struct sync_thread *t);
/** It ends: stop the timer, and record the thread's CPU time. */
void sync_cpu_timer_end(struct sync_thread *t);
/** Whether `set`, which the calling thread is about to wait for, has the signal of its timer. */
bool sync_cpu_timer_in(const sigset_t *set);
/** Whether the calling thread's timer sent this signal: a program that waits for all signals does not see it. */
bool sync_cpu_timer_sent(const siginfo_t *info);
/** Whether the program, which sets or asks for the action of signal `sig`, means that of the timers. */
bool sync_cpu_timer_has(int sig);
/** As sigaction(), of that signal: the program may ignore it or set its default, as of a signal that it does not use, and the
 *  timers continue. If it sets a handler, they stop. */
int sync_cpu_timer_action(const struct sigaction *set, struct sigaction *old);
/** The recording ends: stop the timers of all threads. */
void sync_cpu_timer_stop(void);

#endif
