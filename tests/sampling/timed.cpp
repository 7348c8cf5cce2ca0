/* SPDX-License-Identifier: MIT */
/*
 * Functions that return, throw, jump, end their thread and call themselves; printed is what each measured.
 *
 * timed [wait]: with an argument it waits for SIGUSR1 before it begins.
 *
 * A line is a function, its calls, those that returned, and of these the time within the function and around the call, in ns.
 */
#include <csetjmp>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <mutex>
#include <pthread.h>
#include <sys/wait.h>
#include <unistd.h>

static volatile int sink;

struct Truth {
    const char *name;
    long calls, returned, inside, around;
};
static Truth truths[] = {{"timed_work", 0, 0, 0, 0}, {"timed_recursion", 0, 0, 0, 0}, {"timed_throw", 0, 0, 0, 0},
                         {"timed_jump", 0, 0, 0, 0}, {"timed_end", 0, 0, 0, 0},       {"timed_tail", 0, 0, 0, 0}};
enum { WORK, RECURSION, THROW, JUMP, END, TAIL };
static std::mutex truths_lock;

static long now()
{
    timespec t;
    clock_gettime(CLOCK_MONOTONIC_RAW, &t);
    return t.tv_sec * 1000000000L + t.tv_nsec;
}

static void spin(long ns)
{
    for (long end = now() + ns; now() < end;)
        ;
}

static void add(int which, long calls, long returned, long inside, long around)
{
    std::lock_guard<std::mutex> guard(truths_lock);
    Truth &t = truths[which];
    t.calls += calls;
    t.returned += returned;
    t.inside += inside;
    t.around += around;
}

extern "C" {
__attribute__((noinline)) long timed_work(long ns)
{
    long begin = now();
    spin(ns);
    return now() - begin;
}

/* Its own time, without that of calls within. */
__attribute__((noinline)) long timed_recursion(int depth)
{
    long begin = now(), inside = 0, within = 0;
    spin(100000);
    if (depth > 1) {
        long before = now();
        inside = timed_recursion(depth - 1);
        within = now() - before;
    }
    sink = depth;
    return inside + now() - begin - within;
}

__attribute__((noinline)) long timed_throw(int n)
{
    long begin = now();
    spin(100000);
    if (n % 2)
        throw n;
    return now() - begin;
}

__attribute__((noinline)) long last(long inside)
{
    spin(100000);
    return inside;
}

/* It ends with a jump to last(). */
__attribute__((noinline, optimize("optimize-sibling-calls"))) long timed_tail(long ns)
{
    long begin = now();
    spin(ns);
    return last(now() - begin);
}

static jmp_buf env;

__attribute__((noinline)) long timed_jump(int n)
{
    long begin = now();
    spin(100000);
    if (n % 2)
        longjmp(env, 1);
    return now() - begin;
}

__attribute__((noinline)) void timed_end()
{
    spin(100000);
    pthread_exit(nullptr);
}
}

static void work(int times)
{
    for (int i = 0; i < times; i++) {
        long begin = now(), inside = timed_work(300000);
        add(WORK, 1, 1, inside, now() - begin);
    }
}

static void *thread(void *arg)
{
    work(10);
    if (arg) {
        add(END, 1, 0, 0, 0);
        timed_end();
    }
    return arg;
}

static void recurse(int depth)
{
    long begin = now(), inside = timed_recursion(depth);
    add(RECURSION, depth, depth, inside, now() - begin);
}

static void leave()
{
    for (volatile int i = 0; i < 20; i++) {
        long begin = now(), inside = 0;
        try {
            inside = timed_throw(i);
            add(THROW, 1, 1, inside, now() - begin);
        } catch (int) {
            add(THROW, 1, 0, 0, 0);
        }
    }
    for (volatile int i = 0; i < 20; i++) {
        if (setjmp(env)) {
            add(JUMP, 1, 0, 0, 0);
            continue;
        }
        long begin = now(), inside = timed_jump(i);
        add(JUMP, 1, 1, inside, now() - begin);
    }
}

static void end_with_call()
{
    for (int i = 0; i < 10; i++) {
        long begin = now(), inside = timed_tail(200000);
        add(TAIL, 1, 1, inside, now() - begin - 100000);
    }
}

static void fork_child()
{
    int ends[2];
    Truth child;
    if (pipe(ends) != 0)
        exit(1);
    pid_t pid = fork();
    if (pid == 0) {
        long begin = now(), inside = timed_work(1000000);
        child = {"", 1, 1, inside, now() - begin};
        _exit(write(ends[1], &child, sizeof child) != sizeof child);
    }
    if (read(ends[0], &child, sizeof child) != sizeof child || waitpid(pid, nullptr, 0) != pid)
        exit(1);
    add(WORK, 1, 1, child.inside, child.around);
}

static void wait_for_signal()
{
    sigset_t set;
    int signal;
    sigemptyset(&set);
    sigaddset(&set, SIGUSR1);
    sigprocmask(SIG_BLOCK, &set, nullptr);
    printf("# waits\n");
    fflush(stdout);
    sigwait(&set, &signal);
}

int main(int argc, char **)
{
    pthread_t threads[2];
    if (argc > 1)
        wait_for_signal();
    for (long i = 0; i < 2; i++)
        if (pthread_create(&threads[i], nullptr, thread, reinterpret_cast<void *>(i)) != 0)
            return 1;
    for (pthread_t t : threads)
        pthread_join(t, nullptr);
    recurse(9);
    recurse(1);
    recurse(99);
    leave();
    end_with_call();
    fork_child();
    for (const Truth &t : truths)
        printf("%s %ld %ld %ld %ld\n", t.name, t.calls, t.returned, t.inside, t.around);
}
