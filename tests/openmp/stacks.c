/* SPDX-License-Identifier: MIT */
/* Constructs of OpenMP in whose bodies threads sleep: in the regions both threads do, and tasks are run by both. */
#include <omp.h>
#include <pthread.h>
#include <unistd.h>

enum { MICROSECONDS = 2000, THREADS = 2, TASKS = 4 };

/* Calls are the last ones of their functions, which may leave the stack by them; the functions are found nevertheless. */
__attribute__((noinline)) static void nap(void)
{
    usleep(MICROSECONDS);
    __asm__ volatile("");
}

__attribute__((noinline)) static void deeper(void)
{
    nap();
    __asm__ volatile("");
}

__attribute__((noinline)) static void simple(void)
{
#pragma omp parallel num_threads(THREADS) /* line of simple */
    {
        deeper();
        deeper();
    }
    __asm__ volatile("");
}

__attribute__((noinline)) static void inner(void)
{
#pragma omp parallel num_threads(THREADS) /* line of inner */
    deeper();
    __asm__ volatile("");
}

__attribute__((noinline)) static void nested(void)
{
#pragma omp parallel num_threads(THREADS) /* line of nested */
    inner();
    __asm__ volatile("");
}

__attribute__((noinline)) static void alone(void)
{
#pragma omp parallel if (0) /* line of alone */
    deeper();
    __asm__ volatile("");
}

__attribute__((noinline)) static void around(void)
{
#pragma omp parallel num_threads(THREADS) /* line of around */
    alone();
    __asm__ volatile("");
}

/* A loop outside of the function of the region. */
__attribute__((noinline)) static void loop(void)
{
#pragma omp for schedule(static)
    for (int i = 0; i < THREADS; i++)
        deeper();
}

__attribute__((noinline)) static void orphaned(void)
{
#pragma omp parallel num_threads(THREADS) /* line of orphaned */
    loop();
    __asm__ volatile("");
}

__attribute__((noinline)) static void create(void)
{
#pragma omp task /* line of create */
    deeper();
    __asm__ volatile("");
}

/* Both threads wait at the end until the tasks are done, and run them. */
__attribute__((noinline)) static void tasks(void)
{
#pragma omp parallel num_threads(THREADS) /* line of tasks */
#pragma omp single
    for (int i = 0; i < TASKS; i++)
        create();
    __asm__ volatile("");
}

/* A team of another thread than the first one. */
static void *second(void *arg)
{
#pragma omp parallel num_threads(THREADS) /* line of second */
    deeper();
    return arg;
}

int main(void)
{
    pthread_t thread;
    omp_set_dynamic(0);
    omp_set_max_active_levels(2);
    simple();
    nested();
    around();
    orphaned();
    tasks();
    if (pthread_create(&thread, NULL, second, NULL) == 0)
        pthread_join(thread, NULL);
    deeper();
    return 0;
}
