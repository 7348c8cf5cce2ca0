/* SPDX-License-Identifier: MIT */
/*
 * Functions whose return addresses are replaced, and those who look at the stack meanwhile. Each mode ends with 1 if something is not as
 * in a program that is not recorded.
 *
 *     returns cancel       a thread is canceled, another calls pthread_exit(): destructors run, in order
 *     returns rethrow      an exception is caught and thrown again, and std::uncaught_exceptions() counts
 *     returns trace        backtrace() sees the callers
 *     returns moved        a coroutine begins in one thread and returns in another
 *     returns forced N     N exceptions in each of four threads, from different depths
 */
#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <execinfo.h>
#include <pthread.h>
#include <stdexcept>
#include <ucontext.h>
#include <unistd.h>

#define OWN __attribute__((noinline))
#define PLAIN __attribute__((noinline, patchable_function_entry(0)))

static volatile int sink;

PLAIN static void check(bool is, const char *what)
{
    if (is)
        return;
    std::fprintf(stderr, "returns: %s\n", what);
    std::_Exit(1);
}

/* ------------------------------------------------------------------------------------------------ ends of threads */

static int order[8], ended;

struct ends {
    int n;
    explicit ends(int number) : n(number)
    {
    }
    OWN ~ends()
    {
        order[ended++] = n;
    }
};

OWN static void waits(int depth)
{
    ends e(depth);
    if (depth > 0)
        waits(depth - 1);
    else
        for (;;)
            pause();
    sink = sink + 1;
}

OWN static void leaves(int depth)
{
    ends e(depth);
    if (depth > 0)
        leaves(depth - 1);
    else
        pthread_exit(nullptr);
    sink = sink + 1;
}

OWN static void *is_canceled(void *)
{
    waits(2);
    return nullptr;
}

OWN static void *exits(void *)
{
    leaves(2);
    return nullptr;
}

PLAIN static void one_thread(void *(*run)(void *), bool cancel)
{
    pthread_t t;
    ended = 0;
    check(pthread_create(&t, nullptr, run, nullptr) == 0, "no thread");
    if (cancel)
        check(pthread_cancel(t) == 0, "not canceled");
    pthread_join(t, nullptr);
    if (!cancel || ended > 0) /* a thread may be canceled before it has begun to wait */
        for (int i = 0; !cancel && i < 3; i++)
            check(order[i] == i, "destructors in another order");
    check(cancel || ended == 3, "destructors have not run");
}

/* ----------------------------------------------------------------------------------------------------- exceptions */

OWN static int thrower(int n)
{
    if (n % 7 == 0)
        throw std::runtime_error("seven");
    if (n % 5 == 0)
        return thrower(n - 1) + 1;
    return n;
}

OWN static int passes(int n)
{
    try {
        return thrower(n);
    } catch (const std::exception &) {
        check(std::uncaught_exceptions() == 0, "an exception is still there");
        throw;
    }
}

OWN static int catches(int n)
{
    try {
        return passes(n);
    } catch (const std::runtime_error &e) {
        check(std::strcmp(e.what(), "seven") == 0, "another exception");
        return -1;
    }
}

PLAIN static void all_exceptions(int n)
{
    for (int i = 1; i <= n; i++) {
        int want = i % 7 == 0 ? -1 : i % 5 != 0 ? i : (i - 1) % 7 == 0 ? -1 : i;
        check(catches(i) == want, "another result");
    }
}

PLAIN static void *throws_in_thread(void *n)
{
    all_exceptions(*static_cast<int *>(n));
    return nullptr;
}

/* ---------------------------------------------------------------------------------------------------------- stacks */

OWN static int looks()
{
    void *frames[32];
    int n = backtrace(frames, 32), found = 0;
    char **names = backtrace_symbols(frames, n);
    for (int i = 0; i < n; i++)
        found += std::strstr(names[i], "third_caller") != nullptr ||
                 std::strstr(names[i], "second_caller") != nullptr ||
                 std::strstr(names[i], "first_caller") != nullptr || std::strstr(names[i], "(main") != nullptr;
    std::free(names);
    return found;
}

extern "C" OWN int third_caller()
{
    int n = looks();
    sink = n;
    return n;
}

extern "C" OWN int second_caller()
{
    int n = third_caller();
    sink = n;
    return n;
}

extern "C" OWN int first_caller()
{
    int n = second_caller();
    sink = n;
    return n;
}

/* ------------------------------------------------------------------------------------------------------ coroutines */

static ucontext_t inside, outside;
static std::atomic<bool> done;

OWN static int yields(int n)
{
    swapcontext(&inside, &outside);
    sink = n;
    return n + 1;
}

OWN static void coroutine()
{
    check(yields(1) == 2 && yields(2) == 3, "another result of a coroutine");
    done = true;
}

PLAIN static void *resumes(void *)
{
    swapcontext(&outside, &inside);
    return nullptr;
}

PLAIN static void moved()
{
    static char stack[256 * 1024];
    getcontext(&inside);
    inside.uc_stack.ss_sp = stack;
    inside.uc_stack.ss_size = sizeof stack;
    inside.uc_link = &outside;
    makecontext(&inside, coroutine, 0);
    for (int i = 0; i < 3; i++) {
        pthread_t t;
        check(pthread_create(&t, nullptr, resumes, nullptr) == 0, "no thread");
        pthread_join(t, nullptr);
    }
    check(done, "the coroutine has not returned");
}

int main(int argc, char **argv)
{
    const char *what = argc > 1 ? argv[1] : "";
    int n = argc > 2 ? std::atoi(argv[2]) : 100;
    if (std::strcmp(what, "cancel") == 0) {
        for (int i = 0; i < 20; i++) {
            one_thread(is_canceled, true);
            one_thread(exits, false);
        }
        std::puts("calls leaves(int) 60\ncalls exits(void*) 20");
    } else if (std::strcmp(what, "rethrow") == 0) {
        all_exceptions(n);
        std::printf("calls catches(int) %d\ncalls passes(int) %d\nedge catches(int) passes(int) %d\n", n, n, n);
    } else if (std::strcmp(what, "trace") == 0) {
        check(first_caller() == 4, "callers are missing in backtrace()");
        std::puts("calls first_caller 1\nedge second_caller third_caller 1");
    } else if (std::strcmp(what, "moved") == 0) {
        moved();
        std::puts("calls yields(int) 2\ncalls coroutine() 1");
    } else if (std::strcmp(what, "forced") == 0) {
        pthread_t t[4];
        for (pthread_t &i : t)
            check(pthread_create(&i, nullptr, throws_in_thread, &n) == 0, "no thread");
        for (pthread_t &i : t)
            pthread_join(i, nullptr);
        std::printf("calls catches(int) %d\nedge catches(int) passes(int) %d\n", 4 * n, 4 * n);
    } else {
        return 2;
    }
}
