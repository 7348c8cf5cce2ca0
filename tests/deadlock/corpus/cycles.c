/* SPDX-License-Identifier: MIT */
/* Deadlock cases in which threads wait for each other's locks. */
#include <stdlib.h>
#include <threads.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cases.h"
#include "upmu/sync.h"

static void two(int type)
{
    static pthread_mutex_t a, b;
    dl_mutex(&a, type);
    dl_mutex(&b, type);
    dl_cross(&a, &b);
}

static void cross_normal(void)
{
    two(PTHREAD_MUTEX_NORMAL);
}

static void cross_recursive(void)
{
    two(PTHREAD_MUTEX_RECURSIVE);
}

static void cross_errorcheck(void)
{
    two(PTHREAD_MUTEX_ERRORCHECK);
}

static void cross_adaptive(void)
{
    two(PTHREAD_MUTEX_ADAPTIVE_NP);
}

static void cross_static(void)
{
    static pthread_mutex_t a = PTHREAD_MUTEX_INITIALIZER, b = PTHREAD_MUTEX_INITIALIZER;
    dl_cross(&a, &b);
}

static void with_attribute(int (*set)(pthread_mutexattr_t *, int), int value)
{
    static pthread_mutex_t m[2];
    pthread_mutexattr_t attr;
    MUST(pthread_mutexattr_init(&attr));
    MUST(set(&attr, value));
    MUST(pthread_mutex_init(&m[0], &attr));
    MUST(pthread_mutex_init(&m[1], &attr));
    dl_cross(&m[0], &m[1]);
}

static void cross_inherit(void)
{
    with_attribute(pthread_mutexattr_setprotocol, PTHREAD_PRIO_INHERIT);
}

static void cross_shared(void)
{
    with_attribute(pthread_mutexattr_setpshared, PTHREAD_PROCESS_SHARED);
}

static void cross_robust(void)
{
    with_attribute(pthread_mutexattr_setrobust, PTHREAD_MUTEX_ROBUST);
}

/* ------------------------------------------------------------------------------------------------------- rings */

struct ring {
    pthread_mutex_t *locks;
    unsigned n;
    struct dl_meeting *meeting;
};

struct seat {
    const struct ring *ring;
    unsigned number;
};

static void *dine(void *arg)
{
    const struct seat *s = arg;
    MUST(pthread_mutex_lock(&s->ring->locks[s->number]));
    dl_meet(s->ring->meeting, s->ring->n);
    MUST(pthread_mutex_lock(&s->ring->locks[(s->number + 1) % s->ring->n]));
    return NULL;
}

static void ring_of(unsigned n)
{
    struct dl_meeting meeting = {0};
    struct ring ring = {calloc(n, sizeof *ring.locks), n, &meeting};
    struct seat *seats = calloc(n, sizeof *seats);
    pthread_t *threads = calloc(n, sizeof *threads);
    dl_must(!ring.locks || !seats || !threads, "calloc");
    for (unsigned i = 0; i < n; i++) {
        MUST(pthread_mutex_init(&ring.locks[i], NULL));
        seats[i] = (struct seat){&ring, i};
    }
    for (unsigned i = 0; i < n; i++)
        threads[i] = dl_start(dine, &seats[i]);
    for (unsigned i = 0; i < n; i++)
        MUST(pthread_join(threads[i], NULL));
}

static void ring_3(void)
{
    ring_of(3);
}

static void ring_10(void)
{
    ring_of(10);
}

static void ring_100(void)
{
    ring_of(100);
}

/* ------------------------------------------------------------------------------------------ in the middle of others */

static void *go_on(void *arg)
{
    static pthread_cond_t no_thread_waits = PTHREAD_COND_INITIALIZER;
    for (;;) {
        dl_rest(10);
        MUST(pthread_cond_signal(&no_thread_waits)); /* is recorded */
    }
    return arg;
}

/* The rest of the program lives. */
static void cross_beside_work(void)
{
    static pthread_mutex_t a = PTHREAD_MUTEX_INITIALIZER, b = PTHREAD_MUTEX_INITIALIZER;
    dl_start(go_on, NULL);
    dl_cross(&a, &b);
}

static pthread_mutex_t pairs[2][2];

static void *cross_pair(void *arg)
{
    pthread_mutex_t *pair = arg;
    dl_cross(&pair[0], &pair[1]);
    return NULL;
}

static void two_at_once(void)
{
    pthread_t t[2];
    for (int i = 0; i < 2; i++) {
        MUST(pthread_mutex_init(&pairs[i][0], NULL));
        MUST(pthread_mutex_init(&pairs[i][1], NULL));
    }
    for (int i = 0; i < 2; i++)
        t[i] = dl_start(cross_pair, pairs[i]);
    for (int i = 0; i < 2; i++)
        MUST(pthread_join(t[i], NULL));
}

/* After many other locks: the address alone must not matter. */
static void cross_after_100000(void)
{
    enum { N = 100000 };
    pthread_mutex_t *locks = calloc(N, sizeof *locks);
    dl_must(!locks, "calloc");
    for (int i = 0; i < N; i++) {
        MUST(pthread_mutex_init(&locks[i], NULL));
        MUST(pthread_mutex_lock(&locks[i]));
        MUST(pthread_mutex_unlock(&locks[i]));
    }
    dl_cross(&locks[1], &locks[N - 2]);
}

enum { MANY = 500 };
static pthread_mutex_t many[2][MANY];
static struct dl_meeting many_meeting;

static void *hold_many(void *arg)
{
    int mine = *(int *)arg;
    for (int i = 0; i < MANY; i++)
        MUST(pthread_mutex_lock(&many[mine][i]));
    dl_meet(&many_meeting, 2);
    MUST(pthread_mutex_lock(&many[1 - mine][MANY / 2]));
    return NULL;
}

static void cross_holding_500(void)
{
    int sides[2] = {0, 1};
    for (int i = 0; i < 2 * MANY; i++)
        MUST(pthread_mutex_init(&many[i / MANY][i % MANY], NULL));
    pthread_t s = dl_start(hold_many, &sides[0]), t = dl_start(hold_many, &sides[1]);
    MUST(pthread_join(s, NULL));
    MUST(pthread_join(t, NULL));
}

/* The child deadlocks; the parent only waits for it. */
static void cross_in_child(void)
{
    pid_t pid = fork();
    int status;
    if (pid == 0) {
        cross_static();
        _exit(0);
    }
    dl_must(pid < 0, "fork");
    dl_must(waitpid(pid, &status, 0) != pid, "waitpid");
}

/* ----------------------------------------------------------------------------------------------- other kinds of locks */

static mtx_t c11[2];
static struct dl_meeting c11_meeting;

static int take_c11(void *arg)
{
    int first = *(int *)arg;
    dl_must(mtx_lock(&c11[first]) != thrd_success, "mtx_lock");
    dl_meet(&c11_meeting, 2);
    dl_must(mtx_lock(&c11[1 - first]) != thrd_success, "mtx_lock");
    return 0;
}

static void cross_c11(void)
{
    thrd_t t[2];
    int first[2] = {0, 1};
    for (int i = 0; i < 2; i++)
        dl_must(mtx_init(&c11[i], mtx_plain) != thrd_success, "mtx_init");
    for (int i = 0; i < 2; i++)
        dl_must(thrd_create(&t[i], take_c11, &first[i]) != thrd_success, "thrd_create");
    for (int i = 0; i < 2; i++)
        dl_must(thrd_join(t[i], NULL) != thrd_success, "thrd_join");
}

/* A thousand threads wait for what two keep from each other. */
enum { BEHIND = 1000, SMALL_STACK = 128 * 1024 };
static pthread_mutex_t wanted = PTHREAD_MUTEX_INITIALIZER, other = PTHREAD_MUTEX_INITIALIZER;

static void *take_wanted(void *arg)
{
    MUST(pthread_mutex_lock(&wanted));
    MUST(pthread_mutex_unlock(&wanted)); /* it came before the two */
    return arg;
}

static void *cross_wanted(void *arg)
{
    dl_cross(&wanted, &other);
    return arg;
}

static void cross_with_1000_behind(void)
{
    pthread_attr_t attr;
    pthread_t t;
    MUST(pthread_attr_init(&attr));
    MUST(pthread_attr_setstacksize(&attr, SMALL_STACK));
    pthread_t two = dl_start(cross_wanted, NULL);
    dl_rest(100);
    for (int i = 0; i < BEHIND; i++)
        MUST(pthread_create(&t, &attr, take_wanted, NULL));
    MUST(pthread_join(two, NULL));
}

/* A lock of the program's own, announced by the calls of upmu/sync.h. */
static unsigned own[2];
static struct dl_meeting own_meeting;

static void own_lock(unsigned *word)
{
    upmu_lock_will_acquire(word);
    while (__atomic_exchange_n(word, 1, __ATOMIC_ACQUIRE))
        dl_rest(1);
    upmu_lock_acquired(word);
}

static void *take_own(void *arg)
{
    int first = *(int *)arg;
    own_lock(&own[first]);
    dl_meet(&own_meeting, 2);
    own_lock(&own[1 - first]);
    return NULL;
}

static void cross_custom(void)
{
    int first[2] = {0, 1};
    pthread_t s = dl_start(take_own, &first[0]), t = dl_start(take_own, &first[1]);
    MUST(pthread_join(s, NULL));
    MUST(pthread_join(t, NULL));
}

static pthread_spinlock_t spins[2];
static struct dl_meeting spin_meeting;

static void *take_spins(void *arg)
{
    int first = *(int *)arg;
    MUST(pthread_spin_lock(&spins[first]));
    dl_meet(&spin_meeting, 2);
    MUST(pthread_spin_lock(&spins[1 - first]));
    return NULL;
}

static void cross_spin(void)
{
    int first[2] = {0, 1};
    MUST(pthread_spin_init(&spins[0], PTHREAD_PROCESS_PRIVATE));
    MUST(pthread_spin_init(&spins[1], PTHREAD_PROCESS_PRIVATE));
    pthread_t s = dl_start(take_spins, &first[0]), t = dl_start(take_spins, &first[1]);
    MUST(pthread_join(s, NULL));
    MUST(pthread_join(t, NULL));
}

const struct dl_case cases_cycles[] = {
    {"cross_normal", cross_normal},
    {"cross_recursive", cross_recursive},
    {"cross_errorcheck", cross_errorcheck},
    {"cross_adaptive", cross_adaptive},
    {"cross_static", cross_static},
    {"cross_inherit", cross_inherit},
    {"cross_shared", cross_shared},
    {"cross_robust", cross_robust},
    {"ring_3", ring_3},
    {"ring_10", ring_10},
    {"ring_100", ring_100},
    {"cross_beside_work", cross_beside_work},
    {"two_at_once", two_at_once},
    {"cross_after_100000", cross_after_100000},
    {"cross_holding_500", cross_holding_500},
    {"cross_in_child", cross_in_child},
    {"cross_c11", cross_c11},
    {"cross_with_1000_behind", cross_with_1000_behind},
    {"cross_custom", cross_custom},
    {"cross_spin", cross_spin},
    {NULL, NULL},
};
