/* SPDX-License-Identifier: MIT */
/* A thousand threads under RLIMIT_NOFILE 1,024.
 *
 * Nothing fails, half of the descriptors stay free, every instance has its time and switches, and missing counters are
 * reported. */
#include <fcntl.h>

#include "support/behavior.h"

enum { THREADS = 1000, LIMIT = 1024 };

static pthread_barrier_t all_in, may_go;

static void *work(void *arg)
{
    (void)arg;
    CHECK(upmu_region_begin("crowd") == 0, "begin");
    pthread_barrier_wait(&all_in);
    pthread_barrier_wait(&may_go);
    CHECK(upmu_region_end("crowd") == 0, "end");
    return NULL;
}

/* Descriptors the program can still have. */
static int openable(void)
{
    static int fds[LIMIT];
    int n = 0;
    while (n < LIMIT && (fds[n] = open("/dev/null", O_RDONLY | O_CLOEXEC)) >= 0)
        n++;
    CHECK(n == LIMIT || errno == EMFILE, "%s", strerror(errno));
    for (int i = 0; i < n; i++)
        close(fds[i]);
    return n;
}

int main(void)
{
    static pthread_t threads[THREADS];
    struct rlimit limit;
    pthread_attr_t small;
    if (SANITIZED)
        skip("a sanitizer needs more for a thousand threads than this machine may have");
    if (rights_here() == RIGHTS_NONE)
        skip("no event can be counted here (%s)", strerror(errno));
    CHECK(getrlimit(RLIMIT_NOFILE, &limit) == 0, "getrlimit");
    if (limit.rlim_max < LIMIT)
        skip("the limit of descriptors is below %d already", LIMIT);
    limit.rlim_cur = LIMIT;
    CHECK(setrlimit(RLIMIT_NOFILE, &limit) == 0, "setrlimit");
    regions_on("page-faults,task-clock,context-switches");
    instance("warm");
    size_t before = open_descriptors();
    pthread_barrier_init(&all_in, NULL, THREADS + 1);
    pthread_barrier_init(&may_go, NULL, THREADS + 1);
    pthread_attr_init(&small);
    pthread_attr_setstacksize(&small, 128 * 1024);
    for (int i = 0; i < THREADS; i++) {
        int err = pthread_create(&threads[i], &small, work, NULL);
        if (err == EAGAIN && i < THREADS / 2)
            skip("this machine gives no more than %d threads", i);
        CHECK(err == 0, "%s", strerror(err));
    }
    pthread_barrier_wait(&all_in);
    int free_ones = openable();
    pthread_barrier_wait(&may_go);
    for (int i = 0; i < THREADS; i++)
        join_thread(threads[i]);
    CHECK(free_ones >= LIMIT / 2 - 16, "the program could open %d descriptors", free_ones);
    CHECK(open_descriptors() == before, "%zu descriptors, %zu before", open_descriptors(), before);

    struct test_region s = region_of("crowd", UPMU_ALL_THREADS);
    CHECK(s.count == THREADS && s.wall.count == THREADS, "%llu instances", (unsigned long long)s.count);
    for (int i = 0; i < 2; i++) {
        const struct upmu_region_event_stats *e = &s.events[i];
        CHECK(e->status == UPMU_REFUSED && e->cause == UPMU_E_NFILES, "%s: %s", upmu_status_name(e->status),
              upmu_strerror(e->cause));
        CHECK(e->stat.count > 100 && e->without_value > 100 && e->stat.count + e->without_value == THREADS,
              "%llu numbers, %llu without", (unsigned long long)e->stat.count, (unsigned long long)e->without_value);
    }
    CHECK(s.events[2].status == UPMU_EXACT && s.events[2].stat.count == THREADS, "switches are %s",
          upmu_status_name(s.events[2].status));
    CHECK(s.events[2].stat.min >= 1, "a thread that waited was not switched");
    uint64_t short_ones = health_now().threads_without_counters;
    CHECK(short_ones >= s.events[0].without_value, "%llu threads without counters", (unsigned long long)short_ones);
    return 0;
}
