/* SPDX-License-Identifier: MIT */
/* upmu_set_overhead() gives what an empty start and stop count, and leaves the set's own counts as they were. */
#include <signal.h>
#include <sys/time.h>
#include <time.h>

#include "support/behavior.h"

enum { EVENTS = 5, PAGES = 100, ROUNDS = 100 };

static const char events[] = "task-clock,page-faults,context-switches,user-time,system-time";

static struct upmu_set *set;

static void read_all(struct upmu_value *v)
{
    CHECK(upmu_set_read(set, v, EVENTS) == EVENTS, "read");
}

static void touch_counted(void)
{
    unsigned char *p = fresh_pages(PAGES);
    CHECK(upmu_set_start(set) == 0, "start");
    touch_pages(p, PAGES, (size_t)sysconf(_SC_PAGESIZE));
    CHECK(upmu_set_stop(set) == 0, "stop");
    free_pages(p, PAGES);
}

static void sleep_shortly(int signal)
{
    (void)signal;
    nanosleep(&(struct timespec){.tv_nsec = 1}, NULL);
}

/* Signals that sleep, so that context switches fall between a start and its stop, too. */
static void leave_the_cpu_often(bool on)
{
    struct itimerval often = {.it_interval.tv_usec = on ? 200 : 0, .it_value.tv_usec = on ? 200 : 0};
    if (on)
        signal(SIGALRM, sleep_shortly);
    CHECK(setitimer(ITIMER_REAL, &often, NULL) == 0, "setitimer");
}

int main(void)
{
    struct upmu_value v[EVENTS], before[EVENTS], after[EVENTS];
    if (rights_here() != RIGHTS_ALL)
        skip("kernel mode may not be counted here");
    CHECK(upmu_set_open(&set, events, NULL) == 0, "open");
    CHECK(upmu_set_overhead(set, v, EVENTS - 1) == UPMU_E_INVAL, "buffer too small");
    CHECK(upmu_set_overhead(set, v, EVENTS) == EVENTS, "never started");
    CHECK(upmu_set_read(set, before, EVENTS) == UPMU_E_STATE, "the set was still never started");
    CHECK(v[0].status == UPMU_EXACT && v[0].value > 0 && v[0].value < 1000000, "task-clock %llu",
          (unsigned long long)v[0].value);
    CHECK(v[1].status == UPMU_EXACT && v[1].value == 0, "page-faults %llu", (unsigned long long)v[1].value);
    CHECK(v[2].status == UPMU_EXACT && v[2].value == 0, "context-switches %llu", (unsigned long long)v[2].value);
    touch_counted();
    read_all(before);
    CHECK(before[1].value == PAGES + SANITIZER_FAULTS || before[1].value == PAGES, "page-faults %llu",
          (unsigned long long)before[1].value);
    leave_the_cpu_often(true);
    for (int i = 0; i < ROUNDS; i++)
        CHECK(upmu_set_overhead(set, v, EVENTS) == EVENTS, "again");
    leave_the_cpu_often(false);
    read_all(after);
    for (int i = 0; i < EVENTS; i++)
        CHECK(after[i].value == before[i].value && after[i].status == before[i].status &&
                  after[i].enabled == before[i].enabled,
              "%s: %llu before, %llu after", upmu_set_name(set, (size_t)i), (unsigned long long)before[i].value,
              (unsigned long long)after[i].value);
    CHECK(upmu_set_start(set) == 0, "start");
    CHECK(upmu_set_overhead(set, v, EVENTS) == UPMU_E_STATE, "while it runs");
    upmu_set_close(set);
    struct upmu_set_opts opts = {.size = sizeof opts, .target = UPMU_TARGET_CPU};
    CHECK(upmu_set_open(&set, events, &opts) == 0, "open");
    CHECK(upmu_set_overhead(set, v, EVENTS) == UPMU_E_STATE, "a CPU");
    upmu_set_close(set);
    return 0;
}
