/* SPDX-License-Identifier: MIT */
/* Wrappers of calls that make a child process without fork(), or wait for one. */
#include <signal.h>
#include <stdbool.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/wait.h>

#include "sync_trace/account/call.h"
#include "sync_trace/fork.h"
#include "sync_trace/libc/resolve.h"

/* `status` NULL: not asked for. Of a stopped child it is no end. */
static pid_t child_waited_for(pid_t child, const int *status, int options)
{
    bool ends_only = (options & (WUNTRACED | WCONTINUED)) == 0;
    if (child > 0 && (status ? WIFEXITED(*status) || WIFSIGNALED(*status) : ends_only))
        sync_fork_child_ended(child, 0);
    return child;
}

UPMU_API pid_t wait(int *status)
{
    SYNC_CALL c = sync_call_begin(UPMU_CALL_CHILD, -1, 0, CALL_SITE());
    pid_t rc = SYNC_REAL(wait)(status);
    c.rc = rc;
    return child_waited_for(rc, status, 0);
}

UPMU_API pid_t waitpid(pid_t pid, int *status, int options)
{
    SYNC_CALL c = sync_call_begin(UPMU_CALL_CHILD, -1, 0, CALL_SITE());
    pid_t rc = SYNC_REAL(waitpid)(pid, status, options);
    c.rc = rc;
    return child_waited_for(rc, status, options);
}

UPMU_API pid_t wait3(int *status, int options, struct rusage *usage)
{
    SYNC_CALL c = sync_call_begin(UPMU_CALL_CHILD, -1, 0, CALL_SITE());
    pid_t rc = SYNC_REAL(wait3)(status, options, usage);
    c.rc = rc;
    return child_waited_for(rc, status, options);
}

UPMU_API pid_t wait4(pid_t pid, int *status, int options, struct rusage *usage)
{
    SYNC_CALL c = sync_call_begin(UPMU_CALL_CHILD, -1, 0, CALL_SITE());
    pid_t rc = SYNC_REAL(wait4)(pid, status, options, usage);
    c.rc = rc;
    return child_waited_for(rc, status, options);
}

UPMU_API int waitid(idtype_t type, id_t id, siginfo_t *info, int options)
{
    SYNC_CALL c = sync_call_begin(UPMU_CALL_CHILD, -1, 0, CALL_SITE());
    int rc = SYNC_REAL(waitid)(type, id, info, options);
    c.rc = rc;
    bool ended = rc == 0 && info && info->si_signo == SIGCHLD &&
                 (info->si_code == CLD_EXITED || info->si_code == CLD_KILLED || info->si_code == CLD_DUMPED);
    if (ended && !(options & WNOWAIT))
        sync_fork_child_ended(info->si_pid, 0);
    return rc;
}

UPMU_API int system(const char *command)
{
    SYNC_CALL c = sync_call_begin(UPMU_CALL_CHILD, -1, 0, CALL_SITE());
    uint64_t begin = sync_fork_child_begins();
    int rc = SYNC_REAL(system)(command);
    c.rc = rc;
    if (command && rc != -1 && begin != 0)
        sync_fork_child_ended(0, begin);
    return rc;
}

/* What posix_spawn() and posix_spawnp() do with their results; `begin` is of sync_fork_child_begins(). @return rc */
static int child_spawned(int rc, pid_t *pid, const pid_t *child, uint64_t begin)
{
    if (rc != 0)
        return rc;
    sync_fork_child_spawned(*child, begin);
    if (pid)
        *pid = *child;
    return 0;
}

UPMU_API int posix_spawn(pid_t *pid, const char *path, const posix_spawn_file_actions_t *actions,
                         const posix_spawnattr_t *attr, char *const argv[], char *const envp[])
{
    pid_t child = 0;
    uint64_t begin = sync_fork_child_begins();
    return child_spawned(SYNC_REAL(posix_spawn)(&child, path, actions, attr, argv, envp), pid, &child, begin);
}

UPMU_API int posix_spawnp(pid_t *pid, const char *file, const posix_spawn_file_actions_t *actions,
                          const posix_spawnattr_t *attr, char *const argv[], char *const envp[])
{
    pid_t child = 0;
    uint64_t begin = sync_fork_child_begins();
    return child_spawned(SYNC_REAL(posix_spawnp)(&child, file, actions, attr, argv, envp), pid, &child, begin);
}

/* Streams of popen() that are open, and the thread that called it. */
enum { CHILD_STREAMS = 16 };
static struct child_stream {
    FILE *stream; /* NULL: free */
    uint64_t begin;
    struct sync_thread *thread;
} child_streams[CHILD_STREAMS];
static uint32_t child_streams_lock;

/* Finds the slot of a stream and makes it that of `now`, if no other thread is about to do the same. */
static struct child_stream child_stream_replace(FILE *was, struct child_stream now)
{
    struct child_stream found = {0};
    if (__atomic_exchange_n(&child_streams_lock, 1, __ATOMIC_ACQUIRE))
        return found;
    for (uint32_t i = 0; i < CHILD_STREAMS; i++) {
        if (child_streams[i].stream != was)
            continue;
        found = child_streams[i];
        child_streams[i] = now;
        break;
    }
    __atomic_store_n(&child_streams_lock, 0, __ATOMIC_RELEASE);
    return found;
}

UPMU_API FILE *popen(const char *command, const char *type)
{
    uint64_t begin = sync_fork_child_begins();
    FILE *f = SYNC_REAL(popen)(command, type);
    if (f && begin != 0)
        (void)child_stream_replace(NULL, (struct child_stream){.stream = f, .begin = begin, .thread = sync_tls.thread});
    return f;
}

UPMU_API int pclose(FILE *stream)
{
    const struct child_stream s = child_stream_replace(stream, (struct child_stream){0});
    SYNC_CALL c = sync_call_begin(UPMU_CALL_CHILD, -1, 0, CALL_SITE());
    int rc = SYNC_REAL(pclose)(stream);
    c.rc = rc;
    if (rc != -1 && s.stream && s.thread == sync_tls.thread)
        sync_fork_child_ended(0, s.begin);
    return rc;
}
