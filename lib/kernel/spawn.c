/* SPDX-License-Identifier: MIT */
/*
 * Start of a command that waits just before exec, so that counters can be opened on it.
 *
 * Parent and child share a socket pair, which is close-on-exec: a byte from the parent releases the child, which answers with
 * its resource use so far. Then an errno from the child reports that exec failed, and the end of file that it succeeded. A
 * pipe would send SIGPIPE to a host whose child was killed while it waited; MSG_NOSIGNAL of a socket does not.
 *
 * If the parent closes the gate without releasing it, or dies, the child exits; not so while a second command waits at its
 * own gate, with a copy of the first one: hence kernel_abandon(), which does not rely on the end of file. Signal dispositions
 * and masks are those of the caller.
 */
#include <errno.h>
#include <signal.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "kernel/parts.h"

/* read(2) continued over signals; the messages are so small that they come whole or not at all. */
static ssize_t receive(int fd, void *buf, size_t bytes)
{
    ssize_t n;
    do
        n = read(fd, buf, bytes);
    while (n < 0 && errno == EINTR);
    return n;
}

static ssize_t tell(int fd, const void *buf, size_t bytes)
{
    ssize_t n;
    do
        n = send(fd, buf, bytes, MSG_NOSIGNAL);
    while (n < 0 && errno == EINTR);
    return n;
}

/* In the child of a possibly multi-threaded process: nothing but async-signal-safe calls. */
static void __attribute__((noreturn)) child_main(char *const argv[], int gate)
{
    char go;
    if (receive(gate, &go, 1) != 1)
        _exit(0);
    struct rusage used;
    if (getrusage(RUSAGE_SELF, &used) < 0)
        memset(&used, 0, sizeof used);
    (void)!tell(gate, &used, sizeof used);
    execvp(argv[0], argv);
    int err = errno;
    /* If the parent has closed its end, the exit status is all there is. */
    (void)!tell(gate, &err, sizeof err);
    _exit(127);
}

pid_t kernel_spawn(char *const argv[], int *gate)
{
    int ends[2];
    *gate = -1;
    kernel_descriptor_claim();
    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) < 0) {
        int err = errno;
        kernel_descriptor_unreserve();
        return -err;
    }
    int ours = kernel_descriptor_park(ends[0]);
    if (ours < 0) {
        close(ends[1]);
        return ours;
    }
    pid_t pid = fork();
    if (pid == 0) {
        close(ours);
        child_main(argv, ends[1]);
    }
    int err = errno;
    close(ends[1]);
    if (pid < 0) {
        kernel_descriptor_close(ours);
        return -err;
    }
    *gate = ours;
    return pid;
}

/* The answer of the child: its errno, or the end of file with which exec closes its end. */
static int exec_answer(int gate)
{
    int err = 0;
    ssize_t n = receive(gate, &err, sizeof err);
    if (n < 0)
        return -errno;
    if (n == 0)
        return 0;
    return n == (ssize_t)sizeof err && err > 0 ? -err : -EIO;
}

/* What the child had used, then how its exec went. */
static int release_answer(int gate, struct kernel_usage *before)
{
    struct rusage used;
    ssize_t n = receive(gate, &used, sizeof used);
    if (n == 0)
        return 0; /* it was killed before */
    if (n != (ssize_t)sizeof used)
        return n < 0 ? -errno : -EIO;
    kernel_usage_of(&used, before);
    return exec_answer(gate);
}

int kernel_release(int gate, struct kernel_usage *before)
{
    struct kernel_usage ignored;
    int rc = 0;
    before = before ? before : &ignored;
    *before = (struct kernel_usage){0};
    ssize_t n = tell(gate, "", 1);
    if (n == 1)
        rc = release_answer(gate, before);
    else
        rc = n < 0 ? -errno : -EIO;
    kernel_descriptor_close(gate);
    return rc;
}

void kernel_abandon(int gate, pid_t pid)
{
    siginfo_t ignored;
    /* The program may have waited for our child itself, and its number may be another's by now. */
    if (waitid(P_PID, (id_t)pid, &ignored, WEXITED | WNOHANG | WNOWAIT) == 0)
        (void)kill(pid, SIGKILL); /* it has executed nothing yet that could be left half done */
    kernel_descriptor_close(gate);
}

int kernel_wait(pid_t pid, int *status, struct kernel_usage *used)
{
    struct rusage usage;
    int ignored;
    while (wait4(pid, status ? status : &ignored, 0, &usage) < 0)
        if (errno != EINTR)
            return -errno;
    if (used)
        kernel_usage_of(&usage, used);
    return 0;
}
