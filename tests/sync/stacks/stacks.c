/* SPDX-License-Identifier: MIT */
/*
 * Call stacks of all events of mode all, and of 256 frames.
 *
 * Each call of the program is one that ends without another thread: waits time out.
 */
#include <errno.h>
#include <semaphore.h>
#include <time.h>

#include "../read_object.h"
#include "upmu/analysis.h"

enum { DEPTH = 230, DEPTH_MAX = 256 };

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER, deep = PTHREAD_MUTEX_INITIALIZER;
static pthread_rwlock_t rwlock = PTHREAD_RWLOCK_INITIALIZER;
static pthread_cond_t cond = PTHREAD_COND_INITIALIZER;
static pthread_spinlock_t spin;
static sem_t sem;

static const struct timespec past = {.tv_sec = 1};

static void nothing(void)
{
}

static void *wait_in_vain(void *unused)
{
    CHECK(pthread_mutex_timedlock(&mutex, &past) == ETIMEDOUT);
    return unused;
}

static void call_everything(void)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_barrier_t barrier;
    pthread_t thread;
    CHECK(pthread_barrier_init(&barrier, NULL, 1) == 0);
    lock(&mutex);
    CHECK(pthread_create(&thread, NULL, wait_in_vain, NULL) == 0 && pthread_join(thread, NULL) == 0);
    CHECK(pthread_cond_timedwait(&cond, &mutex, &past) == ETIMEDOUT);
    CHECK(pthread_cond_signal(&cond) == 0 && pthread_cond_broadcast(&cond) == 0);
    unlock(&mutex);
    CHECK(pthread_rwlock_rdlock(&rwlock) == 0 && pthread_rwlock_unlock(&rwlock) == 0);
    CHECK(pthread_rwlock_wrlock(&rwlock) == 0 && pthread_rwlock_unlock(&rwlock) == 0);
    CHECK(pthread_spin_lock(&spin) == 0 && pthread_spin_unlock(&spin) == 0);
    CHECK(sem_timedwait(&sem, &past) == -1 && errno == ETIMEDOUT);
    CHECK(sem_post(&sem) == 0 && sem_wait(&sem) == 0);
    CHECK(pthread_once(&once, nothing) == 0);
    (void)pthread_barrier_wait(&barrier);
    CHECK(pthread_barrier_destroy(&barrier) == 0);
}

static __attribute__((noinline)) void lock_below(volatile unsigned n)
{
    if (n > 0) {
        lock_below(n - 1);
    } else {
        lock(&deep);
        unlock(&deep);
    }
    __asm__ volatile(""); /* no tail call */
}

/* Not of a call: what a thread is, and totals. */
static bool has_no_caller(const struct upmu_trace_event *e)
{
    return e->kind == UPMU_TRACE_THREAD_START || e->kind == UPMU_TRACE_THREAD_EXIT ||
           e->kind == UPMU_TRACE_THREAD_NAME || e->kind == UPMU_TRACE_LOCK_COUNTS || e->kind == UPMU_TRACE_LOCK_ORDER;
}

struct counts {
    unsigned events, without, deepest;
};

static struct counts read_stacks(void)
{
    struct counts n = {0};
    struct upmu_trace *t;
    const struct upmu_trace_event *e;
    int rc;
    CHECK(upmu_trace_open(&t, dir) == 0);
    while ((rc = upmu_trace_next(t, &e)) > 0) {
        struct upmu_trace_stack s = {.size = sizeof s};
        if (has_no_caller(e))
            continue;
        bool found = e->stack != 0 && upmu_trace_stack_find(t, 0, e->stack, &s) == 0 && s.n_frames > 1;
        n.events++;
        n.without += !found;
        n.deepest = found && s.n_frames > n.deepest ? s.n_frames : n.deepest;
        if (!found)
            printf("%s of 0x%" PRIx64 ": no stack\n", upmu_trace_kind_name(e->kind), e->object);
    }
    CHECK(rc == 0);
    upmu_trace_close(t);
    return n;
}

static struct counts record(uint32_t all_stacks, uint32_t depth)
{
    const struct upmu_sync_opts o = {
        .size = sizeof o, .mode = UPMU_SYNC_ALL, .stack_depth = depth, .trace = dir, .all_stacks = all_stacks};
    CHECK(upmu_sync_begin(&o) == 0);
    call_everything();
    lock_below(DEPTH);
    end();
    return read_stacks();
}

int main(int argc, char **argv)
{
    bool all = argc > 1 && strcmp(argv[1], "all") == 0;
    skip_under_thread_sanitizer();
    CHECK(mkdtemp(dir) != NULL);
    CHECK(pthread_spin_init(&spin, PTHREAD_PROCESS_PRIVATE) == 0 && sem_init(&sem, 0, 0) == 0);
    struct counts n = record(all, all ? DEPTH_MAX : 0);
    printf("%u events, %u without a stack, the deepest of %u frames\n", n.events, n.without, n.deepest);
    CHECK(n.events >= 25);
    CHECK(all ? n.without == 0 && n.deepest >= DEPTH : n.without > 0 && n.deepest == 16);
    return remove_recording();
}
