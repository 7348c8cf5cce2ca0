/* SPDX-License-Identifier: MIT */
/*
 * Programs to be sampled by bench_samples.sh, which print what they did.
 *
 *     subject shares THREADS MS    each thread uses MS of CPU time, 70 % of it in seventy(): "cpu NS", "share PART"
 *     subject fixed N              work of a fixed length, below 20 functions: "cpu NS"
 *     subject waits MS             two threads of OpenMP that wait actively, MS at barriers, MS for a critical section:
 *                                  "barriers BEGIN END" and "criticals BEGIN END" in ns since 1970
 */
#include <omp.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define OWN __attribute__((noinline, noclone))

enum { STEP = 300000, MS = 1000000, THREADS_MAX = 64, DEPTH = 20 };

static long long now(clockid_t clock)
{
    struct timespec t;
    clock_gettime(clock, &t);
    return t.tv_sec * 1000000000LL + t.tv_nsec;
}

/* A counter of the thread's own: threads that share one wait for each other's cache line. */
static inline __attribute__((always_inline)) void compute(long n)
{
    volatile long sink = 0;
    for (long i = 0; i < n; i++)
        sink += i;
}

static inline __attribute__((always_inline)) long long compute_for(long long ns)
{
    long long begin = now(CLOCK_THREAD_CPUTIME_ID), at = begin;
    while (at - begin < ns) {
        compute(STEP);
        at = now(CLOCK_THREAD_CPUTIME_ID);
    }
    return at - begin;
}

/* ---------------------------------------------------------------------------------------------------------- shares */

static OWN long long seventy(void)
{
    return compute_for(7 * MS);
}

static OWN long long thirty(void)
{
    return compute_for(3 * MS);
}

struct share {
    pthread_t thread;
    long long ns, a, b;
};

static void *share_run(void *arg)
{
    struct share *s = arg;
    while (s->a + s->b < s->ns) {
        s->a += seventy();
        s->b += thirty();
    }
    return NULL;
}

static int shares(int threads, long long ms)
{
    static struct share all[THREADS_MAX];
    long long a = 0, b = 0;
    for (int i = 0; i < threads && i < THREADS_MAX; i++) {
        all[i].ns = ms * MS;
        if (pthread_create(&all[i].thread, NULL, share_run, &all[i]) != 0)
            return 1;
    }
    for (int i = 0; i < threads && i < THREADS_MAX; i++) {
        pthread_join(all[i].thread, NULL);
        a += all[i].a;
        b += all[i].b;
    }
    printf("cpu %lld\nshare %.6f\n", now(CLOCK_PROCESS_CPUTIME_ID), (double)a / (double)(a + b));
    return 0;
}

/* ----------------------------------------------------------------------------------------------------------- fixed */

static OWN void fixed(int depth, long n)
{
    if (depth > 1)
        fixed(depth - 1, n);
    else
        compute(n);
    __asm__ volatile(""); /* no jump */
}

/* ----------------------------------------------------------------------------------------------------------- waits */

static OWN void barrier_work(long n)
{
    compute(n);
}

static OWN void critical_work(long n)
{
    compute(n);
}

static void barriers(long long ns)
{
    long long begin = now(CLOCK_REALTIME);
    int rounds = (int)(ns / (200 * 1000)); /* a thread's round has about so many microseconds */
#pragma omp parallel num_threads(2)        /* line of barriers */
    for (int i = 0; i < rounds; i++) {
        barrier_work(STEP * (1 + omp_get_thread_num()));
#pragma omp barrier
    }
    printf("barriers %lld %lld\n", begin, now(CLOCK_REALTIME));
}

static void criticals(long long ns)
{
    long long begin = now(CLOCK_REALTIME);
#pragma omp parallel num_threads(2) /* line of criticals */
    while (now(CLOCK_REALTIME) - begin < ns) {
#pragma omp critical
        critical_work(STEP);
        critical_work(STEP / 4); /* else the lock is acquired again by the same thread */
    }
    printf("criticals %lld %lld\n", begin, now(CLOCK_REALTIME));
}

int main(int argc, char **argv)
{
    const char *what = argc > 2 ? argv[1] : "";
    if (strcmp(what, "shares") == 0 && argc > 3)
        return shares(atoi(argv[2]), atoll(argv[3]));
    if (strcmp(what, "fixed") == 0) {
        fixed(DEPTH, atol(argv[2]));
        printf("cpu %lld\n", now(CLOCK_PROCESS_CPUTIME_ID));
        return 0;
    }
    if (strcmp(what, "waits") == 0) {
        barriers(atoll(argv[2]) * MS);
        criticals(atoll(argv[2]) * MS);
        return 0;
    }
    fprintf(stderr, "usage: subject shares THREADS MS | fixed N | waits MS\n");
    return 2;
}
