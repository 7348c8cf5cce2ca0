/* SPDX-License-Identifier: MIT */
/*
 * A custom spin lock in the trace: it announces its waits, acquisitions and releases.
 *
 * The announcements cost a load and a branch while nothing is recorded.
 *
 *     cc spinlock.c $(pkg-config --cflags --libs upmu-sync) -pthread
 */
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdio.h>

#include <upmu/sync.h>

enum { THREADS = 3, ROUNDS = 5000 };

struct spinlock {
    atomic_flag taken;
};

static struct spinlock spin = {ATOMIC_FLAG_INIT};
static unsigned long sum;

static void spin_lock(struct spinlock *s)
{
    if (atomic_flag_test_and_set_explicit(&s->taken, memory_order_acquire)) {
        upmu_lock_will_acquire(s); /* trying has failed: from here on we wait */
        while (atomic_flag_test_and_set_explicit(&s->taken, memory_order_acquire))
            sched_yield();
    }
    upmu_lock_acquired(s);
}

static void spin_unlock(struct spinlock *s)
{
    upmu_lock_released(s); /* while it is still ours */
    atomic_flag_clear_explicit(&s->taken, memory_order_release);
}

static void *work(void *arg)
{
    for (int i = 0; i < ROUNDS; i++) {
        spin_lock(&spin);
        for (int k = 0; k < 100; k++)
            sum += (unsigned long)k;
        spin_unlock(&spin);
    }
    return arg;
}

int main(void)
{
    pthread_t threads[THREADS];

    if (upmu_sync_begin(NULL) < 0) {
        fprintf(stderr, "no sync tracing: %s\n", upmu_error());
        return 1;
    }
    upmu_lock_announce(&spin, "my spin lock");
    for (int i = 0; i < THREADS; i++)
        if (pthread_create(&threads[i], NULL, work, NULL) != 0)
            return 1;
    for (int i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
    upmu_lock_retired(&spin);
    if (upmu_sync_end() < 0)
        return 1;
    printf("the sum is %lu\n", sum);
    return 0;
}
