/* SPDX-License-Identifier: MIT */
/*
 * Subscription: a thread reads the growing trace at an interval, for the queue of events and for the sums.
 *
 * The two have readers of their own, because a filter of events must not change the sums. The lock guards the queue and the
 * numbers; it is never held while the trace is read or `update` runs. It is no pthread mutex, which would be recorded.
 */
#include "upmu/subscription.h"

#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/error.h"
#include "base/opts.h"
#include "base/tiny_lock.h"
#include "subscribe/queue.h"
#include "upmu/control.h"

enum {
    SUBSCRIPTION_INTERVAL_MS = 100,
    SUBSCRIPTION_QUEUE = 4096,
    SUBSCRIPTION_QUEUE_MAX = 1 << 24,
    SUBSCRIPTION_BATCH = 256
};

struct upmu_subscription {
    struct upmu_subscription_opts opts;
    struct upmu_trace *trace;     /**< NULL: no events */
    struct upmu_monitor *monitor; /**< NULL: no sums */
    pthread_t thread;
    pid_t tid; /**< of the thread, which alone uses it */
    struct tiny_lock lock;
    uint32_t changes; /**< of the queue, `failed` and `ending`: what both threads sleep for */
    bool ending;
    struct queue queue;
    struct upmu_subscription_totals totals;
    int failed; /**< what ended the reading, with its message */
    char message[ERROR_TEXT_MAX];
    struct queue_event *taken; /**< events handed out by the last reading of the queue */
    size_t n_taken, cap_taken;
};

/* ---------------------------------------------------------------------------------------------------- its thread */

static uint64_t subscription_now_ms(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t)t.tv_sec * 1000 + (uint64_t)t.tv_nsec / 1000000;
}

/* The number of changes so far, to be read before the state that is waited for. */
static uint32_t subscription_changes(const struct upmu_subscription *s)
{
    return __atomic_load_n(&s->changes, __ATOMIC_ACQUIRE);
}

static void subscription_changed(struct upmu_subscription *s)
{
    __atomic_fetch_add(&s->changes, 1, __ATOMIC_RELEASE);
    tiny_lock_wake(&s->changes);
}

/* Until there is another change, or a moment; both may be missed by a signal. @return false: the time is over */
static bool subscription_sleep(struct upmu_subscription *s, uint32_t seen, bool limited, uint64_t until_ms)
{
    uint64_t now = limited ? subscription_now_ms() : 0;
    if (limited && now >= until_ms)
        return false;
    const struct timespec rest = {.tv_sec = (time_t)((until_ms - now) / 1000),
                                  .tv_nsec = (long)((until_ms - now) % 1000) * 1000000};
    tiny_lock_sleep(&s->changes, seen, limited ? &rest : NULL);
    return true;
}

/* Puts events into the queue; those of this thread would make new ones. */
static int subscription_queue(struct upmu_subscription *s, const struct upmu_trace_event **events, int n)
{
    int rc = 0;
    tiny_lock_take(&s->lock);
    for (int i = 0; rc >= 0 && i < n; i++) {
        if (events[i]->tid == s->tid && events[i]->pid == getpid())
            continue;
        rc = queue_put(&s->queue, events[i]);
        s->totals.events += rc > 0;
        s->totals.dropped += rc == 0;
    }
    s->totals.missed = upmu_trace_missed_packets(s->trace);
    tiny_lock_give(&s->lock);
    subscription_changed(s);
    return rc < 0 ? rc : 0;
}

static bool subscription_ending(struct upmu_subscription *s)
{
    tiny_lock_take(&s->lock);
    bool ending = s->ending;
    tiny_lock_give(&s->lock);
    return ending;
}

/* All events recorded so far. The reader continues with the other streams after damage. */
static int subscription_read_events(struct upmu_subscription *s)
{
    const struct upmu_trace_event *events[SUBSCRIPTION_BATCH];
    int n = 1, rc = 0;
    while (rc == 0 && n != 0 && !subscription_ending(s)) {
        n = upmu_trace_read(s->trace, events, SUBSCRIPTION_BATCH);
        if (n == UPMU_E_FORMAT) {
            tiny_lock_take(&s->lock);
            s->totals.damages++;
            tiny_lock_give(&s->lock);
        } else if (n < 0) {
            rc = n;
        } else {
            rc = subscription_queue(s, events, n);
        }
    }
    return rc == 0 && n == 0 ? upmu_trace_update(s->trace) : rc;
}

static int subscription_read_sums(struct upmu_subscription *s)
{
    int rc = upmu_monitor_update(s->monitor);
    if (rc == 0)
        s->opts.update(s->opts.arg, s->monitor);
    return rc;
}

static void subscription_fail(struct upmu_subscription *s, int rc)
{
    tiny_lock_take(&s->lock);
    s->failed = rc;
    (void)upmu_error_copy(s->message, sizeof s->message);
    tiny_lock_give(&s->lock);
    subscription_changed(s);
}

/* Until the next reading. @return false: the subscription ends */
static bool subscription_wait(struct upmu_subscription *s)
{
    const uint64_t until_ms = subscription_now_ms() + s->opts.interval_ms;
    bool more = true, ending = false;
    tiny_lock_take(&s->lock);
    s->totals.updates++;
    tiny_lock_give(&s->lock);
    while (more && !ending) {
        uint32_t seen = subscription_changes(s);
        ending = subscription_ending(s);
        more = ending || subscription_sleep(s, seen, true, until_ms);
    }
    return !ending;
}

static void *subscription_run(void *arg)
{
    struct upmu_subscription *s = arg;
    s->tid = gettid();
    do {
        int rc = s->trace ? subscription_read_events(s) : 0;
        if (rc == 0 && s->monitor && !subscription_ending(s))
            rc = subscription_read_sums(s);
        if (rc != 0) {
            subscription_fail(s, rc);
            break;
        }
    } while (subscription_wait(s));
    return NULL;
}

/* ---------------------------------------------------------------------------------------------------- open, close */

/* Checks the options and fills in defaults; `queue` 0 is no queue then. */
static int subscription_check(struct upmu_subscription_opts *o)
{
    bool no_events = o->queue == UPMU_SUBSCRIPTION_NO_EVENTS;
    o->interval_ms = o->interval_ms ? o->interval_ms : SUBSCRIPTION_INTERVAL_MS;
    o->queue = no_events ? 0 : o->queue ? o->queue : SUBSCRIPTION_QUEUE;
    if (no_events && !o->update)
        return upmu_fail(UPMU_E_INVAL, "upmu_subscription_open: `opts` asks for neither events nor sums (`update`)");
    if (o->queue > SUBSCRIPTION_QUEUE_MAX)
        return upmu_fail(UPMU_E_INVAL, "upmu_subscription_open: `queue` is %u, more than %d", (unsigned)o->queue,
                         SUBSCRIPTION_QUEUE_MAX);
    return 0;
}

static int subscription_open_readers(struct upmu_subscription *s, const char *dir)
{
    int rc = s->opts.queue ? upmu_trace_open(&s->trace, dir) : 0;
    if (rc == 0 && s->trace && s->opts.filter)
        rc = upmu_trace_filter(s->trace, s->opts.filter);
    return rc == 0 && s->opts.update ? upmu_monitor_open(&s->monitor, dir) : rc;
}

static int subscription_open_own(struct upmu_subscription *s)
{
    struct upmu_control *control;
    struct upmu_control_status status = {.size = sizeof status};
    int rc = upmu_control_open_pid(&control, getpid());
    if (rc != 0)
        return rc;
    rc = upmu_control_status_read(control, 0, &status);
    if (rc == 0)
        rc = subscription_open_readers(s, status.dir);
    upmu_control_close(control);
    return rc;
}

static int subscription_start(struct upmu_subscription *s)
{
    sigset_t all, before;
    /* Signals of the program are handled by its own threads. */
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    int rc = pthread_create(&s->thread, NULL, subscription_run, s);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    if (rc != 0)
        return upmu_fail(UPMU_E_SYSTEM, "upmu_subscription_open: cannot create a thread: %s", strerror(rc));
    (void)pthread_setname_np(s->thread, "upmu-subscribe");
    return 0;
}

static void subscription_free(struct upmu_subscription *s)
{
    upmu_trace_close(s->trace);
    upmu_monitor_close(s->monitor);
    queue_free(&s->queue);
    for (size_t i = 0; i < s->n_taken; i++)
        free(s->taken[i].data);
    free(s->taken);
    free(s);
}

static struct upmu_subscription *subscription_new(const struct upmu_subscription_opts *opts)
{
    struct upmu_subscription *s = calloc(1, sizeof *s);
    if (!s)
        return NULL;
    s->opts = *opts;
    s->queue.max = opts->queue;
    return s;
}

int upmu_subscription_open(struct upmu_subscription **subscription, const struct upmu_subscription_opts *opts)
{
    struct upmu_subscription_opts ours = {0};
    if (!subscription)
        return argument_null(__func__, "subscription");
    *subscription = NULL;
    int rc = OPTS_TAKE(ours, opts, UPMU_SUBSCRIPTION_OPTS_SIZE_V1);
    if (rc == 0)
        rc = subscription_check(&ours);
    if (rc != 0)
        return rc;
    struct upmu_subscription *s = subscription_new(&ours);
    if (!s)
        return upmu_fail(UPMU_E_NOMEM, "out of memory for a subscription");
    rc = ours.dir ? subscription_open_readers(s, ours.dir) : subscription_open_own(s);
    s->opts.dir = NULL;
    s->opts.filter = NULL;
    if (rc == 0)
        rc = subscription_start(s);
    if (rc == 0)
        *subscription = s;
    else
        subscription_free(s);
    return rc;
}

void upmu_subscription_close(struct upmu_subscription *subscription)
{
    if (!subscription)
        return;
    tiny_lock_take(&subscription->lock);
    subscription->ending = true;
    tiny_lock_give(&subscription->lock);
    subscription_changed(subscription);
    pthread_join(subscription->thread, NULL);
    subscription_free(subscription);
}

/* --------------------------------------------------------------------------------------------------------- reading */

/* Frees what was handed out before. @return the number of events that can be handed out now, at most `n` */
static size_t subscription_reserve(struct upmu_subscription *s, size_t n)
{
    for (size_t i = 0; i < s->n_taken; i++)
        free(s->taken[i].data);
    s->n_taken = 0;
    n = n < s->opts.queue ? n : s->opts.queue;
    if (n > s->cap_taken) {
        struct queue_event *all = reallocarray(s->taken, n, sizeof *all);
        s->taken = all ? all : s->taken;
        s->cap_taken = all ? n : s->cap_taken;
    }
    return n < s->cap_taken ? n : s->cap_taken;
}

/* Takes up to `max` events, as soon as there are any. @return the error that ended the reading of the trace, if there are none */
static int subscription_take(struct upmu_subscription *s, size_t max, int timeout_ms)
{
    const uint64_t until_ms = subscription_now_ms() + (timeout_ms > 0 ? (uint64_t)timeout_ms : 0);
    int failed = 0;
    bool more = true;
    while (more) {
        uint32_t seen = subscription_changes(s);
        tiny_lock_take(&s->lock);
        while (s->n_taken < max && queue_take(&s->queue, &s->taken[s->n_taken]))
            s->n_taken++;
        failed = s->n_taken == 0 ? s->failed : 0;
        tiny_lock_give(&s->lock);
        more = s->n_taken == 0 && failed == 0 && subscription_sleep(s, seen, timeout_ms >= 0, until_ms);
    }
    return failed;
}

int upmu_subscription_read(struct upmu_subscription *subscription, const struct upmu_trace_event **events, size_t n,
                           int timeout_ms)
{
    struct upmu_subscription *s = subscription;
    if (!s || !events)
        return ARGUMENT_NULL(subscription, events);
    if (n == 0 || s->opts.queue == 0)
        return upmu_fail(UPMU_E_INVAL, n == 0 ? "upmu_subscription_read: `n` is 0"
                                              : "upmu_subscription_read: the subscription was opened with `queue` 0");
    size_t max = subscription_reserve(s, n);
    if (max == 0)
        return upmu_fail(UPMU_E_NOMEM, "out of memory while reading events of a subscription");
    int failed = subscription_take(s, max, timeout_ms);
    for (size_t i = 0; i < s->n_taken; i++)
        events[i] = &s->taken[i].event;
    return failed ? upmu_fail(failed, "%s", s->message) : (int)s->n_taken;
}

int upmu_subscription_totals_read(struct upmu_subscription *subscription, struct upmu_subscription_totals *out)
{
    if (!subscription || !out)
        return ARGUMENT_NULL(subscription, out);
    tiny_lock_take(&subscription->lock);
    const struct upmu_subscription_totals ours = subscription->totals;
    tiny_lock_give(&subscription->lock);
    return OPTS_GIVE(out, ours, UPMU_SUBSCRIPTION_TOTALS_SIZE_V1);
}
