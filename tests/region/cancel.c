/* SPDX-License-Identifier: MIT */
/* Region calls are no cancellation points and lose no cancellation request. */
#include <ftw.h>

#include "support/behavior.h"

enum { PAIRS = SANITIZED ? 20000 : 100000, THREADS = 40 };

static int came_through;
static pthread_barrier_t requested;

static void *many_pairs(void *arg)
{
    (void)arg;
    pthread_barrier_wait(&requested); /* no cancellation point */
    pthread_barrier_wait(&requested);
    for (int i = 0; i < PAIRS; i++) {
        CHECK(upmu_region_begin("pair") == 0 && upmu_mark("between") == 0 && upmu_region_end("pair") == 0, "pair %d",
              i);
    }
    __atomic_fetch_add(&came_through, 1, __ATOMIC_RELAXED);
    pthread_testcancel();
    return NULL;
}

/* The request is there before the first region: only the program's own cancellation point may act on it. */
static void pending_all_the_time(void)
{
    pthread_barrier_init(&requested, NULL, 2);
    pthread_t thread = start_thread(many_pairs, NULL);
    pthread_barrier_wait(&requested);
    CHECK(pthread_cancel(thread) == 0, "pthread_cancel");
    pthread_barrier_wait(&requested);
    CHECK(join_thread(thread) == PTHREAD_CANCELED, "the request was swallowed");
    CHECK(came_through == 1, "a pair was a cancellation point");
    CHECK(region_count("pair") == PAIRS, "%llu", (unsigned long long)region_count("pair"));
    pthread_barrier_destroy(&requested);
}

static uint64_t made;

static void *pairs_until_cancelled(void *arg)
{
    (void)arg;
    for (;;) {
        CHECK(upmu_region_begin("until") == 0 && upmu_region_end("until") == 0, "pair");
        __atomic_fetch_add(&made, 1, __ATOMIC_RELAXED);
        pthread_testcancel();
    }
    return NULL;
}

static void *sleeps_in_a_region(void *arg)
{
    CHECK(upmu_region_begin("cut short") == 0, "begin");
    pthread_barrier_wait(arg);
    for (;;)
        pause();
    return NULL;
}

static void in_the_middle_of_pairs(void)
{
    for (int i = 0; i < THREADS; i++) {
        pthread_t thread = start_thread(pairs_until_cancelled, NULL);
        usleep((useconds_t)(i * 50));
        CHECK(pthread_cancel(thread) == 0, "pthread_cancel");
        CHECK(join_thread(thread) == PTHREAD_CANCELED, "not canceled");
    }
    struct test_region s = region_of("until", UPMU_ALL_THREADS);
    CHECK(s.count == made && s.wall.count == made && s.open == 0, "%llu of %llu, %llu open",
          (unsigned long long)s.count, (unsigned long long)made, (unsigned long long)s.open);
    CHECK(s.events[0].stat.count + s.events[0].without_value == made, "%llu", (unsigned long long)made);
}

static void inside_a_region(void)
{
    pthread_barrier_t inside;
    pthread_barrier_init(&inside, NULL, 2);
    pthread_t thread = start_thread(sleeps_in_a_region, &inside);
    pthread_barrier_wait(&inside);
    CHECK(pthread_cancel(thread) == 0, "pthread_cancel");
    CHECK(join_thread(thread) == PTHREAD_CANCELED, "not canceled");
    CHECK(health_now().never_ended == 1, "%llu", (unsigned long long)health_now().never_ended);
    CHECK(region_of("cut short", UPMU_ALL_THREADS).count == 0, "a region that did not end was counted");
    pthread_barrier_destroy(&inside);
}

static int remove_entry(const char *path, const struct stat *st, int type, struct FTW *ftw)
{
    (void)st, (void)type, (void)ftw;
    return remove(path);
}

int main(void)
{
    char trace[] = "/tmp/upmu-cancel-XXXXXX";
    CHECK(mkdtemp(trace) != NULL, "%s", strerror(errno));
    struct upmu_region_opts opts = {.size = sizeof opts, .events = "page-faults,context-switches", .trace = trace};
    CHECK(upmu_region_setup(&opts) == 0, "setup");
    pending_all_the_time();
    in_the_middle_of_pairs();
    inside_a_region();
    CHECK(health_now().interrupted == 0, "a thread was canceled inside the recorder");
    CHECK(nftw(trace, remove_entry, 16, FTW_DEPTH | FTW_PHYS) == 0, "%s", trace);
    return 0;
}
