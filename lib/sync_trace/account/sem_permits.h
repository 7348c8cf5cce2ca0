/* SPDX-License-Identifier: MIT */
/**
 * @file
 * Semaphores used as locks, or as counting semaphores with n permits.
 *
 * A semaphore initialized with 1 is treated as a lock held by the thread that waited last, until a thread that does not
 * hold it posts it: then it is used as a signal or counter, and the trace has an event for that, so that readers drop
 * what was recorded of it as a lock.
 *
 * One that processes share may be posted by a process that is not recorded. It has no lock order, but its holder is in the wait
 * state, for deadlocks of several processes, until it is acquired again without having been released.
 */
#ifndef UPMU_SYNC_SEM_LOCK_H
#define UPMU_SYNC_SEM_LOCK_H

#include <semaphore.h>

#include "sync_trace/state/thread.h"

enum { SYNC_SEM_SLOTS = 4096 };

struct sync_sems {
    uint32_t used; /**< semaphores in the table */
    uintptr_t sem[SYNC_SEM_SLOTS];
    uint32_t value[SYNC_SEM_SLOTS]; /**< initial value; 0: being entered */
    struct sync_sem_before {
        uint64_t since;    /**< when the recording began last */
        uint32_t released; /**< posts since then that may end a hold from before */
    } before[SYNC_SEM_SLOTS];
};
extern struct sync_sems sync_sems __attribute__((visibility("hidden")));

static inline uint32_t sync_sem_slot(uintptr_t sem)
{
    return (sem >> 4 ^ sem >> 14) % SYNC_SEM_SLOTS;
}

/** Whether it is used as a lock and in the first place of the table where it may be. */
static inline bool sync_sem_is_lock(const sem_t *s)
{
    uint32_t i = sync_sem_slot((uintptr_t)s);
    return __atomic_load_n(&sync_sems.sem[i], __ATOMIC_ACQUIRE) == (uintptr_t)s &&
           __atomic_load_n(&sync_sems.value[i], __ATOMIC_ACQUIRE) == 1;
}

/** A semaphore was initialized. */
void sync_sem_created(const sem_t *s, bool is_shared, unsigned value);
/** A named semaphore was opened, created with `value` if it did not exist; again, it is the same one. */
void sync_sem_opened(const sem_t *s, unsigned value);
/** A semaphore was destroyed. */
void sync_sem_destroyed(const sem_t *s);
/** Whether any semaphore may be one. */
bool sync_sem_any(void);
/** 1: used as a mutex, as far as known; n > 1: a counting semaphore with n permits; 0: neither. */
uint32_t sync_sem_permits(const sem_t *s);
/** The thread has acquired a semaphore with `permits` from sync_sem_permits(): it holds the lock, or a permit. `frame`: of the
 *  wrapper, for the holder's stack (sync_origin_copy()); NULL: it is known otherwise, or not at all. @return since when it holds the
 *  lock; 0: it has a permit, or holds have no times in this mode. */
uint64_t sync_sem_acquired(struct sync_thread *t, uint32_t mode, const sem_t *s, uint32_t permits, uintptr_t site,
                           const uintptr_t *frame);
/** Number of permits that the thread holds; those of semaphores that are none any more are removed. */
uint32_t sync_sem_permits_held(struct sync_thread *t);
/** What a post is of a semaphore used as a lock. */
enum sync_sem_release {
    SYNC_SEM_RELEASED,    /**< its release, or the semaphore is none */
    SYNC_SEM_HELD_BEFORE, /**< the release of a hold from before the recording */
    SYNC_SEM_NOT_HELD,    /**< it shows that the semaphore is not a lock: sync_sem_not_a_lock() is to be called */
};

/** The semaphore is about to be posted: the thread releases it. `t`: NULL if nothing is recorded. `*held`: the hold of a lock that
 *  ends, unchanged if there is none; NULL: it is not wanted. */
enum sync_sem_release sync_sem_released(struct sync_thread *t, uint32_t mode, sem_t *s, struct sync_held *held);
/** Record that a semaphore, recorded as a lock before, is none. `t`: NULL if nothing is recorded. Keeps errno. */
void sync_sem_not_a_lock(struct sync_thread *t, const sem_t *s, uintptr_t site);

#endif
