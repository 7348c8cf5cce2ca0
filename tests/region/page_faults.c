/* SPDX-License-Identifier: MIT */
/* Exact page-fault counts of regions in eight threads; without permission, times and a cause. */
#include "support/behavior.h"

enum {
    THREADS = 8,
    PAGES = 300,
    INSTANCES = 4,
    CONSTANT = 0, /**< faults of begin and end themselves, from a thread's second instance on */
};

static enum rights rights;
static int denied;
static pthread_barrier_t looked_at;

static void touch_in_region(size_t pages)
{
    unsigned char *p = fresh_pages(pages);
    size_t page = (size_t)sysconf(_SC_PAGESIZE);
    CHECK(upmu_region_begin("touch") == 0, "begin");
    touch_pages(p, pages, page);
    CHECK(upmu_region_end("touch") == 0, "end");
    free_pages(p, pages);
}

static void check_thread(pid_t tid, size_t pages)
{
    struct test_region s = region_of("touch", tid);
    const struct upmu_region_event_stats *e = &s.events[0];
    CHECK(s.count == INSTANCES && s.wall.count == INSTANCES && s.wall.min > 0, "%llu instances",
          (unsigned long long)s.count);
    if (rights == RIGHTS_NONE) {
        check_denied(e->status, e->cause, denied);
        CHECK(e->stat.count == 0 && e->without_value == INSTANCES && e->stat.min == UPMU_NO_VALUE, "a number: %llu",
              (unsigned long long)e->stat.sum);
        return;
    }
    CHECK(e->status == UPMU_EXACT && e->without_value == 0, "%s", upmu_status_name(e->status));
    CHECK(e->stat.count == INSTANCES, "%llu", (unsigned long long)e->stat.count);
    CHECK(e->stat.min >= pages + CONSTANT && e->stat.max <= pages + CONSTANT + SANITIZER_FAULTS,
          "%llu to %llu faults of %zu pages", (unsigned long long)e->stat.min, (unsigned long long)e->stat.max, pages);
    CHECK(SANITIZED || e->stat.sum == INSTANCES * e->stat.max, "%llu in all", (unsigned long long)e->stat.sum);
}

static void *work(void *arg)
{
    size_t pages = PAGES + 50 * (size_t)(uintptr_t)arg;
    instance("warm"); /* the code of begin and end and the thread's block are in memory now */
    for (int i = 0; i < INSTANCES; i++)
        touch_in_region(pages);
    check_thread(own_tid(), pages);
    pthread_barrier_wait(&looked_at);
    return NULL;
}

int main(void)
{
    pthread_t threads[THREADS];
    rights = rights_here();
    denied = errno;
    regions_on("page-faults");
    pthread_barrier_init(&looked_at, NULL, THREADS);
    for (uintptr_t i = 0; i < THREADS; i++)
        threads[i] = start_thread(work, (void *)i);
    for (int i = 0; i < THREADS; i++)
        join_thread(threads[i]);
    struct test_region s = region_of("touch", UPMU_ALL_THREADS);
    CHECK(s.threads == THREADS && s.count == THREADS * INSTANCES, "%u threads, %llu instances", s.threads,
          (unsigned long long)s.count);
    if (rights != RIGHTS_NONE && !SANITIZED)
        CHECK(s.events[0].stat.sum == INSTANCES * (THREADS * PAGES + 50 * (THREADS * (THREADS - 1) / 2)),
              "%llu faults in all", (unsigned long long)s.events[0].stat.sum);
    return 0;
}
