/* SPDX-License-Identifier: MIT */
/*
 * A profile of one thread by itself: how often each of its functions was interrupted when an event overflowed.
 *
 *     ./overflow [EVENT [PERIOD]]        for example: ./overflow cycles 1000000; by default task-clock, 1000000 ns
 */
#include <dlfcn.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "upmu/overflow.h"

enum { ADDRESSES = 4096, DEFAULT_PERIOD = 1000000, CALLS = 100 };

/* One counter per address, found by hashing: the function runs in a signal handler, where malloc() is not allowed. */
struct histogram {
    uint64_t pc[ADDRESSES], events[ADDRESSES], missed, calls;
};

static void on_overflow(const struct upmu_overflow_sample *s, void *arg)
{
    struct histogram *h = arg;
    h->calls++;
    for (size_t i = 0, at = s->pc % ADDRESSES; i < ADDRESSES; i++, at = (at + 1) % ADDRESSES)
        if (h->pc[at] == s->pc || h->pc[at] == 0) {
            h->pc[at] = s->pc;
            h->events[at] += s->events;
            return;
        }
    h->missed += s->events;
}

/* Exported, so that dladdr() finds their names: see -rdynamic in CMakeLists.txt. */
__attribute__((noinline, visibility("default"))) uint64_t add(uint64_t n);
__attribute__((noinline, visibility("default"))) uint64_t divide(uint64_t n);

uint64_t add(uint64_t n)
{
    volatile uint64_t sum = 0;
    for (uint64_t i = 0; i < n; i++)
        sum = sum + i;
    return sum;
}

uint64_t divide(uint64_t n)
{
    volatile uint64_t sum = UINT64_MAX;
    for (uint64_t i = 1; i < n; i++)
        sum = UINT64_MAX / (sum % i + 1);
    return sum;
}

static const char *name_of(uint64_t pc)
{
    Dl_info info;
    return dladdr((void *)(uintptr_t)pc, &info) && info.dli_sname ? info.dli_sname : "?";
}

/* Addresses of the same function are one line. */
static void print(struct histogram *h, const char *event)
{
    printf("%20s  function\n", event);
    for (size_t i = 0; i < ADDRESSES; i++) {
        if (h->events[i] == 0)
            continue;
        const char *name = name_of(h->pc[i]);
        uint64_t events = 0;
        for (size_t k = i; k < ADDRESSES; k++)
            if (h->events[k] && strcmp(name_of(h->pc[k]), name) == 0) {
                events += h->events[k];
                h->events[k] = 0;
            }
        printf("%20" PRIu64 "  %s\n", events, name);
    }
    if (h->missed)
        printf("%20" PRIu64 "  (more addresses than are counted)\n", h->missed);
}

static int profile(struct upmu_overflow *o, struct histogram *h)
{
    struct upmu_overflow_info info = UPMU_INIT(struct upmu_overflow_info);
    if (upmu_overflow_start(o) < 0)
        return -1;
    /* Passes of unequal length: the period of equal ones could be that of the samples, all of which would be in one function. */
    for (unsigned i = 0; i < 1000000 && __atomic_load_n(&h->calls, __ATOMIC_RELAXED) < CALLS; i++) {
        add(100000 + i * 7 % 16 * 5000);
        divide(10000 + i * 5 % 16 * 500);
    }
    if (upmu_overflow_stop(o) < 0 || upmu_overflow_info_read(o, &info) < 0)
        return -1;
    print(h, info.event);
    printf("%" PRIu64 " calls, which stand for %" PRIu64 " of %" PRIu64 "\n", info.calls, info.events, info.count);
    if (info.source == UPMU_OVERFLOW_TIMER)
        printf("by a timer of CPU time: %s\n", info.reason);
    return 0;
}

int main(int argc, char **argv)
{
    static struct histogram histogram;
    struct upmu_overflow *o;
    struct upmu_overflow_opts opts = UPMU_INIT(struct upmu_overflow_opts);
    opts.event = argc > 1 ? argv[1] : NULL;
    opts.period = argc > 2 ? strtoull(argv[2], NULL, 10) : DEFAULT_PERIOD;
    opts.callback = on_overflow;
    opts.arg = &histogram;
    int rc = upmu_overflow_open(&o, &opts);
    if (rc == 0) {
        rc = profile(o, &histogram);
        (void)upmu_overflow_close(o);
    }
    if (rc < 0)
        fprintf(stderr, "overflow: %s\n", upmu_error());
    return rc < 0;
}
