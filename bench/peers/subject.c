/* SPDX-License-Identifier: MIT */
/*
 * One operation repeated, for tools that trace from outside; not linked with the library.
 *
 *   peers_subject pair|contended|cond|sem|pool|calls|blocks|work TIMES
 *
 * Prints the CPU nanoseconds of one operation. Operations of threads: a mutex pair, a contended section, a condition variable and
 * a semaphore handed over on one CPU, a task of a pool; of one thread: a function call, a pair of malloc() and free(), a piece of
 * computation.
 */
#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <semaphore.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum { WORKERS = 4, QUEUE = 64, NS_PER_S = 1000000000 };

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER, sums = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER, space = PTHREAD_COND_INITIALIZER;
static sem_t there, back;
static long times;

/* What threads hand each other; under `lock`. */
static long turn, queue[QUEUE], first, last, sum;

static void *pairs(void *arg)
{
    for (long i = 0; i < times; i++) {
        pthread_mutex_lock(&lock);
        pthread_mutex_unlock(&lock);
    }
    return arg;
}

static void *sections(void *arg)
{
    for (long i = 0; i < times; i++) {
        pthread_mutex_lock(&lock);
        sum += i;
        pthread_mutex_unlock(&lock);
    }
    return arg;
}

/* The last bit of `turn` selects the thread. */
static void *handovers(void *arg)
{
    long mine = arg ? 1 : 0;
    pthread_mutex_lock(&lock);
    for (long i = 0; i < times; i++) {
        while ((turn & 1) != mine)
            pthread_cond_wait(&changed, &lock);
        turn++;
        pthread_cond_signal(&changed);
    }
    pthread_mutex_unlock(&lock);
    return arg;
}

static void *posts(void *arg)
{
    sem_t *mine = arg ? &there : &back, *other = arg ? &back : &there;
    for (long i = 0; i < times; i++) {
        if (arg)
            sem_post(other);
        while (sem_wait(mine) != 0 && errno == EINTR)
            ;
        if (!arg)
            sem_post(other);
    }
    return arg;
}

/* Some microseconds of a task's own work. */
static long work(long seed)
{
    uint64_t x = (uint64_t)seed | 1;
    for (int i = 0; i < 2000; i++)
        x = x * 6364136223846793005U + 1442695040888963407U;
    return (long)(x >> 33);
}

static void *worker(void *arg)
{
    for (;;) {
        pthread_mutex_lock(&lock);
        while (first == last)
            pthread_cond_wait(&changed, &lock);
        long task = queue[first++ % QUEUE];
        pthread_cond_signal(&space);
        pthread_mutex_unlock(&lock);
        if (task < 0)
            return arg;
        long done = work(task);
        pthread_mutex_lock(&sums);
        sum += done;
        pthread_mutex_unlock(&sums);
    }
}

static void put(long task)
{
    pthread_mutex_lock(&lock);
    while (last - first == QUEUE)
        pthread_cond_wait(&space, &lock);
    queue[last++ % QUEUE] = task;
    pthread_cond_signal(&changed);
    pthread_mutex_unlock(&lock);
}

static void *nothing(void *arg)
{
    pause();
    return arg;
}

static void check(int rc)
{
    if (rc != 0) {
        (void)fprintf(stderr, "peers_subject: %s\n", strerror(rc));
        exit(1);
    }
}

/* All on one CPU, so that every hand-over is a switch. */
static void stay(void)
{
    cpu_set_t set;
    CPU_ZERO(&set);
    CPU_SET((size_t)sched_getcpu(), &set);
    (void)sched_setaffinity(0, sizeof set, &set);
}

static void two(void *(*what)(void *))
{
    pthread_t t[2];
    static char second;
    for (int i = 0; i < 2; i++)
        check(pthread_create(&t[i], NULL, what, i ? &second : NULL));
    for (int i = 0; i < 2; i++)
        check(pthread_join(t[i], NULL));
}

static void run_pair(void)
{
    pthread_t t;
    check(pthread_create(&t, NULL, nothing, NULL)); /* the C library does without atomics in a single thread */
    pairs(NULL);
}

static void run_contended(void)
{
    two(sections);
}

static void run_cond(void)
{
    stay();
    two(handovers);
}

static void run_sem(void)
{
    check(sem_init(&there, 0, 0) != 0 || sem_init(&back, 0, 0) != 0 ? errno : 0);
    stay();
    two(posts);
}

static void run_pool(void)
{
    pthread_t t[WORKERS];
    for (int i = 0; i < WORKERS; i++)
        check(pthread_create(&t[i], NULL, worker, NULL));
    for (long i = 0; i < times; i++)
        put(i);
    for (int i = 0; i < WORKERS; i++)
        put(-1);
    for (int i = 0; i < WORKERS; i++)
        check(pthread_join(t[i], NULL));
}

/* External and not inlined, as a compiler with hooks calls it. */
__attribute__((noinline)) long peers_leaf(long n);
__attribute__((noinline)) long peers_leaf(long n)
{
    return n ^ sum;
}

static void run_calls(void)
{
    for (long i = 0; i < times; i++)
        sum += peers_leaf(i);
}

/* Blocks of many sizes that live for a while, as in a program that keeps words. */
static void run_blocks(void)
{
    static void *kept[4096];
    uint64_t x = 1;
    for (long i = 0; i < times; i++) {
        x = x * 6364136223846793005U + 1442695040888963407U;
        size_t at = (size_t)(x >> 52);
        free(kept[at]);
        kept[at] = malloc(16 + (size_t)(x >> 32 & 127));
    }
    for (size_t i = 0; i < sizeof kept / sizeof *kept; i++)
        free(kept[i]);
}

static void run_work(void)
{
    for (long i = 0; i < times; i++)
        sum += work(i);
}

static double cpu_ns(void)
{
    struct timespec t;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (double)t.tv_sec * NS_PER_S + (double)t.tv_nsec;
}

int main(int argc, char **argv)
{
    static const struct {
        const char *name;
        void (*run)(void);
    } cases[] = {{"pair", run_pair}, {"contended", run_contended}, {"cond", run_cond},     {"sem", run_sem},
                 {"pool", run_pool}, {"calls", run_calls},         {"blocks", run_blocks}, {"work", run_work}};
    times = argc == 3 ? atol(argv[2]) : 0;
    for (size_t i = 0; times > 0 && i < sizeof cases / sizeof *cases; i++) {
        if (strcmp(cases[i].name, argv[1]) != 0)
            continue;
        double before = cpu_ns();
        cases[i].run();
        printf("%.2f\n", (cpu_ns() - before) / (double)times);
        return 0;
    }
    (void)fprintf(stderr, "usage: peers_subject pair|contended|cond|sem|pool|calls|blocks|work TIMES\n");
    return 2;
}
