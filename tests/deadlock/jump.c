/* SPDX-License-Identifier: MIT */
/*
 * Signal handlers that leave a wait by a jump, or interrupt a deadlock again and again.
 *
 *     jump cycle|self|end|real FILE
 *
 * cycle, self: the thread then computes until FILE exists, and releases its locks. end: it returns from main() at once. real: the
 * thread stays deadlocked with itself.
 */
#include <pthread.h>
#include <sched.h>
#include <setjmp.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <unistd.h>

static pthread_mutex_t a = PTHREAD_MUTEX_INITIALIZER, b = PTHREAD_MUTEX_INITIALIZER;
static sigjmp_buf target;
static pthread_t jumper;
static volatile sig_atomic_t handled;

static void jump(int sig)
{
    (void)sig;
    siglongjmp(target, 1);
}

static void count(int sig)
{
    (void)sig;
    handled++;
}

/* Until the thread sleeps in a wait for that mutex: no time passes in which it is deadlocked. */
static void until_waits_for(const pthread_mutex_t *m)
{
    char path[64], line[128];
    bool waits = false;
    snprintf(path, sizeof path, "/proc/self/task/%d/syscall", (int)getpid());
    while (!waits) {
        unsigned long number = 0, address = 0;
        FILE *f = fopen(path, "re");
        if (f && fgets(line, sizeof line, f))
            waits =
                sscanf(line, "%lu %lx", &number, &address) == 2 && number == SYS_futex && address == (unsigned long)m;
        if (f)
            (void)fclose(f);
        sched_yield();
    }
}

static void *interrupt(void *arg)
{
    until_waits_for(&b);
    pthread_kill(jumper, SIGUSR1);
    return arg;
}

static atomic_int locked;

static void *cross(void *arg)
{
    pthread_mutex_lock(&a);
    atomic_store(&locked, 1);
    until_waits_for(&a);
    pthread_kill(jumper, SIGUSR1);
    pthread_mutex_lock(&b);
    pthread_mutex_unlock(&b);
    pthread_mutex_unlock(&a);
    return arg;
}

static void compute_until(const char *file)
{
    puts("computing");
    (void)fflush(stdout);
    for (volatile unsigned i = 0; i % 1000000 != 0 || access(file, F_OK) != 0; i++) {
    }
}

static void interrupt_often(void)
{
    const struct itimerval often = {.it_interval = {.tv_usec = 200000}, .it_value = {.tv_usec = 200000}};
    struct sigaction act = {.sa_handler = count, .sa_flags = SA_RESTART};
    sigaction(SIGALRM, &act, NULL);
    setitimer(ITIMER_REAL, &often, NULL);
}

int main(int argc, char **argv)
{
    pthread_t t;
    if (argc < 3)
        return 2;
    bool crosses = strcmp(argv[1], "cycle") == 0;
    jumper = pthread_self();
    signal(SIGUSR1, jump);
    pthread_mutex_lock(&b);
    if (strcmp(argv[1], "real") == 0)
        interrupt_often();
    else
        pthread_create(&t, NULL, crosses ? cross : interrupt, NULL);
    while (crosses && !atomic_load(&locked))
        sched_yield();
    if (sigsetjmp(target, 1) == 0) {
        pthread_mutex_lock(crosses ? &a : &b);
        abort();
    }
    if (strcmp(argv[1], "end") == 0)
        return 0;
    compute_until(argv[2]);
    pthread_mutex_unlock(&b);
    pthread_join(t, NULL);
    puts("ok");
    return 0;
}
