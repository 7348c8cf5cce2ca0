/* SPDX-License-Identifier: MIT */
/* Regions in signal handlers at a high rate: measured and refused calls add up, errno unchanged. */
#include <signal.h>
#include <sys/time.h>

#include "support/behavior.h"

/* By handlers that may interrupt each other. */
static struct {
    uint64_t runs, begun, ended, marked, turned_away, errno_lost;
} handler;

static void bump(uint64_t *counter)
{
    __atomic_fetch_add(counter, 1, __ATOMIC_RELAXED);
}

static void on_signal(int sig)
{
    static upmu_region_t region = UPMU_REGION("handler");
    int saved = errno;
    errno = 1000 + sig;
    bump(&handler.runs);
    bump(upmu_region_enter(&region) == 0 ? &handler.begun : &handler.turned_away);
    bump(upmu_mark("tick") == 0 ? &handler.marked : &handler.turned_away);
    bump(upmu_region_leave(&region) == 0 ? &handler.ended : &handler.turned_away);
    if (errno != 1000 + sig)
        bump(&handler.errno_lost);
    errno = saved;
}

static void start_timers(void)
{
    struct sigaction act = {.sa_handler = on_signal, .sa_flags = SA_RESTART};
    struct itimerval prof = {{0, 1000}, {0, 1000}};
    struct itimerspec often = {{0, 50000}, {0, 50000}};
    struct sigevent event = {.sigev_notify = SIGEV_SIGNAL, .sigev_signo = SIGALRM};
    timer_t timer;
    CHECK(sigaction(SIGPROF, &act, NULL) == 0 && sigaction(SIGALRM, &act, NULL) == 0, "sigaction");
    CHECK(timer_create(CLOCK_MONOTONIC, &event, &timer) == 0, "timer_create");
    CHECK(timer_settime(timer, 0, &often, NULL) == 0, "timer_settime");
    CHECK(setitimer(ITIMER_PROF, &prof, NULL) == 0, "setitimer");
}

int main(void)
{
    uint64_t pairs = 0, marks = 0;
    sigset_t both;
    sigemptyset(&both);
    sigaddset(&both, SIGPROF);
    sigaddset(&both, SIGALRM);
    regions_on("page-faults,context-switches");
    instance("handler"); /* the first use in a thread is not for handlers */
    start_timers();
    uint64_t end = nanoseconds(CLOCK_MONOTONIC) + 1500000000u;
    while (nanoseconds(CLOCK_MONOTONIC) < end || __atomic_load_n(&handler.runs, __ATOMIC_RELAXED) <= 100) {
        errno = 77;
        CHECK(upmu_region_begin("main") == 0, "begin");
        CHECK(upmu_mark("tock") == 0, "mark");
        CHECK(upmu_region_end("main") == 0, "end");
        CHECK(errno == 77, "errno is %d", errno);
        pairs++;
        marks++;
    }
    pthread_sigmask(SIG_BLOCK, &both, NULL);

    struct upmu_region_health h = health_now();
    CHECK(handler.runs > 100, "%llu signals", (unsigned long long)handler.runs);
    CHECK(handler.errno_lost == 0, "errno lost %llu times", (unsigned long long)handler.errno_lost);
    CHECK(handler.begun == handler.ended, "%llu begun, %llu ended", (unsigned long long)handler.begun,
          (unsigned long long)handler.ended);
    CHECK(region_count("main") == pairs, "%llu of %llu", (unsigned long long)region_count("main"),
          (unsigned long long)pairs);
    CHECK(region_count("handler") == handler.begun + 1, "%llu of %llu", (unsigned long long)region_count("handler"),
          (unsigned long long)handler.begun);
    CHECK(h.interrupted == handler.turned_away, "%llu reported, %llu refused", (unsigned long long)h.interrupted,
          (unsigned long long)handler.turned_away);
    CHECK(handler.begun + handler.ended + handler.marked + handler.turned_away == 3 * handler.runs,
          "calls are missing");
    CHECK(h.marks == marks + handler.marked, "%llu marks", (unsigned long long)h.marks);
    CHECK(h.end_without_begin == 0 && h.closed_by_outer == 0, "misuse where there was none");
    return 0;
}
