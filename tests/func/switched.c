/* SPDX-License-Identifier: MIT */
/* Instrumented functions that are called on request, while recording is switched: by the program itself, and from outside. */
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

#include <upmu/func.h>

#define PLAIN __attribute__((no_instrument_function))
#define OWN __attribute__((noinline))

static volatile unsigned sink;

OWN static void leaf(void)
{
    sink++;
}

OWN static void helper(void)
{
    leaf();
    sink++;
}

OWN static void work(int n)
{
    for (int i = 0; i < n; i++)
        helper();
}

PLAIN static int failed(const char *what, int rc)
{
    fprintf(stderr, "%s: %d: %s\n", what, rc, upmu_error());
    exit(1);
}

#define CHECK(call, want)       \
    do {                        \
        int rc_ = (call);       \
        if (rc_ != (want))      \
            failed(#call, rc_); \
    } while (0)

/* ------------------------------------------------------------------------------------------------- by the program */

/* It is stopped and started again within calls; what sleeps meanwhile has no time. */
OWN static void outer(void)
{
    work(2);
    CHECK(upmu_func_stop(), 0);
    CHECK(upmu_func_stop(), 1);
    usleep(300000);
    work(1000);
    CHECK(upmu_func_start(), 0);
    CHECK(upmu_func_start(), 1);
    work(3);
}

PLAIN static void api(void)
{
    struct upmu_func_selection s = {.size = sizeof s, .exclude = "^leaf$"};
    work(1000);
    CHECK(upmu_func_select(&s), UPMU_E_STATE);
    CHECK(upmu_func_start(), 0);
    outer();
    outer();
    CHECK(upmu_func_select(&s), 0);
    work(5);
    s.exclude = "";
    s.depth = 1;
    CHECK(upmu_func_select(&s), 0);
    work(7);
    s.depth = UPMU_FUNC_NO_DEPTH;
    s.min_ns = 1;
    CHECK(upmu_func_select(&s), UPMU_E_STATE); /* there are no events */
    s.min_ns = 0;
    CHECK(upmu_func_select(&s), 0);
    work(11);
    CHECK(upmu_func_stop(), 0);
    work(1000);
}

/* ----------------------------------------------------------------------------------------------------- from outside */

static int to_thread[2], from_thread[2];

PLAIN static void *serve(void *arg)
{
    int n;
    while (read(to_thread[0], &n, sizeof n) == sizeof n) {
        work(n);
        if (write(from_thread[1], &n, sizeof n) != sizeof n)
            break;
    }
    return arg;
}

PLAIN static void both(int n)
{
    int done;
    if (write(to_thread[1], &n, sizeof n) != sizeof n || read(from_thread[0], &done, sizeof done) != sizeof done)
        exit(1);
    work(n);
}

PLAIN static void child(int n)
{
    pid_t pid = fork();
    if (pid == 0) {
        work(n);
        exit(0);
    }
    if (pid < 0 || waitpid(pid, NULL, 0) != pid)
        exit(1);
}

/* Each line is a number of calls in two threads, or "child N". */
OWN static void requests(void)
{
    char line[64];
    while (fgets(line, sizeof line, stdin)) {
        if (strncmp(line, "child ", 6) == 0)
            child(atoi(line + 6));
        else
            both(atoi(line));
        puts("done");
    }
}

/* ----------------------------------------------------------------------------------------------------- under signals */

static unsigned handled;

OWN static void on_tick(int signal)
{
    (void)signal;
    handled++;
    leaf();
}

/* Another thread switches all the time, and signals interrupt calls anywhere. */
PLAIN static void *flip(void *stop)
{
    while (!__atomic_load_n((int *)stop, __ATOMIC_RELAXED)) {
        (void)upmu_func_stop();
        (void)upmu_func_start();
        usleep(20);
    }
    return NULL;
}

PLAIN static void storm(void)
{
    pthread_t thread;
    int stop = 0;
    struct sigaction action = {.sa_handler = on_tick};
    struct itimerval often = {{0, 50}, {0, 50}}, never = {{0, 0}, {0, 0}};
    sigset_t alarm;
    sigemptyset(&alarm);
    sigaddset(&alarm, SIGALRM);
    sigaction(SIGALRM, &action, NULL);
    CHECK(upmu_func_start(), 0);
    pthread_sigmask(SIG_BLOCK, &alarm, NULL); /* to this thread only */
    pthread_create(&thread, NULL, flip, &stop);
    pthread_sigmask(SIG_UNBLOCK, &alarm, NULL);
    setitimer(ITIMER_REAL, &often, NULL);
    for (int i = 0; i < 3000; i++)
        work(100);
    setitimer(ITIMER_REAL, &never, NULL);
    stop = 1;
    pthread_join(thread, NULL);
    (void)upmu_func_start();
    work(10);
    printf("handled %u\n", handled);
}

PLAIN int main(int argc, char **argv)
{
    pthread_t thread;
    if (argc > 1 && strcmp(argv[1], "api") == 0) {
        api();
        return 0;
    }
    if (argc > 1 && strcmp(argv[1], "storm") == 0) {
        storm();
        return 0;
    }
    setvbuf(stdout, NULL, _IOLBF, 0);
    if (pipe(to_thread) != 0 || pipe(from_thread) != 0 || pthread_create(&thread, NULL, serve, NULL) != 0)
        return 1;
    puts("ready");
    requests();
    close(to_thread[1]);
    return pthread_join(thread, NULL);
}
