/* SPDX-License-Identifier: MIT */
/*
 * Commands that wait just before exec, so that counters can be opened on them.
 *
 * Parent and child share a close-on-exec socket pair: a byte from the parent releases the child, which answers with
 * its resource usage so far. After that, an errno from the child reports a failed exec, and the end of file a
 * successful one. A pipe would raise SIGPIPE in a host whose child was killed while it waited; MSG_NOSIGNAL avoids
 * that.
 *
 * If the parent closes the gate without releasing it, or dies, the child exits; not so while a second command waits
 * at its own gate with a copy of the first one: therefore kernel_abandon() does not rely on the end of file. Signal
 * dispositions and masks are those of the caller.
 */
#include <errno.h>
#include <signal.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "kernel/parts.h"

/* read(2), restarted after signals; the messages are small enough to arrive whole or not at all. */
static ssize_t spawn_receive(int fd, void *buf, size_t bytes)
{
    ssize_t n;
    do
        n = read(fd, buf, bytes);
    while (n < 0 && errno == EINTR);
    return n;
}

static ssize_t spawn_send(int fd, const void *buf, size_t bytes)
{
    ssize_t n;
    do
        n = send(fd, buf, bytes, MSG_NOSIGNAL);
    while (n < 0 && errno == EINTR);
    return n;
}

/* Runs in the child of a possibly multi-threaded process: async-signal-safe calls only. */
static void __attribute__((noreturn)) spawn_child(char *const argv[], int gate)
{
    char go;
    if (spawn_receive(gate, &go, 1) != 1)
        _exit(0);
    struct rusage used;
    if (getrusage(RUSAGE_SELF, &used) < 0)
        memset(&used, 0, sizeof used);
    (void)!spawn_send(gate, &used, sizeof used);
    execvp(argv[0], argv);
    int err = errno;
    /* If the parent has closed its end, the exit status remains. */
    (void)!spawn_send(gate, &err, sizeof err);
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
        spawn_child(argv, ends[1]);
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

/* The result of exec: an errno, or the end of file when exec closes the child's end. */
static int spawn_exec_result(int gate)
{
    int err = 0;
    ssize_t n = spawn_receive(gate, &err, sizeof err);
    if (n < 0)
        return -errno;
    if (n == 0)
        return 0;
    return n == (ssize_t)sizeof err && err > 0 ? -err : -EIO;
}

/* The child's usage so far, then the result of its exec. */
static int spawn_release_result(int gate, struct kernel_usage *before)
{
    struct rusage used;
    ssize_t n = spawn_receive(gate, &used, sizeof used);
    if (n == 0)
        return 0; /* it was killed before that */
    if (n != (ssize_t)sizeof used)
        return n < 0 ? -errno : -EIO;
    kernel_usage_of(&used, before);
    return spawn_exec_result(gate);
}

int kernel_release(int gate, struct kernel_usage *before)
{
    struct kernel_usage ignored = {0};
    int rc = 0;
    before = before ? before : &ignored;
    *before = ignored;
    ssize_t n = spawn_send(gate, "", 1);
    if (n == 1)
        rc = spawn_release_result(gate, before);
    else
        rc = n < 0 ? -errno : -EIO;
    kernel_descriptor_close(gate);
    return rc;
}

void kernel_abandon(int gate, pid_t pid)
{
    siginfo_t ignored;
    /* The program may have waited for our child itself, and its pid may have been reused. */
    if (waitid(P_PID, (id_t)pid, &ignored, WEXITED | WNOHANG | WNOWAIT) == 0)
        (void)kill(pid, SIGKILL); /* it has not executed anything yet */
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
