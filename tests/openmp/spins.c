/* SPDX-License-Identifier: MIT */
/* Constructs of OpenMP in whose bodies threads compute; with an argument one in which a thread waits for the other, before a part for
 * one thread. */
#include <omp.h>
#include <time.h>

enum { THREADS = 2, TASKS = 4, ROUNDS = 5, WORK_NS = 60000000 };

static unsigned long long now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return (unsigned long long)t.tv_sec * 1000000000u + (unsigned long long)t.tv_nsec;
}

__attribute__((noinline)) static void spin(void)
{
    static volatile double sink;
    unsigned long long end = now() + WORK_NS;
    while (now() < end)
        for (int i = 0; i < 10000; i++)
            sink = sink * 1.0000001 + 1e-9;
}

__attribute__((noinline)) static void solve(void)
{
#pragma omp parallel num_threads(THREADS) /* line of solve */
    {
        spin();
        spin();
    }
    __asm__ volatile("");
}

__attribute__((noinline)) static void inner(void)
{
#pragma omp parallel num_threads(THREADS) /* line of inner */
    spin();
    __asm__ volatile("");
}

__attribute__((noinline)) static void nested(void)
{
#pragma omp parallel num_threads(THREADS) /* line of nested */
    inner();
    __asm__ volatile("");
}

__attribute__((noinline)) static void tasks(void)
{
#pragma omp parallel num_threads(THREADS) /* line of tasks */
#pragma omp single
    for (int i = 0; i < TASKS; i++)
#pragma omp task
        spin();
    __asm__ volatile("");
}

__attribute__((noinline)) static void uneven(void)
{
#pragma omp parallel num_threads(THREADS) /* line of uneven */
    if (omp_get_thread_num() == 0)
        spin();
    __asm__ volatile("");
}

int main(int argc, char **argv)
{
    (void)argv;
    omp_set_dynamic(0);
    omp_set_max_active_levels(2);
    if (argc > 1) {
        for (int i = 0; i < ROUNDS; i++) { /* beside another load, waiting threads get little of a CPU */
            uneven();
            spin();
        }
        return 0;
    }
    solve();
    nested();
    tasks();
    return 0;
}
