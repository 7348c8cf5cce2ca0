/* SPDX-License-Identifier: MIT */
/**
 * @file
 * Semaphores that are used as locks. Room: sync_trace; before it sem.c, after it held.h and order.h.
 *
 * A semaphore made with the value 1 is taken for a lock, whose holder is the thread that waited last, until somebody posts
 * it who does not hold it: then it was a signal or a counter all the time, and the trace says so, so that what was told of
 * it as a lock is passed over. Of others (made with another value, shared, named) nothing is supposed.
 */
#ifndef UPMU_SYNC_SEM_LOCK_H
#define UPMU_SYNC_SEM_LOCK_H

#include <semaphore.h>

#include "sync_trace/sync.h"

/** A semaphore begins its life. */
void sync_sem_made(const sem_t *s, bool is_shared, unsigned value);
/** It ends. */
void sync_sem_ended(const sem_t *s);
/** Whether any semaphore may be one: else nobody has to look. */
bool sync_sem_any(void);
/** 1: it is a lock, as far as is known; more: a room that so many threads find place in; 0: neither. */
uint32_t sync_sem_places(const sem_t *s);
/** The thread has it now, of which sync_sem_places() has said `places`: holds the lock, or is in the room. What is neither is
 *  passed over. */
void sync_sem_held(struct sync_thread *t, uint32_t mode, const sem_t *s, uint32_t places, uintptr_t site);
/** In how many rooms the thread is; those that are none any more are taken out of its list. */
uint32_t sync_sem_rooms(struct sync_thread *t);
/** Somebody is about to post it: the thread gives it back, or it turns out to be no lock. `t`: NULL if nothing is recorded. */
void sync_sem_given(struct sync_thread *t, const sem_t *s, uintptr_t site);

#endif
