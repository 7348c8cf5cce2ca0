/* SPDX-License-Identifier: MIT */
/* Deadlock cases of readers and writers. */
#include <stdint.h>

#include "cases.h"

static pthread_rwlock_t locks[2] = {PTHREAD_RWLOCK_INITIALIZER, PTHREAD_RWLOCK_INITIALIZER};
static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
static struct dl_meeting meeting;

/* How a thread takes its first lock and then the other's. */
struct turn {
    int (*first)(pthread_rwlock_t *);
    int (*second)(pthread_rwlock_t *);
    int a, b;
};

static void *take(void *arg)
{
    const struct turn *t = arg;
    MUST(t->first(&locks[t->a]));
    dl_meet(&meeting, 2);
    MUST(t->second(&locks[t->b]));
    return NULL;
}

static void two(struct turn x, struct turn y)
{
    pthread_t s = dl_start(take, &x), t = dl_start(take, &y);
    MUST(pthread_join(s, NULL));
    MUST(pthread_join(t, NULL));
}

static void rw_writers_cross(void)
{
    two((struct turn){pthread_rwlock_wrlock, pthread_rwlock_wrlock, 0, 1},
        (struct turn){pthread_rwlock_wrlock, pthread_rwlock_wrlock, 1, 0});
}

static void rw_read_then_write(void)
{
    two((struct turn){pthread_rwlock_rdlock, pthread_rwlock_wrlock, 0, 1},
        (struct turn){pthread_rwlock_rdlock, pthread_rwlock_wrlock, 1, 0});
}

static void rw_write_then_read(void)
{
    two((struct turn){pthread_rwlock_wrlock, pthread_rwlock_rdlock, 0, 1},
        (struct turn){pthread_rwlock_wrlock, pthread_rwlock_rdlock, 1, 0});
}

static void rw_two_upgrade(void)
{
    two((struct turn){pthread_rwlock_rdlock, pthread_rwlock_wrlock, 0, 0},
        (struct turn){pthread_rwlock_rdlock, pthread_rwlock_wrlock, 0, 0});
}

static void *hold_reading(void *arg)
{
    MUST(pthread_rwlock_rdlock(&locks[0]));
    dl_meet(&meeting, 2);
    for (;;)
        dl_rest(20);
    return arg;
}

/* Another reader holds the lock and runs; the reader that blocks itself is still deadlocked. */
static void *upgrade(void *arg)
{
    MUST(pthread_rwlock_rdlock(&locks[0]));
    dl_meet(&meeting, 2);
    MUST(pthread_rwlock_rdlock(&locks[1]));
    MUST(pthread_mutex_lock(&m));
    MUST(pthread_mutex_lock(&m));
    return arg;
}

/* Of two readers one runs and one is deadlocked: the writer waits for both, permanently. */
static void *write_first(void *arg)
{
    MUST(pthread_rwlock_wrlock(&locks[0]));
    return arg;
}

static void rw_writer_behind_stuck_reader(void)
{
    dl_start(hold_reading, NULL);
    dl_start(upgrade, NULL);
    dl_meet(&meeting, 2);
    pthread_t t = dl_start(write_first, NULL);
    MUST(pthread_join(t, NULL));
}

static void *end_reading(void *arg)
{
    MUST(pthread_rwlock_rdlock(&locks[0]));
    return arg;
}

static void rw_reader_ended(void)
{
    MUST(pthread_join(dl_start(end_reading, NULL), NULL));
    MUST(pthread_rwlock_wrlock(&locks[0]));
}

static void *end_writing(void *arg)
{
    MUST(pthread_rwlock_wrlock(&locks[0]));
    return arg;
}

static void rw_writer_ended(void)
{
    MUST(pthread_join(dl_start(end_writing, NULL), NULL));
    MUST(pthread_rwlock_rdlock(&locks[0]));
}

/* A writer waits for the first reading, and the second reading for the writer. */
static pthread_rwlock_t fair;
static unsigned writing;

static void *read_twice(void *arg)
{
    MUST(pthread_rwlock_rdlock(&fair));
    dl_meet(&meeting, 2);
    while (!__atomic_load_n(&writing, __ATOMIC_ACQUIRE))
        dl_rest(1);
    dl_rest(100); /* until the writer waits */
    MUST(pthread_rwlock_rdlock(&fair));
    return arg;
}

static void *write_between(void *arg)
{
    dl_meet(&meeting, 2);
    __atomic_store_n(&writing, 1, __ATOMIC_RELEASE);
    MUST(pthread_rwlock_wrlock(&fair));
    return arg;
}

static void rw_reader_behind_writer(void)
{
    pthread_rwlockattr_t attr;
    MUST(pthread_rwlockattr_init(&attr));
    MUST(pthread_rwlockattr_setkind_np(&attr, PTHREAD_RWLOCK_PREFER_WRITER_NONRECURSIVE_NP));
    MUST(pthread_rwlock_init(&fair, &attr));
    pthread_t s = dl_start(read_twice, NULL), t = dl_start(write_between, NULL);
    MUST(pthread_join(s, NULL));
    MUST(pthread_join(t, NULL));
}

/* A mutex and an rwlock. */
static void *mutex_then_write(void *arg)
{
    MUST(pthread_mutex_lock(&m));
    dl_meet(&meeting, 2);
    MUST(pthread_rwlock_wrlock(&locks[0]));
    return arg;
}

static void *read_then_mutex(void *arg)
{
    MUST(pthread_rwlock_rdlock(&locks[0]));
    dl_meet(&meeting, 2);
    MUST(pthread_mutex_lock(&m));
    return arg;
}

static void rw_and_mutex(void)
{
    pthread_t s = dl_start(mutex_then_write, NULL), t = dl_start(read_then_mutex, NULL);
    MUST(pthread_join(s, NULL));
    MUST(pthread_join(t, NULL));
}

const struct dl_case cases_rwlocks[] = {
    {"rw_writers_cross", rw_writers_cross},
    {"rw_read_then_write", rw_read_then_write},
    {"rw_write_then_read", rw_write_then_read},
    {"rw_two_upgrade", rw_two_upgrade},
    {"rw_writer_behind_stuck_reader", rw_writer_behind_stuck_reader},
    {"rw_reader_ended", rw_reader_ended},
    {"rw_writer_ended", rw_writer_ended},
    {"rw_reader_behind_writer", rw_reader_behind_writer},
    {"rw_and_mutex", rw_and_mutex},
    {NULL, NULL},
};
