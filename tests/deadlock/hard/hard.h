/* SPDX-License-Identifier: MIT */
/* Cases that are hard to judge, and what they share, beside the helpers of the corpus. */
#ifndef UPMU_TESTS_DEADLOCK_HARD_H
#define UPMU_TESTS_DEADLOCK_HARD_H

#include <pthread.h>
#include <semaphore.h>
#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#include "../corpus/cases.h"

enum { LOCKS = 8, SHARED_LOCKS = 3, IDLE_MS = 2500, HELD_MS = 1500 };

/** In memory that forked processes share: locks of theirs, and what orders them without being seen by sync tracing. */
struct shared {
    pthread_mutex_t m[SHARED_LOCKS], robust;
    pthread_rwlock_t rw[2];
    pthread_cond_t cond;
    sem_t sem[2], zero; /**< with one permit each, and with none */
    unsigned come, turn;
    int ready;
};
extern struct shared *shared;

/** Mutexes of the process. */
extern pthread_mutex_t m[LOCKS];

extern const struct dl_case cases_processes[], cases_threads[];

/** Returns once `n` threads have called it, of any process. */
void meet(unsigned n);
/** Wait for turn `mine`, the first is 0; pass the turn to the next. */
void turn(unsigned mine);
void next(void);
/** Take both, and release them. */
void pair(pthread_mutex_t *x, pthread_mutex_t *y);
void await_children(void);

#endif
