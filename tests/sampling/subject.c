/* SPDX-License-Identifier: MIT */
/*
 * Programs to be sampled, which report what they did:
 *
 *     subject shares THREADS MS    each thread spends MS of CPU time, 70 % in seventy() and 30 % in thirty(): prints "share NAME
 *                                  NS" with the CPU time that the thread clocks show
 *     subject brief THREADS MS     the same in one step in each of THREADS threads, one after the other
 *     subject deep MS              CPU time below 25 nested functions, deep1() to deep25()
 *     subject serve FILE           threads come and go until FILE exists; prints "ready"
 *     subject locks MS             two threads compute under one lock, MS of CPU time each: prints "held NS" and "life NS"
 *     subject pairs MS            two threads lock and unlock locks of their own, MS of CPU time each: prints "used NS"
 *     subject signals MS           blocks all signals, computes, and waits for all, by each function: prints "waited N of 3"
 *     subject actions MS           sets the default of all signals and computes, then the same with handlers: prints "kept 2 of 2"
 *     subject forks MS             a child process computes in child_work(), the parent in parent_work()
 *     subject execs MS STAGE       computes in seventy(), and in thirty() once it has executed itself with STAGE "after"; STAGE "named"
 *                                  names its thread before, at both ends, and "quiet" does not
 */
#define _GNU_SOURCE
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define OWN __attribute__((noinline, noclone))

enum { MS = 1000000, THREADS_MAX = 256 };

static volatile unsigned long sink;

static long long now(clockid_t clock)
{
    struct timespec t;
    clock_gettime(clock, &t);
    return t.tv_sec * 1000000000LL + t.tv_nsec;
}

/* Computes for that much CPU time of the thread; the clock is read rarely, since its functions keep no frame pointer. Inlined, so that
 * the caller has the samples. */
static inline __attribute__((always_inline)) long long compute(long long ns)
{
    long long begin = now(CLOCK_THREAD_CPUTIME_ID), end = begin + ns, at = begin;
    while (at < end) {
        for (int i = 0; i < 500000; i++)
            sink += (unsigned long)i;
        at = now(CLOCK_THREAD_CPUTIME_ID);
    }
    return at - begin;
}

static OWN long long seventy(long long ns)
{
    long long used = compute(ns);
    sink++;
    return used;
}

static OWN long long thirty(long long ns)
{
    long long used = compute(ns);
    sink += 2;
    return used;
}

/* ------------------------------------------------------------------------------------------------------- shares */

struct shares {
    pthread_t thread;
    long long ns, a, b;
};

static OWN void shares_step(struct shares *s)
{
    s->a += seventy(7 * MS);
    s->b += thirty(3 * MS);
}

static void *shares_run(void *arg)
{
    struct shares *s = arg;
    while (s->a + s->b < s->ns)
        shares_step(s);
    return NULL;
}

static int shares(int threads, long long ms)
{
    static struct shares all[THREADS_MAX];
    long long a = 0, b = 0;
    for (int i = 0; i < threads; i++) {
        all[i].ns = ms * MS;
        if (pthread_create(&all[i].thread, NULL, shares_run, &all[i]) != 0)
            return 1;
    }
    for (int i = 0; i < threads; i++) {
        pthread_join(all[i].thread, NULL);
        a += all[i].a;
        b += all[i].b;
    }
    printf("share seventy %lld\nshare thirty %lld\n", a, b);
    return 0;
}

static void *brief_run(void *arg)
{
    struct shares *s = arg;
    s->a += seventy(s->ns * 7 / 10);
    s->b += thirty(s->ns * 3 / 10);
    return NULL;
}

static int brief(int threads, long long ms)
{
    struct shares s = {.ns = ms * MS};
    for (int i = 0; i < threads; i++) {
        if (pthread_create(&s.thread, NULL, brief_run, &s) != 0)
            return 1;
        pthread_join(s.thread, NULL);
    }
    printf("share seventy %lld\nshare thirty %lld\n", s.a, s.b);
    return 0;
}

/* --------------------------------------------------------------------------------------------------------- deep */

#define DEEP(n, next)                            \
    static OWN long long deep##n(long long ns)   \
    {                                            \
        char local[16 * (n)];                    \
        memset(local, n, sizeof local);          \
        long long used = next(ns);               \
        sink += (unsigned long)local[used & 15]; \
        return used;                             \
    }
DEEP(25, compute)
DEEP(24, deep25)
DEEP(23, deep24)
DEEP(22, deep23)
DEEP(21, deep22)
DEEP(20, deep21)
DEEP(19, deep20)
DEEP(18, deep19)
DEEP(17, deep18)
DEEP(16, deep17)
DEEP(15, deep16)
DEEP(14, deep15)
DEEP(13, deep14)
DEEP(12, deep13)
DEEP(11, deep12)
DEEP(10, deep11)
DEEP(9, deep10)
DEEP(8, deep9)
DEEP(7, deep8)
DEEP(6, deep7)
DEEP(5, deep6)
DEEP(4, deep5)
DEEP(3, deep4)
DEEP(2, deep3)
DEEP(1, deep2)

/* -------------------------------------------------------------------------------------------------------- serve */

static void *serve_briefly(void *arg)
{
    (void)arg;
    seventy(20 * MS);
    return NULL;
}

/* A thread that creates threads, so that new ones inherit from it and from main(). */
static void *serve_run(void *arg)
{
    pthread_t t;
    while (access(arg, F_OK) != 0) {
        if (pthread_create(&t, NULL, serve_briefly, NULL) != 0)
            return NULL;
        thirty(10 * MS);
        pthread_join(t, NULL);
    }
    return NULL;
}

static int serve(char *file)
{
    pthread_t t[2];
    prctl(PR_SET_PDEATHSIG, SIGKILL); /* a test that fails leaves nothing behind */
    for (int i = 0; i < 2; i++)
        if (pthread_create(&t[i], NULL, serve_run, file) != 0)
            return 1;
    puts("ready");
    fflush(stdout);
    for (int i = 0; i < 2; i++)
        pthread_join(t[i], NULL);
    return 0;
}

/* -------------------------------------------------------------------------------------------------------- pairs */

static void *pairs_run(void *arg)
{
    enum { PAIRS = 10000 };
    pthread_mutex_t own = PTHREAD_MUTEX_INITIALIZER;
    long long *ns = arg, begin = now(CLOCK_THREAD_CPUTIME_ID), end = begin + *ns, at = begin;
    while (at < end) {
        for (int i = 0; i < PAIRS; i++) {
            pthread_mutex_lock(&own);
            pthread_mutex_unlock(&own);
        }
        at = now(CLOCK_THREAD_CPUTIME_ID);
    }
    *ns = at - begin;
    return NULL;
}

static int pairs(long long ms)
{
    pthread_t t;
    long long ns[2] = {ms * MS, ms * MS};
    if (pthread_create(&t, NULL, pairs_run, &ns[0]) != 0)
        return 1;
    pairs_run(&ns[1]);
    pthread_join(t, NULL);
    printf("used %lld\n", ns[0] + ns[1]);
    return 0;
}

/* -------------------------------------------------------------------------------------------------------- locks */

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static OWN void under_lock(long long ns)
{
    pthread_mutex_lock(&lock);
    compute(ns);
    pthread_mutex_unlock(&lock);
}

static void *locks_run(void *arg)
{
    for (long long left = *(long long *)arg; left > 0; left -= 10 * MS)
        under_lock(10 * MS);
    return NULL;
}

static int locks(long long ms)
{
    pthread_t t[2];
    long long ns = ms * MS;
    for (int i = 0; i < 2; i++)
        if (pthread_create(&t[i], NULL, locks_run, &ns) != 0)
            return 1;
    for (int i = 0; i < 2; i++)
        pthread_join(t[i], NULL);
    return 0;
}

/* -------------------------------------------------------------------------------------------------------- forks */

static OWN void child_work(long long ns)
{
    compute(ns);
    sink++;
}

static OWN void parent_work(long long ns)
{
    compute(ns);
    sink += 2;
}

static int forks(long long ms)
{
    pid_t child = fork();
    if (child == 0) {
        child_work(ms * MS);
        _exit(0);
    }
    parent_work(ms * MS);
    return child < 0 || waitpid(child, NULL, 0) != child;
}

/* ------------------------------------------------------------------------------------------------------ signals */

/* Sends itself the signal that is delivered last, and waits for all. */
static bool signals_wait(const sigset_t *all, int how, long long ms)
{
    const struct timespec most = {60, 0};
    siginfo_t info = {0};
    int got = 0;
    compute(ms * MS);
    raise(SIGRTMAX);
    if (how == 0)
        return sigwait(all, &got) == 0 && got == SIGRTMAX;
    got = how == 1 ? sigwaitinfo(all, &info) : sigtimedwait(all, &info, &most);
    return got == SIGRTMAX && info.si_signo == SIGRTMAX;
}

static int signals(long long ms)
{
    sigset_t all;
    int n = 0;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, NULL);
    for (int how = 0; how < 3; how++)
        n += signals_wait(&all, how, ms);
    printf("waited %d of 3\n", n);
    return n != 3;
}

/* ------------------------------------------------------------------------------------------------------ actions */

static volatile sig_atomic_t actions_got;

static void actions_on_signal(int sig)
{
    actions_got = sig;
}

/* @return whether each real-time signal had the action `before`. */
static bool actions_set(void (*before)(int), void (*handler)(int), bool by_signal)
{
    const struct sigaction set = {.sa_handler = handler};
    struct sigaction old;
    bool ok = true;
    for (int s = SIGRTMIN; s <= SIGRTMAX; s++)
        if (by_signal)
            ok = ok && signal(s, handler) == before;
        else
            ok = ok && sigaction(s, &set, &old) == 0 && old.sa_handler == before;
    return ok;
}

static int actions(long long ms)
{
    int n = actions_set(SIG_DFL, SIG_IGN, false) && actions_set(SIG_IGN, SIG_DFL, true);
    seventy(ms * MS);
    n +=
        actions_set(SIG_DFL, actions_on_signal, ms % 2 != 0) && actions_set(actions_on_signal, actions_on_signal, true);
    seventy(ms * MS);
    printf("kept %d of 2, signal %d\n", n, (int)actions_got);
    actions_set(actions_on_signal, SIG_DFL, false);
    seventy(ms * MS);
    return n != 2 || actions_got != 0;
}

/* -------------------------------------------------------------------------------------------------------- execs */

static int execs(char **argv)
{
    long long ns = atoll(argv[2]) * MS;
    bool after = strcmp(argv[3], "after") == 0, named = after || strcmp(argv[3], "named") == 0;
    if (named)
        pthread_setname_np(pthread_self(), argv[3]);
    sink += (unsigned long)(after ? thirty : seventy)(ns);
    if (named)
        pthread_setname_np(pthread_self(), argv[3]);
    return after ? 0 : execl("/proc/self/exe", argv[0], argv[1], argv[2], "after", (char *)NULL);
}

int main(int argc, char **argv)
{
    const char *what = argc > 2 ? argv[1] : "";
    if (strcmp(what, "shares") == 0 && argc > 3)
        return shares(atoi(argv[2]), atoll(argv[3]));
    if (strcmp(what, "brief") == 0 && argc > 3)
        return brief(atoi(argv[2]), atoll(argv[3]));
    if (strcmp(what, "deep") == 0)
        return deep1(atoll(argv[2]) * MS) == 0;
    if (strcmp(what, "serve") == 0)
        return serve(argv[2]);
    if (strcmp(what, "locks") == 0)
        return locks(atoll(argv[2]));
    if (strcmp(what, "pairs") == 0)
        return pairs(atoll(argv[2]));
    if (strcmp(what, "forks") == 0)
        return forks(atoll(argv[2]));
    if (strcmp(what, "signals") == 0)
        return signals(atoll(argv[2]));
    if (strcmp(what, "actions") == 0)
        return actions(atoll(argv[2]));
    if (strcmp(what, "execs") == 0 && argc > 3)
        return execs(argv);
    fputs("usage: subject shares|deep|serve|locks|pairs|forks|signals|actions|execs ...\n", stderr);
    return 2;
}
