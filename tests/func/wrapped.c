/* SPDX-License-Identifier: MIT */
/* A library without hooks (-DLIBRARY), a plug-in that calls it (-DPLUGIN), and a program that calls both: every kind of argument and
 * result passes the stubs. It prints how often it has called each function of the library. */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct many {
    double x[6];
    long n;
};

double wrapped_gemm(int a, long b, double c, float d, const void *e, unsigned char f, short g, long h, double i);
struct many wrapped_struct(struct many m, double by);
long double wrapped_long(long double x);
int wrapped_sum(int n, ...);
_Complex double wrapped_complex(_Complex double z);
long wrapped_calls_back(long (*back)(long), long n);
long wrapped_inside(long n);
void wrapped_sort(int *a, size_t n, int (*compare)(const void *, const void *));

#if defined(__x86_64__)
typedef double wide __attribute__((vector_size(32)));
__attribute__((target("avx"))) wide wrapped_wide(wide a, wide b);
#endif

#ifdef LIBRARY

double wrapped_gemm(int a, long b, double c, float d, const void *e, unsigned char f, short g, long h, double i)
{
    return a + (double)b + c + (double)d + (e != NULL) + f + g + (double)h + i;
}

struct many wrapped_struct(struct many m, double by)
{
    for (int i = 0; i < 6; i++)
        m.x[i] *= by;
    m.n++;
    return m;
}

long double wrapped_long(long double x)
{
    return x / 3;
}

int wrapped_sum(int n, ...)
{
    va_list ap;
    double sum = 0;
    va_start(ap, n);
    for (int i = 0; i < n; i++)
        sum += va_arg(ap, double);
    va_end(ap);
    return (int)sum;
}

_Complex double wrapped_complex(_Complex double z)
{
    return z * z;
}

long wrapped_calls_back(long (*back)(long), long n)
{
    return n == 0 ? 0 : back(n - 1) + 1;
}

/* Calls itself within the library: one call from outside. */
__attribute__((visibility("hidden"), noinline)) long inside(long n)
{
    return n <= 0 ? 0 : inside(n - 1) + 1;
}

long wrapped_inside(long n)
{
    return inside(n);
}

void wrapped_sort(int *a, size_t n, int (*compare)(const void *, const void *))
{
    qsort(a, n, sizeof *a, compare);
}

#if defined(__x86_64__)
__attribute__((target("avx"))) wide wrapped_wide(wide a, wide b)
{
    return a * b;
}
#endif

#elif defined(PLUGIN)

int plugin(void);
int plugin(void)
{
    int bad = 0;
    for (int i = 0; i < 5; i++)
        bad |= wrapped_sum(3, 1.0, 2.0, (double)i) != 3 + i;
    return bad;
}

#else

#include <dlfcn.h>
#include <pthread.h>
#include <setjmp.h>
#include <sys/wait.h>
#include <unistd.h>

static int bad;

static void check(const char *what, int right)
{
    if (right)
        return;
    fprintf(stderr, "%s is wrong\n", what);
    bad = 1;
}

static long back(long n)
{
    return wrapped_calls_back(back, n);
}

static int compare(const void *a, const void *b)
{
    return *(const int *)a - *(const int *)b;
}

#if defined(__x86_64__)
__attribute__((target("avx"), noinline)) static void check_wide(void)
{
    wide a = {1, 2, 3, 4}, b = {5, 6, 7, 8}, c = wrapped_wide(a, b);
    check("wide", c[0] == 5 && c[1] == 12 && c[2] == 21 && c[3] == 32);
}
#endif

static void *thread(void *arg)
{
    for (int i = 0; i < 1000; i++)
        check("in a thread", wrapped_inside(i % 7) == i % 7);
    return arg;
}

static long end(long n)
{
    (void)n;
    pthread_exit(NULL);
}

static void *ends(void *arg)
{
    wrapped_calls_back(end, 1); /* leaves the library's function without a return */
    return arg;
}

int main(int argc, char **argv)
{
    struct many m = {{1, 2, 3, 4, 5, 6}, 7};
    int numbers[] = {5, 3, 9, 1};
    jmp_buf jump;
    volatile int jumps = 0;
    pthread_t t;
    for (int i = 0; i < 1000; i++)
        check("gemm", wrapped_gemm(i, 2, 3.5, 4.25f, numbers, 6, -7, 8, 9) == i + 2 + 3.5 + 4.25 + 1 + 6 - 7 + 8 + 9);
    m = wrapped_struct(m, 2);
    check("struct", m.n == 8 && m.x[0] == 2 && m.x[5] == 12);
    check("long double", wrapped_long(1.0L) == 1.0L / 3);
    check("variable arguments", wrapped_sum(10, 1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0, 9.0, 10.0) == 55);
    _Complex double z = wrapped_complex(1.0 + 2.0i);
    check("complex", __real__ z == -3 && __imag__ z == 4);
    check("recursion", back(50) == 50);
    check("inside", wrapped_inside(20) == 20);
    wrapped_sort(numbers, 4, compare);
    check("sorted", numbers[0] == 1 && numbers[3] == 9);
    long sums = 1, wides = 0;
#if defined(__x86_64__)
    if (__builtin_cpu_supports("avx")) {
        check_wide();
        wides = 1;
    }
#endif
    if (setjmp(jump) == 0)
        longjmp(jump, 1);
    jumps++;
    check("jumps", jumps == 1);
    for (int i = 0; i < 2; i++)
        check("threads", pthread_create(&t, NULL, i ? ends : thread, NULL) == 0 && pthread_join(t, NULL) == 0);
    if (argc > 1) {
        void *file = dlopen(argv[1], RTLD_LAZY), *symbol = file ? dlsym(file, "plugin") : NULL;
        int (*plugin)(void);
        memcpy(&plugin, &symbol, sizeof plugin);
        check("plug-in", symbol && plugin() == 0);
        sums += 5;
    }
    pid_t child = fork();
    if (child == 0)
        _exit(wrapped_inside(3) != 3);
    int status = 1;
    check("child", waitpid(child, &status, 0) == child && status == 0);
    printf("calls wrapped_gemm 1000\ncalls wrapped_struct 1\ncalls wrapped_long 1\ncalls wrapped_sum %ld\n", sums);
    printf("calls wrapped_complex 1\ncalls wrapped_calls_back 52\ncalls wrapped_inside 1001\ncalls wrapped_sort 1\n");
    printf("calls wrapped_wide %ld\nnone inside\nnone setjmp\nnone _setjmp\nnone main\n", wides);
    return bad;
}

#endif
