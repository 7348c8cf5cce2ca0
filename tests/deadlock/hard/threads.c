/* SPDX-License-Identifier: MIT */
/* Hard cases of one process: readers and writers, rings, tries, reused memory, idle threads. */
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdint.h>
#include <time.h>
#include <unistd.h>

#include "hard.h"

static pthread_rwlock_t rw[2];
static sem_t sem[2];
static pthread_cond_t cond = PTHREAD_COND_INITIALIZER;

/* ------------------------------------------------------------------------------------------------ readers, writers */

static void writer_preferring(pthread_rwlock_t *l)
{
    pthread_rwlockattr_t attr;
    MUST(pthread_rwlockattr_init(&attr));
    MUST(pthread_rwlockattr_setkind_np(&attr, PTHREAD_RWLOCK_PREFER_WRITER_NONRECURSIVE_NP));
    MUST(pthread_rwlock_init(l, &attr));
}

static pid_t writer;

static void *write_0(void *arg)
{
    meet(2);
    __atomic_store_n(&writer, gettid(), __ATOMIC_RELEASE);
    MUST(pthread_rwlock_wrlock(&rw[0]));
    MUST(pthread_rwlock_unlock(&rw[0]));
    return arg;
}

static void read_twice_around_writer(void)
{
    MUST(pthread_rwlock_rdlock(&rw[0]));
    pthread_t t = dl_start(write_0, NULL);
    meet(2);
    while (__atomic_load_n(&writer, __ATOMIC_ACQUIRE) == 0)
        dl_rest(1);
    dl_until_asleep(writer);
    MUST(pthread_rwlock_rdlock(&rw[0]));
    MUST(pthread_rwlock_unlock(&rw[0]));
    MUST(pthread_rwlock_unlock(&rw[0]));
    MUST(pthread_join(t, NULL));
}
static void rw_reader_again_behind_writer(void)
{
    writer_preferring(&rw[0]);
    read_twice_around_writer();
}
static void rw_reader_again_by_default(void)
{
    MUST(pthread_rwlock_init(&rw[0], NULL));
    read_twice_around_writer();
}

static void readers(pthread_rwlock_t *x, pthread_rwlock_t *y)
{
    MUST(pthread_rwlock_rdlock(x));
    MUST(pthread_rwlock_rdlock(y));
    MUST(pthread_rwlock_unlock(y));
    MUST(pthread_rwlock_unlock(x));
}
static void *readers_ab(void *arg)
{
    turn(0);
    readers(&rw[0], &rw[1]);
    next();
    turn(2);
    return arg;
}
static void *readers_ba(void *arg)
{
    turn(1);
    readers(&rw[1], &rw[0]);
    next();
    return arg;
}
static void write_each(void)
{
    for (size_t i = 0; i < 2; i++) {
        MUST(pthread_rwlock_wrlock(&rw[i]));
        MUST(pthread_rwlock_unlock(&rw[i]));
    }
}
static void rw_readers_default(void)
{
    MUST(pthread_rwlock_init(&rw[0], NULL));
    MUST(pthread_rwlock_init(&rw[1], NULL));
    write_each();
    dl_both(readers_ab, readers_ba);
}
static void rw_readers_behind_writers(void)
{
    writer_preferring(&rw[0]);
    writer_preferring(&rw[1]);
    write_each();
    dl_both(readers_ab, readers_ba);
}
static void *write_ba(void *arg)
{
    turn(1);
    MUST(pthread_rwlock_wrlock(&rw[1]));
    MUST(pthread_rwlock_wrlock(&rw[0]));
    MUST(pthread_rwlock_unlock(&rw[0]));
    MUST(pthread_rwlock_unlock(&rw[1]));
    next();
    return arg;
}
static void rw_reader_and_writer(void)
{
    MUST(pthread_rwlock_init(&rw[0], NULL));
    MUST(pthread_rwlock_init(&rw[1], NULL));
    dl_both(readers_ab, write_ba);
}

/* --------------------------------------------------------------------------------------------------- rings, tries */

static void ring_step(size_t i, size_t n)
{
    pair(&m[i], &m[(i + 1) % n]);
}
static void ring_of_eight_by_one(void)
{
    for (size_t i = 0; i < 8; i++)
        ring_step(i, 8);
}
static void ring_not_closed(void)
{
    for (size_t i = 0; i + 1 < 8; i++)
        ring_step(i, 8);
}
static void *ring_seven(void *arg)
{
    turn((unsigned)(uintptr_t)arg);
    ring_step((uintptr_t)arg, 7);
    next();
    turn(7);
    return arg;
}
static void ring_of_seven(void)
{
    pthread_t t[7];
    for (uintptr_t i = 0; i < 7; i++)
        t[i] = dl_start(ring_seven, (void *)i);
    for (size_t i = 0; i < 7; i++)
        MUST(pthread_join(t[i], NULL));
}
static void *ring_in_threads_in_turn(void *arg)
{
    ring_step((uintptr_t)arg, 5);
    return arg;
}
static void ring_of_five_joined(void)
{
    for (uintptr_t i = 0; i < 5; i++)
        MUST(pthread_join(dl_start(ring_in_threads_in_turn, (void *)i), NULL));
}

static void *pair_01(void *arg)
{
    turn(0);
    pair(&m[0], &m[1]);
    next();
    turn(2);
    return arg;
}
static void *pair_10(void *arg)
{
    turn(1);
    pair(&m[1], &m[0]);
    next();
    return arg;
}
static void inversion(void)
{
    dl_both(pair_01, pair_10);
}

/* Tried first, then waited for, by one function, as locks of runtimes do. */
static pid_t refused; /* the thread whose try has failed */

__attribute__((noinline)) static void try_or_wait(pthread_mutex_t *l)
{
    if (pthread_mutex_trylock(l) == 0)
        return;
    __atomic_store_n(&refused, gettid(), __ATOMIC_RELEASE);
    MUST(pthread_mutex_lock(l));
}
static void pair_tried(pthread_mutex_t *x, pthread_mutex_t *y)
{
    try_or_wait(x);
    try_or_wait(y);
    MUST(pthread_mutex_unlock(y));
    MUST(pthread_mutex_unlock(x));
}
static void *hold_7(void *arg)
{
    MUST(pthread_mutex_lock(&m[7]));
    meet(2);
    while (__atomic_load_n(&refused, __ATOMIC_ACQUIRE) == 0)
        dl_rest(1);
    dl_until_asleep(refused);
    MUST(pthread_mutex_unlock(&m[7]));
    return arg;
}
static void contend_try_or_wait(void)
{
    pthread_t t = dl_start(hold_7, NULL);
    meet(2);
    try_or_wait(&m[7]);
    MUST(pthread_mutex_unlock(&m[7]));
    MUST(pthread_join(t, NULL));
}
static void *tried_01(void *arg)
{
    turn(0);
    pair_tried(&m[0], &m[1]);
    next();
    turn(2);
    return arg;
}
static void *tried_10(void *arg)
{
    turn(1);
    pair_tried(&m[1], &m[0]);
    next();
    return arg;
}
static void try_then_wait(void)
{
    contend_try_or_wait();
    dl_both(tried_01, tried_10);
}

static void *only_tried_10(void *arg)
{
    turn(1);
    MUST(pthread_mutex_lock(&m[1]));
    if (pthread_mutex_trylock(&m[0]) == 0)
        MUST(pthread_mutex_unlock(&m[0]));
    MUST(pthread_mutex_unlock(&m[1]));
    next();
    return arg;
}
static void only_tried(void)
{
    dl_both(pair_01, only_tried_10);
}

/* A try that is given up, then the locks in the right order: the waits are of another nesting. */
static void *back_off_10(void *arg)
{
    turn(1);
    MUST(pthread_mutex_lock(&m[1]));
    bool got = pthread_mutex_trylock(&m[0]) == 0;
    MUST(pthread_mutex_unlock(&m[1]));
    if (got)
        MUST(pthread_mutex_unlock(&m[0]));
    pair(&m[0], &m[1]);
    next();
    return arg;
}
static void backed_off(void)
{
    dl_both(pair_01, back_off_10);
}

static void *timed_10(void *arg)
{
    struct timespec until;
    turn(1);
    MUST(pthread_mutex_lock(&m[1]));
    MUST(clock_gettime(CLOCK_REALTIME, &until));
    until.tv_sec++;
    if (pthread_mutex_timedlock(&m[0], &until) == 0)
        MUST(pthread_mutex_unlock(&m[0]));
    MUST(pthread_mutex_unlock(&m[1]));
    next();
    return arg;
}
static void only_timed(void)
{
    dl_both(pair_01, timed_10);
}

/* Two threads that wait for each other with time limits, again and again, and back off. */
static void *timed_cross(void *arg)
{
    size_t x = (uintptr_t)arg;
    for (int i = 0; i < 8; i++) {
        struct timespec until;
        MUST(pthread_mutex_lock(&m[x]));
        dl_rest(50);
        MUST(clock_gettime(CLOCK_REALTIME, &until));
        until.tv_nsec += 200 * 1000000;
        until.tv_sec += until.tv_nsec / 1000000000;
        until.tv_nsec %= 1000000000;
        if (pthread_mutex_timedlock(&m[1 - x], &until) == 0)
            MUST(pthread_mutex_unlock(&m[1 - x]));
        MUST(pthread_mutex_unlock(&m[x]));
    }
    return NULL;
}
static void timed_fight(void)
{
    pthread_t t = dl_start(timed_cross, (void *)1);
    timed_cross(NULL);
    MUST(pthread_join(t, NULL));
}

/* ------------------------------------------------------------------------------------------- other orders, memory */

/* A list locked hand over hand by two threads: always forward. */
static void *hand_over_hand(void *arg)
{
    MUST(pthread_mutex_lock(&m[0]));
    for (size_t i = 1; i < LOCKS; i++) {
        MUST(pthread_mutex_lock(&m[i]));
        MUST(pthread_mutex_unlock(&m[i - 1]));
    }
    MUST(pthread_mutex_unlock(&m[LOCKS - 1]));
    return arg;
}
static void list_forward(void)
{
    dl_both(hand_over_hand, hand_over_hand);
}

static void *hand_over_hand_back(void *arg)
{
    turn(0);
    MUST(pthread_mutex_lock(&m[LOCKS - 1]));
    for (size_t i = LOCKS - 1; i-- > 0;) {
        MUST(pthread_mutex_lock(&m[i]));
        MUST(pthread_mutex_unlock(&m[i + 1]));
    }
    MUST(pthread_mutex_unlock(&m[0]));
    next();
    return arg;
}
static void *hand_over_hand_later(void *arg)
{
    turn(1);
    return hand_over_hand(arg);
}
static void list_both_ways(void)
{
    dl_both(hand_over_hand_back, hand_over_hand_later);
}

/* Objects of a pool, constructed anew: others at the same addresses. */
static pthread_mutex_t *pool;
static void pool_make(void)
{
    for (size_t i = 0; i < 2; i++)
        MUST(pthread_mutex_init(&pool[i], NULL));
}
static void *pool_01(void *arg)
{
    turn(0);
    pair(&pool[0], &pool[1]);
    pool_make(); /* without an end: the pool gives the memory to other objects */
    next();
    turn(2);
    return arg;
}
static void *pool_10(void *arg)
{
    turn(1);
    pair(&pool[1], &pool[0]);
    next();
    return arg;
}
static void pool_anew(void)
{
    static pthread_mutex_t memory[2];
    pool = memory;
    pool_make();
    dl_both(pool_01, pool_10);
}
static void pool_destroyed(void)
{
    static pthread_mutex_t memory[2];
    pool = memory;
    pool_make();
    pair(&pool[0], &pool[1]);
    for (int i = 0; i < 2; i++)
        MUST(pthread_mutex_destroy(&pool[i]));
    pool_make();
    shared->turn = 1;
    MUST(pthread_join(dl_start(pool_10, NULL), NULL));
}

/* The gate is another lock each time. */
static void *gated_01(void *arg)
{
    turn(0);
    MUST(pthread_mutex_lock(&m[2]));
    pair(&m[0], &m[1]);
    MUST(pthread_mutex_unlock(&m[2]));
    next();
    turn(2);
    return arg;
}
static void *gated_10_otherwise(void *arg)
{
    turn(1);
    MUST(pthread_mutex_lock(&m[3]));
    pair(&m[1], &m[0]);
    MUST(pthread_mutex_unlock(&m[3]));
    next();
    return arg;
}
static void *gated_10(void *arg)
{
    turn(1);
    MUST(pthread_mutex_lock(&m[2]));
    pair(&m[1], &m[0]);
    MUST(pthread_mutex_unlock(&m[2]));
    next();
    return arg;
}
static void two_gates(void)
{
    dl_both(gated_01, gated_10_otherwise);
}
static void one_gate(void)
{
    dl_both(gated_01, gated_10);
}

/* A condition's mutex is taken again under another lock. */
static void *cond_under_lock(void *arg)
{
    struct timespec until;
    turn(0);
    MUST(pthread_mutex_lock(&m[0]));
    MUST(pthread_mutex_lock(&m[1]));
    MUST(pthread_mutex_unlock(&m[1]));
    MUST(pthread_mutex_unlock(&m[0]));
    next();
    turn(2);
    MUST(clock_gettime(CLOCK_REALTIME, &until));
    return arg;
}
static void *cond_taken_again(void *arg)
{
    struct timespec until;
    turn(1);
    MUST(pthread_mutex_lock(&m[0]));
    MUST(pthread_mutex_lock(&m[1]));
    MUST(clock_gettime(CLOCK_REALTIME, &until));
    (void)pthread_cond_timedwait(&cond, &m[0], &until); /* takes 0 again while it holds 1 */
    MUST(pthread_mutex_unlock(&m[1]));
    MUST(pthread_mutex_unlock(&m[0]));
    next();
    return arg;
}
static void cond_takes_again(void)
{
    dl_both(cond_under_lock, cond_taken_again);
}

/* ----------------------------------------------------------------------------------------------- within a process */

static void *lock_cross(void *arg)
{
    size_t x = (uintptr_t)arg;
    MUST(pthread_mutex_lock(&m[x]));
    meet(2);
    MUST(pthread_mutex_lock(&m[1 - x]));
    return NULL;
}
static void cross_beside_timer(void)
{
    dl_start(lock_cross, (void *)1);
    dl_start(lock_cross, NULL);
    for (;;)
        dl_rest(10);
}

static void *lock_cross_later(void *arg)
{
    size_t x = 2 + (uintptr_t)arg;
    MUST(pthread_mutex_lock(&m[x]));
    meet(4);
    MUST(pthread_mutex_lock(&m[5 - x]));
    return NULL;
}
static void one_after_the_other(void)
{
    pthread_t t = dl_start(lock_cross, (void *)1);
    dl_start(lock_cross, NULL);
    dl_rest(HELD_MS);
    dl_start(lock_cross_later, (void *)1);
    dl_start(lock_cross_later, NULL);
    MUST(pthread_join(t, NULL));
}

static void pi_cross(void)
{
    pthread_mutexattr_t attr;
    MUST(pthread_mutexattr_init(&attr));
    MUST(pthread_mutexattr_setprotocol(&attr, PTHREAD_PRIO_INHERIT));
    for (size_t i = 0; i < 2; i++)
        MUST(pthread_mutex_init(&m[i], &attr));
    pthread_t t = dl_start(lock_cross, (void *)1), s = dl_start(lock_cross, NULL);
    MUST(pthread_join(t, NULL));
    MUST(pthread_join(s, NULL));
}

static void relock_refused(void)
{
    pthread_mutexattr_t attr;
    MUST(pthread_mutexattr_init(&attr));
    MUST(pthread_mutexattr_settype(&attr, PTHREAD_MUTEX_ERRORCHECK));
    MUST(pthread_mutex_init(&m[0], &attr));
    MUST(pthread_mutex_lock(&m[0]));
    if (pthread_mutex_lock(&m[0]) != EDEADLK)
        _exit(1);
    MUST(pthread_mutex_unlock(&m[0]));
}

static void *wait_for_turn(void *arg)
{
    MUST(pthread_mutex_lock(&m[0]));
    while (!shared->ready)
        MUST(pthread_cond_wait(&cond, &m[0]));
    MUST(pthread_mutex_unlock(&m[0]));
    return arg;
}
static void end_waiters(pthread_t *t, size_t n)
{
    MUST(pthread_mutex_lock(&m[0]));
    shared->ready = 1;
    MUST(pthread_cond_broadcast(&cond));
    MUST(pthread_mutex_unlock(&m[0]));
    for (size_t i = 0; i < n; i++)
        MUST(pthread_join(t[i], NULL));
}
static void idle_pool(void)
{
    pthread_t t[4];
    for (size_t i = 0; i < 4; i++)
        t[i] = dl_start(wait_for_turn, NULL);
    struct pollfd none = {.fd = -1};
    (void)poll(&none, 1, IDLE_MS);
    end_waiters(t, 4);
}

static void on_alarm(int sig)
{
    (void)sig;
    sem_post(&sem[0]);
}
static void sem_by_handler(void)
{
    MUST(sem_init(&sem[0], 0, 0));
    signal(SIGALRM, on_alarm);
    alarm(2);
    while (sem_wait(&sem[0]) != 0)
        ;
}

static void *sig_waiter(void *arg)
{
    sigset_t set;
    int sig;
    sigemptyset(&set);
    sigaddset(&set, SIGALRM);
    MUST(sigwait(&set, &sig));
    MUST(sem_post(&sem[0]));
    return arg;
}
static void sem_by_sigwait(void)
{
    sigset_t set;
    MUST(sem_init(&sem[0], 0, 0));
    sigemptyset(&set);
    sigaddset(&set, SIGALRM);
    MUST(pthread_sigmask(SIG_BLOCK, &set, NULL));
    pthread_t t = dl_start(sig_waiter, NULL);
    alarm(2);
    MUST(sem_wait(&sem[0]));
    MUST(pthread_join(t, NULL));
}

static void *pipe_reader(void *arg)
{
    char c;
    if (read(*(int *)arg, &c, 1) != 1)
        _exit(1);
    MUST(sem_post(&sem[0]));
    return NULL;
}
static void write_late(void)
{
    dl_rest(IDLE_MS);
}
static void sem_by_pipe(void)
{
    int ends[2];
    MUST(sem_init(&sem[0], 0, 0));
    MUST(pipe(ends));
    if (fork() == 0) {
        write_late();
        _exit(write(ends[1], "", 1) == 1 ? 0 : 1);
    }
    pthread_t t = dl_start(pipe_reader, &ends[0]);
    MUST(sem_wait(&sem[0]));
    MUST(pthread_join(t, NULL));
    await_children();
}

static void *child_reaper(void *arg)
{
    await_children();
    MUST(sem_post(&sem[0]));
    return arg;
}
static void sem_by_waitpid(void)
{
    MUST(sem_init(&sem[0], 0, 0));
    if (fork() == 0) {
        dl_rest(IDLE_MS);
        _exit(0);
    }
    pthread_t t = dl_start(child_reaper, NULL);
    MUST(sem_wait(&sem[0]));
    MUST(pthread_join(t, NULL));
}

static void *self_joined(void *arg)
{
    meet(2);
    MUST(pthread_mutex_lock(&m[0]));
    return arg;
}
static void join_under_lock(void)
{
    MUST(pthread_mutex_lock(&m[0]));
    pthread_t t = dl_start(self_joined, NULL);
    meet(2);
    MUST(pthread_join(t, NULL));
}

static void *two_of_three(void *arg)
{
    MUST(sem_wait(&sem[0]));
    meet(2);
    MUST(sem_wait(&sem[0]));
    return arg;
}
static void permits_short(void)
{
    MUST(sem_init(&sem[0], 0, 2));
    dl_both(two_of_three, two_of_three);
}

static void *cross_first(void *arg)
{
    MUST(pthread_mutex_lock(&m[0]));
    meet(2);
    MUST(pthread_mutex_lock(&m[1]));
    return arg;
}
static void *cross_second(void *arg)
{
    MUST(pthread_mutex_lock(&m[1]));
    meet(2);
    MUST(pthread_mutex_lock(&m[0]));
    return arg;
}
/* What QThread::wait() does, too: that no thread is left to signal is a consequence of the cycle. */
static void cross_beside_cond(void)
{
    dl_start(cross_first, NULL);
    dl_start(cross_second, NULL);
    MUST(pthread_mutex_lock(&m[2]));
    for (;;)
        MUST(pthread_cond_wait(&cond, &m[2]));
}

static void *wait_for_first(void *arg)
{
    meet(2);
    MUST(pthread_mutex_lock(&m[0]));
    return arg;
}
/* The kernel has no memory map of a thread that has ended: not even of the process's first one. */
static void first_thread_ended(void)
{
    MUST(pthread_mutex_lock(&m[0]));
    dl_start(wait_for_first, NULL);
    meet(2);
    pthread_exit(NULL);
}

static void *lock_typed(void *mutex)
{
    MUST(pthread_mutex_lock(mutex));
    return NULL;
}
/* glibc notes in a mutex that its type was set. */
static void typed_owner_ended(void)
{
    static pthread_mutex_t typed;
    pthread_mutexattr_t attr;
    MUST(pthread_mutexattr_init(&attr));
    MUST(pthread_mutexattr_settype(&attr, PTHREAD_MUTEX_NORMAL));
    MUST(pthread_mutex_init(&typed, &attr));
    MUST(pthread_join(dl_start(lock_typed, &typed), NULL));
    MUST(pthread_mutex_lock(&typed));
}

static void *hold_stream(void *stream)
{
    flockfile(stream);
    return NULL;
}
static void stream_of_ended(void)
{
    FILE *f = tmpfile();
    if (!f)
        dl_must(errno, "tmpfile");
    MUST(pthread_join(dl_start(hold_stream, f), NULL));
    (void)fputs("never written", f);
}

const struct dl_case cases_threads[] = {
    {"rw_reader_again_behind_writer", rw_reader_again_behind_writer},
    {"rw_reader_again_by_default", rw_reader_again_by_default},
    {"rw_readers_default", rw_readers_default},
    {"rw_readers_behind_writers", rw_readers_behind_writers},
    {"rw_reader_and_writer", rw_reader_and_writer},
    {"ring_of_eight_by_one", ring_of_eight_by_one},
    {"ring_not_closed", ring_not_closed},
    {"ring_of_seven", ring_of_seven},
    {"ring_of_five_joined", ring_of_five_joined},
    {"inversion", inversion},
    {"try_then_wait", try_then_wait},
    {"only_tried", only_tried},
    {"backed_off", backed_off},
    {"only_timed", only_timed},
    {"timed_fight", timed_fight},
    {"list_forward", list_forward},
    {"list_both_ways", list_both_ways},
    {"pool_anew", pool_anew},
    {"pool_destroyed", pool_destroyed},
    {"two_gates", two_gates},
    {"one_gate", one_gate},
    {"cond_takes_again", cond_takes_again},
    {"cross_beside_timer", cross_beside_timer},
    {"one_after_the_other", one_after_the_other},
    {"pi_cross", pi_cross},
    {"relock_refused", relock_refused},
    {"idle_pool", idle_pool},
    {"sem_by_handler", sem_by_handler},
    {"sem_by_sigwait", sem_by_sigwait},
    {"sem_by_pipe", sem_by_pipe},
    {"sem_by_waitpid", sem_by_waitpid},
    {"join_under_lock", join_under_lock},
    {"permits_short", permits_short},
    {"stream_of_ended", stream_of_ended},
    {"first_thread_ended", first_thread_ended},
    {"typed_owner_ended", typed_owner_ended},
    {"cross_beside_cond", cross_beside_cond},
    {NULL, NULL},
};
