/* SPDX-License-Identifier: MIT */
/*
 * Stacks with hardly more space than the C library's functions need: a signal handler's alternate stack of the size that SIGSTKSZ was for
 * decades, and a coroutine's of one page. Below each is memory that cannot be accessed.
 */
#include <poll.h>
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/auxv.h>
#include <sys/mman.h>
#include <ucontext.h>
#include <unistd.h>

#ifndef AT_MINSIGSTKSZ
#define AT_MINSIGSTKSZ 51
#endif

enum { ROUNDS = 40, CALLS = 5, PAGE = 4096, HANDLER_BYTES = 4736 /* of 8192, what a frame with AVX-512 leaves */ };

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static sem_t posted;
static int ends[2];
static ucontext_t outside, inside;

static void must(int ok, const char *what)
{
    if (!ok) {
        perror(what);
        exit(1);
    }
}

static void work(void)
{
    char byte = 'x';
    (void)pthread_mutex_lock(&lock);
    (void)usleep(100);
    (void)pthread_mutex_unlock(&lock);
    (void)sem_post(&posted);
    (void)sem_wait(&posted);
    must(write(ends[1], &byte, 1) == 1 && read(ends[0], &byte, 1) == 1, "pipe");
    (void)poll(NULL, 0, 1);
}

static void handler(int signal)
{
    (void)signal;
    work();
}

static void coroutine(void)
{
    for (;;) {
        work();
        (void)swapcontext(&inside, &outside);
    }
}

/* The `bytes` above a page that cannot be accessed. */
static void *guarded(size_t bytes)
{
    size_t rounded = (bytes + PAGE - 1) / PAGE * PAGE;
    uint8_t *p = mmap(NULL, rounded + PAGE, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    must(p != MAP_FAILED && mprotect(p + PAGE, rounded, PROT_READ | PROT_WRITE) == 0, "mmap");
    return p + PAGE;
}

static void *contender(void *arg)
{
    for (int i = 0; i < ROUNDS; i++)
        work();
    return arg;
}

int main(void)
{
    pthread_t other;
    size_t least = getauxval(AT_MINSIGSTKSZ), bytes = least ? least + HANDLER_BYTES : (size_t)2 * PAGE;
    bytes = (bytes + PAGE - 1) / PAGE * PAGE;
    const stack_t alternate = {.ss_sp = guarded(bytes), .ss_size = bytes};
    const struct sigaction on_it = {.sa_handler = handler, .sa_flags = SA_ONSTACK};
    must(pipe(ends) == 0 && sem_init(&posted, 0, 0) == 0, "pipe");
    must(sigaltstack(&alternate, NULL) == 0 && sigaction(SIGUSR1, &on_it, NULL) == 0, "sigaltstack");
    must(getcontext(&inside) == 0, "getcontext");
    inside.uc_stack = (stack_t){.ss_sp = guarded(PAGE), .ss_size = PAGE};
    makecontext(&inside, coroutine, 0);
    must(pthread_create(&other, NULL, contender, NULL) == 0, "pthread_create");
    for (int i = 0; i < ROUNDS; i++) {
        (void)raise(SIGUSR1);
        for (int k = 0; k < CALLS; k++)
            (void)swapcontext(&outside, &inside);
    }
    (void)pthread_join(other, NULL);
    puts("done");
    return 0;
}
