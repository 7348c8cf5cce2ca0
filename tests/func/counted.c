/* SPDX-License-Identifier: MIT */
/* Instrumented functions that touch pages for the first time, one page fault each: "faults NAME INCLUSIVE EXCLUSIVE". */
#include <pthread.h>
#include <setjmp.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#define PLAIN __attribute__((no_instrument_function))
#define OWN __attribute__((noinline))

enum { PAGES = 4096 };

struct area {
    volatile char *at;
    long page;
};

PLAIN static struct area area_map(void)
{
    struct area a = {.page = sysconf(_SC_PAGESIZE)};
    size_t bytes = PAGES * (size_t)a.page;
    void *p = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    a.at = p == MAP_FAILED ? NULL : p;
    if (a.at)
        madvise(p, bytes, MADV_NOHUGEPAGE);
    return a;
}

OWN static void touch(struct area *a, int n)
{
    for (; n > 0; n--, a->at += a->page)
        *a->at = 1;
}

OWN static void middle(struct area *a)
{
    touch(a, 20);
    touch(a, 10);
    for (int i = 0; i < 3; i++, a->at += a->page)
        *a->at = 1;
}

OWN static void recursive(struct area *a, int n)
{
    touch(a, 1);
    if (n > 1)
        recursive(a, n - 1);
    *a->at = 1;
    a->at += a->page;
}

static jmp_buf back;

OWN static void leaves(struct area *a)
{
    touch(a, 5);
    longjmp(back, 1);
}

OWN static void jumps(struct area *a)
{
    if (setjmp(back) == 0)
        leaves(a);
    else
        touch(a, 2);
}

/* The stack of a thread has faults of its own: `recursive` is not deep. */
OWN static void all(void)
{
    struct area a = area_map();
    if (!a.at)
        return;
    for (int i = 0; i < 10; i++)
        middle(&a);
    recursive(&a, 5);
    jumps(&a);
}

PLAIN static void *thread(void *unused)
{
    all();
    return unused;
}

PLAIN int main(void)
{
    pthread_t t;
    all();
    if (pthread_create(&t, NULL, thread, NULL) != 0 || pthread_join(t, NULL) != 0)
        return 1;
    pid_t child = fork();
    if (child == 0) {
        all();
        return 0;
    }
    return waitpid(child, NULL, 0) == child ? 0 : 1;
}
