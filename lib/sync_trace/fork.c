/* SPDX-License-Identifier: MIT */
/*
 * Locks a forked child has from its parent. Room: sync_trace; before it fork(), after it mutex.c, which asks whose a mutex
 * is, and process.c, which begins the child's recording.
 *
 * In a child a mutex still carries the id of the parent's thread that had it. If that was the thread that forked, the
 * child's only thread has it now; any other is not here, and nobody gives the mutex back.
 *
 * A child records from its first call that is safe to begin at, and locking is none (an allocator may be below us). One
 * that stands in its very first locks would never come there. So in a child pthread_mutex_lock() goes by way of
 * first_lock(): where a try fails, in a process that has but one thread or has not begun to record, there is nothing left
 * to be careful of. Forks that pass the handlers by (vfork, _Fork, clone) leave all as it is.
 */
#include <errno.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/error.h"
#include "sync_trace/wrap/resolve.h"
#include "sync_trace/sync.h"

enum { FORMER_MAX = 8 };

static struct {
    uint32_t installed;
    pid_t process;            /**< of which the rest is true */
    uint32_t n;               /**< forks behind us */
    pid_t former[FORMER_MAX]; /**< what the thread that forked was called in each parent */
    int (*mutex_lock)(pthread_mutex_t *);
} forked;

static void before_fork(void)
{
    sync_tls.forking = (uint32_t)syscall(SYS_gettid);
}

static int first_lock(pthread_mutex_t *m)
{
    int (*real)(pthread_mutex_t *) = forked.mutex_lock;
    if (__atomic_load_n(&sync_gate.mode, __ATOMIC_ACQUIRE) || sync_gate.claimed || sync_mutex_is_robust(m))
        return real(m);
    int rc = SYNC_REAL(mutex_trylock)(m);
    if (rc != EBUSY)
        return rc;
    sync_child_check();
    return __atomic_load_n(&sync_gate.mode, __ATOMIC_ACQUIRE) ? pthread_mutex_lock(m) : real(m);
}

static void in_child(void)
{
    if (forked.n < FORMER_MAX)
        forked.former[forked.n] = (pid_t)sync_tls.forking;
    forked.n++;
    forked.process = getpid();
    int (*now)(pthread_mutex_t *) = __atomic_load_n(&sync_real.mutex_lock, __ATOMIC_RELAXED);
    if (!now || now == first_lock || !__atomic_load_n(&sync_process.recording, __ATOMIC_RELAXED))
        return;
    forked.mutex_lock = now;
    __atomic_store_n(&sync_real.mutex_lock, first_lock, __ATOMIC_RELAXED);
}

int sync_forked_start(void)
{
    forked.process = getpid();
    if (forked.installed || pthread_atfork(before_fork, NULL, in_child) == 0) {
        forked.installed = 1;
        return 0;
    }
    return upmu_fail(UPMU_E_NOMEM, "out of memory");
}

void sync_forked_begun(void)
{
    if (__atomic_load_n(&sync_real.mutex_lock, __ATOMIC_RELAXED) == first_lock)
        __atomic_store_n(&sync_real.mutex_lock, forked.mutex_lock, __ATOMIC_RELAXED);
}

pid_t sync_forked_owner(pid_t owner)
{
    for (uint32_t i = 0; i < forked.n && i < FORMER_MAX; i++)
        if (forked.former[i] == owner && forked.process == getpid())
            return forked.process; /* the id of a child's first thread */
    return owner;
}

bool sync_forked_is_gone(pid_t owner)
{
    if (sync_thread_by_tid(owner) || forked.n > FORMER_MAX || forked.process != getpid())
        return false;
    int saved = errno;
    bool gone = syscall(SYS_tgkill, forked.process, owner, 0) != 0 && errno == ESRCH;
    errno = saved;
    return gone;
}
