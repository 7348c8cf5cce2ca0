/* SPDX-License-Identifier: MIT */
/* A program whose signal handlers lock, while the threads that they interrupt do the same: a handler locks a mutex that
 * handlers alone take, tries a spin lock, and posts a semaphore. With the argument "calls" they interrupt the main thread, which sends
 * a byte to another one and waits for it in read(), over and over. Prints "mutex ADDRESS handled N". */
#include <errno.h>
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/time.h>
#include <unistd.h>

enum { THREADS = 3, ENOUGH = 500, INTERVAL_US = 300 };

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER, of_handlers = PTHREAD_MUTEX_INITIALIZER;
static pthread_spinlock_t spin;
static sem_t posted;
static atomic_int handled;
static long under_lock;

static void must(int rc, const char *what)
{
    if (rc != 0) {
        (void)fprintf(stderr, "%s: %d\n", what, rc);
        exit(1);
    }
}

static void handler(int signal)
{
    int saved = errno;
    (void)signal;
    errno = 4711;
    pthread_mutex_lock(&of_handlers);
    if (pthread_spin_trylock(&spin) == 0)
        pthread_spin_unlock(&spin);
    sem_post(&posted);
    pthread_mutex_unlock(&of_handlers);
    atomic_fetch_add(&handled, 1);
    if (errno != 4711)
        abort();
    errno = saved;
}

/* Handlers that run in a thread after its last event are not recorded. */
static void block_alarm(void)
{
    sigset_t alarm;
    sigemptyset(&alarm);
    sigaddset(&alarm, SIGALRM);
    must(pthread_sigmask(SIG_BLOCK, &alarm, NULL), "pthread_sigmask");
}

static void *work(void *arg)
{
    while (atomic_load(&handled) < ENOUGH) {
        must(pthread_mutex_lock(&lock), "pthread_mutex_lock");
        under_lock++;
        must(pthread_mutex_unlock(&lock), "pthread_mutex_unlock");
        if (sem_trywait(&posted) == 0)
            must(sem_post(&posted), "sem_post");
    }
    block_alarm();
    return arg;
}

static int there[2], back[2];

static void *answer(void *arg)
{
    char byte;
    block_alarm();
    while (read(there[0], &byte, 1) == 1)
        must(write(back[1], &byte, 1) != 1, "write");
    return arg;
}

static void ask(void)
{
    pthread_t t;
    char byte = 0;
    must(pipe(there) | pipe(back), "pipe");
    must(pthread_create(&t, NULL, answer, NULL), "pthread_create");
    while (atomic_load(&handled) < ENOUGH) {
        must(write(there[1], &byte, 1) != 1, "write");
        must(read(back[0], &byte, 1) != 1, "read");
    }
    block_alarm();
    must(close(there[1]), "close");
    must(pthread_join(t, NULL), "pthread_join");
}

static void compete(void)
{
    pthread_t t[THREADS];
    for (int i = 0; i < THREADS; i++)
        must(pthread_create(&t[i], NULL, work, NULL), "pthread_create");
    for (int i = 0; i < THREADS; i++)
        must(pthread_join(t[i], NULL), "pthread_join");
    if (under_lock < 1)
        must(1, "no thread had the lock");
}

int main(int argc, char **argv)
{
    struct sigaction action = {.sa_handler = handler, .sa_flags = SA_RESTART};
    const struct itimerval often = {{0, INTERVAL_US}, {0, INTERVAL_US}}, never = {{0, 0}, {0, 0}};
    int value;
    must(sem_init(&posted, 0, 0), "sem_init");
    must(pthread_spin_init(&spin, PTHREAD_PROCESS_PRIVATE), "pthread_spin_init");
    must(sigaction(SIGALRM, &action, NULL), "sigaction");
    must(setitimer(ITIMER_REAL, &often, NULL), "setitimer");
    if (argc > 1 && strcmp(argv[1], "calls") == 0)
        ask();
    else
        compete();
    must(setitimer(ITIMER_REAL, &never, NULL), "setitimer");
    must(sem_getvalue(&posted, &value), "sem_getvalue");
    if (value != atomic_load(&handled))
        must(value, "posts of handlers");
    printf("mutex %lx handled %d\n", (unsigned long)(uintptr_t)&of_handlers, value);
    return 0;
}
