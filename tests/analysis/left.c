/* SPDX-License-Identifier: MIT */
/*
 * Waits and holds without an end of their own: a wait that a signal handler leaves by siglongjmp(), holds of a robust mutex that end with
 * their thread, a hold through a sleep, and with an argument a sleep that SIGKILL ends.
 */
#include <errno.h>
#include <pthread.h>
#include <semaphore.h>
#include <setjmp.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

static pthread_mutex_t held = PTHREAD_MUTEX_INITIALIZER, other = PTHREAD_MUTEX_INITIALIZER, robust;
static sem_t holds, go;
static atomic_int waiter_id, has_left;
static sigjmp_buf before_wait;

static void leave(int signal)
{
    (void)signal;
    siglongjmp(before_wait, 1);
}

static void sleep_ms(long ms)
{
    struct timespec t = {ms / 1000, ms % 1000 * 1000000};
    while (clock_nanosleep(CLOCK_MONOTONIC, 0, &t, &t) == EINTR)
        ;
}

static int is_asleep(int pid, int tid)
{
    char path[64], state = 0;
    snprintf(path, sizeof path, "/proc/%d/task/%d/stat", pid, tid);
    FILE *f = fopen(path, "re");
    int n = f ? fscanf(f, "%*d (%*[^)]) %c", &state) : 0;
    if (f)
        fclose(f);
    return n == 1 && state == 'S';
}

static void *hold(void *arg)
{
    pthread_mutex_lock(&held);
    sem_post(&holds);
    sleep_ms(20);
    sem_wait(&go);
    pthread_mutex_unlock(&held);
    return arg;
}

static void *wait_and_leave(void *arg)
{
    if (sigsetjmp(before_wait, 1) == 0) {
        atomic_store(&waiter_id, gettid());
        pthread_mutex_lock(&held); /* held until it has left */
        exit(1);
    }
    atomic_store(&has_left, 1);
    sleep_ms(15);
    pthread_mutex_lock(&other);
    sleep_ms(3);
    pthread_mutex_unlock(&other);
    return arg;
}

static void *end_with_lock(void *arg)
{
    pthread_mutex_lock(&robust);
    sem_post(&holds);
    sleep_ms(7);
    return arg;
}

static pthread_t start(void *(*function)(void *))
{
    pthread_t thread;
    if (pthread_create(&thread, NULL, function, NULL) != 0)
        exit(1);
    return thread;
}

static void leave_wait(void)
{
    pthread_t holder = start(hold);
    sem_wait(&holds);
    pthread_t waiter = start(wait_and_leave);
    while (atomic_load(&waiter_id) == 0 || !is_asleep(getpid(), atomic_load(&waiter_id)))
        sleep_ms(1);
    sleep_ms(20);
    pthread_kill(waiter, SIGUSR1);
    while (!atomic_load(&has_left))
        sleep_ms(1);
    sem_post(&go);
    pthread_join(holder, NULL);
    pthread_join(waiter, NULL);
}

static void end_with_locks(void)
{
    pthread_t owner = start(end_with_lock);
    sem_wait(&holds);
    if (pthread_mutex_lock(&robust) == EOWNERDEAD)
        pthread_mutex_consistent(&robust);
    sleep_ms(4);
    pthread_mutex_unlock(&robust);
    pthread_join(owner, NULL);
    pthread_join(start(end_with_lock), NULL);
}

/* A child kills this process while it sleeps, and while a thread holds a lock. */
static void be_killed(void)
{
    while (sem_trywait(&holds) == 0)
        ;
    start(hold);
    sem_wait(&holds);
    if (fork() == 0) {
        while (!is_asleep(getppid(), getppid()))
            sleep_ms(1);
        sleep_ms(30);
        kill(getppid(), SIGKILL);
        _exit(0);
    }
    sleep_ms(60000);
}

int main(int argc, char **argv)
{
    const struct sigaction action = {.sa_handler = leave};
    pthread_mutexattr_t attributes;
    (void)argv;
    if (sigaction(SIGUSR1, &action, NULL) != 0 || pthread_mutexattr_init(&attributes) != 0 ||
        pthread_mutexattr_setrobust(&attributes, PTHREAD_MUTEX_ROBUST) != 0 ||
        pthread_mutex_init(&robust, &attributes) != 0 || sem_init(&holds, 0, 0) != 0 || sem_init(&go, 0, 0) != 0)
        return 1;
    leave_wait();
    end_with_locks();
    if (argc > 1)
        be_killed();
    return 0;
}
