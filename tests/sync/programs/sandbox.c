/* SPDX-License-Identifier: MIT */
/*
 * A recorded program that installs a seccomp filter, by which any call but its own and those of docs/security.md ends it.
 *
 *     sandbox prctl   record under the filter: threads that are preempted, full packets, stacks, a forked child
 *     sandbox asm     the same with a filter that no wrapper sees
 *     sandbox KIND FOLDER   the same with that folder, in which there is no /proc, as the root directory
 *     sandbox list    the names of the recorder's calls
 */
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/prctl.h>
#include <sys/syscall.h>

#include <grp.h>
#include <sched.h>
#include <sys/wait.h>

#include "../read_object.h"
#include "own_prctl.h"

enum { THREADS = 3, ROUNDS = 4, PAIRS = 3000, CALLS_MAX = 64 };

#define CALL(name)        \
    {                     \
#name, SYS_##name \
    }

struct call {
    const char *name;
    long number;
};

/* In the rows "a new packet, ...", "a thread's begin and end", "a call stack", "all threads are blocked" and "end". */
static const struct call recorder[] = {
    CALL(mmap),          CALL(munmap),          CALL(madvise),       CALL(rt_sigprocmask),
    CALL(prlimit64),     CALL(clone),           CALL(openat),        CALL(fstat),
    CALL(fallocate),     CALL(fstatfs),         CALL(pwritev),       CALL(ftruncate),
    CALL(pwrite64),      CALL(close),           CALL(exit),          CALL(gettid),
    CALL(prctl),         CALL(getrusage),       CALL(futex),         CALL(process_vm_readv),
    CALL(read),          CALL(write),           CALL(mincore),       CALL(tgkill),
    CALL(rt_sigpending), CALL(rt_sigtimedwait), CALL(clock_gettime), CALL(clock_nanosleep),
    CALL(sched_yield),
#ifdef SYS_close_range
    CALL(close_range),
#endif
#ifdef SYS_rename
    CALL(rename),
#endif
};

/* Of the C library: threads, memory, the end. */
static const struct call own[] = {
    CALL(clone),        CALL(set_robust_list), CALL(mprotect), CALL(brk),
    CALL(rt_sigaction), CALL(exit_group),      CALL(getpid),   CALL(wait4),
#ifdef SYS_clone3
    CALL(clone3),
#endif
#ifdef SYS_rseq
    CALL(rseq),
#endif
#ifdef SYS_newfstatat
    CALL(newfstatat),
#endif
};

enum { RECORDER = sizeof recorder / sizeof *recorder, OWN = sizeof own / sizeof *own };

static void install_filter(bool is_seen)
{
    struct sock_filter program[2 * (RECORDER + OWN) + 2];
    size_t n = 0;
    program[n++] = (struct sock_filter)BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr));
    for (size_t i = 0; i < RECORDER + OWN; i++) {
        long number = i < RECORDER ? recorder[i].number : own[i - RECORDER].number;
        program[n++] = (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, (uint32_t)number, 0, 1);
        program[n++] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW);
    }
    program[n++] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS);
    struct sock_fprog filter = {.len = (unsigned short)n, .filter = program};
    if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0 ||
        (is_seen ? prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &filter, 0, 0)
                 : own_prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &filter)) != 0) {
        printf(
            "skipped, because this kernel takes no seccomp filter, or the test has no instruction for this machine\n");
        exit(77);
    }
}

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;

static void *work(void *arg)
{
    for (int i = 0; i < PAIRS; i++) {
        lock(&mutex);
        unlock(&mutex);
        if (i % (PAIRS / 10) == 0)
            sched_yield(); /* to another thread: the kernel counts it as preempted */
    }
    return arg;
}

/* A user may be in so many groups that the kernel's lines on filters come late. */
static void join_groups(void)
{
    enum { GROUPS = 2000, FIRST = 1000000000 };
    gid_t groups[GROUPS];
    for (gid_t i = 0; i < GROUPS; i++)
        groups[i] = FIRST + i;
    if (geteuid() == 0)
        (void)setgroups(GROUPS, groups); /* a container may forbid it: then the user has those that it has */
}

static void run_threads(void)
{
    pthread_t t[THREADS];
    for (int i = 0; i < THREADS; i++)
        CHECK(pthread_create(&t[i], NULL, work, NULL) == 0);
    for (int i = 0; i < THREADS; i++)
        CHECK(pthread_join(t[i], NULL) == 0);
}

int main(int argc, char **argv)
{
    if (argc < 2)
        return 2;
    if (strcmp(argv[1], "list") == 0) {
        for (size_t i = 0; i < RECORDER; i++)
            puts(recorder[i].name);
        return 0;
    }
    on_one_cpu();
    join_groups();
    CHECK(argc == 2 || (chroot(argv[2]) == 0 && chdir("/") == 0));
    install_filter(strcmp(argv[1], "prctl") == 0);
    for (int round = 0; round < ROUNDS; round++)
        run_threads();
    printf("acquired %d\n", THREADS * ROUNDS * PAIRS);
    (void)fflush(stdout);
    pid_t child = fork();
    if (child == 0) {
        run_threads();
        _exit(0);
    }
    int status;
    CHECK(wait4(child, &status, 0, NULL) == child && status == 0);
    return 0;
}
