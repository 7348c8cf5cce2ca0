/* SPDX-License-Identifier: MIT */
/* Region statistics read while threads run: consistent, monotonic, kept after a thread's end. */
#include "support/behavior.h"

enum { THREADS = 4, READS = SANITIZED ? 2000 : 10000, RINGS = 30 };

static int stop;
static uint64_t made;

static void *work(void *arg)
{
    static upmu_region_t handle = UPMU_REGION("hot");
    (void)arg;
    uint64_t n = 0;
    while (!__atomic_load_n(&stop, __ATOMIC_RELAXED)) {
        (void)upmu_region_enter(&handle);
        (void)upmu_region_leave(&handle);
        n++;
    }
    __atomic_fetch_add(&made, n, __ATOMIC_RELAXED);
    return NULL;
}

static void *come_and_go(void *arg)
{
    instance("short-lived");
    *(pid_t *)arg = own_tid();
    return NULL;
}

static void consistent(const struct test_region *s)
{
    CHECK(s->wall.count == s->count, "%llu instances, %llu times", (unsigned long long)s->count,
          (unsigned long long)s->wall.count);
    for (uint32_t i = 0; i < s->n_events; i++) {
        const struct upmu_region_event_stats *e = &s->events[i];
        CHECK(e->stat.count + e->without_value == s->count, "%s: %llu and %llu of %llu", test_region_event(i),
              (unsigned long long)e->stat.count, (unsigned long long)e->without_value, (unsigned long long)s->count);
        CHECK(e->stat.count == 0 || (e->stat.min <= e->stat.max && e->stat.sum >= e->stat.max), "%s",
              test_region_event(i));
    }
    CHECK(s->count == 0 || (s->wall.min <= s->wall.max && s->wall.sum >= s->wall.max), "times");
    CHECK(s->self_ns <= s->wall.sum, "%llu of %llu", (unsigned long long)s->self_ns, (unsigned long long)s->wall.sum);
    CHECK(s->descheduled + s->deschedule_unknown <= s->count, "%llu", (unsigned long long)s->descheduled);
}

static void read_while_they_run(void)
{
    uint64_t last = 0;
    for (int i = 0; i < READS; i++) {
        struct test_region s;
        if (test_region_read("hot", UPMU_ALL_THREADS, &s) == UPMU_E_NAME)
            continue; /* not begun yet */
        consistent(&s);
        CHECK(s.count >= last, "%llu, after %llu", (unsigned long long)s.count, (unsigned long long)last);
        CHECK(s.open <= THREADS && s.threads <= THREADS, "%llu open, %u threads", (unsigned long long)s.open,
              s.threads);
        last = s.count;
        if (i % 100 == 0)
            CHECK(health_now().end_without_begin == 0, "misuse where there was none");
    }
}

int main(void)
{
    pthread_t threads[THREADS];
    pid_t tid;
    regions_on("page-faults,task-clock,context-switches");
    for (int i = 0; i < THREADS; i++)
        threads[i] = start_thread(work, NULL);
    for (uint64_t i = 1; i <= RINGS; i++) {
        join_thread(start_thread(come_and_go, &tid));
        struct test_region s = region_of("short-lived", tid); /* it has ended */
        CHECK(s.count >= 1 && s.open == 0, "%llu", (unsigned long long)s.count);
        CHECK(region_count("short-lived") == i, "%llu", (unsigned long long)i);
    }
    read_while_they_run();
    __atomic_store_n(&stop, 1, __ATOMIC_RELAXED);
    for (int i = 0; i < THREADS; i++)
        join_thread(threads[i]);
    struct test_region s = region_of("hot", UPMU_ALL_THREADS);
    consistent(&s);
    CHECK(s.count == made && s.open == 0, "%llu of %llu", (unsigned long long)s.count, (unsigned long long)made);
    return 0;
}
