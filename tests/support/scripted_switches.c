/* SPDX-License-Identifier: MIT */
/* Context-switch records of the scripted kernel. */
#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "support/scripted.h"

enum { RECORDS_MAX = 1024 };

static struct {
    pthread_mutex_t lock;
    struct kernel_switch records[RECORDS_MAX];
    uint64_t head; /* records written, ever */
    struct kernel_work work;
    size_t logs;
    int open_error, points_error;
    uint32_t points;
    uint64_t futex_bytes; /* written for all waits for futexes, ever */
    size_t futexes;
    int futexes_find_error, futexes_open_error;
} script = {.lock = PTHREAD_MUTEX_INITIALIZER};

void scripted_switches(const struct kernel_switch *records, size_t n)
{
    pthread_mutex_lock(&script.lock);
    for (size_t i = 0; i < n; i++)
        script.records[(script.head + i) % RECORDS_MAX] = records[i];
    __atomic_store_n(&script.head, script.head + n, __ATOMIC_RELEASE);
    pthread_mutex_unlock(&script.lock);
}

void scripted_work(struct kernel_work each)
{
    pthread_mutex_lock(&script.lock);
    script.work = each;
    pthread_mutex_unlock(&script.lock);
}

int scripted_work_done(struct kernel_work *work, bool sleep)
{
    pthread_mutex_lock(&script.lock);
    struct kernel_work done = script.work;
    pthread_mutex_unlock(&script.lock);
    work->faults += done.faults;
    work->switches += sleep ? done.switches : 0;
    work->cpu_ns += done.cpu_ns;
    return done.faults + done.switches + done.cpu_ns > 0 ? 0 : -EOPNOTSUPP;
}

void scripted_switches_open_error(int err)
{
    pthread_mutex_lock(&script.lock);
    script.open_error = err;
    pthread_mutex_unlock(&script.lock);
}

size_t scripted_switch_logs(void)
{
    pthread_mutex_lock(&script.lock);
    size_t n = script.logs;
    pthread_mutex_unlock(&script.lock);
    return n;
}

int scripted_points_find(uint32_t wanted, struct kernel_point_layout *layout)
{
    pthread_mutex_lock(&script.lock);
    int rc = -script.points_error;
    pthread_mutex_unlock(&script.lock);
    for (uint32_t i = 0; i < KERNEL_POINTS; i++)
        layout[i] = (struct kernel_point_layout){.id = rc == 0 && wanted & 1u << i ? 1 + i : 0};
    return rc;
}

void scripted_points_error(int err)
{
    pthread_mutex_lock(&script.lock);
    script.points_error = err;
    pthread_mutex_unlock(&script.lock);
}

uint32_t scripted_points_open(void)
{
    pthread_mutex_lock(&script.lock);
    uint32_t points = script.points;
    pthread_mutex_unlock(&script.lock);
    return points;
}

int scripted_switches_open(struct kernel_switch_log *log, size_t bytes, const struct kernel_point_layout *points)
{
    pthread_mutex_lock(&script.lock);
    int rc = -script.open_error;
    *log = (struct kernel_switch_log){0};
    if (rc == 0) {
        script.logs++;
        script.points = 0;
        for (uint32_t i = 0; points && i < KERNEL_POINTS; i++)
            script.points |= points[i].id ? 1u << i : 0;
        log->n = 1;
        log->ring[0] = (struct kernel_ring){
            .head = &script.head, .tail = script.head, .page = &script, .page_bytes = 1, .data_bytes = bytes};
    }
    pthread_mutex_unlock(&script.lock);
    return rc;
}

bool scripted_switches_next(struct kernel_switch_log *log, struct kernel_switch *out)
{
    pthread_mutex_lock(&script.lock);
    struct kernel_ring *ring = &log->ring[0];
    bool found = ring->tail < script.head;
    if (found) {
        *out = script.records[ring->tail % RECORDS_MAX];
        __atomic_store_n(&ring->tail, ring->tail + 1, __ATOMIC_RELAXED);
    }
    pthread_mutex_unlock(&script.lock);
    return found;
}

void scripted_switches_close(struct kernel_switch_log *log)
{
    pthread_mutex_lock(&script.lock);
    script.logs -= log->n;
    pthread_mutex_unlock(&script.lock);
    *log = (struct kernel_switch_log){0};
}

void scripted_switches_reset(void)
{
    pthread_mutex_lock(&script.lock);
    script.head = 0;
    script.work = (struct kernel_work){0};
    script.logs = 0;
    script.open_error = script.points_error = 0;
    script.points = 0;
    script.futex_bytes = 0;
    script.futexes = 0;
    script.futexes_find_error = script.futexes_open_error = 0;
    pthread_mutex_unlock(&script.lock);
}

/* ------------------------------------------------------------------------------------------ waits for futexes */

void scripted_futex_waits(uint64_t n)
{
    (void)__atomic_fetch_add(&script.futex_bytes, n * KERNEL_FUTEX_RECORD, __ATOMIC_RELAXED);
}

void scripted_futexes_errors(int find, int open)
{
    pthread_mutex_lock(&script.lock);
    script.futexes_find_error = find;
    script.futexes_open_error = open;
    pthread_mutex_unlock(&script.lock);
}

size_t scripted_futexes_now(void)
{
    pthread_mutex_lock(&script.lock);
    size_t n = script.futexes;
    pthread_mutex_unlock(&script.lock);
    return n;
}

int scripted_futexes_find(struct kernel_futex_points *points)
{
    pthread_mutex_lock(&script.lock);
    int rc = -script.futexes_find_error;
    pthread_mutex_unlock(&script.lock);
    *points = (struct kernel_futex_points){.id = {rc == 0}};
    return rc;
}

int scripted_futexes_open(struct kernel_futexes *f, const struct kernel_futex_points *points)
{
    pthread_mutex_lock(&script.lock);
    int rc = points->id[0] ? -script.futexes_open_error : -EINVAL;
    *f = (struct kernel_futexes){.page = {NULL}};
    if (rc == 0) {
        script.futexes++;
        f->written[0] = &script.futex_bytes;
    }
    pthread_mutex_unlock(&script.lock);
    return rc;
}

void scripted_futexes_close(struct kernel_futexes *f)
{
    pthread_mutex_lock(&script.lock);
    script.futexes -= f->written[0] != NULL;
    pthread_mutex_unlock(&script.lock);
    *f = (struct kernel_futexes){.page = {NULL}};
}
