/* SPDX-License-Identifier: MIT */
/* System calls of a command, by ptrace. */
#include "tracer.h"

#include <errno.h>
#include <linux/ptrace.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#ifndef PTRACE_GET_SYSCALL_INFO
#define PTRACE_GET_SYSCALL_INFO 0x420e
#endif

/* The kernel's struct up to the number, for C libraries of any age. */
struct tracer_info {
    uint8_t op; /* 1: entry */
    uint8_t pad[3];
    uint32_t arch;
    uint64_t instruction_pointer, stack_pointer;
    uint64_t number, args[6];
    uint64_t rest[2];
};

enum {
    OPTIONS = PTRACE_O_TRACESYSGOOD | PTRACE_O_TRACECLONE | PTRACE_O_TRACEFORK | PTRACE_O_TRACEVFORK | PTRACE_O_EXITKILL
};

static long tracer_request(int request, pid_t pid, uintptr_t address, uintptr_t data)
{
    return syscall(SYS_ptrace, (long)request, (long)pid, (long)address, (long)data);
}

static pid_t tracer_start(char **argv, const char *const *set)
{
    pid_t pid = fork();
    if (pid != 0)
        return pid;
    for (size_t i = 0; set[i]; i++)
        putenv(strdup(set[i]));
    if (tracer_request(PTRACE_TRACEME, 0, 0, 0) != 0)
        _exit(126);
    raise(SIGSTOP);
    execv(argv[0], argv);
    _exit(127);
}

/* @return false: this kernel cannot report calls. */
static bool tracer_note(pid_t pid, pid_t first, unsigned *phase, struct tracer_calls *out)
{
    struct tracer_info info = {0};
    if (tracer_request(PTRACE_GET_SYSCALL_INFO, pid, sizeof info, (uintptr_t)&info) <= 0)
        return errno != EIO && errno != EINVAL;
    if (info.op != 1)
        return true;
    if (info.number == SYS_getpgid && pid == first && *phase < TRACER_PHASES - 1)
        ++*phase;
    else if (info.number < TRACER_NUMBERS)
        out->made[*phase][info.number]++;
    return true;
}

int tracer_run(char **argv, const char *const *set, struct tracer_calls *out)
{
    unsigned phase = 0;
    int status;
    memset(out, 0, sizeof *out);
    pid_t first = tracer_start(argv, set);
    if (first < 0 || waitpid(first, &status, 0) != first)
        return -1;
    if (!WIFSTOPPED(status) || tracer_request(PTRACE_SETOPTIONS, first, 0, OPTIONS) != 0) {
        kill(first, SIGKILL);
        return -1;
    }
    (void)tracer_request(PTRACE_SYSCALL, first, 0, 0);
    for (int result = -1;;) {
        pid_t pid = waitpid(-1, &status, __WALL);
        if (pid < 0)
            return result;
        if (WIFEXITED(status) || WIFSIGNALED(status)) {
            if (pid == first)
                result = status;
            continue;
        }
        int signal = WSTOPSIG(status);
        bool of_call = signal == (SIGTRAP | 0x80), of_event = status >> 16 != 0;
        if (of_call && !tracer_note(pid, first, &phase, out)) {
            kill(first, SIGKILL);
            return -1;
        }
        bool deliver = !of_call && !of_event && signal != SIGSTOP && signal != SIGTRAP;
        (void)tracer_request(PTRACE_SYSCALL, pid, 0, deliver ? (uintptr_t)signal : 0);
    }
}
