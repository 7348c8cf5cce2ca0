/* SPDX-License-Identifier: MIT */
/* Thread churn, 64 threads two hundred times: no instance lost, memory, descriptors and mappings constant. */
#include "support/behavior.h"

enum {
    THREADS = 64,
    ROUNDS = SANITIZED ? 60 : 200,
    WARM = 20, /**< rounds until the threads kept apart are used up and everything has its final size */
    INSTANCES = 3,
};

struct state {
    size_t resident, descriptors, mappings;
};

static struct state state_now(void)
{
    return (struct state){.resident = resident_kb(), .descriptors = open_descriptors(), .mappings = mappings()};
}

static void *work(void *arg)
{
    static upmu_region_t handle = UPMU_REGION("work");
    (void)arg;
    for (int i = 0; i < INSTANCES; i++) {
        CHECK(upmu_region_enter(&handle) == 0, "enter");
        CHECK(upmu_region_leave(&handle) == 0, "leave");
    }
    return NULL;
}

static void one_round(void)
{
    pthread_t threads[THREADS];
    for (int i = 0; i < THREADS; i++)
        threads[i] = start_thread(work, NULL);
    for (int i = 0; i < THREADS; i++)
        join_thread(threads[i]);
}

static void check_report(void)
{
    static char text[1 << 20];
    int fd = memfd_create("report", MFD_CLOEXEC);
    CHECK(fd >= 0 && upmu_region_report(fd) == 0, "report");
    ssize_t n = pread(fd, text, sizeof text - 1, 0);
    CHECK(n > 0, "no report");
    text[n] = '\0';
    CHECK(strstr(text, "added up in the row 'ended threads'") != NULL, "the report has no row of added-up threads");
    close(fd);
}

int main(void)
{
    regions_on("page-faults,context-switches");
    for (int i = 0; i < WARM; i++)
        one_round();
    struct state before = state_now();
    for (int i = WARM; i < ROUNDS; i++)
        one_round();
    struct state after = state_now();
    CHECK(after.descriptors == before.descriptors, "%zu descriptors, %zu before", after.descriptors,
          before.descriptors);
    if (!SANITIZED) {
        /* Blocks of two mappings are kept for new threads: as many as ever ran at a time. */
        CHECK(after.mappings <= before.mappings + 8 + 2 * 16, "%zu mappings, %zu before", after.mappings,
              before.mappings);
        CHECK(after.resident <= before.resident + 1024, "%zu kB, %zu before", after.resident, before.resident);
    }
    struct test_region s = region_of("work", UPMU_ALL_THREADS);
    struct upmu_region_health h = health_now();
    CHECK(s.count == (uint64_t)ROUNDS * THREADS * INSTANCES, "%llu instances", (unsigned long long)s.count);
    CHECK(s.threads == ROUNDS * THREADS, "%u threads", s.threads);
    CHECK(s.events[0].stat.count + s.events[0].without_value == s.count, "%llu", (unsigned long long)s.count);
    CHECK(h.threads_merged > 0 && h.threads_merged < ROUNDS * THREADS, "%llu", (unsigned long long)h.threads_merged);
    CHECK(h.never_ended == 0 && h.interrupted == 0, "misuse where there was none");
    check_report();
    return 0;
}
