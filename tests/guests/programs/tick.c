/* SPDX-License-Identifier: MIT */
/* tick NAME: the tick of this instruction set is NAME, monotonic across threads, and at the clock's pace. */
#include <inttypes.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>

#include "base/clock.h"
#include "base/tick.h"

enum { TICKS = 10000, HANDOVERS = 1000 };

static pthread_mutex_t turn = PTHREAD_MUTEX_INITIALIZER;
static uint64_t latest;

static int fail(const char *what)
{
    fprintf(stderr, "FAILED: %s\n", what);
    return 1;
}

/* Each tick is taken after the previous one, by either thread. @return the steps back. */
static void *check_ticks(void *arg)
{
    uintptr_t *back = arg;
    for (int i = 0; i < HANDOVERS; i++) {
        pthread_mutex_lock(&turn);
        uint64_t now = tick_now();
        *back += now < latest;
        latest = now;
        pthread_mutex_unlock(&turn);
    }
    return NULL;
}

static int threads_see_one_tick(void)
{
    pthread_t other;
    uintptr_t back = 0, back_there = 0;
    if (pthread_create(&other, NULL, check_ticks, &back_there) != 0)
        return fail("no thread");
    check_ticks(&back);
    pthread_join(other, NULL);
    return back + back_there ? fail("the tick goes back between threads") : 0;
}

/* Over a fifth of a second of the system's clock the ticks pass at the pace that was measured before. */
static int pace_is_kept(void)
{
    double hz = clock_hz(50000000);
    struct clock_triple from, to;
    clock_sample(&from);
    do
        clock_sample(&to);
    while (to.raw_ns - from.raw_ns < 200000000);
    double seconds = (double)(to.tick - from.tick) / hz, raw = (double)(to.raw_ns - from.raw_ns) / 1e9;
    printf("%s: %.0f per second, %.4f s of %.4f s\n", clock_source(), hz, seconds, raw);
    return seconds > raw * 0.9 && seconds < raw * 1.1 ? 0 : fail("the tick does not keep the clock's pace");
}

int main(int argc, char **argv)
{
    clock_start();
    if (argc != 2 || strcmp(clock_source(), argv[1]) != 0) {
        fprintf(stderr, "FAILED: the tick is %s (%s)\n", clock_source(), clock_source_reason());
        return 1;
    }
    uint64_t before = tick_now();
    for (int i = 0; i < TICKS; i++) {
        uint64_t now = tick_now();
        if (now < before)
            return fail("the tick goes back");
        before = now;
    }
    return threads_see_one_tick() | pace_is_kept();
}
