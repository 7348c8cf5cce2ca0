/* SPDX-License-Identifier: MIT */
/*
 * Clock offsets between CPUs.
 *
 * A message arrives after it was sent, and its answer returns after it arrived. If the other clock is ahead by x,
 * then sent + x <= there and there <= back + x: so x is at most there - sent and at least there - back. Each round
 * gives such bounds; the tightest of many rounds are kept. An interrupt during a round makes its bounds looser, not
 * wrong.
 */
#include "doctor/skew.h"

#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <time.h>

#include "base/tick.h"

/* -------------------------------------------------------------------------------------------------- bounds */

void skew_begin(struct skew *s, unsigned allowed)
{
    *s = (struct skew){.allowed = allowed, .compared = 1};
}

void skew_note(struct skew_pair *p, uint64_t sent, uint64_t there, uint64_t back)
{
    int64_t low = (int64_t)(there - back), high = (int64_t)(there - sent);
    if (p->rounds == 0 || low > p->low)
        p->low = low;
    if (p->rounds == 0 || high < p->high)
        p->high = high;
    p->rounds++;
}

static int64_t skew_min(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

static int64_t skew_max(int64_t a, int64_t b)
{
    return a > b ? a : b;
}

/* Compare with all earlier CPUs. */
void skew_join(struct skew *s, const struct skew_pair *p)
{
    if (p->rounds == 0)
        return;
    int64_t most = skew_max(p->high - s->lowest, s->highest - p->low);
    int64_t least = skew_max(p->low - s->least_high, s->most_low - p->high);
    s->compared++;
    s->at_most = (uint64_t)skew_max((int64_t)s->at_most, most);
    s->at_least = (uint64_t)skew_max((int64_t)s->at_least, least);
    s->lowest = skew_min(s->lowest, p->low);
    s->highest = skew_max(s->highest, p->high);
    s->most_low = skew_max(s->most_low, p->low);
    s->least_high = skew_min(s->least_high, p->high);
}

/* -------------------------------------------------------------------------------------------------- messages */

/* Reading a counter is not a memory access; these instructions order it among memory accesses. */
static inline void skew_fence(void)
{
#if defined(__x86_64__)
    __asm__ volatile("lfence" : : : "memory");
#elif defined(__aarch64__)
    __asm__ volatile("isb" : : : "memory");
#elif defined(__loongarch64)
    __asm__ volatile("dbar 0" : : : "memory");
#elif defined(__riscv)
    __asm__ volatile("fence iorw, iorw" : : : "memory");
#else
    __atomic_thread_fence(__ATOMIC_SEQ_CST);
#endif
}

uint64_t skew_tick(void)
{
    skew_fence();
    uint64_t tick = tick_now();
    skew_fence();
    return tick;
}

enum { ROUNDS = 1000, LINE = 128, NS_PER_S = 1000000000 };
enum turn { TURN_HERE, TURN_THERE, TURN_OVER };

/* Shared by two threads: `turn` is the one that may access the rest. */
struct exchange {
    _Alignas(LINE) uint32_t turn;
    uint64_t there;
    uint64_t (*now)(void);
    uint64_t deadline_ns;
    struct skew_pair pair;
};

static uint64_t skew_monotonic_ns(void)
{
    struct timespec ts;
    clock_gettime(CLOCK_MONOTONIC, &ts);
    return (uint64_t)ts.tv_sec * NS_PER_S + (uint64_t)ts.tv_nsec;
}

/* Answer until the end. */
static void *skew_answer(void *arg)
{
    struct exchange *x = arg;
    uint32_t turn;
    while ((turn = __atomic_load_n(&x->turn, __ATOMIC_ACQUIRE)) != TURN_OVER) {
        if (turn != TURN_THERE)
            continue;
        x->there = x->now();
        /* Do not overwrite an end in the meantime. */
        (void)__atomic_compare_exchange_n(&x->turn, &turn, TURN_HERE, false, __ATOMIC_RELEASE, __ATOMIC_RELAXED);
    }
    return NULL;
}

/* @return false if no answer came in time. */
static bool skew_wait_answer(const struct exchange *x)
{
    enum { LOOKS = 1000 }; /* between two reads of the clock */
    for (unsigned i = 1; __atomic_load_n(&x->turn, __ATOMIC_ACQUIRE) != TURN_HERE; i++)
        if (i % LOOKS == 0 && skew_monotonic_ns() >= x->deadline_ns)
            return false;
    return true;
}

static void *skew_ask(void *arg)
{
    struct exchange *x = arg;
    for (int i = 0; i < ROUNDS && skew_monotonic_ns() < x->deadline_ns; i++) {
        uint64_t sent = x->now();
        __atomic_store_n(&x->turn, TURN_THERE, __ATOMIC_RELEASE);
        if (!skew_wait_answer(x))
            break;
        uint64_t back = x->now();
        skew_note(&x->pair, sent, x->there, back);
    }
    __atomic_store_n(&x->turn, TURN_OVER, __ATOMIC_RELEASE);
    return NULL;
}

/* -------------------------------------------------------------------------------------------------- threads */

/* The CPUs of the calling thread; NULL with errno. The caller frees it with CPU_FREE(). */
static cpu_set_t *skew_allowed_cpus(int *most)
{
    enum { CPUS = 1024, CPUS_MAX = 1 << 16 };
    for (*most = CPUS; *most <= CPUS_MAX; *most *= 2) { /* EINVAL: the kernel has more CPUs */
        cpu_set_t *set = CPU_ALLOC((size_t)*most);
        if (!set || sched_getaffinity(0, CPU_ALLOC_SIZE((size_t)*most), set) == 0)
            return set;
        int error = errno;
        CPU_FREE(set);
        errno = error;
        if (error != EINVAL)
            return NULL;
    }
    return NULL;
}

/* Start a thread that runs on this CPU from its first instruction, with all signals blocked. @return 0 or an errno.
 * */
static int skew_start_thread(int cpu, int most, void *(*run)(void *), void *arg, pthread_t *thread)
{
    size_t bytes = CPU_ALLOC_SIZE((size_t)most);
    pthread_attr_t attr;
    sigset_t all, before;
    cpu_set_t *one = CPU_ALLOC((size_t)most);
    if (!one)
        return ENOMEM;
    CPU_ZERO_S(bytes, one);
    CPU_SET_S((size_t)cpu, bytes, one);
    int error = pthread_attr_init(&attr);
    if (error == 0) {
        sigfillset(&all);
        pthread_sigmask(SIG_BLOCK, &all, &before);
        error = pthread_attr_setaffinity_np(&attr, bytes, one);
        error = error ? error : pthread_create(thread, &attr, run, arg);
        pthread_sigmask(SIG_SETMASK, &before, NULL);
        pthread_attr_destroy(&attr);
    }
    CPU_FREE(one);
    return error;
}

/* A CPU on which no thread can be started (it has gone offline, or is no longer permitted) has no rounds. */
static void skew_compare(int first, int other, int most, struct exchange *x)
{
    pthread_t asking, answering;
    if (skew_start_thread(other, most, skew_answer, x, &answering) != 0)
        return;
    if (skew_start_thread(first, most, skew_ask, x, &asking) == 0)
        pthread_join(asking, NULL);
    else
        __atomic_store_n(&x->turn, TURN_OVER, __ATOMIC_RELEASE);
    pthread_join(answering, NULL);
}

int skew_measure(uint64_t (*now)(void), uint64_t budget_ns, struct skew *s)
{
    int most, first = -1;
    uint64_t end = skew_monotonic_ns() + budget_ns;
    cpu_set_t *set = skew_allowed_cpus(&most);
    if (!set)
        return -errno;
    size_t bytes = CPU_ALLOC_SIZE((size_t)most);
    unsigned left = (unsigned)CPU_COUNT_S(bytes, set);
    skew_begin(s, left);
    for (int cpu = 0; cpu < most; cpu++) {
        uint64_t ns = skew_monotonic_ns();
        if (!CPU_ISSET_S((size_t)cpu, bytes, set))
            continue;
        if (first >= 0 && ns < end) {
            struct exchange x = {.now = now, .deadline_ns = ns + (end - ns) / left};
            skew_compare(first, cpu, most, &x);
            skew_join(s, &x.pair);
        }
        first = first < 0 ? cpu : first;
        left--;
    }
    CPU_FREE(set);
    return 0;
}
