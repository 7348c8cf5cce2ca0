/* SPDX-License-Identifier: MIT */
/* Region pairs under a seccomp filter that kills at any system call. */
#include "region.h"

#include <linux/filter.h>
#include <linux/seccomp.h>
#include <signal.h>
#include <stddef.h>
#include <stdio.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "subject.h"

enum { PAIRS = 1000, NO_FILTER = 3 };

/* The child is alone with this filter and ends with it, so the architecture needs no check. */
static int forbid_system_calls(void)
{
    struct sock_filter rules[] = {
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, (unsigned)offsetof(struct seccomp_data, nr)),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_exit_group, 0, 1),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS),
    };
    const struct sock_fprog program = {.len = sizeof rules / sizeof *rules, .filter = rules};
    if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) < 0)
        return -1;
    return prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program);
}

static void child(void)
{
    subject_set_up(NULL);
    subject_handle_pairs(NULL, 1); /* a thread's first region opens its page */
    if (forbid_system_calls() < 0)
        _exit(NO_FILTER);
    subject_handle_pairs(NULL, PAIRS);
    _exit(0);
}

int nosyscall_pairs(char *why, size_t cap)
{
    int status;
    pid_t pid = fork();
    if (pid == 0)
        child();
    if (pid < 0 || waitpid(pid, &status, 0) != pid)
        snprintf(why, cap, "no child could be run for it");
    else if (WIFSIGNALED(status) && WTERMSIG(status) == SIGSYS)
        return 1;
    else if (WIFEXITED(status) && WEXITSTATUS(status) == 0)
        return 0;
    else if (WIFEXITED(status) && WEXITSTATUS(status) == NO_FILTER)
        snprintf(why, cap, "no seccomp filter can be installed here");
    else
        snprintf(why, cap, "the child ended with wait status 0x%x", (unsigned)status);
    return -1;
}
