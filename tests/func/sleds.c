/* SPDX-License-Identifier: MIT */
/*
 * Functions built by clang with -fxray-instrument, or with -fpatchable-function-entry=5 and PATCHABLE, patched in and out by the program:
 *
 *     sleds bytes          with one thread every byte of the code is restored, and calls count only while it is patched
 *     sleds threads N      patched and unpatched N times while four threads call and check arguments and results
 *     sleds switched       the same with exceptions by longjmp in between, and calls that began before
 *     sleds refused        memory must not become executable: refused with the reason, and the program runs
 *     sleds filtered PATH  a module is opened under a filter that kills what patches code: it is not patched
 *     sleds child          a forked child is patched, and unpatches itself
 *
 * It prints "calls NAME N" for what is to be recorded.
 */
#include <dlfcn.h>
#include <fcntl.h>
#include <immintrin.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "upmu/func.h"

#define OWN __attribute__((noinline))
/* XRay has a sled before a tail call. Where returns are caught, the function returns with what it called. */
#ifdef PATCHABLE
#define PLAIN __attribute__((noinline, patchable_function_entry(0)))
enum { TAIL_IS_CALLER = 1 };
#else
enum { TAIL_IS_CALLER = 0 };
#define PLAIN __attribute__((noinline, xray_never_instrument))
#endif

struct wide {
    long a, b;
};

static jmp_buf again;
static volatile long sink;

OWN static long sum9(long a, long b, long c, long d, long e, long f, long g, long h, long i)
{
    return a + 2 * b + 3 * c + 4 * d + 5 * e + 6 * f + 7 * g + 8 * h + 9 * i;
}

OWN static double mix(double a, float b, double c, double d, double e, double f, double g, double h, int n)
{
    return a + 2 * (double)b + 3 * c + 4 * d + 5 * e + 6 * f + 7 * g + 8 * h + n;
}

OWN static struct wide pair(long a)
{
    return (struct wide){a, ~a};
}

OWN static long double extended(long double a)
{
    return a / 2;
}

OWN __attribute__((target("avx"))) static __m256d vector(__m256d a, __m256d b)
{
    return _mm256_add_pd(a, _mm256_mul_pd(b, _mm256_set1_pd(2)));
}

OWN static long various(int n, ...)
{
    va_list ap;
    long sum = 0;
    va_start(ap, n);
    for (int i = 0; i < n; i++)
        sum += i % 2 ? (long)va_arg(ap, double) : va_arg(ap, long);
    va_end(ap);
    return sum;
}

OWN static long leaf(long a)
{
    return a * 3 + 1;
}

OWN static long tail(long a)
{
    sink = a;
    return leaf(a + 1); /* a jump */
}

OWN static void jumps(void)
{
    longjmp(again, 1);
}

OWN static long deep(long n)
{
    long below = n == 0 ? -1 : deep(n - 1);
    sink = below; /* not a loop */
    __asm__ volatile("" : "+r"(below));
    return below + 1;
}

#define CHECK(is)                                                   \
    do                                                              \
        if (!(is)) {                                                \
            fprintf(stderr, "sleds: %s is wrong: %s\n", what, #is); \
            abort();                                                \
        }                                                           \
    while (0)

/* Calls each function once, deep() eleven times. */
PLAIN static void call_all(const char *what, long n)
{
    jmp_buf *volatile to = &again;
    CHECK(sum9(n, 2, 3, 4, 5, 6, 7, 8, 9) == n + 284);
    CHECK(mix(1, 2, 3, 4, 5, 6, 7, 8, (int)n) == 204 + (double)n);
    struct wide w = pair(n);
    CHECK(w.a == n && w.b == ~n);
    CHECK(extended((long double)n) == (long double)n / 2);
    CHECK(various(4, n, 2.0, 3L, 4.0) == n + 9);
    CHECK(tail(n) == 3 * n + 4);
    CHECK(deep(10) == 10);
    (void)to;
}

PLAIN __attribute__((target("avx"))) static void call_vector(const char *what, long n)
{
    double out[4];
    _mm256_storeu_pd(out, vector(_mm256_setr_pd(1, 2, 3, (double)n), _mm256_setr_pd(5, 6, 7, 8)));
    CHECK(out[0] == 11 && out[1] == 14 && out[2] == 17 && out[3] == (double)n + 16);
}

PLAIN static void print_calls(long n)
{
    static const char *const once[] = {"sum9", "mix", "pair", "extended", "various", "tail", "leaf"};
    for (size_t i = 0; i < sizeof once / sizeof *once; i++)
        printf("calls %s %ld\n", once[i], n);
    printf("calls deep %ld\nedge tail leaf %ld\n", 11 * n, TAIL_IS_CALLER * n);
}

extern const char __executable_start[], etext[];

PLAIN static size_t code_copy(char **copy)
{
    size_t n = (size_t)(etext - (const char *)sum9);
    (void)__executable_start;
    *copy = malloc(n);
    if (!*copy)
        abort();
    memcpy(*copy, (const void *)sum9, n);
    return n;
}

PLAIN static void expect(const char *what, bool is)
{
    if (is)
        return;
    fprintf(stderr, "sleds: %s: %s\n", what, upmu_error());
    exit(1);
}

PLAIN static int bytes(void)
{
    char *patched, *before, *after;
    size_t n = code_copy(&patched);
    call_all("patched", 1);
    expect("unpatch", upmu_func_unpatch() > 10);
    code_copy(&before);
    call_all("unpatched", 2);
    expect("patch", upmu_func_patch() > 10);
    call_all("patched again", 3);
    code_copy(&after);
    expect("the code is patched", memcmp(before, patched, n) != 0 && memcmp(after, patched, n) == 0);
    expect("unpatch", upmu_func_unpatch() > 10 && upmu_func_unpatch() > 10);
    code_copy(&after);
    expect("each byte is restored", memcmp(before, after, n) == 0);
    print_calls(2);
    return 0;
}

static atomic_bool stop;
static atomic_long rounds;

PLAIN static void *caller(void *arg)
{
    bool has_avx = __builtin_cpu_supports("avx");
    (void)arg;
    while (!stop) {
        call_all("a thread", rounds++);
        if (has_avx)
            call_vector("a vector", 4);
    }
    return NULL;
}

PLAIN static int threads(long n)
{
    pthread_t t[4];
    for (int i = 0; i < 4; i++)
        if (pthread_create(&t[i], NULL, caller, NULL) != 0)
            return 1;
    for (long i = 0; i < n; i++) {
        long seen = rounds;
        expect("unpatch", upmu_func_unpatch() > 10);
        expect("patch", upmu_func_patch() > 10);
        while (rounds < seen + 8)
            usleep(100);
    }
    expect("unpatch", upmu_func_unpatch() > 10);
    stop = true;
    for (int i = 0; i < 4; i++)
        pthread_join(t[i], NULL);
    return 0;
}

OWN static void began_before(const char *what)
{
    expect(what, (strcmp(what, "patch") == 0 ? upmu_func_patch() : upmu_func_unpatch()) > 10);
    call_all(what, 1);
}

PLAIN static int switched(void)
{
    for (volatile int i = 0; i < 3; i++) { /* longjmp() */
        began_before("unpatch");
        began_before("patch"); /* its call is not recorded, its return is */
        if (setjmp(again) == 0)
            jumps();
    }
    print_calls(3);
    printf("calls jumps 3\ncalls began_before 3\n");
    return 0;
}

PLAIN static int refused(void)
{
    enum { SET_MDWE = 65, REFUSE_EXEC_GAIN = 1 };
    if (prctl(SET_MDWE, REFUSE_EXEC_GAIN, 0, 0, 0) != 0)
        return 77;
    expect("start", upmu_func_start() == 0);
    call_all("not patched", 1);
    return upmu_func_patch() == UPMU_E_SYSTEM ? 0 : 1;
}

PLAIN static int filtered(const char *path)
{
    struct sock_filter code[] = {
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_membarrier, 3, 0),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_openat, 0, 3),
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, args[2])),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, O_RDWR | O_CLOEXEC, 0, 1),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
    };
    const struct sock_fprog program = {sizeof code / sizeof *code, code};
    call_all("patched", 1);
    if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0 || prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) != 0)
        return 77;
    void *handle = dlopen(path, RTLD_NOW);
    expect("it is opened", handle != NULL);
    call_all("patched before the filter", 2);
    expect("not taken back", upmu_func_unpatch() == UPMU_E_STATE);
    print_calls(2);
    return 0;
}

PLAIN static int child(void)
{
    call_all("the parent", 1);
    fflush(stdout);
    pid_t pid = fork();
    if (pid == 0) {
        call_all("the child", 1);
        expect("unpatch", upmu_func_unpatch() > 10);
        call_all("the child, unpatched", 2);
        expect("patch", upmu_func_patch() > 10);
        call_all("the child, patched", 3);
        exit(0);
    }
    int status = 1;
    waitpid(pid, &status, 0);
    call_all("the parent", 2);
    print_calls(2);
    printf("child %d\n", (int)pid);
    return status;
}

PLAIN int main(int argc, char **argv)
{
    const char *what = argc > 1 ? argv[1] : "";
    if (strcmp(what, "bytes") == 0)
        return bytes();
    if (strcmp(what, "threads") == 0)
        return threads(argc > 2 ? atol(argv[2]) : 10);
    if (strcmp(what, "switched") == 0)
        return switched();
    if (strcmp(what, "refused") == 0)
        return refused();
    if (strcmp(what, "filtered") == 0 && argc > 2)
        return filtered(argv[2]);
    if (strcmp(what, "child") == 0)
        return child();
    return 2;
}
