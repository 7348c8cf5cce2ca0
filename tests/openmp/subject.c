/* Programs of OpenMP that print how long each thread worked, by their own clock: SUBJECT WHAT THREADS ROUNDS.
 * A thread's work is a loop for a time; lines "work NUMBER NANOSECONDS", and "delay NUMBER NANOSECONDS" for the time that it was ready to
 * run and had no CPU outside of these loops: by its events that may be work, too. */
#include <fcntl.h>
#include <omp.h>
#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { THREADS_MAX = 64, LINE = 64 };
static struct {
    uint64_t ns, delay, delay_before;
    char pad[LINE - 3 * sizeof(uint64_t)];
} work[THREADS_MAX];
static int threads, rounds, others_wait;

static uint64_t now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

/* How long the calling thread has waited for a CPU; 0: unknown. */
static uint64_t delayed(void)
{
    static _Thread_local int fd = -1;
    char text[96] = "";
    unsigned long long ran, delay = 0;
    if (fd < 0)
        fd = open("/proc/thread-self/schedstat", O_RDONLY | O_CLOEXEC);
    if (pread(fd, text, sizeof text - 1, 0) <= 0 || sscanf(text, "%llu %llu", &ran, &delay) != 2)
        return 0;
    return delay;
}

/* Busy for a time; counted as work of the calling thread. */
static void busy(unsigned us)
{
    uint64_t begin = now(), delay = delayed(), end;
    int number = omp_get_thread_num();
    work[number].delay += delay - work[number].delay_before;
    while (now() - begin < (uint64_t)us * 1000)
        ;
    work[number].delay_before = delayed();
    end = now();
    work[number].ns += end - begin;
}

static void serial(unsigned us)
{
    for (uint64_t begin = now(); now() - begin < (uint64_t)us * 1000;)
        ;
}

__attribute__((noinline)) static void imbalance(void)
{
    for (int r = 0; r < rounds; r++) {
#pragma omp parallel num_threads(threads) /* line of imbalance */
        busy(1000 * (unsigned)(omp_get_thread_num() + 1));
        serial(500);
    }
}

__attribute__((noinline)) static void barriers(void)
{
#pragma omp parallel num_threads(threads) /* line of barriers */
    for (int r = 0; r < rounds; r++) {
        busy(1000 * (unsigned)(omp_get_thread_num() + 1));
#pragma omp barrier
    }
}

__attribute__((noinline)) static void loops(void)
{
#pragma omp parallel num_threads(threads) /* line of loops */
    {
#pragma omp for schedule(static)
        for (int i = 0; i < threads * rounds; i++)
            busy(i < rounds ? 2000 : 1000);
#pragma omp for schedule(dynamic)
        for (int i = 0; i < threads * rounds; i++)
            busy(1000);
#pragma omp single
        busy(3000);
#pragma omp sections
        {
#pragma omp section
            busy(2000);
#pragma omp section
            busy(1000);
        }
    }
}

__attribute__((noinline)) static void guided(void)
{
#pragma omp parallel for num_threads(threads) schedule(guided) /* line of guided */
    for (int i = 0; i < threads * rounds; i++)
        busy(500);
}

__attribute__((noinline)) static void critical(void)
{
#pragma omp parallel num_threads(threads) /* line of critical */
    for (int r = 0; r < rounds; r++) {
#pragma omp critical(named)
        busy(1000);
    }
}

__attribute__((noinline)) static void locks(void)
{
    omp_lock_t lock;
    omp_nest_lock_t nest;
    omp_init_lock(&lock);
    omp_init_nest_lock(&nest);
#pragma omp parallel num_threads(threads) /* line of locks */
    for (int r = 0; r < rounds; r++) {
        omp_set_lock(&lock); /* line of set */
        busy(1000);
        omp_unset_lock(&lock);
        omp_set_nest_lock(&nest);
        omp_set_nest_lock(&nest);
        busy(1000);
        omp_unset_nest_lock(&nest);
        omp_unset_nest_lock(&nest);
        if (omp_test_lock(&lock)) {
            busy(100);
            omp_unset_lock(&lock);
        }
    }
    omp_destroy_lock(&lock);
    omp_destroy_nest_lock(&nest);
}

__attribute__((noinline)) static void ordered(void)
{
#pragma omp parallel for num_threads(threads) ordered schedule(static, 1) /* line of ordered */
    for (int i = 0; i < threads * rounds; i++) {
#pragma omp ordered
        busy(1000);
    }
}

/* Arguments of many bytes that a task gets a copy of. */
struct large {
    char bytes[300];
    unsigned us;
};

__attribute__((noinline)) static void tasks(void)
{
    long sum = 0;
#pragma omp parallel num_threads(threads) /* line of tasks */
#pragma omp single
    {
        for (int r = 0; r < rounds; r++) {
            struct large l = {.us = 1000};
            memset(l.bytes, r, sizeof l.bytes);
#pragma omp task firstprivate(l) shared(sum)
            {
                busy(l.us);
#pragma omp atomic
                sum += l.bytes[0] == (char)r && l.bytes[299] == (char)r;
            }
        }
#pragma omp taskwait
#pragma omp taskgroup
        for (int r = 0; r < rounds; r++) {
#pragma omp task shared(sum) if (r % 2)
            {
                busy(1000);
#pragma omp atomic
                sum++;
            }
        }
#pragma omp taskloop grainsize(2) shared(sum)
        for (long r = 0; r < 2 * rounds; r++) {
            busy(500);
#pragma omp atomic
            sum += r;
        }
    }
    if (sum != 2L * rounds + (2L * rounds - 1) * rounds)
        printf("wrong sum of tasks %ld\n", sum);
}

__attribute__((noinline)) static void nested(void)
{
    omp_set_max_active_levels(2);
#pragma omp parallel num_threads(threads) /* line of nested */
    {
#pragma omp parallel num_threads(2) /* line of inner */
        serial(1000 * (unsigned)(omp_get_thread_num() + 1));
    }
}

__attribute__((noinline)) static double reduction(void)
{
    double sum = 0;
#pragma omp parallel for num_threads(threads) reduction(+ : sum) /* line of reduction */
    for (int i = 0; i < threads * rounds; i++) {
        busy(1000);
        sum += i;
    }
    return sum;
}

__attribute__((noinline)) static void forks(void)
{
    imbalance();
    fflush(stdout);
    pid_t child = fork();
    if (child == 0) {
#pragma omp parallel num_threads(1) /* line of the child */
        busy(1000);
        exit(0);
    }
    waitpid(child, NULL, 0);
    imbalance();
}

/* Ends within a region: by exit() of a member, or by a signal while the others wait. */
__attribute__((noinline)) static void ends(const char *how)
{
#pragma omp parallel num_threads(threads) /* line of ends */
    {
        if (omp_get_thread_num() == 0) {
            while (!__atomic_load_n(&others_wait, __ATOMIC_ACQUIRE))
                usleep(1000);
            serial(20000);
            if (strcmp(how, "exit") == 0)
                exit(0);
            if (strcmp(how, "_exit") == 0)
                _exit(0);
            raise(SIGKILL);
        }
        __atomic_store_n(&others_wait, 1, __ATOMIC_RELEASE);
#pragma omp barrier
    }
}

/* Is killed while one thread holds a lock that the other waits for. Prints how long, up to the moment before. */
__attribute__((noinline)) static void holds(void)
{
    static omp_lock_t lock;
    omp_init_lock(&lock);
#pragma omp parallel num_threads(2) /* line of holds */
    {
        if (omp_get_thread_num() == 0) {
            omp_set_lock(&lock);
            __atomic_store_n(&others_wait, 1, __ATOMIC_RELEASE);
            while (__atomic_load_n(&others_wait, __ATOMIC_ACQUIRE) != 2)
                usleep(1000);
            uint64_t begin = now();
            usleep(1000000);
            printf("held %llu\n", (unsigned long long)(now() - begin));
            fflush(stdout);
            raise(SIGKILL);
        }
        while (!__atomic_load_n(&others_wait, __ATOMIC_ACQUIRE))
            usleep(1000);
        __atomic_store_n(&others_wait, 2, __ATOMIC_RELEASE);
        omp_set_lock(&lock);
    }
}

static void *second_run(void *argument)
{
    (void)argument;
    imbalance();
    return NULL;
}

/* Two threads of the program that have a team each. */
static void two(void)
{
    pthread_t t;
    pthread_create(&t, NULL, second_run, NULL);
    pthread_join(t, NULL);
    imbalance();
}

/* Without time stamps, which this program does not read any more. */
static void restricts(void)
{
    int sum = 0;
    if (prctl(PR_SET_TSC, PR_TSC_SIGSEGV, 0, 0, 0) != 0)
        exit(77);
    for (int i = 0; i < rounds; i++) {
#pragma omp parallel num_threads(threads)
        {
#pragma omp critical
            sum++;
#pragma omp barrier
#pragma omp single
#pragma omp task shared(sum)
#pragma omp atomic
            sum++;
        }
    }
    printf("sum %d\n", sum);
    exit(0);
}

int main(int argc, char **argv)
{
    const char *what = argv[1];
    threads = argc > 2 ? atoi(argv[2]) : 2;
    rounds = argc > 3 ? atoi(argv[3]) : 5;
    if (threads > THREADS_MAX / 2)
        return 2;
#pragma omp parallel num_threads(threads) /* line of the first region: the runtime starts its threads */
    serial(100);
    uint64_t begin = now();
    if (strcmp(what, "imbalance") == 0)
        imbalance();
    else if (strcmp(what, "barriers") == 0)
        barriers();
    else if (strcmp(what, "loops") == 0)
        loops();
    else if (strcmp(what, "guided") == 0)
        guided();
    else if (strcmp(what, "critical") == 0)
        critical();
    else if (strcmp(what, "locks") == 0)
        locks();
    else if (strcmp(what, "ordered") == 0)
        ordered();
    else if (strcmp(what, "tasks") == 0)
        tasks();
    else if (strcmp(what, "nested") == 0)
        nested();
    else if (strcmp(what, "reduction") == 0)
        printf("sum %.0f\n", reduction());
    else if (strcmp(what, "forks") == 0)
        forks();
    else if (strcmp(what, "holds") == 0)
        holds();
    else if (strcmp(what, "two") == 0)
        two();
    else if (strcmp(what, "restricts") == 0)
        restricts();
    else
        ends(what);
    printf("region %llu\n", (unsigned long long)(now() - begin));
    for (int i = 0; i < threads; i++)
        printf("work %d %llu\ndelay %d %llu\n", i, (unsigned long long)work[i].ns, i,
               (unsigned long long)work[i].delay);
    return 0;
}
