/* SPDX-License-Identifier: MIT */
/*
 * Deadlocks and lock orders that are hard to judge: what their cases share.
 *
 *     deadlock_hard CASE PIDFILE     see corpus.sh and expected.txt
 */
#include "hard.h"

#include <errno.h>
#include <sys/mman.h>
#include <sys/wait.h>

struct shared *shared;
pthread_mutex_t m[LOCKS];

const struct dl_case *const dl_cases[] = {cases_processes, cases_threads, NULL};

void meet(unsigned n)
{
    __atomic_fetch_add(&shared->come, 1, __ATOMIC_ACQ_REL);
    while (__atomic_load_n(&shared->come, __ATOMIC_ACQUIRE) < n)
        dl_rest(1);
}

void turn(unsigned mine)
{
    while (__atomic_load_n(&shared->turn, __ATOMIC_ACQUIRE) != mine)
        dl_rest(1);
}

void next(void)
{
    __atomic_fetch_add(&shared->turn, 1, __ATOMIC_RELEASE);
}

void pair(pthread_mutex_t *x, pthread_mutex_t *y)
{
    MUST(pthread_mutex_lock(x));
    MUST(pthread_mutex_lock(y));
    MUST(pthread_mutex_unlock(y));
    MUST(pthread_mutex_unlock(x));
}

void await_children(void)
{
    while (wait(NULL) > 0)
        ;
}

__attribute__((constructor)) static void make_shared(void)
{
    pthread_mutexattr_t mutexes;
    pthread_rwlockattr_t rwlocks;
    pthread_condattr_t conds;
    shared = mmap(NULL, sizeof *shared, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (shared == MAP_FAILED)
        dl_must(errno, "mmap");
    MUST(pthread_mutexattr_init(&mutexes));
    MUST(pthread_mutexattr_setpshared(&mutexes, PTHREAD_PROCESS_SHARED));
    for (size_t i = 0; i < SHARED_LOCKS; i++)
        MUST(pthread_mutex_init(&shared->m[i], &mutexes));
    MUST(pthread_mutexattr_setrobust(&mutexes, PTHREAD_MUTEX_ROBUST));
    MUST(pthread_mutex_init(&shared->robust, &mutexes));
    MUST(pthread_rwlockattr_init(&rwlocks));
    MUST(pthread_rwlockattr_setpshared(&rwlocks, PTHREAD_PROCESS_SHARED));
    MUST(pthread_condattr_init(&conds));
    MUST(pthread_condattr_setpshared(&conds, PTHREAD_PROCESS_SHARED));
    MUST(pthread_cond_init(&shared->cond, &conds));
    MUST(sem_init(&shared->zero, 1, 0));
    for (size_t i = 0; i < 2; i++) {
        MUST(pthread_rwlock_init(&shared->rw[i], &rwlocks));
        MUST(sem_init(&shared->sem[i], 1, 1));
    }
    for (size_t i = 0; i < LOCKS; i++)
        MUST(pthread_mutex_init(&m[i], NULL));
}
