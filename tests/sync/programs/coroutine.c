/* SPDX-License-Identifier: MIT */
/* Coroutines of the program's own, which wait for a lock that another thread holds, and hold it while others wait. Their first function
 * seems to be called by one with a large frame, which would reach beyond the end of their stacks: there is no memory. */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#ifdef __x86_64__
enum { STACK_BYTES = 65536, SAVED = 6, PAIRS = 100, PAUSE_US = 200 };

void switch_stack(void **from, void *to);
__asm__(".text\n"
        ".globl switch_stack\n"
        ".type switch_stack, @function\n"
        "switch_stack: push %rbp; push %rbx; push %r12; push %r13; push %r14; push %r15\n"
        "mov %rsp, (%rdi); mov %rsi, %rsp\n"
        "pop %r15; pop %r14; pop %r13; pop %r12; pop %rbx; pop %rbp; ret\n"
        ".size switch_stack, .-switch_stack\n");

static __thread void *thread_stack, *coroutine_stack;
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static int pairs; /* under `mutex` */

static void take_pairs(void)
{
    for (int i = 0; i < PAIRS; i++) {
        pthread_mutex_lock(&mutex);
        pairs++;
        usleep(PAUSE_US);
        pthread_mutex_unlock(&mutex);
    }
}

static void coroutine(void)
{
    take_pairs();
    for (;;)
        switch_stack(&coroutine_stack, thread_stack);
}

static __attribute__((noinline)) void *return_address(char *buffer)
{
    buffer[0] = 1;
    return __builtin_return_address(0);
}

static __attribute__((noinline)) void *address_in_large_function(void)
{
    char buffer[STACK_BYTES / 2];
    void *address = return_address(buffer);
    __asm__ volatile("" : : "r"(buffer) : "memory");
    return address;
}

static void *run_coroutine(void *arg)
{
    char *memory = mmap(NULL, 2 * STACK_BYTES, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED || mprotect(memory, STACK_BYTES, PROT_READ | PROT_WRITE) != 0)
        exit(1);
    void **top =
        (void **)(void *)(memory + STACK_BYTES) - 2; /* as after a call: a function may rely on where its stack is */
    *(void (**)(void))(void *)top = coroutine;
    top[1] = address_in_large_function();
    coroutine_stack = top - SAVED;
    switch_stack(&thread_stack, coroutine_stack);
    munmap(memory, 2 * STACK_BYTES);
    return arg;
}

static void *run_plain(void *arg)
{
    take_pairs();
    return arg;
}

int main(void)
{
    pthread_t plain, other;
    if (pthread_create(&plain, NULL, run_plain, NULL) != 0 || pthread_create(&other, NULL, run_coroutine, NULL) != 0)
        return 1;
    run_coroutine(NULL);
    pthread_join(other, NULL);
    pthread_join(plain, NULL);
    printf("%d pairs\n", pairs);
    return 0;
}
#else
int main(void)
{
    printf("skipped, because the program switches stacks by instructions of x86-64\n");
    return 77;
}
#endif
