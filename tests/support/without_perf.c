/* SPDX-License-Identifier: MIT */
/*
 * Command under a seccomp filter by which perf_event_open fails with EACCES, EPERM or ENOSYS, as in a container, or by which
 * it is ALLOWED: without_perf ERRNO|ALLOWED -- COMMAND ARG...
 *
 * The filter is tried before the command runs: a test must not pass because nothing was denied.
 */
#include <errno.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

static int errno_named(const char *name)
{
    static const struct {
        const char *name;
        int err;
    } known[] = {{"EACCES", EACCES}, {"EPERM", EPERM}, {"ENOSYS", ENOSYS}, {"ALLOWED", EINVAL}};
    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        if (strcmp(name, known[i].name) == 0)
            return known[i].err;
    return 0;
}

static int filter_deny(int err)
{
    struct sock_filter program[] = {
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_perf_event_open, 0, 1),
        BPF_STMT(BPF_RET | BPF_K,
                 err == EINVAL ? SECCOMP_RET_ALLOW : SECCOMP_RET_ERRNO | ((unsigned)err & SECCOMP_RET_DATA)),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
    };
    struct sock_fprog filter = {.len = sizeof program / sizeof *program, .filter = program};
    if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0)
        return -1;
    return prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &filter, 0, 0);
}

int main(int argc, char **argv)
{
    int err = argc > 3 && strcmp(argv[2], "--") == 0 ? errno_named(argv[1]) : 0;
    if (err == 0) {
        fprintf(stderr, "usage: without_perf EACCES|EPERM|ENOSYS|ALLOWED -- COMMAND [ARG...]\n");
        return 2;
    }
    if (filter_deny(err) != 0) {
        printf("skipped, because this kernel takes no seccomp filter: %s\n", strerror(errno));
        return 77;
    }
    if (syscall(SYS_perf_event_open, NULL, 0, 0, -1, ~0ul) != -1 || errno != err) {
        fprintf(stderr, "without_perf: the filter does not do what was asked: %s\n", strerror(errno));
        return 1;
    }
    execvp(argv[3], argv + 3);
    fprintf(stderr, "without_perf: cannot execute %s: %s\n", argv[3], strerror(errno));
    return 127;
}
