/* SPDX-License-Identifier: MIT */
/*
 * A program of instrumented functions that restricts its system calls or its time stamps: restricted KIND
 *
 * kill: a filter that ends the process for calls that the program does not make itself; tsc: no time stamps (x86).
 * Calls before() 1000 times, then restricts itself, then calls after() by many paths and in a new thread.
 */
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <pthread.h>
#include <stddef.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#define PLAIN __attribute__((no_instrument_function))
#define OWN __attribute__((noinline))

enum { BEFORE = 1000, LEVELS = 14 };

/* Of the program and of the C library's threads, exit and output. */
static const int own_calls[] = {
    SYS_futex,          SYS_mmap, SYS_munmap, SYS_mprotect,        SYS_madvise,    SYS_clone,        SYS_write,
    SYS_rt_sigprocmask, SYS_exit, SYS_brk,    SYS_set_robust_list, SYS_exit_group, SYS_rt_sigreturn, SYS_prctl,
#ifdef SYS_clone3
    SYS_clone3,
#endif
#ifdef SYS_rseq
    SYS_rseq,
#endif
#ifdef SYS_newfstatat
    SYS_newfstatat,
#endif
#ifdef SYS_fstat
    SYS_fstat,
#endif
};

static volatile unsigned sink;

OWN static void before(void)
{
    sink++;
}

/* Twice as many call paths on each level. */
OWN static void after(int level);

OWN static void left(int level)
{
    after(level);
    sink++;
}

OWN static void right(int level)
{
    after(level);
    sink++;
}

OWN static void after(int level)
{
    sink++;
    if (level > 0) {
        left(level - 1);
        right(level - 1);
    }
}

static void *thread_main(void *arg)
{
    after(LEVELS);
    return arg;
}

/* The C library sets itself up for threads before the calls are restricted. */
PLAIN static void *first_thread(void *arg)
{
    return arg;
}

PLAIN static int run(void *(*body)(void *))
{
    pthread_t t;
    return pthread_create(&t, NULL, body, NULL) == 0 && pthread_join(t, NULL) == 0;
}

PLAIN static int restrict_by_filter(void)
{
    struct sock_filter filter[64];
    size_t n = 0, calls = sizeof own_calls / sizeof *own_calls;
    filter[n++] = (struct sock_filter)BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr));
    for (size_t i = 0; i < calls; i++)
        filter[n++] = (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, (unsigned)own_calls[i],
                                                   (unsigned char)(calls - i), 0);
    filter[n++] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS);
    filter[n++] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW);
    const struct sock_fprog program = {(unsigned short)n, filter};
    return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0 || prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) != 0;
}

int main(int argc, char **argv)
{
    if (argc != 2 || !run(first_thread))
        return 2;
    for (int i = 0; i < BEFORE; i++)
        before();
    int failed = strcmp(argv[1], "tsc") == 0 ? prctl(PR_SET_TSC, PR_TSC_SIGSEGV, 0, 0, 0) : restrict_by_filter();
    if (failed)
        return 77;
    after(LEVELS);
    if (!run(thread_main))
        return 3;
    static const char text[] = "done\n";
    return write(STDOUT_FILENO, text, sizeof text - 1) == sizeof text - 1 ? 0 : 4;
}
