/* SPDX-License-Identifier: MIT */
/**
 * @file
 * Fields of the C library's lock objects: owner, kind, process-shared.
 *
 * Each field is used only after sync_layout_start() has found that it means what is assumed here.
 */
#ifndef UPMU_SYNC_LAYOUT_H
#define UPMU_SYNC_LAYOUT_H

#include <pthread.h>
#include <semaphore.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>
#include <threads.h>
#include <time.h>

#include "sync_trace/state/state.h"

struct sync_layout {
    bool mutex_owner;        /**< a mutex has its owner's thread id */
    bool mtx_owner;          /**< so has an mtx_t */
    bool rwlock;             /**< an rwlock has its writer's thread id and the number of readers */
    bool rwlock_try_by_time; /**< the try functions of rwlocks are broken: use timed ones with a deadline in the past */
    bool spin;               /**< `spin_free` is the value of a free spin lock */
    bool spin_inline;        /**< libc's functions are those of sync_spin_take() and sync_spin_give() */
    bool once;               /**< `once_done` is the value of a pthread_once_t afterwards */
    int spin_free;
    int once_done;
};
extern struct sync_layout sync_layout __attribute__((visibility("hidden")));

/** Test the assumptions. Once in a process. */
void sync_layout_start(void);

/** Whether libc accepts this deadline. Where libc checks it before trying, so must a wrapper: its try would succeed. */
static inline bool sync_deadline_is_valid(clockid_t clock, const struct timespec *until)
{
    bool known = clock == CLOCK_REALTIME || clock == CLOCK_MONOTONIC;
    return known && (!until || (until->tv_nsec >= 0 && until->tv_nsec < 1000000000));
}

/** glibc's __kind of a mutex, and its bits: a part of its ABI. */
enum { SYNC_KIND_TYPE = 3, SYNC_KIND_ROBUST = 16, SYNC_KIND_PI = 32, SYNC_KIND_PSHARED = 128 };

static inline int sync_mutex_kind(const pthread_mutex_t *m)
{
#ifdef __GLIBC__
    return __atomic_load_n(&m->__data.__kind, __ATOMIC_RELAXED);
#else
    (void)m;
    return 0;
#endif
}

/** In glibc the try functions of robust mutexes must not be called. */
static inline bool sync_mutex_is_robust(const pthread_mutex_t *m)
{
    return (sync_mutex_kind(m) & SYNC_KIND_ROBUST) != 0;
}

/** The owner's thread id; 0: none, -1: unknown. */
static inline pid_t sync_mutex_owner(const pthread_mutex_t *m)
{
#ifdef __GLIBC__
    if (LIKELY(sync_layout.mutex_owner))
        return __atomic_load_n(&m->__data.__owner, __ATOMIC_RELAXED);
#endif
    (void)m;
    return -1;
}

/* Whether a lock is taken, by one load: not verified, and it may change at once. Without a lock's layout it is
 * never taken. Right after a locked instruction a load of the same word is slow, of another one in its line it is not. */

static inline bool sync_mutex_seems_taken(const void *mutex_or_mtx)
{
#ifdef __GLIBC__
    const pthread_mutex_t *m = mutex_or_mtx;
    return __atomic_load_n(&m->__data.__owner, __ATOMIC_RELAXED) != 0;
#else
    (void)mutex_or_mtx;
    return false;
#endif
}

/** For a writer, or for a reader. */
static inline bool sync_rwlock_seems_taken(const pthread_rwlock_t *l, bool shared)
{
#ifdef __GLIBC__
    enum { ANY = ~5 }; /* of __readers: a holder; not only the phase, or that readers wait */
    return shared ? __atomic_load_n(&l->__data.__cur_writer, __ATOMIC_RELAXED) != 0
                  : (__atomic_load_n(&l->__data.__readers, __ATOMIC_RELAXED) & (unsigned)ANY) != 0;
#else
    (void)l;
    (void)shared;
    return false;
#endif
}

static inline bool sync_spin_seems_taken(const pthread_spinlock_t *l)
{
    return sync_layout.spin && *l != sync_layout.spin_free;
}

/* What libc's functions do where `spin_inline` is set: a call costs as much as the rest of them. */

/** @return whether the lock is taken now. If not, pthread_spin_lock() continues. */
static inline bool sync_spin_take(pthread_spinlock_t *l)
{
    return __atomic_sub_fetch(l, 1, __ATOMIC_ACQUIRE) == 0;
}

static inline void sync_spin_give(pthread_spinlock_t *l)
{
    __atomic_store_n(l, 1, __ATOMIC_RELEASE);
}

/** Of a semaphore: whether a wait would block. */
static inline bool sync_sem_seems_taken(const sem_t *s)
{
#ifdef __GLIBC__
    /* Its value: the low half of a number of 64 bits, or without these above a bit. */
    return sizeof(void *) == 8 ? (uint32_t)__atomic_load_n((const uint64_t *)(const void *)s, __ATOMIC_RELAXED) == 0
                               : __atomic_load_n((const uint32_t *)(const void *)s, __ATOMIC_RELAXED) >> 1 == 0;
#else
    (void)s;
    return false;
#endif
}

/** Whether a mutex or rwlock may be in memory that other processes use: it was made for that, or is robust. */
static inline bool sync_lock_may_be_shared(const void *lock, uint32_t type)
{
#ifdef __GLIBC__
    const pthread_rwlock_t *l = lock;
    if (type == UPMU_OBJECT_RWLOCK)
        return l->__data.__shared != 0;
    return type == UPMU_OBJECT_MUTEX && (sync_mutex_kind(lock) & SYNC_KIND_PSHARED) != 0;
#else
    (void)lock;
    (void)type;
    return false;
#endif
}

/** UPMU_TRACE_FLAG_RECURSIVE and the like of a mutex; 0 where libc has no such field. */
uint32_t sync_mutex_flags(const pthread_mutex_t *m);
/** The same of one that was just made with these attributes. */
uint32_t sync_mutex_init_flags(const pthread_mutex_t *m, const pthread_mutexattr_t *attr);

/** The same of a C11 mutex, which in glibc is a pthread_mutex_t. */
pid_t sync_mtx_owner(const mtx_t *m);
uint32_t sync_mtx_flags(const mtx_t *m);

/** The writer's thread id; 0: no writer, -1: unknown. */
pid_t sync_rwlock_writer(const pthread_rwlock_t *l);
/** Whether the lock is certainly free. */
bool sync_rwlock_is_free(const pthread_rwlock_t *l);

/** Whether waiting writers keep readers out, as far as that is known. */
bool sync_rwlock_writers_first(const pthread_rwlock_t *l);

/** UPMU_TRACE_FLAG_PSHARED if other processes may use the object, or if that is unknown. */
uint32_t sync_sem_shared_flag(const sem_t *s);
uint32_t sync_cond_shared_flag(const pthread_cond_t *cond);
uint32_t sync_barrier_shared_flag(const pthread_barrier_t *b);

/** Whether the next thread to arrive is the last one, and does not wait; true if unknown. */
bool sync_barrier_is_full(const pthread_barrier_t *b);

#endif
