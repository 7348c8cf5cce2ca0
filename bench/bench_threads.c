/* SPDX-License-Identifier: MIT */
/*
 * Cost of a thread's first region, and leaks of threads that start and end.
 *
 * A thread's first region maps its block and opens its counters; its end releases them. The floor is the same thread
 * without a region.
 */
#include <dirent.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "bench.h"
#include "floor.h"
#include "subject.h"

enum {
    ONE_AFTER_THE_OTHER = 20,
    WAVE = 64,
    WAVES_PER_BATCH = 3, /* 400 rounds: 1,200 waves of 64 threads */
    WAVES_FIRST = 10,    /* until the rows of ended threads are shared */
    GROWTH_KIB = 512,    /* noise of malloc and of the kernel's accounting per thread */
};

static void *nothing(void *arg)
{
    return arg;
}

static void *first_region(void *arg)
{
    subject_handle_pairs(NULL, 1);
    return arg;
}

static void must(int err, const char *what)
{
    if (err == 0)
        return;
    fprintf(stderr, "bench_threads: %s: %s\n", what, strerror(err));
    _exit(2);
}

static void one_by_one(void *(*body)(void *arg), size_t n)
{
    for (size_t i = 0; i < n; i++) {
        pthread_t thread;
        must(pthread_create(&thread, NULL, body, NULL), "pthread_create");
        must(pthread_join(thread, NULL), "pthread_join");
    }
}

static void plain_threads(void *arg, size_t n)
{
    (void)arg;
    one_by_one(nothing, n);
}

static void threads_with_region(void *arg, size_t n)
{
    (void)arg;
    one_by_one(first_region, n);
}

static void waves(void *(*body)(void *arg), size_t n)
{
    for (size_t i = 0; i < n; i++) {
        pthread_t thread[WAVE];
        for (size_t t = 0; t < WAVE; t++)
            must(pthread_create(&thread[t], NULL, body, NULL), "pthread_create");
        for (size_t t = 0; t < WAVE; t++)
            must(pthread_join(thread[t], NULL), "pthread_join");
    }
}

static void plain_waves(void *arg, size_t n)
{
    (void)arg;
    waves(nothing, n);
}

static void waves_with_region(void *arg, size_t n)
{
    (void)arg;
    waves(first_region, n);
}

/* ------------------------------------------------------------------------------------------------------ growth */

/* What this process holds. */
struct holdings {
    long descriptors;
    long resident_kib;
};

static struct holdings count_holdings(void)
{
    struct holdings h = {0, 0};
    long pages;
    DIR *dir = opendir("/proc/self/fd");
    while (dir && readdir(dir))
        h.descriptors++;
    if (dir)
        closedir(dir);
    FILE *statm = fopen("/proc/self/statm", "re");
    if (!dir || !statm || fscanf(statm, "%*d %ld", &pages) != 1) {
        fprintf(stderr, "bench_threads: /proc/self cannot be read\n");
        _exit(2);
    }
    fclose(statm);
    h.resident_kib = pages * (sysconf(_SC_PAGESIZE) / 1024);
    return h;
}

static void churn(struct bench *b)
{
    const struct bench_pair pair = {
        .subject = {.name = "64 threads at once, 4 events", .loop = waves_with_region},
        .floor = {.name = "64 threads without", .loop = plain_waves},
        .n = WAVES_PER_BATCH,
        .calls = WAVE,
    };
    waves_with_region(NULL, WAVES_FIRST);
    struct holdings before = count_holdings();
    subject_check(bench_compare(b, &pair), SUBJECT_HANDLE_REGION, 4);
    struct holdings after = count_holdings();
    bench_count(b, "64 threads at once, descriptors left", (double)(after.descriptors - before.descriptors), 0);
    bench_count(b, "64 threads at once, KiB grown", (double)(after.resident_kib - before.resident_kib), GROWTH_KIB);
}

/* ------------------------------------------------------------------------------------------------------- parts */

static void compare_first(struct bench *b, const char *name, size_t events)
{
    const struct bench_pair pair = {
        .subject = {.name = name, .loop = threads_with_region},
        .floor = {.name = "a thread without", .loop = plain_threads},
        .n = ONE_AFTER_THE_OTHER,
    };
    subject_check(bench_compare(b, &pair), SUBJECT_HANDLE_REGION, events);
}

static void part_time(struct bench *b)
{
    subject_set_up(SUBJECT_NO_EVENTS);
    compare_first(b, "first region, time only", 0);
}

static void part_switches(struct bench *b)
{
    subject_set_up(NULL);
    compare_first(b, "first region, time + switches", 1);
}

/* Whether the kernel lets this user count the four events; if not, the row prints why. */
static bool four_events(struct bench *b, const char *name)
{
    struct floor_group group;
    int rc = floor_group_open(&group);
    if (rc == 0)
        floor_group_close(&group);
    else
        bench_skip(b, name, "the kernel refuses these events here: %s", strerror(-rc));
    return rc == 0;
}

static void part_four_events(struct bench *b)
{
    if (!four_events(b, "first region, 4 events"))
        return;
    subject_set_up(SUBJECT_FOUR_EVENTS);
    compare_first(b, "first region, 4 events, no other thread's", 4);
    /* The kernel patches itself when the first event of a kind is opened in the whole system, and when the last one is
     * closed; a thread beside one that has regions is spared that. */
    subject_handle_pairs(NULL, 1);
    compare_first(b, "first region, 4 events, beside another's", 4);
}

static void part_churn(struct bench *b)
{
    if (!four_events(b, "64 threads at once, 4 events"))
        return;
    subject_set_up(SUBJECT_FOUR_EVENTS);
    churn(b);
}

int main(int argc, char **argv)
{
    struct bench *b = bench_start("threads", argc, argv);
    bench_part(b, "first region, time only", part_time);
    bench_part(b, "first region, time + switches", part_switches);
    bench_part(b, "first region, 4 events", part_four_events);
    bench_part(b, "64 threads at once", part_churn);
    return bench_end(b);
}
