/* SPDX-License-Identifier: MIT */
/*
 * Request events of mode all.
 *
 * Each call that can wait for a lock is an event before the lock is tried, with the stack of the later acquisition; trylocks
 * have none; the lock-order graph does not change. With the argument `none` there are no stacks, only call sites.
 */
#include <semaphore.h>
#include <threads.h>
#include <time.h>

#include "../read_object.h"

enum { EVENTS_MAX = 64 };

static const struct timespec far_future = {.tv_sec = INT32_MAX};

/* The events of one object that request, begin or end an acquisition. */
struct story {
    struct upmu_trace_event event[EVENTS_MAX];
    size_t n;
};

static bool belongs(const struct upmu_trace_event *e)
{
    return e->kind == UPMU_TRACE_LOCK_REQUEST || e->kind == UPMU_TRACE_LOCK_BLOCK ||
           e->kind == UPMU_TRACE_LOCK_ACQUIRED || e->kind == UPMU_TRACE_LOCK_ACQUIRE ||
           e->kind == UPMU_TRACE_LOCK_RELEASE || e->kind == UPMU_TRACE_SEM_POST || e->kind == UPMU_TRACE_LOCK_ORDER;
}

static struct story story_of(const void *object)
{
    struct story s = {.n = 0};
    struct upmu_trace *t;
    const struct upmu_trace_event *e;
    int rc;
    CHECK(upmu_trace_open(&t, dir) == 0);
    while ((rc = upmu_trace_next(t, &e)) > 0)
        if (e->object == (uintptr_t)object && belongs(e) && !(e->flags & UPMU_TRACE_FLAG_BEFORE)) {
            CHECK(s.n < EVENTS_MAX);
            s.event[s.n++] = *e;
        }
    CHECK(rc == 0);
    upmu_trace_close(t);
    return s;
}

/* What was done with the object: these kinds, each request with the type, the flags and the
 * stack of what comes next. */
static void expect(const void *object, uint32_t type, size_t n, const int32_t *kinds)
{
    struct story s = story_of(object);
    CHECK(s.n == n);
    for (size_t i = 0; i < n; i++) {
        CHECK(s.event[i].kind == kinds[i] && s.event[i].object_type == (int32_t)type);
        if (kinds[i] != UPMU_TRACE_LOCK_REQUEST)
            continue;
        const struct upmu_trace_event *request = &s.event[i], *next = &s.event[i + 1];
        CHECK(i + 1 < n && request->stack != 0 && request->stack == next->stack);
        CHECK((request->flags & UPMU_TRACE_FLAG_SHARED) == (next->flags & UPMU_TRACE_FLAG_SHARED));
        CHECK(request->time_ns <= next->time_ns);
    }
}

static const int32_t pair[] = {UPMU_TRACE_LOCK_REQUEST, UPMU_TRACE_LOCK_ACQUIRE, UPMU_TRACE_LOCK_RELEASE};
static const int32_t posted[] = {UPMU_TRACE_LOCK_REQUEST, UPMU_TRACE_LOCK_ACQUIRE, UPMU_TRACE_SEM_POST};
static const int32_t tried[] = {UPMU_TRACE_LOCK_ACQUIRE, UPMU_TRACE_LOCK_RELEASE};
static const int32_t waited[] = {UPMU_TRACE_LOCK_REQUEST, UPMU_TRACE_LOCK_BLOCK, UPMU_TRACE_LOCK_ACQUIRED,
                                 UPMU_TRACE_LOCK_RELEASE};
static const int32_t inside[] = {UPMU_TRACE_LOCK_REQUEST, UPMU_TRACE_LOCK_ORDER, UPMU_TRACE_LOCK_ACQUIRE,
                                 UPMU_TRACE_LOCK_RELEASE};

static void begin_with(uint32_t depth, uint32_t requests)
{
    const struct upmu_sync_opts o = {
        .size = sizeof o, .mode = UPMU_SYNC_ALL, .stack_depth = depth, .trace = dir, .requests = requests};
    CHECK(upmu_sync_begin(&o) == 0);
}

/* ------------------------------------------------------------------------------------------------- every family */

static void mutexes(uint32_t depth)
{
    static pthread_mutex_t plain = PTHREAD_MUTEX_INITIALIZER, timed = PTHREAD_MUTEX_INITIALIZER, robust,
                           only_tried = PTHREAD_MUTEX_INITIALIZER;
    static mtx_t c11;
    pthread_mutexattr_t attr;
    CHECK(pthread_mutexattr_init(&attr) == 0 && pthread_mutexattr_setrobust(&attr, PTHREAD_MUTEX_ROBUST) == 0);
    CHECK(pthread_mutex_init(&robust, &attr) == 0 && mtx_init(&c11, mtx_plain) == thrd_success);
    begin_with(depth, 1);
    lock(&plain);
    unlock(&plain);
    CHECK(pthread_mutex_timedlock(&timed, &far_future) == 0);
    unlock(&timed);
    lock(&robust);
    unlock(&robust);
    CHECK(pthread_mutex_trylock(&only_tried) == 0);
    unlock(&only_tried);
    CHECK(mtx_lock(&c11) == thrd_success && mtx_unlock(&c11) == thrd_success);
    end();
    expect(&plain, UPMU_OBJECT_MUTEX, 3, pair);
    expect(&timed, UPMU_OBJECT_MUTEX, 3, pair);
    expect(&robust, UPMU_OBJECT_MUTEX, 3, pair);
    expect(&only_tried, UPMU_OBJECT_MUTEX, 2, tried);
    expect(&c11, UPMU_OBJECT_MUTEX, 3, pair);
}

static void others(uint32_t depth)
{
    static pthread_rwlock_t readers = PTHREAD_RWLOCK_INITIALIZER, writer = PTHREAD_RWLOCK_INITIALIZER;
    static pthread_spinlock_t spin;
    static sem_t sem;
    CHECK(pthread_spin_init(&spin, PTHREAD_PROCESS_PRIVATE) == 0 && sem_init(&sem, 0, 2) == 0);
    begin_with(depth, 1);
    CHECK(pthread_rwlock_rdlock(&readers) == 0 && pthread_rwlock_unlock(&readers) == 0);
    CHECK(pthread_rwlock_wrlock(&writer) == 0 && pthread_rwlock_unlock(&writer) == 0);
    CHECK(pthread_spin_lock(&spin) == 0 && pthread_spin_unlock(&spin) == 0);
    CHECK(sem_wait(&sem) == 0 && sem_post(&sem) == 0);
    end();
    expect(&readers, UPMU_OBJECT_RWLOCK, 3, pair);
    expect(&writer, UPMU_OBJECT_RWLOCK, 3, pair);
    expect((const void *)(uintptr_t)&spin, UPMU_OBJECT_SPIN, 3, pair);
    expect(&sem, UPMU_OBJECT_SEM, 3, posted);
}

/* ------------------------------------------------------------------------------------------- waits, order, without */

static pthread_mutex_t held = PTHREAD_MUTEX_INITIALIZER;

static void *waits(void *arg)
{
    lock(&held);
    unlock(&held);
    return arg;
}

static void a_wait(uint32_t depth)
{
    pthread_t t;
    CHECK(pthread_mutex_lock(&held) == 0); /* not recorded yet: the rest is the other thread's */
    begin_with(depth, 1);
    CHECK(pthread_create(&t, NULL, waits, NULL) == 0);
    until_blocked(&held, 1);
    unlock(&held);
    CHECK(pthread_join(t, NULL) == 0);
    end();
    expect(&held, UPMU_OBJECT_MUTEX, 4, waited);
}

static void orders(uint32_t depth, uint32_t requests)
{
    static pthread_mutex_t outer[2] = {PTHREAD_MUTEX_INITIALIZER, PTHREAD_MUTEX_INITIALIZER},
                           inner[2] = {PTHREAD_MUTEX_INITIALIZER, PTHREAD_MUTEX_INITIALIZER};
    begin_with(depth, requests);
    lock(&outer[requests]);
    lock(&inner[requests]);
    unlock(&inner[requests]);
    unlock(&outer[requests]);
    end();
    expect(&outer[requests], UPMU_OBJECT_MUTEX, requests ? 3 : 2, requests ? pair : tried);
    expect(&inner[requests], UPMU_OBJECT_MUTEX, requests ? 4 : 3, requests ? inside : inside + 1);
}

/* Asked for in another mode, they begin with mode all. */
static void a_change_of_mode(void)
{
    static pthread_mutex_t before = PTHREAD_MUTEX_INITIALIZER, after = PTHREAD_MUTEX_INITIALIZER;
    const struct upmu_sync_opts o = {.size = sizeof o, .mode = UPMU_SYNC_CONTENDED, .trace = dir, .requests = 1};
    CHECK(upmu_sync_begin(&o) == 0);
    lock(&before);
    unlock(&before);
    CHECK(upmu_sync_set_mode(UPMU_SYNC_ALL) == UPMU_SYNC_CONTENDED);
    lock(&after);
    unlock(&after);
    end();
    expect(&before, UPMU_OBJECT_MUTEX, 0, NULL);
    expect(&after, UPMU_OBJECT_MUTEX, 3, pair);
}

int main(int argc, char **argv)
{
    uint32_t depth = argc > 1 && strcmp(argv[1], "none") == 0 ? UPMU_SYNC_NO_STACKS : 0;
    skip_under_thread_sanitizer();
    CHECK(mkdtemp(dir) != NULL);
    mutexes(depth);
    others(depth);
    a_wait(depth);
    orders(depth, 0);
    orders(depth, 1);
    a_change_of_mode();
    return remove_recording();
}
