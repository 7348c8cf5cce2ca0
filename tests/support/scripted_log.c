/* SPDX-License-Identifier: MIT */
/* Log of the calls that the scripted kernel has carried out, and the hook before each of them. */
#include <pthread.h>
#include <stdlib.h>

#include "support/scripted.h"

static struct {
    pthread_mutex_t lock;
    struct scripted_call *calls;
    size_t n, cap;
    void (*hook)(enum scripted_op op, int fd, void *arg);
    void *hook_arg;
} record = {.lock = PTHREAD_MUTEX_INITIALIZER};

void scripted_log_reset(void)
{
    pthread_mutex_lock(&record.lock);
    free(record.calls);
    record.calls = NULL;
    record.n = record.cap = 0;
    record.hook = NULL;
    pthread_mutex_unlock(&record.lock);
}

void scripted_before(enum scripted_op op, int fd)
{
    pthread_mutex_lock(&record.lock);
    void (*hook)(enum scripted_op, int, void *) = record.hook;
    void *arg = record.hook_arg;
    pthread_mutex_unlock(&record.lock);
    if (hook)
        hook(op, fd, arg);
}

void scripted_note(struct scripted_call call)
{
    pthread_mutex_lock(&record.lock);
    if (record.n == record.cap) {
        record.cap = record.cap ? record.cap * 2 : 256;
        record.calls = realloc(record.calls, record.cap * sizeof *record.calls);
        if (!record.calls)
            abort();
    }
    record.calls[record.n++] = call;
    pthread_mutex_unlock(&record.lock);
}

size_t scripted_count(enum scripted_op op)
{
    size_t n = 0;
    pthread_mutex_lock(&record.lock);
    for (size_t i = 0; i < record.n; i++)
        n += record.calls[i].op == op;
    pthread_mutex_unlock(&record.lock);
    return n;
}

const struct scripted_call *scripted_nth(enum scripted_op op, size_t nth)
{
    const struct scripted_call *found = NULL;
    pthread_mutex_lock(&record.lock);
    for (size_t i = 0; i < record.n && !found; i++)
        if (record.calls[i].op == op && nth-- == 0)
            found = &record.calls[i];
    pthread_mutex_unlock(&record.lock);
    return found;
}

void scripted_hook(void (*hook)(enum scripted_op op, int fd, void *arg), void *arg)
{
    pthread_mutex_lock(&record.lock);
    record.hook = hook;
    record.hook_arg = arg;
    pthread_mutex_unlock(&record.lock);
}
