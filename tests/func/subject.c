/* SPDX-License-Identifier: MIT */
/* A program of instrumented functions, which prints how often it called them: "calls NAME N", "edge CALLER CALLEE N". */
#include <alloca.h>
#include <dlfcn.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

#define PLAIN __attribute__((no_instrument_function))
#define OWN __attribute__((noinline))

static volatile unsigned sink;

OWN static void leaf(void)
{
    sink++;
}

/* ---------------------------------------------------------------------------------------------------- recursion */

static uint64_t fib_calls;

OWN static int fib(int n)
{
    fib_calls++;
    return n < 2 ? n : fib(n - 1) + fib(n - 2);
}

OWN static int odd(int n);

OWN static int even(int n)
{
    leaf();
    return n == 0 ? 1 : odd(n - 1);
}

OWN static int odd(int n)
{
    return n == 0 ? 0 : even(n - 1);
}

static void recursion(void)
{
    sink += (unsigned)fib(20);
    sink += (unsigned)even(40000); /* deep: on the stack at once */
    printf("calls fib %llu\nedge recursion fib 1\nedge fib fib %llu\n", (unsigned long long)fib_calls,
           (unsigned long long)fib_calls - 1);
    printf("calls even 20001\ncalls odd 20000\ncalls leaf 20001\nedge recursion even 1\nedge odd even 20000\n");
}

/* ------------------------------------------------------------------------------------------------------ longjmp */

static jmp_buf back;

OWN static void jumps(int depth)
{
    if (depth > 0)
        jumps(depth - 1);
    else
        longjmp(back, 1);
    sink++; /* no tail call */
}

OWN static void after_jump(void)
{
    leaf();
}

OWN static void jump_round(void)
{
    if (setjmp(back) == 0)
        jumps(3);
    else
        after_jump();
}

static void jump(void)
{
    for (int i = 0; i < 10; i++)
        jump_round();
    printf("calls jumps 40\ncalls after_jump 10\nedge jump_round jumps 10\nedge jump_round after_jump 10\n"
           "edge jump jump_round 10\nedge after_jump leaf 10\n");
}

/* One function that is left again and again at the same place of the stack. */
static void jump_same(void)
{
    for (volatile int i = 0; i < 10; i++)
        if (setjmp(back) == 0)
            jumps(0);
    leaf();
    printf("calls jumps 10\nedge jump_same jumps 10\nedge jump_same leaf 1\n");
}

OWN static void jumps_at_once(void)
{
    longjmp(back, 1);
}

/* Its frame reaches deeper than that of the function that was left. */
OWN static void wide(void)
{
    volatile char local[1024];
    local[sink % sizeof local] = 1;
    leaf();
}

OWN static void beside_round(void)
{
    if (setjmp(back) == 0)
        jumps_at_once();
    wide();
    sink++; /* no tail call */
}

static void jump_beside(void)
{
    for (volatile int i = 0; i < 10; i++)
        beside_round();
    printf("calls jumps_at_once 10\ncalls wide 10\nedge beside_round jumps_at_once 10\nedge beside_round wide 10\n"
           "edge jump_beside beside_round 10\nedge wide leaf 10\n");
}

/* -------------------------------------------------------------------------------------- stack that grows by itself */

OWN static void *variable(int n)
{
    volatile char *p = alloca((size_t)n * 64);
    p[0] = 1;
    leaf();
    return NULL;
}

__attribute__((always_inline)) static inline void inlined(void)
{
    leaf();
}

OWN static void inliner(void)
{
    inlined();
    inlined();
}

static void frames(void)
{
    for (int i = 1; i <= 50; i++)
        variable(i);
    for (int i = 0; i < 5; i++)
        inliner();
    printf("calls variable 50\nedge variable leaf 50\ncalls inliner 5\ncalls inlined 10\nedge inliner inlined 10\n"
           "edge inlined leaf 10\n");
}

/* ----------------------------------------------------------------------------------------------------- handlers */

static volatile uint64_t handled, worked;

OWN static void in_handler(void)
{
    leaf();
}

static void handler(int signal)
{
    (void)signal;
    in_handler();
    handled++;
}

OWN static void work_step(void)
{
    leaf();
}

static void install(int signal, int flags)
{
    struct sigaction a = {.sa_flags = flags};
    a.sa_handler = handler;
    sigaction(signal, &a, NULL);
}

/* Signals interrupt the hooks anywhere. */
static void storm(void)
{
    const struct itimerval on = {{0, 200}, {0, 200}}, off = {{0, 0}, {0, 0}};
    install(SIGALRM, SA_RESTART);
    setitimer(ITIMER_REAL, &on, NULL);
    while (handled < 300) {
        work_step();
        worked++;
    }
    setitimer(ITIMER_REAL, &off, NULL);
    uint64_t h = handled, w = worked;
    printf(
        "calls handler %llu\ncalls in_handler %llu\ncalls work_step %llu\ncalls leaf %llu\nedge in_handler leaf %llu\n",
        (unsigned long long)h, (unsigned long long)h, (unsigned long long)w, (unsigned long long)(h + w),
        (unsigned long long)h);
}

OWN static void raiser(int signal)
{
    leaf();
    raise(signal);
    leaf();
}

/* On a stack of their own, above and below the thread's. */
static char low_stack[1 << 16];

static void other_stack(void)
{
    char *high = alloca(1 << 16);
    const stack_t stacks[] = {{.ss_sp = low_stack, .ss_size = sizeof low_stack}, {.ss_sp = high, .ss_size = 1 << 16}};
    install(SIGUSR1, SA_ONSTACK);
    for (int i = 0; i < 2; i++) {
        sigaltstack(&stacks[i], NULL);
        raiser(SIGUSR1);
    }
    printf("calls raiser 2\ncalls handler 2\nedge raiser handler 2\nedge raiser leaf 4\nedge handler in_handler 2\n"
           "edge in_handler leaf 2\n");
}

/* ------------------------------------------------------------------------------------------------------ threads */

enum { THREADS = 4, ROUNDS = 20000, SHORT_THREADS = 600 };

static pthread_key_t key;

OWN static void at_thread_end(void *arg)
{
    (void)arg;
    leaf();
}

OWN static void thread_step(void)
{
    leaf();
}

OWN static void leave_thread(void)
{
    leaf();
    pthread_exit(NULL);
}

static void *thread_main(void *arg)
{
    pthread_setspecific(key, &key);
    for (int i = 0; i < ROUNDS; i++)
        thread_step();
    if (arg)
        leave_thread();
    return NULL;
}

static void threads(void)
{
    pthread_t t[THREADS];
    pthread_key_create(&key, at_thread_end);
    for (int i = 0; i < THREADS; i++)
        pthread_create(&t[i], NULL, thread_main, i % 2 ? &t : NULL);
    for (int i = 0; i < THREADS; i++)
        pthread_join(t[i], NULL);
    printf("calls thread_main %d\ncalls thread_step %d\ncalls leave_thread %d\nedge thread_main thread_step %d\n"
           "calls at_thread_end %d\ncalls leaf %d\n",
           THREADS, THREADS * ROUNDS, THREADS / 2, THREADS * ROUNDS, THREADS, THREADS * ROUNDS + THREADS / 2 + THREADS);
}

static void *short_thread(void *arg)
{
    leaf();
    return arg;
}

/* More than have trees of their own. */
static void many_threads(void)
{
    for (int i = 0; i < SHORT_THREADS; i++) {
        pthread_t t;
        if (pthread_create(&t, NULL, short_thread, NULL) == 0)
            pthread_join(t, NULL);
    }
    printf("calls short_thread %d\nedge short_thread leaf %d\n", SHORT_THREADS, SHORT_THREADS);
}

/* --------------------------------------------------------------------------------------------------- end, fork */

OWN static void leaves_by_exit(void)
{
    leaf();
    printf("calls leaves_by_exit 1\ncalls ends 1\ncalls main 1\nedge ends leaves_by_exit 1\n");
    exit(0);
}

OWN static void ends(void)
{
    leaves_by_exit();
    sink++;
}

OWN static void child_step(void)
{
    leaf();
}

/* The child's numbers are for the file of its own; "child" marks them. */
static void forks(void)
{
    leaf();
    fflush(stdout);
    pid_t pid = fork();
    if (pid == 0) {
        for (int i = 0; i < 7; i++)
            child_step();
        exit(0);
    }
    waitpid(pid, NULL, 0);
    leaf();
    printf("child %d\nin-child calls child_step 7\nin-child calls leaf 7\ncalls leaf 2\nedge forks leaf 2\n"
           "none child_step\n",
           (int)pid);
}

/* ------------------------------------------------------------------------------------------------------ plug-ins */

/* Two libraries alternately at the same address: each function keeps its name. */
static void plugins(char **paths)
{
    for (int i = 0; i < 6; i++) {
        void *p = dlopen(paths[i % 2], RTLD_NOW | RTLD_LOCAL);
        if (!p) {
            puts(dlerror());
            exit(1);
        }
        void (*call)(void);
        *(void **)(void *)&call = dlsym(p, i % 2 ? "second_plugin" : "first_plugin");
        call();
        call();
        dlclose(p);
    }
    printf("calls first_plugin 6\ncalls second_plugin 6\n");
}

/* Called from another working directory than the one that its path is relative to. */
static void plugin_elsewhere(const char *path)
{
    void *p = dlopen(path, RTLD_NOW | RTLD_LOCAL), *symbol = p ? dlsym(p, "first_plugin") : NULL;
    void (*call)(void);
    if (!symbol || chdir("/") != 0) {
        puts(dlerror());
        exit(1);
    }
    *(void **)(void *)&call = symbol;
    call();
    call();
    printf("calls first_plugin 2\n");
}

/* ----------------------------------------------------------------------------------------------------- limits */

static void killed(void)
{
    for (int i = 0; i < 1000; i++)
        leaf();
    raise(SIGKILL);
}

OWN static unsigned descend(unsigned n)
{
    return n == 0 ? sink : descend(n - 1) + 1;
}

static void deep(void)
{
    sink += descend(300000);
    leaf();
}

/* Four functions that call each other in all orders. */
static int remaining;
static unsigned calls_of_paths;

#define PATH(name)                       \
    OWN static void name(unsigned order) \
    {                                    \
        calls_of_paths++;                \
        next_path(order / 4);            \
    }
static void next_path(unsigned order) PLAIN;
PATH(path_a)
PATH(path_b)
PATH(path_c)
PATH(path_d)

static void next_path(unsigned order)
{
    static void (*const all[])(unsigned) = {path_a, path_b, path_c, path_d};
    if (remaining-- > 0)
        all[order % 4](order);
}

static void paths(void)
{
    for (unsigned order = 0; order < 4096; order++) {
        remaining = 6;
        next_path(order);
    }
    printf("total %u\n", calls_of_paths + 2); /* with main and this */
}

int main(int argc, char **argv)
{
    static const struct {
        const char *name;
        void (*run)(void);
    } all[] = {{"recursion", recursion},
               {"jump", jump},
               {"jump_same", jump_same},
               {"jump_beside", jump_beside},
               {"frames", frames},
               {"storm", storm},
               {"other_stack", other_stack},
               {"threads", threads},
               {"many_threads", many_threads},
               {"ends", ends},
               {"forks", forks},
               {"deep", deep},
               {"killed", killed},
               {"paths", paths}};
    if (argc == 4 && strcmp(argv[1], "plugins") == 0)
        plugins(argv + 2);
    if (argc == 3 && strcmp(argv[1], "plugin_elsewhere") == 0)
        plugin_elsewhere(argv[2]);
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        if (argc > 1 && strcmp(argv[1], all[i].name) == 0)
            all[i].run();
    return 0;
}
