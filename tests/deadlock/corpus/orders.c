/* SPDX-License-Identifier: MIT */
/* Lock-order cases beyond pairs of mutexes: long rings, tries followed by a wait, writer-preferring rwlocks, pools. */
#include <errno.h>
#include <stdlib.h>
#include <unistd.h>

#include "cases.h"

enum { RING = 6 };

static pthread_mutex_t ring[RING], gate = PTHREAD_MUTEX_INITIALIZER, a = PTHREAD_MUTEX_INITIALIZER,
                                   b = PTHREAD_MUTEX_INITIALIZER;
static pthread_rwlock_t r, q;
static struct dl_meeting meeting;

static void ring_start(void)
{
    for (size_t i = 0; i < RING; i++)
        MUST(pthread_mutex_init(&ring[i], NULL));
}

static void ring_take(size_t i)
{
    MUST(pthread_mutex_lock(&ring[i]));
    MUST(pthread_mutex_lock(&ring[(i + 1) % RING]));
    MUST(pthread_mutex_unlock(&ring[(i + 1) % RING]));
    MUST(pthread_mutex_unlock(&ring[i]));
}

static void ring_of_six_by_one(void)
{
    ring_start();
    for (size_t i = 0; i < RING; i++)
        ring_take(i);
}

static void *takes_gated(void *arg)
{
    size_t i = (size_t)((pthread_mutex_t *)arg - ring);
    dl_turn((unsigned)i);
    MUST(pthread_mutex_lock(&gate));
    ring_take(i);
    MUST(pthread_mutex_unlock(&gate));
    dl_next();
    return NULL;
}

static void *takes(void *arg)
{
    size_t i = (size_t)((pthread_mutex_t *)arg - ring);
    dl_turn((unsigned)i);
    ring_take(i);
    dl_next();
    return NULL;
}

static void ring_by(void *(*function)(void *))
{
    pthread_t t[RING];
    ring_start();
    for (size_t i = 0; i < RING; i++)
        t[i] = dl_start(function, &ring[i]);
    for (size_t i = 0; i < RING; i++)
        MUST(pthread_join(t[i], NULL));
}

static void ring_of_six_gated(void)
{
    ring_by(takes_gated);
}

static void ring_of_six(void)
{
    ring_by(takes);
}

/* ------------------------------------------------------------------------------------------------------------ tries */

static pid_t refused; /* the thread whose try has failed */

static bool was_refused(int rc)
{
    if (rc != 0)
        __atomic_store_n(&refused, gettid(), __ATOMIC_RELEASE);
    return rc != 0;
}

/* The lock is held until a try for it has failed, and the thread sleeps: in the wait that follows, if there is one. */
static void hold_until_refused(void)
{
    pid_t tid;
    while ((tid = __atomic_load_n(&refused, __ATOMIC_ACQUIRE)) == 0)
        dl_rest(1);
    dl_until_asleep(tid);
}

/* As CPython's locks: tries, and waits if that fails. */
__attribute__((noinline)) static void patient_lock(pthread_mutex_t *m)
{
    if (was_refused(pthread_mutex_trylock(m)))
        MUST(pthread_mutex_lock(m));
}

/* Gives up what it holds instead. */
__attribute__((noinline)) static void polite_lock(pthread_mutex_t *held, pthread_mutex_t *m)
{
    while (was_refused(pthread_mutex_trylock(m))) {
        MUST(pthread_mutex_unlock(held));
        dl_rest(1);
        MUST(pthread_mutex_lock(held));
    }
}

/* Waits for it, but holding nothing, then for the other. */
__attribute__((noinline)) static void swapping_lock(pthread_mutex_t *held, pthread_mutex_t *m)
{
    if (!was_refused(pthread_mutex_trylock(m)))
        return;
    MUST(pthread_mutex_unlock(held));
    MUST(pthread_mutex_lock(m));
    while (pthread_mutex_trylock(held) != 0)
        dl_rest(1);
}

static void *patient_holder(void *arg)
{
    patient_lock(&gate);
    dl_meet(&meeting, 2);
    hold_until_refused();
    MUST(pthread_mutex_unlock(&gate));
    return arg;
}

/* A wait after a failed try. */
static void patient_wait(void)
{
    pthread_t t = dl_start(patient_holder, NULL);
    dl_meet(&meeting, 2);
    patient_lock(&gate);
    MUST(pthread_mutex_unlock(&gate));
    MUST(pthread_join(t, NULL));
}

#define NESTED(name_, turn_, first_, second_, lock_) \
    static void *name_(void *arg)                    \
    {                                                \
        dl_turn(turn_);                              \
        MUST(pthread_mutex_lock(&first_));           \
        lock_;                                       \
        MUST(pthread_mutex_unlock(&second_));        \
        MUST(pthread_mutex_unlock(&first_));         \
        dl_next();                                   \
        return arg;                                  \
    }

NESTED(patient_ab, 0, a, b, patient_lock(&b))
NESTED(patient_ba, 1, b, a, patient_lock(&a))
NESTED(polite_ab, 0, a, b, polite_lock(&a, &b))
NESTED(polite_ba, 1, b, a, polite_lock(&b, &a))
NESTED(swapping_ab, 0, a, b, swapping_lock(&a, &b))
NESTED(swapping_ba, 1, b, a, swapping_lock(&b, &a))

static void try_then_wait(void)
{
    patient_wait();
    dl_both(patient_ab, patient_ba);
}

/* No try has failed, so nothing shows that it would be followed by a wait. */
static void try_never_failed(void)
{
    dl_both(patient_ab, patient_ba);
}

static void *holds_b(void *arg)
{
    MUST(pthread_mutex_lock(&b));
    dl_meet(&meeting, 2);
    hold_until_refused();
    MUST(pthread_mutex_unlock(&b));
    return arg;
}

static void contended(void *(*x)(void *), void *(*y)(void *))
{
    pthread_t t = dl_start(holds_b, NULL);
    dl_meet(&meeting, 2);
    dl_both(x, y);
    MUST(pthread_join(t, NULL));
}

static void try_then_back_off(void)
{
    contended(polite_ab, polite_ba);
}

static void try_then_swap(void)
{
    contended(swapping_ab, swapping_ba);
}

/* ---------------------------------------------------------------------------------------------------------- readers */

#define READS(name_, turn_, first_, second_)   \
    static void *name_(void *arg)              \
    {                                          \
        dl_turn(turn_);                        \
        MUST(pthread_rwlock_rdlock(&first_));  \
        MUST(pthread_rwlock_rdlock(&second_)); \
        MUST(pthread_rwlock_unlock(&second_)); \
        MUST(pthread_rwlock_unlock(&first_));  \
        dl_next();                             \
        return arg;                            \
    }

READS(read_rq, 0, r, q)
READS(read_qr, 1, q, r)

static void readers(int kind, bool written)
{
    pthread_rwlockattr_t attr;
    MUST(pthread_rwlockattr_init(&attr));
    MUST(pthread_rwlockattr_setkind_np(&attr, kind));
    MUST(pthread_rwlock_init(&r, &attr));
    MUST(pthread_rwlock_init(&q, &attr));
    if (written) {
        MUST(pthread_rwlock_wrlock(&r));
        MUST(pthread_rwlock_unlock(&r));
        MUST(pthread_rwlock_wrlock(&q));
        MUST(pthread_rwlock_unlock(&q));
    }
    dl_both(read_rq, read_qr);
    MUST(pthread_rwlock_destroy(&r));
    MUST(pthread_rwlock_destroy(&q));
}

static void readers_writers_first(void)
{
    readers(PTHREAD_RWLOCK_PREFER_WRITER_NONRECURSIVE_NP, true);
}

static void readers_nothing_written(void)
{
    readers(PTHREAD_RWLOCK_PREFER_WRITER_NONRECURSIVE_NP, false);
}

static void readers_by_default(void)
{
    readers(PTHREAD_RWLOCK_PREFER_READER_NP, true);
}

/* ------------------------------------------------------------------------------------------------------------ pools */

static struct {
    pthread_mutex_t one, two;
} * pool;

static void *pooled_first(void *arg)
{
    dl_turn(0);
    MUST(pthread_mutex_lock(&pool->one));
    MUST(pthread_mutex_lock(&pool->two));
    MUST(pthread_mutex_unlock(&pool->two));
    MUST(pthread_mutex_unlock(&pool->one));
    dl_next();
    return arg;
}

static void *pooled_second(void *arg)
{
    dl_turn(1);
    if (arg) { /* other objects in the same memory */
        MUST(pthread_mutex_init(&pool->one, NULL));
        MUST(pthread_mutex_init(&pool->two, NULL));
    }
    MUST(pthread_mutex_lock(&pool->two));
    MUST(pthread_mutex_lock(&pool->one));
    MUST(pthread_mutex_unlock(&pool->one));
    MUST(pthread_mutex_unlock(&pool->two));
    dl_next();
    return NULL;
}

static void pooled(void *memory, void *anew)
{
    pool = memory ? memory : calloc(1, sizeof *pool);
    pthread_t s = dl_start(pooled_first, anew), t = dl_start(pooled_second, anew);
    MUST(pthread_join(s, NULL));
    MUST(pthread_join(t, NULL));
}

static void pooled_anew(void)
{
    pooled(NULL, &pool);
}

static void pooled_kept(void)
{
    pooled(NULL, NULL);
}

static void pooled_bytes(void)
{
    static _Alignas(pthread_mutex_t) unsigned char bytes[2 * sizeof(pthread_mutex_t)];
    pooled(bytes, NULL);
}

const struct dl_case cases_orders[] = {
    {"ring_of_six_by_one", ring_of_six_by_one},
    {"ring_of_six_gated", ring_of_six_gated},
    {"ring_of_six", ring_of_six},
    {"try_then_wait", try_then_wait},
    {"try_never_failed", try_never_failed},
    {"try_then_back_off", try_then_back_off},
    {"try_then_swap", try_then_swap},
    {"readers_writers_first", readers_writers_first},
    {"readers_nothing_written", readers_nothing_written},
    {"readers_by_default", readers_by_default},
    {"pooled_anew", pooled_anew},
    {"pooled_kept", pooled_kept},
    {"pooled_bytes", pooled_bytes},
    {NULL, NULL},
};
