/* SPDX-License-Identifier: MIT */
/* Calls that open files without a descriptor in the program's table. */
#include "base/private_table.h"

#include <errno.h>
#include <sched.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/sanitizer.h"

#ifndef SYS_close_range
#define SYS_close_range 436 /* Linux 5.9; one number on all architectures but alpha */
#endif

enum {
    PRIVATE_UNSHARE = 1 << 1, /* CLOSE_RANGE_UNSHARE */
    PRIVATE_STACK_GAP = 2048, /* for the frames of private_thread_run() and clone() */
};

/** glibc 2.32: 0 once the process has had a second thread. */
extern char __libc_single_threaded __attribute__((weak)); // NOLINT(clang-diagnostic-reserved-identifier)

/** Of the library that valgrind preloads: it ends a program that makes such a thread. */
extern void _vgnU_freeres(void) __attribute__((weak)); // NOLINT(clang-diagnostic-reserved-identifier)

/** Of ThreadSanitizer in the program, whose clone() ends it. Not __tsan_init, by which libraries are known as built with it. */
extern void __tsan_release(void *) __attribute__((weak)); // NOLINT(clang-diagnostic-reserved-identifier)

void (*private_table_hook)(bool);

/* The thread's, so that the caller's may be a small one: a coroutine's, or that of a signal handler. Several, since threads make their
 * files at the same time; while all are taken, the caller's is used. One that is taken during fork() stays taken in the child. */
enum { PRIVATE_STACKS = 4, PRIVATE_STACK_BYTES = 64 << 10 };
static _Alignas(64) uint8_t private_stacks[PRIVATE_STACKS][PRIVATE_STACK_BYTES];
static uint32_t private_stack_taken[PRIVATE_STACKS];

/* @return its number; PRIVATE_STACKS: all are taken. */
static uint32_t private_stack_take(void)
{
    uint32_t i = 0;
    while (i < PRIVATE_STACKS && __atomic_exchange_n(&private_stack_taken[i], 1, __ATOMIC_ACQUIRE))
        i++;
    return i;
}

struct private_call {
    int (*run)(void *);
    void *argument;
    int result;
};

static bool private_has_one_thread(void)
{
    return &__libc_single_threaded != NULL && __libc_single_threaded;
}

/* ThreadSanitizer, in the program or here, does not support such a thread. */
static bool private_thread_is_possible(void)
{
    return !UNDER_TSAN && &__tsan_release == NULL && &_vgnU_freeres == NULL;
}

/* close_range() makes the new table empty instead of a copy, which would cost as much as the program has descriptors. */
static int private_thread(void *argument)
{
    struct private_call *c = argument;
    bool own = syscall(SYS_close_range, 0L, (long)UINT32_MAX, (long)PRIVATE_UNSHARE) == 0 ||
               syscall(SYS_unshare, (long)CLONE_FILES) == 0;
    c->result = own ? c->run(c->argument) : -errno;
    return 0;
}

/* CLONE_VFORK: the caller waits in the kernel and is not asleep for those who look at its state, and the thread may run on the
 * caller's own stack. CLONE_UNTRACED: a debugger would take it for a process. The other flags are those of pthread_create(),
 * without thread-local storage of its own. */
static int private_thread_run(struct private_call *c)
{
    const int flags =
        CLONE_VM | CLONE_FS | CLONE_FILES | CLONE_SIGHAND | CLONE_THREAD | CLONE_SYSVSEM | CLONE_VFORK | CLONE_UNTRACED;
    uint32_t stack = private_stack_take();
    uintptr_t below = ((uintptr_t)__builtin_frame_address(0) - PRIVATE_STACK_GAP) & ~(uintptr_t)63;
    if (stack < PRIVATE_STACKS)
        below = (uintptr_t)private_stacks[stack] + PRIVATE_STACK_BYTES;
    bool cloned = clone(private_thread, (void *)below, flags, c) >= 0;
    int err = errno;
    if (stack < PRIVATE_STACKS)
        __atomic_store_n(&private_stack_taken[stack], 0, __ATOMIC_RELEASE);
    if (!cloned)
        return err == EINVAL ? c->run(c->argument) : -err; /* EINVAL: an emulator of programs */
    return c->result;
}

int private_table_run(int (*run)(void *), void *argument)
{
    struct private_call c = {run, argument, 0};
    int saved = errno;
    uint64_t all[2] = {UINT64_MAX & ~(UINT64_C(1) << (SIGBUS - 1)), UINT64_MAX}, before[2];
    /* By the system call: the C library leaves out its own signals, whose handlers must not run in the new thread. */
    syscall(SYS_rt_sigprocmask, (long)SIG_SETMASK, all, before, (long)(_NSIG / 8));
    bool possible = private_thread_is_possible(), wanted = !private_has_one_thread();
    void (*hook)(bool) = __atomic_load_n(&private_table_hook, __ATOMIC_ACQUIRE);
    if (hook)
        hook(true);
    if (!possible || !wanted)
        c.result = run(argument);
    if (possible && (wanted || c.result == -EMFILE))
        c.result = private_thread_run(&c);
    if (hook)
        hook(false);
    syscall(SYS_rt_sigprocmask, (long)SIG_SETMASK, before, NULL, (long)(_NSIG / 8));
    errno = saved;
    return c.result;
}
