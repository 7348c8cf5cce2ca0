/* SPDX-License-Identifier: MIT */
/*
 * Cost of the hooks of -finstrument-functions for a call: off, with calling-context trees, and with events of each call too.
 *
 * The floor stores a tick and an address, 16 bytes, into a thread-local ring at entry and at return, and keeps no sums.
 * The library decides at its start whether it records: the program runs its rows with hooks off, and then itself again for each
 * mode, with the environment that switches them on. Events go to a ring: files that grow need new pages.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/tick.h"
#include "bench.h"
#include "files.h"

enum { BATCH = 1000, RING = 1024 };

typedef void hook(void *function, void *site);
hook __cyg_profile_func_enter, __cyg_profile_func_exit;

static _Thread_local struct {
    uint64_t tick, function;
} ring[RING];
static _Thread_local unsigned at;

static void ring_hook(void *function, void *site)
{
    unsigned i = at++ % RING;
    (void)site;
    ring[i].function = (uintptr_t)function;
    ring[i].tick = tick_now();
}

static void empty_hook(void *function, void *site)
{
    (void)function;
    (void)site;
    bench_barrier();
}

struct hooks {
    hook *volatile enter, *volatile leave;
};
static struct hooks library = {__cyg_profile_func_enter, __cyg_profile_func_exit};
static struct hooks floor_ring = {ring_hook, ring_hook}, empty = {empty_hook, empty_hook};
enum { FUNCTIONS = 8 };
static struct {
    _Alignas(16) char code[16];
} functions[FUNCTIONS]; /* any addresses that are no functions */

static void pairs(void *arg, size_t n)
{
    const struct hooks *h = arg;
    for (size_t i = 0; i < n; i++) {
        h->enter(&functions[0], &functions[0]);
        h->leave(&functions[0], &functions[0]);
    }
}

/* Functions and the loops that call them begin cache lines: the rows differ by what the functions have, not by where they are. */
#define ALIGNED __attribute__((noinline, aligned(64)))
#define CALLS(name)                                       \
    ALIGNED static void name##_calls(void *arg, size_t n) \
    {                                                     \
        (void)arg;                                        \
        for (size_t i = 0; i < n; i++)                    \
            name();                                       \
    }
#define LEAF(name, bytes)                                                           \
    ALIGNED __attribute__((patchable_function_entry(bytes))) static void name(void) \
    {                                                                               \
        bench_barrier();                                                            \
    }                                                                               \
    CALLS(name)
LEAF(patchable, 5)
LEAF(plain, 0)

static void compare_off(struct bench *b, const char *name, void (*loop)(void *, size_t))
{
    const struct bench_pair pair = {
        .subject = {.name = name, .loop = loop},
        .floor = {.name = "call of a function without", .loop = plain_calls},
        .n = BATCH,
        .judge = BENCH_ADDED,
        .bar = 0.1,
    };
    (void)bench_compare(b, &pair);
}

#if defined __x86_64__
/* What clang 14 writes for the same function with -fxray-instrument: a jump over nops, a nop for alignment, a return and nops. */
void sled(void);
__asm__(".pushsection .text\n.p2align 6\nsled:\n"
        ".byte 0xeb, 9, 0x66, 0x0f, 0x1f, 0x84, 0, 0, 2, 0, 0\nnop\n"
        "ret\n.byte 0x2e, 0x66, 0x0f, 0x1f, 0x84, 0, 0, 2, 0, 0\n.popsection\n");
CALLS(sled)

static void compare_sled(struct bench *b)
{
    compare_off(b, "call of a function with XRay's sleds, off", sled_calls);
}
#else
static void compare_sled(struct bench *b)
{
    bench_skip(b, "call of a function with XRay's sleds, off", "libupmu patches them on x86-64 only");
}
#endif

/* Functions in turn: the child called last is never the one that is called. */
static inline void in_turn(const struct hooks *h, size_t n, size_t count)
{
    for (size_t i = 0; i < n; i++) {
        void *f = &functions[i % count];
        h->enter(f, &functions[0]);
        h->leave(f, &functions[0]);
    }
}

static void two_in_turn(void *arg, size_t n)
{
    in_turn(arg, n, 2);
}

static void eight_in_turn(void *arg, size_t n)
{
    in_turn(arg, n, FUNCTIONS);
}

static volatile long division;

/* A function of another library, without hooks. */
static void divisions(void *arg, size_t n)
{
    const struct hooks *h = arg;
    for (size_t i = 0; i < n; i++) {
        if (h)
            h->enter(&functions[0], &functions[0]);
        division = ldiv((long)i, 3).quot;
        if (h)
            h->leave(&functions[0], &functions[0]);
    }
}

static void compare_wrapped(struct bench *b)
{
    const struct bench_pair pair = {
        .subject = {.name = "call of a function without hooks, wrapped", .loop = divisions},
        .floor = {.name = "the call, two ticks, 16 bytes stored each", .loop = divisions, .arg = &floor_ring},
        .n = BATCH,
        .judge = BENCH_ADDED,
        .bar = 8,
    };
    (void)bench_compare(b, &pair);
}

/* Each call measured alone: of a thousand, the slowest but one, beside their median. */
static void latency(struct bench *b, const char *name)
{
    enum { CALLS = 200000, CALLS_BRIEF = 20000, TIMES_MEDIAN = 20 };
    size_t n = b->brief ? CALLS_BRIEF : CALLS;
    double *each = calloc(n, sizeof *each);
    if (!each || !bench_pin(b->cpu)) {
        bench_skip(b, name, each ? "the thread cannot stay on a CPU" : "out of memory");
        free(each);
        return;
    }
    /* Else one of 512 calls would have a page fault of this array. The compiler must not see that the zeros are overwritten. */
    memset(each, 0, n * sizeof *each);
    __asm__ volatile("" ::"r"(each) : "memory");
    for (size_t i = 0; i < n; i++) {
        uint64_t begin = tick_now();
        library.enter(&functions[0], &functions[0]);
        library.leave(&functions[0], &functions[0]);
        each[i] = (double)(tick_now() - begin) * b->ns_per_tick;
    }
    double usual = bench_share(each, n, 0.5), slow = bench_share(each, n, 0.999);
    bench_added(b, name, slow, usual, (TIMES_MEDIAN - 1) * usual);
    free(each);
}

static void compare(struct bench *b, const char *name, void (*loop)(void *, size_t), struct hooks *floor, double bar)
{
    const struct bench_pair pair = {
        .subject = {.name = name, .loop = loop, .arg = &library},
        .floor = {.name = floor == &empty ? "two empty functions" : "two ticks, 16 bytes stored each",
                  .loop = loop,
                  .arg = floor},
        .n = BATCH,
        .judge = bar <= 0          ? BENCH_NOTHING
                 : floor == &empty ? BENCH_ADDED
                                   : BENCH_RATIO,
        .bar = bar,
    };
    (void)bench_compare(b, &pair);
}

static int run_off(int argc, char **argv)
{
    struct bench *b = bench_start("functions", argc, argv);
    compare(b, "call of an instrumented function, off", pairs, &empty, 3);
    compare_off(b, "call of a function with a patchable entry, off", patchable_calls);
    compare_sled(b);
    return bench_end(b);
}

static int run_on(int argc, char **argv)
{
    const double most = 1.15; /* times the floor */
    char *dir = strdup(getenv("UPMU_TRACE"));
    bool events = strcmp(getenv("UPMU_FUNC_MODE"), "trace") == 0;
    unsetenv("UPMU_TRACE");
    unsetenv("UPMU_FUNC_MODE");
    unsetenv("UPMU_FUNC_RING");
    unsetenv("UPMU_FUNC_WRAP");
    struct bench *b = bench_start("functions", argc, argv);
    if (events) {
        compare(b, "call of an instrumented function, trace", pairs, &floor_ring, most);
        compare(b, "the same, two functions in turn", two_in_turn, &floor_ring, most);
        compare(b, "the same, eight functions in turn", eight_in_turn, &floor_ring, most);
        latency(b, "99.9 % of calls beside their median, trace");
    } else {
        compare(b, "call of an instrumented function, tree", pairs, &floor_ring, most);
        compare(b, "the same, two functions in turn", two_in_turn, &floor_ring, most);
        compare(b, "the same, eight functions in turn", eight_in_turn, &floor_ring, most);
        compare_wrapped(b);
        latency(b, "99.9 % of calls beside their median, tree");
    }
    int status = bench_end(b);
    bench_folder_remove(dir);
    free(dir);
    return status;
}

/* The same program with the hooks on, for the rows of a mode. @return its status. */
static int run_again(int argc, char **argv, const char *mode)
{
    char dir[] = "/tmp/upmu-bench-XXXXXX", no_heading[] = "--no-heading";
    char **again = calloc((size_t)argc + 2, sizeof *again);
    int status = 2;
    if (!again || !mkdtemp(dir))
        return status;
    memcpy(again, argv, (size_t)argc * sizeof *again);
    again[argc] = no_heading;
    fflush(stdout);
    pid_t pid = fork();
    if (pid == 0) {
        setenv("BENCH_FUNC_ON", "1", 1);
        setenv("UPMU_FUNC_MODE", mode, 1);
        setenv("UPMU_FUNC_WRAP", "libc:^ldiv$", 1);
        setenv("UPMU_TRACE", dir, 1);
        if (strcmp(mode, "trace") == 0)
            setenv("UPMU_FUNC_RING", "16", 1);
        execv("/proc/self/exe", again);
        _exit(2);
    }
    bool ended = pid > 0 && waitpid(pid, &status, 0) == pid && WIFEXITED(status);
    free(again);
    return ended ? WEXITSTATUS(status) : 2;
}

int main(int argc, char **argv)
{
    if (getenv("BENCH_FUNC_ON"))
        return run_on(argc, argv);
    int status = run_off(argc, argv), tree = run_again(argc, argv, "tree"), trace = run_again(argc, argv, "trace");
    return status ? status : tree ? tree : trace;
}
