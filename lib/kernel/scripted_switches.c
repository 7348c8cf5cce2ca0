/* SPDX-License-Identifier: MIT */
/* The scripted twin: records of a thread's switches. Room: kernel (tests only). Before it: core under test; after it: the
 * test's script. */
#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "kernel/scripted.h"

enum { RECORDS_MAX = 1024 };

static struct {
    pthread_mutex_t lock;
    struct kernel_switch records[RECORDS_MAX];
    uint64_t head; /* records written, ever */
    size_t logs;
    int open_error;
} script = {.lock = PTHREAD_MUTEX_INITIALIZER};

void scripted_switches(const struct kernel_switch *records, size_t n)
{
    pthread_mutex_lock(&script.lock);
    for (size_t i = 0; i < n; i++)
        script.records[(script.head + i) % RECORDS_MAX] = records[i];
    __atomic_store_n(&script.head, script.head + n, __ATOMIC_RELEASE);
    pthread_mutex_unlock(&script.lock);
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

int scripted_switches_open(struct kernel_switch_log *log, size_t bytes)
{
    pthread_mutex_lock(&script.lock);
    int rc = -script.open_error;
    *log = (struct kernel_switch_log){0};
    if (rc == 0) {
        script.logs++;
        *log = (struct kernel_switch_log){
            .head = &script.head, .tail = script.head, .page = &script, .page_bytes = 1, .data_bytes = bytes};
    }
    pthread_mutex_unlock(&script.lock);
    return rc;
}

bool scripted_switches_next(struct kernel_switch_log *log, struct kernel_switch *out)
{
    pthread_mutex_lock(&script.lock);
    bool found = log->tail < script.head;
    if (found) {
        *out = script.records[log->tail % RECORDS_MAX];
        __atomic_store_n(&log->tail, log->tail + 1, __ATOMIC_RELAXED);
    }
    pthread_mutex_unlock(&script.lock);
    return found;
}

void scripted_switches_close(struct kernel_switch_log *log)
{
    pthread_mutex_lock(&script.lock);
    script.logs -= log->page != NULL;
    pthread_mutex_unlock(&script.lock);
    *log = (struct kernel_switch_log){0};
}

void scripted_switches_reset(void)
{
    pthread_mutex_lock(&script.lock);
    script.head = 0;
    script.logs = 0;
    script.open_error = 0;
    pthread_mutex_unlock(&script.lock);
}
