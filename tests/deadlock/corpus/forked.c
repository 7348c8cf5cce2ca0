/* SPDX-License-Identifier: MIT */
/* Deadlock cases of locks inherited by fork(), of ended owners, and at unusual addresses. */
#include <stdint.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cases.h"
#include "upmu/sync.h"

static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER, n = PTHREAD_MUTEX_INITIALIZER;
static struct dl_meeting meeting;

static void *hold_m(void *arg)
{
    MUST(pthread_mutex_lock(&m));
    dl_meet(&meeting, 2);
    for (;;)
        dl_rest(1000);
    return arg;
}

static void *take_m(void *arg)
{
    MUST(pthread_mutex_lock(&m));
    MUST(pthread_mutex_unlock(&m));
    return arg;
}

static void await(pid_t pid)
{
    int status;
    dl_must(waitpid(pid, &status, 0) != pid || status != 0, "waitpid");
}

/* Who has it is not in the child. */
static void child_of_a_held_lock(void)
{
    dl_start(hold_m, NULL);
    dl_meet(&meeting, 2);
    pid_t pid = fork();
    if (pid == 0) {
        MUST(pthread_mutex_lock(&m));
        _exit(0);
    }
    await(pid);
}

/* The child's first and only acts are to lock the same mutex twice. */
static void child_locks_twice(void)
{
    pid_t pid = fork();
    if (pid == 0) {
        MUST(pthread_mutex_lock(&m));
        MUST(pthread_mutex_lock(&m));
        _exit(0);
    }
    await(pid);
}

/* What the forking thread held the child's thread holds, though the mutex carries the parent's name for it. */
static void child_wants_what_it_holds(void)
{
    MUST(pthread_mutex_lock(&m));
    pid_t pid = fork();
    if (pid == 0) {
        MUST(pthread_mutex_lock(&m));
        _exit(0);
    }
    await(pid);
    MUST(pthread_mutex_unlock(&m));
}

static void child_gives_back_late(void)
{
    MUST(pthread_mutex_lock(&m));
    pid_t pid = fork();
    if (pid == 0) {
        pthread_t t = dl_start(take_m, NULL);
        dl_rest(700);
        MUST(pthread_mutex_unlock(&m));
        MUST(pthread_join(t, NULL));
        _exit(0);
    }
    MUST(pthread_mutex_unlock(&m));
    await(pid);
}

/* Parent and child share mutexes and block each other for a while. */
static void shared_with_child(void)
{
    pthread_mutexattr_t attr;
    pthread_mutex_t *both = mmap(NULL, 2 * sizeof *both, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    dl_must(both == MAP_FAILED, "mmap");
    MUST(pthread_mutexattr_init(&attr));
    MUST(pthread_mutexattr_setpshared(&attr, PTHREAD_PROCESS_SHARED));
    MUST(pthread_mutex_init(&both[0], &attr));
    MUST(pthread_mutex_init(&both[1], &attr));
    MUST(pthread_mutex_lock(&both[0]));
    pid_t pid = fork();
    if (pid == 0) {
        MUST(pthread_mutex_lock(&both[1]));
        MUST(pthread_mutex_lock(&both[0]));
        _exit(0);
    }
    dl_rest(700);
    MUST(pthread_mutex_unlock(&both[0]));
    await(pid);
}

/* More threads than blocks are kept for end with a lock; the first one's is wanted. */
enum { ENDED = 700 };

static void *lock_and_end(void *arg)
{
    MUST(pthread_mutex_lock(arg));
    return NULL;
}

static void owners_ended_by_hundreds(void)
{
    static pthread_mutex_t locks[ENDED];
    for (int i = 0; i < ENDED; i++) {
        MUST(pthread_mutex_init(&locks[i], NULL));
        MUST(pthread_join(dl_start(lock_and_end, &locks[i]), NULL));
    }
    MUST(pthread_mutex_lock(&locks[ENDED - 1]));
}

/* ------------------------------------------------------------------------------------------------ at odd addresses */

static struct {
    char pad;
    char lock[2]; /* side by side */
} bytes __attribute__((aligned(8)));

static void byte_lock(char *lock)
{
    upmu_lock_will_acquire(lock);
    while (__atomic_exchange_n(lock, 1, __ATOMIC_ACQUIRE))
        dl_rest(1);
    upmu_lock_acquired(lock);
}

static void byte_unlock(char *lock)
{
    upmu_lock_released(lock);
    __atomic_store_n(lock, 0, __ATOMIC_RELEASE);
}

static void *cross_bytes(void *arg)
{
    int first = *(int *)arg;
    byte_lock(&bytes.lock[first]);
    dl_meet(&meeting, 2);
    byte_lock(&bytes.lock[1 - first]);
    return NULL;
}

static void odd_cross(void)
{
    static int first[2] = {0, 1};
    pthread_t s = dl_start(cross_bytes, &first[0]), t = dl_start(cross_bytes, &first[1]);
    MUST(pthread_join(s, NULL));
    MUST(pthread_join(t, NULL));
}

static void *odd_then_even(void *arg)
{
    dl_turn(0);
    byte_lock(&bytes.lock[0]);
    byte_lock(&bytes.lock[1]);
    byte_unlock(&bytes.lock[1]);
    byte_unlock(&bytes.lock[0]);
    dl_next();
    return arg;
}

static void *even_then_odd(void *arg)
{
    dl_turn(1);
    byte_lock(&bytes.lock[1]);
    byte_lock(&bytes.lock[0]);
    byte_unlock(&bytes.lock[0]);
    byte_unlock(&bytes.lock[1]);
    dl_next();
    return arg;
}

static void odd_inversion(void)
{
    dl_both(odd_then_even, even_then_odd);
}

static void *gated_by_byte(void *arg)
{
    const bool second = arg != NULL;
    dl_turn(second);
    byte_lock(&bytes.lock[0]);
    MUST(pthread_mutex_lock(second ? &n : &m));
    MUST(pthread_mutex_lock(second ? &m : &n));
    MUST(pthread_mutex_unlock(&m));
    MUST(pthread_mutex_unlock(&n));
    byte_unlock(&bytes.lock[0]);
    dl_next();
    return NULL;
}

/* As a reader's lock it would be none. */
static void odd_gate(void)
{
    pthread_t s = dl_start(gated_by_byte, NULL), t = dl_start(gated_by_byte, &bytes);
    MUST(pthread_join(s, NULL));
    MUST(pthread_join(t, NULL));
}

const struct dl_case cases_forked[] = {
    {"child_of_a_held_lock", child_of_a_held_lock},
    {"child_locks_twice", child_locks_twice},
    {"child_wants_what_it_holds", child_wants_what_it_holds},
    {"child_gives_back_late", child_gives_back_late},
    {"shared_with_child", shared_with_child},
    {"owners_ended_by_hundreds", owners_ended_by_hundreds},
    {"odd_cross", odd_cross},
    {"odd_inversion", odd_inversion},
    {"odd_gate", odd_gate},
    {NULL, NULL},
};
