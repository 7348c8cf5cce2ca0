/* SPDX-License-Identifier: MIT */
/*
 * Lookup of the C library's functions behind the interposed names.
 *
 * free() and the mutex functions come first and always exist: when a later lookup fails, dlsym() allocates its message,
 * and a malloc of the program that locks a mutex needs them. A result of dlsym() is always used after the call: with a
 * tail call, RTLD_NEXT would be relative to the wrong library.
 *
 * If the C library was preloaded before this library, RTLD_NEXT finds nothing. The program's calls then bypass this
 * library and nothing can be recorded; calls that do arrive, by dlsym() or from libraries bound to it, are passed to the
 * C library, found by its name.
 */
#include "sync_trace/libc/resolve.h"

#include <dlfcn.h>
#include <errno.h>
#ifdef __GLIBC__
#include <gnu/lib-names.h>
#endif
#include <stddef.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "sync_trace/libc/cond_version.h"

struct sync_real sync_real;

/* Condition variables have two layouts under one name in old ABIs; dlsym() gave the wrong one before glibc 2.36. */
#define COND_VERSION "GLIBC_2.3.2"

static int absent_mutex_clocklock(pthread_mutex_t *m, clockid_t c, const struct timespec *ts)
{
    (void)m, (void)c, (void)ts;
    return ENOSYS;
}

static int absent_rwlock_clocklock(pthread_rwlock_t *l, clockid_t c, const struct timespec *ts)
{
    (void)l, (void)c, (void)ts;
    return ENOSYS;
}

static int absent_cond_clockwait(pthread_cond_t *c, pthread_mutex_t *m, clockid_t clock, const struct timespec *ts)
{
    (void)c, (void)m, (void)clock, (void)ts;
    return ENOSYS;
}

static int absent_sem_clockwait(sem_t *s, clockid_t c, const struct timespec *ts)
{
    (void)s, (void)c, (void)ts;
    errno = ENOSYS;
    return -1;
}

static int absent_clockjoin(pthread_t t, void **value, clockid_t c, const struct timespec *ts)
{
    (void)t, (void)value, (void)c, (void)ts;
    return ENOSYS;
}

static int absent_epoll_pwait2(int fd, struct epoll_event *events, int n, const struct timespec *most,
                               const sigset_t *mask)
{
    (void)fd, (void)events, (void)n, (void)most, (void)mask;
    errno = ENOSYS;
    return -1;
}

/* Of musl before 1.2.5. */
static ssize_t absent_vector_flags(int fd, const struct iovec *of, int n, off_t at, int flags)
{
    (void)fd, (void)of, (void)n, (void)at, (void)flags;
    errno = ENOSYS;
    return -1;
}

static int absent_tgkill(pid_t pid, pid_t tid, int sig)
{
    return (int)syscall(SYS_tgkill, pid, tid, sig);
}

static const struct {
    const char *name;
    const char *version;
    size_t at;
} functions[] = {
    {"free", NULL, offsetof(struct sync_real, free)}, /* first: dlsym() itself calls it */
    {"pthread_mutex_lock", NULL, offsetof(struct sync_real, mutex_lock)},
    {"pthread_mutex_unlock", NULL, offsetof(struct sync_real, mutex_unlock)},
    {"pthread_mutex_trylock", NULL, offsetof(struct sync_real, mutex_trylock)},
    {"pthread_mutex_init", NULL, offsetof(struct sync_real, mutex_init)},
    {"pthread_mutex_destroy", NULL, offsetof(struct sync_real, mutex_destroy)},
    {"pthread_mutex_timedlock", NULL, offsetof(struct sync_real, mutex_timedlock)},
    {"pthread_cond_init", COND_VERSION, offsetof(struct sync_real, cond_init)},
    {"pthread_cond_destroy", COND_VERSION, offsetof(struct sync_real, cond_destroy)},
    {"pthread_cond_wait", COND_VERSION, offsetof(struct sync_real, cond_wait)},
    {"pthread_cond_timedwait", COND_VERSION, offsetof(struct sync_real, cond_timedwait)},
    {"pthread_cond_signal", COND_VERSION, offsetof(struct sync_real, cond_signal)},
    {"pthread_cond_broadcast", COND_VERSION, offsetof(struct sync_real, cond_broadcast)},
    {"sem_init", NULL, offsetof(struct sync_real, sem_init)},
    {"sem_destroy", NULL, offsetof(struct sync_real, sem_destroy)},
    {"sem_wait", NULL, offsetof(struct sync_real, sem_wait)},
    {"sem_trywait", NULL, offsetof(struct sync_real, sem_trywait)},
    {"sem_timedwait", NULL, offsetof(struct sync_real, sem_timedwait)},
    {"sem_post", NULL, offsetof(struct sync_real, sem_post)},
    {"pthread_rwlock_init", NULL, offsetof(struct sync_real, rwlock_init)},
    {"pthread_rwlock_destroy", NULL, offsetof(struct sync_real, rwlock_destroy)},
    {"pthread_rwlock_rdlock", NULL, offsetof(struct sync_real, rwlock_rdlock)},
    {"pthread_rwlock_tryrdlock", NULL, offsetof(struct sync_real, rwlock_tryrdlock)},
    {"pthread_rwlock_timedrdlock", NULL, offsetof(struct sync_real, rwlock_timedrdlock)},
    {"pthread_rwlock_wrlock", NULL, offsetof(struct sync_real, rwlock_wrlock)},
    {"pthread_rwlock_trywrlock", NULL, offsetof(struct sync_real, rwlock_trywrlock)},
    {"pthread_rwlock_timedwrlock", NULL, offsetof(struct sync_real, rwlock_timedwrlock)},
    {"pthread_rwlock_unlock", NULL, offsetof(struct sync_real, rwlock_unlock)},
    {"pthread_spin_init", NULL, offsetof(struct sync_real, spin_init)},
    {"pthread_spin_destroy", NULL, offsetof(struct sync_real, spin_destroy)},
    {"pthread_spin_lock", NULL, offsetof(struct sync_real, spin_lock)},
    {"pthread_spin_trylock", NULL, offsetof(struct sync_real, spin_trylock)},
    {"pthread_spin_unlock", NULL, offsetof(struct sync_real, spin_unlock)},
    {"pthread_barrier_init", NULL, offsetof(struct sync_real, barrier_init)},
    {"pthread_barrier_destroy", NULL, offsetof(struct sync_real, barrier_destroy)},
    {"pthread_barrier_wait", NULL, offsetof(struct sync_real, barrier_wait)},
    {"pthread_mutex_consistent", NULL, offsetof(struct sync_real, mutex_consistent)},
    {"pthread_once", NULL, offsetof(struct sync_real, once)},
    {"pthread_cancel", NULL, offsetof(struct sync_real, cancel)},
    {"sem_open", NULL, offsetof(struct sync_real, sem_open)},
    {"sem_close", NULL, offsetof(struct sync_real, sem_close)},
    {"sem_unlink", NULL, offsetof(struct sync_real, sem_unlink)},
    {"sem_getvalue", NULL, offsetof(struct sync_real, sem_getvalue)},
    {"mtx_init", NULL, offsetof(struct sync_real, mtx_init)},
    {"mtx_destroy", NULL, offsetof(struct sync_real, mtx_destroy)},
    {"mtx_lock", NULL, offsetof(struct sync_real, mtx_lock)},
    {"mtx_trylock", NULL, offsetof(struct sync_real, mtx_trylock)},
    {"mtx_timedlock", NULL, offsetof(struct sync_real, mtx_timedlock)},
    {"mtx_unlock", NULL, offsetof(struct sync_real, mtx_unlock)},
    {"cnd_init", NULL, offsetof(struct sync_real, cnd_init)},
    {"cnd_destroy", NULL, offsetof(struct sync_real, cnd_destroy)},
    {"cnd_wait", NULL, offsetof(struct sync_real, cnd_wait)},
    {"cnd_timedwait", NULL, offsetof(struct sync_real, cnd_timedwait)},
    {"cnd_signal", NULL, offsetof(struct sync_real, cnd_signal)},
    {"cnd_broadcast", NULL, offsetof(struct sync_real, cnd_broadcast)},
    {"call_once", NULL, offsetof(struct sync_real, call_once)},
    {"thrd_create", NULL, offsetof(struct sync_real, thrd_create)},
    {"thrd_join", NULL, offsetof(struct sync_real, thrd_join)},
    {"thrd_detach", NULL, offsetof(struct sync_real, thrd_detach)},
    {"syscall", NULL, offsetof(struct sync_real, syscall)},
    {"prctl", NULL, offsetof(struct sync_real, prctl)},
    {"pthread_create", NULL, offsetof(struct sync_real, create)},
    {"pthread_join", NULL, offsetof(struct sync_real, join)},
    {"pthread_tryjoin_np", NULL, offsetof(struct sync_real, tryjoin)},
    {"pthread_timedjoin_np", NULL, offsetof(struct sync_real, timedjoin)},
    {"pthread_detach", NULL, offsetof(struct sync_real, detach)},
    {"pthread_setname_np", NULL, offsetof(struct sync_real, setname)},
    {"dl_iterate_phdr", NULL, offsetof(struct sync_real, iterate_phdr)},
    {"munmap", NULL, offsetof(struct sync_real, munmap)},
    {"dlclose", NULL, offsetof(struct sync_real, dlclose)},
    {"sleep", NULL, offsetof(struct sync_real, sleep)},
    {"usleep", NULL, offsetof(struct sync_real, usleep)},
    {"nanosleep", NULL, offsetof(struct sync_real, nanosleep)},
    {"clock_nanosleep", NULL, offsetof(struct sync_real, clock_nanosleep)},
    {"thrd_sleep", NULL, offsetof(struct sync_real, thrd_sleep)},
    {"poll", NULL, offsetof(struct sync_real, poll)},
    {"__poll_chk", NULL, offsetof(struct sync_real, poll_chk)},
    {"ppoll", NULL, offsetof(struct sync_real, ppoll)},
    {"__ppoll_chk", NULL, offsetof(struct sync_real, ppoll_chk)},
    {"select", NULL, offsetof(struct sync_real, select)},
    {"pselect", NULL, offsetof(struct sync_real, pselect)},
    {"epoll_wait", NULL, offsetof(struct sync_real, epoll_wait)},
    {"epoll_pwait", NULL, offsetof(struct sync_real, epoll_pwait)},
    {"epoll_pwait2", NULL, offsetof(struct sync_real, epoll_pwait2)},
    {"pipe2", NULL, offsetof(struct sync_real, pipe2)},
    {"sigprocmask", NULL, offsetof(struct sync_real, sigprocmask)},
    {"sigaction", NULL, offsetof(struct sync_real, sigaction)},
    {"signal", NULL, offsetof(struct sync_real, signal)},
    {"sigwait", NULL, offsetof(struct sync_real, sigwait)},
    {"sigwaitinfo", NULL, offsetof(struct sync_real, sigwaitinfo)},
    {"sigtimedwait", NULL, offsetof(struct sync_real, sigtimedwait)},
    {"sigsuspend", NULL, offsetof(struct sync_real, sigsuspend)},
    {"pause", NULL, offsetof(struct sync_real, pause)},
    {"pthread_kill", NULL, offsetof(struct sync_real, pthread_kill)},
    {"pthread_sigqueue", NULL, offsetof(struct sync_real, pthread_sigqueue)},
    {"kill", NULL, offsetof(struct sync_real, kill)},
    {"sigqueue", NULL, offsetof(struct sync_real, sigqueue)},
    {"tgkill", NULL, offsetof(struct sync_real, tgkill)},
    {"read", NULL, offsetof(struct sync_real, read)},
    {"__read_chk", NULL, offsetof(struct sync_real, read_chk)},
    {"readv", NULL, offsetof(struct sync_real, readv)},
    {"recv", NULL, offsetof(struct sync_real, recv)},
    {"__recv_chk", NULL, offsetof(struct sync_real, recv_chk)},
    {"recvfrom", NULL, offsetof(struct sync_real, recvfrom)},
    {"__recvfrom_chk", NULL, offsetof(struct sync_real, recvfrom_chk)},
    {"recvmsg", NULL, offsetof(struct sync_real, recvmsg)},
    {"recvmmsg", NULL, offsetof(struct sync_real, recvmmsg)},
    {"accept", NULL, offsetof(struct sync_real, accept)},
    {"accept4", NULL, offsetof(struct sync_real, accept4)},
    {"write", NULL, offsetof(struct sync_real, write)},
    {"writev", NULL, offsetof(struct sync_real, writev)},
    {"fsync", NULL, offsetof(struct sync_real, fsync)},
    {"fdatasync", NULL, offsetof(struct sync_real, fdatasync)},
    {"pread", NULL, offsetof(struct sync_real, pread)},
    {"__pread_chk", NULL, offsetof(struct sync_real, pread_chk)},
    {"preadv", NULL, offsetof(struct sync_real, preadv)},
    {"pwrite", NULL, offsetof(struct sync_real, pwrite)},
    {"pwritev", NULL, offsetof(struct sync_real, pwritev)},
    {"preadv2", NULL, offsetof(struct sync_real, preadv2)},
    {"pwritev2", NULL, offsetof(struct sync_real, pwritev2)},
    {"splice", NULL, offsetof(struct sync_real, splice)},
    {"tee", NULL, offsetof(struct sync_real, tee)},
    {"vmsplice", NULL, offsetof(struct sync_real, vmsplice)},
    {"sendfile", NULL, offsetof(struct sync_real, sendfile)},
    {"copy_file_range", NULL, offsetof(struct sync_real, copy_file_range)},
    {"sync_file_range", NULL, offsetof(struct sync_real, sync_file_range)},
    {"msync", NULL, offsetof(struct sync_real, msync)},
    {"send", NULL, offsetof(struct sync_real, send)},
    {"sendto", NULL, offsetof(struct sync_real, sendto)},
    {"sendmsg", NULL, offsetof(struct sync_real, sendmsg)},
    {"sendmmsg", NULL, offsetof(struct sync_real, sendmmsg)},
    {"connect", NULL, offsetof(struct sync_real, connect)},
    {"wait", NULL, offsetof(struct sync_real, wait)},
    {"waitpid", NULL, offsetof(struct sync_real, waitpid)},
    {"wait3", NULL, offsetof(struct sync_real, wait3)},
    {"wait4", NULL, offsetof(struct sync_real, wait4)},
    {"waitid", NULL, offsetof(struct sync_real, waitid)},
    {"system", NULL, offsetof(struct sync_real, system)},
    {"posix_spawn", NULL, offsetof(struct sync_real, posix_spawn)},
    {"posix_spawnp", NULL, offsetof(struct sync_real, posix_spawnp)},
    {"popen", NULL, offsetof(struct sync_real, popen)},
    {"pclose", NULL, offsetof(struct sync_real, pclose)},
    /* Since glibc 2.30 and 2.31. */
    {"pthread_mutex_clocklock", NULL, offsetof(struct sync_real, mutex_clocklock)},
    {"pthread_rwlock_clockrdlock", NULL, offsetof(struct sync_real, rwlock_clockrdlock)},
    {"pthread_rwlock_clockwrlock", NULL, offsetof(struct sync_real, rwlock_clockwrlock)},
    {"pthread_cond_clockwait", NULL, offsetof(struct sync_real, cond_clockwait)},
    {"sem_clockwait", NULL, offsetof(struct sync_real, sem_clockwait)},
    {"pthread_clockjoin_np", NULL, offsetof(struct sync_real, clockjoin)},
#ifdef COND_OLD
    {"pthread_cond_init", COND_OLD, offsetof(struct sync_real, cond_old_init)},
    {"pthread_cond_destroy", COND_OLD, offsetof(struct sync_real, cond_old_destroy)},
    {"pthread_cond_wait", COND_OLD, offsetof(struct sync_real, cond_old_wait)},
    {"pthread_cond_timedwait", COND_OLD, offsetof(struct sync_real, cond_old_timedwait)},
    {"pthread_cond_signal", COND_OLD, offsetof(struct sync_real, cond_old_signal)},
    {"pthread_cond_broadcast", COND_OLD, offsetof(struct sync_real, cond_old_broadcast)},
#endif
};

#ifndef COND_OLD
#define COND_OLD "" /* no such version: any other is used */
#endif

static void *resolve_in(void *handle, const char *name, const char *version)
{
    void *found = version ? dlvsym(handle, name, version) : NULL;
    bool other = !found && !(version && strcmp(version, COND_OLD) == 0);
    if (other)
        found = dlsym(handle, name);
    return found;
}

/* In the C library itself, wherever it is in the lookup order. */
static void *resolve_in_library(const char *name, const char *version)
{
#ifdef __GLIBC__
    static const char *const libraries[] = {LIBC_SO, LIBPTHREAD_SO};
    for (size_t i = 0; i < sizeof libraries / sizeof *libraries; i++) {
        void *library = dlopen(libraries[i], RTLD_LAZY | RTLD_NOLOAD);
        void *found = library ? resolve_in(library, name, version) : NULL;
        if (library)
            dlclose(library);
        if (found)
            return found;
    }
#endif
    (void)name, (void)version;
    return NULL;
}

bool sync_resolve_is_first(void)
{
    void *found = dlsym(RTLD_NEXT, "pthread_mutex_lock");
    return found != NULL;
}

static void resolve_absent(struct sync_real *r)
{
    if (!r->mutex_clocklock)
        r->mutex_clocklock = absent_mutex_clocklock;
    if (!r->rwlock_clockrdlock)
        r->rwlock_clockrdlock = absent_rwlock_clocklock;
    if (!r->rwlock_clockwrlock)
        r->rwlock_clockwrlock = absent_rwlock_clocklock;
    if (!r->cond_clockwait)
        r->cond_clockwait = absent_cond_clockwait;
    if (!r->sem_clockwait)
        r->sem_clockwait = absent_sem_clockwait;
    if (!r->clockjoin)
        r->clockjoin = absent_clockjoin;
    if (!r->epoll_pwait2)
        r->epoll_pwait2 = absent_epoll_pwait2;
    if (!r->preadv2)
        r->preadv2 = absent_vector_flags;
    if (!r->pwritev2)
        r->pwritev2 = absent_vector_flags;
    if (!r->tgkill)
        r->tgkill = absent_tgkill;
}

void sync_resolve(void)
{
    int saved = errno;
    for (size_t i = 0; i < sizeof functions / sizeof *functions; i++) {
        void *found = resolve_in(RTLD_NEXT, functions[i].name, functions[i].version);
        if (!found)
            found = resolve_in_library(functions[i].name, functions[i].version);
        if (found)
            __atomic_store_n((void **)(void *)((char *)&sync_real + functions[i].at), found, __ATOMIC_RELAXED);
    }
    resolve_absent(&sync_real);
    errno = saved;
}
