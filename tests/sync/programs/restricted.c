/* SPDX-License-Identifier: MIT */
/*
 * A program that restricts its system calls, and locks before and after: restricted KIND
 *
 * kill, libc, asm: a filter that ends the process for calls that the program does not make itself, by prctl(), by syscall() and
 * by an instruction of its own, which no wrapper sees.
 * allow: a filter that allows all; errors: one that refuses other calls with an error.
 * child: in a forked child. strict: strict mode, in the main thread. tsc: no time stamps (x86). null: a filter that cannot be read.
 * Prints the sum of what its threads did.
 */
#include <errno.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <pthread.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "own_prctl.h"

enum { THREADS = 3, BEFORE = 2000, AFTER = 20000 };

/* Of the program and of the C library's threads, exit and output. */
static const int own_calls[] = {
    SYS_futex,          SYS_mmap,  SYS_munmap,  SYS_mprotect, SYS_madvise,         SYS_clone,
    SYS_rt_sigprocmask, SYS_exit,  SYS_write,   SYS_brk,      SYS_set_robust_list, SYS_exit_group,
    SYS_rt_sigreturn,   SYS_wait4, SYS_getppid,
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

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static long sum, rounds;
static pthread_barrier_t barrier;
static int stays;

static void pairs(long n)
{
    for (long i = 0; i < n; i++) {
        pthread_mutex_lock(&mutex);
        sum++;
        pthread_mutex_unlock(&mutex);
    }
}

static void *work(void *arg)
{
    pairs(rounds);
    if (stays) { /* this thread was recorded, and continues without */
        pthread_barrier_wait(&barrier);
        pthread_barrier_wait(&barrier);
        pairs(AFTER);
    }
    return arg;
}

static void start(pthread_t *t, int n, long times)
{
    rounds = times;
    for (int i = 0; i < n; i++)
        if (pthread_create(&t[i], NULL, work, NULL) != 0)
            _exit(9);
}

static void join(const pthread_t *t, int n)
{
    for (int i = 0; i < n; i++)
        pthread_join(t[i], NULL);
}

static size_t filter_make(struct sock_filter *out, unsigned other)
{
    size_t n = 0, calls = sizeof own_calls / sizeof *own_calls;
    out[n++] = (struct sock_filter)BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr));
    for (size_t i = 0; i < calls; i++)
        out[n++] = (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, (unsigned)own_calls[i],
                                                (unsigned char)(calls - i), 0);
    out[n++] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, other);
    out[n++] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW);
    return n;
}

static void restrict_by(const char *kind)
{
    struct sock_filter filter[64];
    unsigned other = strcmp(kind, "allow") == 0    ? SECCOMP_RET_ALLOW
                     : strcmp(kind, "errors") == 0 ? SECCOMP_RET_ERRNO | EPERM
                                                   : SECCOMP_RET_KILL_PROCESS;
    const struct sock_fprog program = {(unsigned short)filter_make(filter, other), filter};
    if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0)
        exit(8);
    int failed;
    if (strcmp(kind, "tsc") == 0)
        failed = prctl(PR_SET_TSC, PR_TSC_SIGSEGV, 0, 0, 0);
    else if (strcmp(kind, "null") == 0)
        failed = prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, NULL, 0, 0) != -1 || errno != EFAULT;
    else if (strcmp(kind, "strict") == 0)
        failed = prctl(PR_SET_SECCOMP, SECCOMP_MODE_STRICT, 0, 0, 0);
    else if (strcmp(kind, "libc") == 0)
        failed = syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, SECCOMP_FILTER_FLAG_TSYNC, &program) != 0;
    else if (strcmp(kind, "asm") == 0)
        failed = own_prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) != 0;
    else
        failed = prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program, 0, 0);
    if (failed)
        exit(77);
}

static int finish(int status)
{
    char text[40];
    int n = snprintf(text, sizeof text, "sum %ld\n", sum);
    return n > 0 && write(STDOUT_FILENO, text, (size_t)n) == n ? status : 7;
}

static int sandboxed(const char *kind)
{
    pthread_t before[THREADS], after[THREADS];
    pthread_barrier_init(&barrier, NULL, THREADS + 1);
    stays = strcmp(kind, "child") != 0;
    start(before, THREADS, BEFORE);
    if (stays)
        pthread_barrier_wait(&barrier);
    restrict_by(kind);
    if (stays)
        pthread_barrier_wait(&barrier);
    join(before, THREADS);
    stays = 0;
    start(after, THREADS, AFTER);
    join(after, THREADS);
    pid_t child = fork();
    if (child == 0) {
        pairs(10);
        _exit(0);
    }
    int status;
    if (wait4(child, &status, 0, NULL) != child || status != 0)
        return 6;
    return finish(0);
}

int main(int argc, char **argv)
{
    if (argc != 2)
        return 2;
    if (strcmp(argv[1], "strict") == 0) {
        pairs(BEFORE);
        restrict_by("strict");
        pairs(AFTER); /* nothing but write and exit of the thread */
        syscall(SYS_exit, finish(0));
    }
    if (strcmp(argv[1], "child") != 0)
        return sandboxed(argv[1]);
    pairs(BEFORE);
    pid_t child = fork();
    if (child == 0) {
        pthread_t t[THREADS];
        start(t, THREADS, BEFORE); /* from here on the child has a recording of its own */
        join(t, THREADS);
        restrict_by("kill");
        start(t, THREADS, AFTER);
        join(t, THREADS);
        _exit(finish(0));
    }
    int status;
    return waitpid(child, &status, 0) == child && status == 0 ? 0 : 5;
}
