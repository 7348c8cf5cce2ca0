/* SPDX-License-Identifier: MIT */
/*
 * How a command restricts its system calls, seen by running it under ptrace.
 *
 * Threads and children are followed. Each system call stops twice; of these only prctl() and seccomp() are looked at. A filter is
 * read when the call begins, and counts once it has succeeded.
 */
#include "doctor_command.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/ptrace.h>
#include <linux/seccomp.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>

#include "record/program.h"
#include "ui/command.h"
#include "ui/memory.h"
#include "ui/output.h"

#ifndef PTRACE_GET_SYSCALL_INFO /* Linux 5.3 */
#define PTRACE_GET_SYSCALL_INFO 0x420e
#endif

enum {
    WATCH_OPTIONS = PTRACE_O_TRACESYSGOOD | PTRACE_O_TRACECLONE | PTRACE_O_TRACEFORK | PTRACE_O_TRACEVFORK |
                    PTRACE_O_TRACEEXEC | PTRACE_O_EXITKILL,
    INFO_ENTRY = 1,
    INFO_EXIT = 2,
    STOP_OF_CALL = SIGTRAP | 0x80,
};

/* The kernel's struct ptrace_syscall_info, which old headers lack. */
struct watch_info {
    uint8_t op, pad[3];
    uint32_t arch;
    uint64_t instruction_pointer, stack_pointer;
    union {
        struct {
            uint64_t number, args[6];
        } entry;
        struct {
            int64_t value;
            uint8_t is_error;
        } exit;
        uint64_t most[8];
    };
};

/* A restriction whose call has begun and not ended. */
struct watch_pending {
    struct restricted r;
    bool open;
};

struct watch {
    pid_t first;
    uint32_t arch; /* of the command's first call */
    struct watch_pending *pending;
    size_t n_pending;
    void (*found)(const struct restricted *r, void *arg);
    void *arg;
};

static long watch_request(int request, pid_t pid, uintptr_t address, uintptr_t data)
{
    return syscall(SYS_ptrace, (long)request, (long)pid, (long)address, (long)data);
}

/* ------------------------------------------------------------------------------------------------ one restriction */

static bool watch_read(pid_t tid, uint64_t from, void *to, size_t bytes)
{
    const struct iovec local = {to, bytes};
    const struct iovec remote = {(void *)(uintptr_t)from, bytes}; // NOLINT(performance-no-int-to-ptr)
    return process_vm_readv(tid, &local, 1, &remote, 1, 0) == (ssize_t)bytes;
}

static void watch_read_filter(struct restricted *r, uint64_t address)
{
    struct sock_fprog program;
    struct sock_filter *filter;
    if (!watch_read(r->tid, address, &program, sizeof program))
        return;
    filter = memory_array(program.len, sizeof *filter);
    if (watch_read(r->tid, (uintptr_t)program.filter, filter, program.len * sizeof *filter)) {
        r->program = filter;
        r->n = program.len;
    } else {
        free(filter);
    }
}

static void watch_name(struct restricted *r)
{
    char path[64];
    snprintf(path, sizeof path, "/proc/%ld/comm", (long)r->tid);
    FILE *f = fopen(path, "re");
    if (!f)
        return;
    if (fgets(r->name, sizeof r->name, f))
        r->name[strcspn(r->name, "\n")] = '\0';
    (void)fclose(f); /* only read */
}

/* Whether a recorder would see a call at an address: made by a C library or its own functions, or by the program itself, if that has no
 * other C library; true if the mappings cannot be read. */
static bool watch_is_seen(pid_t tid, uint64_t address)
{
    static const char *const libraries[] = {"/libc.so", "/libc-", "/ld-musl", "/libupmu"};
    char path[64], line[PATH_MAX + 128];
    bool any = false, found = false;
    snprintf(path, sizeof path, "/proc/%ld/maps", (long)tid);
    FILE *f = fopen(path, "re");
    while (f && fgets(line, sizeof line, f)) {
        char *end;
        uint64_t from = strtoull(line, &end, 16), to = *end == '-' ? strtoull(end + 1, &end, 16) : 0;
        const char *name = strrchr(end, '/');
        for (size_t i = 0; name && i < sizeof libraries / sizeof *libraries; i++)
            if (strncmp(name, libraries[i], strlen(libraries[i])) == 0) {
                any = true;
                found |= address >= from && address < to;
            }
    }
    if (f)
        (void)fclose(f); /* only read */
    return found || !any;
}

static struct watch_pending *watch_pending_of(struct watch *w, pid_t tid)
{
    struct watch_pending *unused = NULL;
    for (size_t i = 0; i < w->n_pending; i++) {
        if (w->pending[i].open && w->pending[i].r.tid == tid)
            return &w->pending[i];
        if (!w->pending[i].open)
            unused = &w->pending[i];
    }
    if (!unused) {
        w->pending = memory_resize(w->pending, w->n_pending + 1, sizeof *w->pending);
        unused = &w->pending[w->n_pending++];
    }
    *unused = (struct watch_pending){.r = {.tid = tid}};
    return unused;
}

/* @return whether the call restricts its thread, and `*kind` how; `*filter`: address of the filter, or 0. */
static bool watch_restricts(const struct watch_info *info, enum restriction *kind, uint64_t *filter)
{
    const uint64_t *a = info->entry.args;
    *filter = 0;
    *kind = RESTRICTION_FILTER;
    if (info->entry.number == SYS_prctl && a[0] == PR_SET_TSC && a[1] == PR_TSC_SIGSEGV)
        *kind = RESTRICTION_CLOCK;
    else if (info->entry.number == SYS_prctl && a[0] == PR_SET_SECCOMP && a[1] == SECCOMP_MODE_STRICT)
        *kind = RESTRICTION_STRICT;
    else if (info->entry.number == SYS_prctl && a[0] == PR_SET_SECCOMP && a[1] == SECCOMP_MODE_FILTER)
        *filter = a[2];
    else if (info->entry.number == SYS_seccomp && a[0] == SECCOMP_SET_MODE_STRICT)
        *kind = RESTRICTION_STRICT;
    else if (info->entry.number == SYS_seccomp && a[0] == SECCOMP_SET_MODE_FILTER)
        *filter = a[2];
    else
        return false;
    return true;
}

static void watch_begin(struct watch *w, pid_t tid, const struct watch_info *info)
{
    enum restriction kind;
    uint64_t filter;
    if (w->arch == 0)
        w->arch = info->arch;
    if (info->arch != w->arch || !watch_restricts(info, &kind, &filter))
        return;
    struct watch_pending *p = watch_pending_of(w, tid);
    p->open = true;
    p->r.kind = kind;
    p->r.bypasses_libc = !watch_is_seen(tid, info->instruction_pointer);
    watch_name(&p->r);
    if (filter)
        watch_read_filter(&p->r, filter);
}

/* seccomp() with TSYNC returns the id of a thread that it could not restrict. */
static void watch_end(struct watch *w, pid_t tid, const struct watch_info *info)
{
    for (size_t i = 0; i < w->n_pending; i++) {
        struct watch_pending *p = &w->pending[i];
        if (!p->open || p->r.tid != tid)
            continue;
        p->open = false;
        if (!info->exit.is_error)
            w->found(&p->r, w->arg);
        free((void *)(uintptr_t)p->r.program);
        p->r.program = NULL;
    }
}

/* @return false if this kernel cannot report calls. */
static bool watch_call(struct watch *w, pid_t tid)
{
    struct watch_info info = {0};
    if (watch_request(PTRACE_GET_SYSCALL_INFO, tid, sizeof info, (uintptr_t)&info) <= 0)
        return errno != EIO && errno != EINVAL;
    if (info.op == INFO_ENTRY)
        watch_begin(w, tid, &info);
    else if (info.op == INFO_EXIT)
        watch_end(w, tid, &info);
    return true;
}

/* ----------------------------------------------------------------------------------------------------- the command */

/* The child: waits for its tracer, then executes the command. The pipe reports a failure. */
__attribute__((noreturn)) static void watch_child(const char *path, char **argv, int go, int failed)
{
    char byte;
    if (read(go, &byte, 1) == 1) {
        dup2(STDERR_FILENO, STDOUT_FILENO);
        execv(path, argv);
        int err = errno;
        if (err == ENOEXEC) {
            execvp(argv[0], argv); /* a script without an interpreter */
            err = errno;
        }
        ssize_t n = write(failed, &err, sizeof err);
        (void)n; /* the parent sees the end of the pipe then */
    }
    _exit(EXIT_NOT_EXECUTABLE);
}

static int watch_refuse(const char *what, int *status)
{
    complain("%s: %s", what, strerror(errno));
    *status = EXIT_FAILED;
    return -1;
}

/* What happened to a thread of the command: pass signals on, stop with the command, and continue. @return false: see watch_call(). */
static bool watch_stop(struct watch *w, pid_t tid, int status)
{
    int signal = WSTOPSIG(status), event = status >> 16;
    if (signal == STOP_OF_CALL) {
        if (!watch_call(w, tid))
            return false;
        signal = 0;
    } else if (event == PTRACE_EVENT_STOP && signal != SIGTRAP) {
        (void)watch_request(PTRACE_LISTEN, tid, 0, 0); /* it stays stopped, as the signal wants */
        return true;
    } else if (event != 0) {
        signal = 0;
    }
    (void)watch_request(PTRACE_SYSCALL, tid, 0, (uintptr_t)signal); /* it may have been killed meanwhile */
    return true;
}

static int watch_all(struct watch *w, int *status)
{
    int result = -1, now;
    for (;;) {
        pid_t tid = waitpid(-1, &now, __WALL);
        if (tid < 0 && errno == EINTR)
            continue;
        if (tid < 0)
            break;
        if (tid == w->first && (WIFEXITED(now) || WIFSIGNALED(now)))
            result = now;
        if (WIFSTOPPED(now) && !watch_stop(w, tid, now)) {
            kill(w->first, SIGKILL);
            complain("this kernel does not report system calls (PTRACE_GET_SYSCALL_INFO, Linux 5.3)");
            *status = EXIT_FAILED;
            return -1;
        }
    }
    return result >= 0 ? result : watch_refuse("cannot wait for the command", status);
}

/* Fork the child and become its tracer. @return 0; -1 after a message. */
static int watch_start(struct watch *w, const char *path, char **argv, int *failed, int *status)
{
    int go[2], err[2], now;
    if (pipe2(go, O_CLOEXEC) != 0 || pipe2(err, O_CLOEXEC) != 0)
        return watch_refuse("cannot make a pipe", status);
    w->first = fork();
    if (w->first == 0)
        watch_child(path, argv, go[0], err[1]);
    close(go[0]);
    close(err[1]);
    *failed = err[0];
    if (w->first < 0) {
        close(go[1]);
        return watch_refuse("cannot start a process", status);
    }
    bool traced = watch_request(PTRACE_SEIZE, w->first, 0, WATCH_OPTIONS) == 0 &&
                  watch_request(PTRACE_INTERRUPT, w->first, 0, 0) == 0 && waitpid(w->first, &now, __WALL) == w->first &&
                  watch_request(PTRACE_SYSCALL, w->first, 0, 0) == 0;
    int why = errno;
    traced = traced && write(go[1], "", 1) == 1;
    close(go[1]);
    if (traced)
        return 0;
    errno = why;
    kill(w->first, SIGKILL);
    waitpid(w->first, &now, __WALL);
    return watch_refuse("cannot trace the command", status);
}

int doctor_watch(char **argv, void (*found)(const struct restricted *r, void *arg), void *arg, int *status)
{
    struct watch w = {.found = found, .arg = arg};
    int failed = -1, err = 0, result = -1;
    char *path = program_find(argv[0], status);
    if (!path)
        return -1;
    if (watch_start(&w, path, argv, &failed, status) == 0)
        result = watch_all(&w, status);
    if (result >= 0 && read(failed, &err, sizeof err) == (ssize_t)sizeof err) {
        complain("cannot execute '%s': %s", path, strerror(err));
        *status = EXIT_NOT_EXECUTABLE;
        result = -1;
    }
    if (failed >= 0)
        close(failed);
    for (size_t i = 0; i < w.n_pending; i++)
        if (w.pending[i].open)
            free((void *)(uintptr_t)w.pending[i].r.program);
    free(w.pending);
    free(path);
    return result;
}
