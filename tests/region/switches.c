/* SPDX-License-Identifier: MIT */
/* Context switches and descheduled instances of regions, with and without rights; migrations refused, never 0. */
#include "support/behavior.h"

enum { INSTANCES = 10, SLEEPS = 5 };

static enum rights rights;
static int denied;

static void *work(void *arg)
{
    (void)arg;
    uint64_t inside = 0, outside = 0;
    instance("warm");
    for (int i = 0; i < INSTANCES; i++) {
        uint64_t a = switches_so_far();
        CHECK(upmu_region_begin("sleeping") == 0, "begin");
        uint64_t b = switches_so_far();
        for (int k = 0; k < SLEEPS; k++)
            sleep_briefly();
        uint64_t c = switches_so_far();
        CHECK(upmu_region_end("sleeping") == 0, "end");
        inside += c - b;
        outside += switches_so_far() - a;
    }
    struct test_region s = region_of("sleeping", own_tid());
    const struct upmu_region_event_stats *e = &s.events[0];
    CHECK(e->status == UPMU_EXACT && e->stat.count == INSTANCES, "%s", upmu_status_name(e->status));
    /* On a busy machine a sleep may be over before the thread has let go of the CPU. */
    CHECK(inside >= INSTANCES * SLEEPS / 2, "%llu", (unsigned long long)inside);
    CHECK(e->stat.sum >= inside && e->stat.sum <= outside, "%llu, not between %llu and %llu",
          (unsigned long long)e->stat.sum, (unsigned long long)inside, (unsigned long long)outside);
    CHECK(s.descheduled == INSTANCES || s.deschedule_unknown == INSTANCES, "%llu lost the CPU, %llu unknown",
          (unsigned long long)s.descheduled, (unsigned long long)s.deschedule_unknown);
    CHECK(rights == RIGHTS_NONE || s.deschedule_unknown == 0, "the page is granted and not used");
    return NULL;
}

/* The event context-switches opened without kernel mode would have read 0 all the time: so must this not. */
static void migrations(void)
{
    struct test_region s = region_of("sleeping", UPMU_ALL_THREADS);
    const struct upmu_region_event_stats *e = &s.events[1];
    CHECK(strcmp(test_region_event(1), "cpu-migrations") == 0, "%s", test_region_event(1));
    if (rights == RIGHTS_ALL) {
        CHECK(e->status == UPMU_EXACT, "%s", upmu_status_name(e->status));
        return;
    }
    check_denied(e->status, e->cause, rights == RIGHTS_NONE ? denied : EACCES);
    CHECK(e->stat.count == 0 && e->without_value == s.count, "%llu numbers", (unsigned long long)e->stat.count);
}

int main(void)
{
    pthread_t threads[4];
    rights = rights_here();
    denied = errno;
    regions_on("context-switches,cpu-migrations");
    work(NULL);
    for (int i = 0; i < 4; i++)
        threads[i] = start_thread(work, NULL);
    for (int i = 0; i < 4; i++)
        join_thread(threads[i]);
    migrations();
    return 0;
}
