/* SPDX-License-Identifier: MIT */
/* Gate, settings and thread-local state of function recording. */
#include "func/state.h"

#include "base/tick.h"

#ifdef TICK_ISA_NAME
uint32_t tick_use_isa;
#endif
int (*tick_clock_gettime)(clockid_t, struct timespec *) = clock_gettime;

struct func_thread func_no_thread;
_Thread_local struct func_tls func_tls = {.thread = &func_no_thread};
struct func_process func_process;

void func_lost(enum func_loss cause, uint64_t n)
{
    struct func_shared *s = func_process.shared;
    struct func_process_header *h = __atomic_load_n(&s->header, __ATOMIC_ACQUIRE);
    __atomic_fetch_add(h ? &h->lost[cause] : &s->lost[cause], n, __ATOMIC_RELAXED);
}

void func_moment(uint64_t *tick, uint64_t *raw_ns)
{
    enum { TRIES = 5 };
    uint64_t width = UINT64_MAX;
    *tick = *raw_ns = 0;
    for (int i = 0; i < TRIES; i++) {
        struct timespec now = {0};
        uint64_t begin = tick_now();
        (void)tick_clock_gettime(CLOCK_MONOTONIC_RAW, &now);
        uint64_t end = tick_now();
        if (end - begin >= width)
            continue;
        width = end - begin;
        *tick = begin + width / 2;
        *raw_ns = (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
    }
}
