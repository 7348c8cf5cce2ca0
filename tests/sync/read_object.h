/* SPDX-License-Identifier: MIT */
/* Recording with the linked library, and reading the events of one object. */
#ifndef UPMU_TESTS_SYNC_READ_OBJECT_H
#define UPMU_TESTS_SYNC_READ_OBJECT_H

#include <inttypes.h>
#include <pthread.h>
#include <sched.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "../support/sanitizer.h"
#include "upmu/sync.h"
#include "upmu/trace.h"

#define CHECK(x)                                                                       \
    do {                                                                               \
        if (!(x)) {                                                                    \
            fprintf(stderr, "%s:%d: %s (%s)\n", __FILE__, __LINE__, #x, upmu_error()); \
            exit(1);                                                                   \
        }                                                                              \
    } while (0)

static char dir[] = "/tmp/upmu-sync-hard-XXXXXX";

/* The events and counts of one object. */
struct seen {
    unsigned kind[64];
    uint64_t counted, contended;
    uint64_t counted_shared, contended_shared; /* of readers */
    unsigned shared_kind[64];                  /* of `kind`, those of readers */
    unsigned sampled_kind[64];                 /* of `kind`, those that are samples */
    struct upmu_trace_event block;             /* the last one */
    int32_t misuse_result;
    uint64_t acquire_time;
    uint64_t block_time, release_time;    /* of the first ones */
    uint64_t release_since, release_site; /* of the first release that has them */
};

/* Counts are totals of one thread each: the last ones of every thread, added up. */
enum { READ_THREADS = 64 };
struct thread_counts {
    pid_t tid;
    uint64_t count, contended;
};

static inline void add_counts(struct thread_counts *of, const struct upmu_trace_event *e, uint64_t *count,
                              uint64_t *contended)
{
    int i = 0;
    const struct upmu_trace_lock_counts *now = &e->lock_counts;
    pid_t tid = now->thread;
    while (i < READ_THREADS - 1 && of[i].tid != 0 && of[i].tid != tid)
        i++;
    CHECK(of[i].tid == 0 || of[i].tid == tid);
    *count += now->acquisitions - of[i].count;
    *contended += now->contended - of[i].contended;
    of[i] = (struct thread_counts){tid, now->acquisitions, now->contended};
}

static inline struct seen read_object(const void *object)
{
    struct seen s = {.kind = {0}};
    struct thread_counts counts[2][READ_THREADS] = {{{0}}};
    struct upmu_trace *t;
    const struct upmu_trace_event *e;
    int rc;
    CHECK(upmu_trace_open(&t, dir) == 0);
    while ((rc = upmu_trace_next(t, &e)) > 0) {
        if (e->object != (uintptr_t)object || e->kind < 0 || e->kind >= 64)
            continue;
        bool shared = e->flags & UPMU_TRACE_FLAG_SHARED;
        s.kind[e->kind]++;
        s.shared_kind[e->kind] += shared;
        s.sampled_kind[e->kind] += e->flags & UPMU_TRACE_FLAG_SAMPLED ? 1 : 0;
        if (e->kind == UPMU_TRACE_LOCK_COUNTS) {
            add_counts(counts[shared], e, shared ? &s.counted_shared : &s.counted,
                       shared ? &s.contended_shared : &s.contended);
        }
        if (e->kind == UPMU_TRACE_LOCK_BLOCK && s.block_time == 0)
            s.block_time = e->time_ns;
        if (e->kind == UPMU_TRACE_LOCK_RELEASE && s.release_time == 0)
            s.release_time = e->time_ns;
        if (e->kind == UPMU_TRACE_LOCK_BLOCK)
            s.block = *e;
        if (e->kind == UPMU_TRACE_LOCK_RELEASE && e->lock_release.held_since != 0 && s.release_since == 0) {
            s.release_since = e->lock_release.held_since;
            s.release_site = e->lock_release.held_site;
        }
        if (e->kind == UPMU_TRACE_LOCK_MISUSE)
            s.misuse_result = e->result;
        if (e->kind == UPMU_TRACE_LOCK_ACQUIRE && s.acquire_time == 0)
            s.acquire_time = e->time_ns;
    }
    CHECK(rc == 0);
    upmu_trace_close(t);
    return s;
}

static inline void begin(uint32_t mode)
{
    struct upmu_sync_opts o = {.size = sizeof o, .mode = mode, .trace = dir};
    CHECK(upmu_sync_begin(&o) == 0);
}

static inline void end(void)
{
    CHECK(upmu_sync_end() == 0);
}

static inline void lock(pthread_mutex_t *m)
{
    CHECK(pthread_mutex_lock(m) == 0);
}

static inline void unlock(pthread_mutex_t *m)
{
    CHECK(pthread_mutex_unlock(m) == 0);
}

/* Until `n` waits for the object have begun: they are in the trace before the thread waits. */
static inline void until_blocked(const void *object, unsigned n)
{
    while (read_object(object).kind[UPMU_TRACE_LOCK_BLOCK] < n)
        usleep(1000);
}

static inline void in_thread(void *(*f)(void *), void *arg)
{
    pthread_t t;
    CHECK(pthread_create(&t, NULL, f, arg) == 0 && pthread_join(t, NULL) == 0);
}

static inline void skip_under_thread_sanitizer(void)
{
    if (!UNDER_THREAD_SANITIZER)
        return;
    printf(
        "skipped, because ThreadSanitizer answers some of the misused calls itself, before they reach sync tracing\n");
    exit(77);
}

/* The first one that the process may use. */
static inline void on_one_cpu(void)
{
    cpu_set_t set;
    size_t cpu = 0;
    CHECK(sched_getaffinity(0, sizeof set, &set) == 0);
    while (!CPU_ISSET(cpu, &set))
        cpu++;
    CPU_ZERO(&set);
    CPU_SET(cpu, &set);
    CHECK(sched_setaffinity(0, sizeof set, &set) == 0);
}

static inline int remove_recording(void)
{
    char command[sizeof dir + 16];
    snprintf(command, sizeof command, "rm -rf %s", dir);
    return system(command) != 0;
}

#endif
