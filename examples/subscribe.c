/* SPDX-License-Identifier: MIT */
/*
 * A program that watches itself: which locks its threads wait for, twice a second, and each wait as it begins. Its recording is in
 * memory.
 *
 *     cc subscribe.c $(pkg-config --cflags --libs upmu-sync upmu-analysis) -lpthread
 */
#include <inttypes.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <unistd.h>

#include <upmu/subscription.h>
#include <upmu/sync.h>

static pthread_mutex_t till = PTHREAD_MUTEX_INITIALIZER;
static atomic_int updated;

static void *serve(void *arg)
{
    (void)arg;
    for (int i = 0; i < 100; i++) {
        pthread_mutex_lock(&till);
        usleep(1000);
        pthread_mutex_unlock(&till);
        usleep(200);
    }
    return NULL;
}

/* Sums since the last update, the longest waits first. */
static void on_update(void *arg, struct upmu_monitor *monitor)
{
    struct upmu_monitor_lock lock = {.size = sizeof lock};

    (void)arg;
    if (upmu_monitor_lock_at(monitor, 0, &lock) != 0 || lock.waited_ns == 0)
        return;
    printf("most waited for: %s, %" PRIu64 " us\n", lock.name, lock.waited_ns / 1000);
    atomic_store(&updated, 1);
}

int main(void)
{
    const struct upmu_sync_opts sync = {
        .size = sizeof sync, .mode = UPMU_SYNC_CONTENDED, .no_calls = 1, .trace = UPMU_TRACE_MEMORY};
    const int kinds[] = {UPMU_TRACE_LOCK_BLOCK};
    const struct upmu_trace_filter_opts filter = {.size = sizeof filter, .kinds = kinds, .n_kinds = 1};
    const struct upmu_subscription_opts opts = {
        .size = sizeof opts, .queue = 1000, .interval_ms = 500, .filter = &filter, .update = on_update};
    struct upmu_subscription_totals totals = {.size = sizeof totals};
    const struct upmu_trace_event *events[64];
    struct upmu_subscription *subscription;
    pthread_t threads[2];
    int waits = 0, n;

    if (upmu_sync_begin(&sync) < 0 || upmu_subscription_open(&subscription, &opts) != 0) {
        fprintf(stderr, "%s\n", upmu_error());
        return 1;
    }
    upmu_lock_name(&till, "the till");
    for (int i = 0; i < 2; i++)
        pthread_create(&threads[i], NULL, serve, NULL);
    for (int i = 0; i < 600 && (waits < 20 || !atomic_load(&updated)); i++) {
        n = upmu_subscription_read(subscription, events, 64, 100);
        if (n < 0) {
            fprintf(stderr, "%s\n", upmu_error());
            break;
        }
        waits += n;
    }
    for (int i = 0; i < 2; i++)
        pthread_join(threads[i], NULL);
    if (upmu_subscription_totals_read(subscription, &totals) == 0)
        printf("%s waits, %" PRIu64 " dropped\n", waits >= 20 ? "20 or more" : "too few", totals.dropped);
    upmu_subscription_close(subscription);
    return 0;
}
