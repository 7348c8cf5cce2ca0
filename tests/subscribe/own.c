/* SPDX-License-Identifier: MIT */
/* Subscriptions of a program to its own recording: each event once and in order, drops counted, sums, filters, errors, the end. */
#include <pthread.h>
#include <stdatomic.h>

#include "support/behavior.h"
#include "upmu/subscription.h"
#include "upmu/sync.h"

#define MUST(condition) CHECK(condition, "%s", upmu_error())

enum { MARKS = 500, SMALL = 16, DEADLINE_MS = 60000 };

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static atomic_int updates, seen_lock;
static pid_t update_thread;

static void on_update(void *arg, struct upmu_monitor *monitor)
{
    struct upmu_monitor_lock row = {.size = sizeof row};
    MUST(arg == &updates);
    update_thread = (pid_t)syscall(SYS_gettid);
    for (size_t i = 0; upmu_monitor_lock_at(monitor, i, &row) == 0; i++)
        if (row.address == (uintptr_t)&lock && row.waiters == 1 && row.waited_ns > 0)
            atomic_store(&seen_lock, 1);
    atomic_fetch_add(&updates, 1);
}

static void *wait_for_lock(void *arg)
{
    pthread_mutex_lock(&lock);
    pthread_mutex_unlock(&lock);
    return arg;
}

static void mark_all(const char *prefix)
{
    char text[32];
    for (int i = 0; i < MARKS; i++) {
        snprintf(text, sizeof text, "%s %d", prefix, i);
        upmu_mark(text);
    }
}

static struct upmu_subscription *subscribe(const struct upmu_subscription_opts *opts)
{
    struct upmu_subscription *s;
    int rc = upmu_subscription_open(&s, opts);
    if (rc != 0)
        printf("%s\n", upmu_error());
    MUST(rc == 0 && s != NULL);
    return s;
}

static struct upmu_subscription_totals totals_of(struct upmu_subscription *s)
{
    struct upmu_subscription_totals totals = {.size = sizeof totals};
    MUST(upmu_subscription_totals_read(s, &totals) == 0);
    return totals;
}

/* Every mark arrives once, in order, with its text. */
static void check_marks(void)
{
    const int kinds[] = {UPMU_TRACE_MARK};
    const struct upmu_trace_filter_opts filter = {.size = sizeof filter, .kinds = kinds, .n_kinds = 1};
    const struct upmu_subscription_opts opts = {.size = sizeof opts, .filter = &filter, .interval_ms = 5};
    struct upmu_subscription *s = subscribe(&opts);
    const struct upmu_trace_event *events[7];
    int next = 0, n = 1;
    mark_all("first");
    while (next < MARKS && n > 0) {
        n = upmu_subscription_read(s, events, 7, DEADLINE_MS);
        MUST(n > 0 && n <= 7);
        for (int i = 0; i < n; i++, next++) {
            char text[32];
            snprintf(text, sizeof text, "first %d", next);
            MUST(events[i]->kind == UPMU_TRACE_MARK && strcmp(events[i]->name, text) == 0);
            MUST(events[i]->pid == getpid());
        }
    }
    MUST(upmu_subscription_read(s, events, 7, 0) == 0); /* none is left */
    MUST(upmu_subscription_read(s, events, 7, 20) == 0);
    MUST(totals_of(s).events == MARKS && totals_of(s).dropped == 0 && totals_of(s).damages == 0);
    upmu_subscription_close(s);
}

/* A queue that is not read keeps the oldest events, and counts the others. */
static void check_drops(void)
{
    const int kinds[] = {UPMU_TRACE_MARK};
    const struct upmu_trace_filter_opts filter = {.size = sizeof filter, .kinds = kinds, .n_kinds = 1};
    const struct upmu_subscription_opts opts = {
        .size = sizeof opts, .filter = &filter, .interval_ms = 5, .queue = SMALL};
    struct upmu_subscription *s = subscribe(&opts);
    const struct upmu_trace_event *events[MARKS];
    mark_all("second");
    while (totals_of(s).events + totals_of(s).dropped < UINT64_C(2) * MARKS)
        usleep(1000);
    MUST(totals_of(s).events == SMALL && totals_of(s).dropped == UINT64_C(2) * MARKS - SMALL);
    MUST(upmu_subscription_read(s, events, MARKS, 0) == SMALL);
    MUST(strcmp(events[0]->name, "first 0") == 0); /* events from before the subscription, too */
    mark_all("third");                             /* the queue has space again */
    MUST(upmu_subscription_read(s, events, MARKS, DEADLINE_MS) > 0);
    MUST(strncmp(events[0]->name, "third", 5) == 0);
    upmu_subscription_close(s);
}

/* Sums name a lock while a thread waits for it. The thread of the subscription makes no events. */
static void check_sums(void)
{
    const struct upmu_subscription_opts opts = {
        .size = sizeof opts, .interval_ms = 5, .queue = 1 << 16, .update = on_update, .arg = &updates};
    struct upmu_subscription *s = subscribe(&opts);
    const struct upmu_trace_event *events[64];
    pthread_t waiter;
    int n, own = 0, waits = 0;
    pthread_mutex_lock(&lock);
    MUST(pthread_create(&waiter, NULL, wait_for_lock, NULL) == 0);
    while (!atomic_load(&seen_lock))
        usleep(1000);
    pthread_mutex_unlock(&lock);
    pthread_join(waiter, NULL);
    for (int before = atomic_load(&updates); atomic_load(&updates) < before + 5;)
        usleep(1000);
    while ((n = upmu_subscription_read(s, events, 64, 0)) > 0)
        for (int i = 0; i < n; i++) {
            own += events[i]->tid == update_thread;
            waits += events[i]->kind == UPMU_TRACE_LOCK_BLOCK && events[i]->object == (uintptr_t)&lock;
        }
    MUST(n == 0 && own == 0 && waits == 1 && update_thread != getpid());
    MUST(totals_of(s).updates >= 5);
    upmu_subscription_close(s);
}

/* Neither close nor a waiting reader hangs; wrong arguments are refused. */
static void check_errors(void)
{
    struct upmu_subscription *s = NULL;
    const struct upmu_trace_event *event;
    const struct upmu_subscription_opts nothing = {.size = sizeof nothing, .queue = UPMU_SUBSCRIPTION_NO_EVENTS};
    const struct upmu_subscription_opts huge = {.size = sizeof huge, .queue = (1 << 24) + 1};
    const struct upmu_subscription_opts missing = {.size = sizeof missing, .dir = "/nonexistent"};
    const struct upmu_subscription_opts sums = {.size = sizeof sums,
                                                .queue = UPMU_SUBSCRIPTION_NO_EVENTS,
                                                .update = on_update,
                                                .arg = &updates,
                                                .interval_ms = 1000000};
    MUST(upmu_subscription_open(&s, &nothing) == UPMU_E_INVAL && s == NULL);
    MUST(upmu_subscription_open(&s, &huge) == UPMU_E_INVAL && s == NULL);
    MUST(upmu_subscription_open(&s, &missing) == UPMU_E_IO && s == NULL);
    s = subscribe(&sums);
    MUST(upmu_subscription_read(s, &event, 1, 0) == UPMU_E_INVAL); /* it has no queue */
    upmu_subscription_close(s);                                    /* long before the interval is over */
    upmu_subscription_close(NULL);
}

int main(void)
{
    char dir[] = "/tmp/upmu-subscribe-XXXXXX", command[64];
    MUST(mkdtemp(dir) != NULL);
    const struct upmu_sync_opts opts = {.size = sizeof opts, .trace = dir};
    struct upmu_subscription *s;
    MUST(upmu_subscription_open(&s, NULL) == UPMU_E_STATE && s == NULL); /* nothing is recorded yet */
    MUST(upmu_sync_begin(&opts) >= 0);
    check_marks();
    check_drops();
    check_sums();
    check_errors();
    MUST(upmu_sync_end() >= 0);
    snprintf(command, sizeof command, "rm -rf %s", dir);
    MUST(system(command) == 0);
    return 0;
}
