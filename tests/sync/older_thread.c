/* SPDX-License-Identifier: MIT */
/* Complete call stacks of a thread older than the recording, for which libunwind has no thread-local memory. */
#include <pthread.h>
#include <semaphore.h>
#include <stdio.h>
#include <stdlib.h>

#include "support/sanitizer.h"
#include "upmu/sync.h"
#include "upmu/trace.h"

#define CHECK(x)                                                                         \
    do {                                                                                 \
        if (!(x)) {                                                                      \
            fprintf(stderr, "older_thread.c:%d: %s (%s)\n", __LINE__, #x, upmu_error()); \
            exit(1);                                                                     \
        }                                                                                \
    } while (0)

static char dir[] = "/tmp/upmu-older-thread-XXXXXX";
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static sem_t begun;

/* Two callers that must be in the stack; the work behind each call keeps it from becoming a jump. */
static __attribute__((noinline)) int inner(void)
{
    int rc = pthread_mutex_lock(&mutex);
    return rc + pthread_mutex_unlock(&mutex);
}

static __attribute__((noinline)) int outer(void)
{
    return inner() + 1;
}

static void *older(void *arg)
{
    while (sem_wait(&begun) != 0)
        continue;
    *(int *)arg = outer();
    return NULL;
}

/* The frames of the one acquisition of the mutex. */
static uint32_t frames_recorded(void)
{
    struct upmu_trace *t;
    const struct upmu_trace_event *e;
    struct upmu_trace_stack s = {.size = sizeof s};
    uint32_t frames = 0;
    int rc;
    CHECK(upmu_trace_open(&t, dir) == 0);
    while ((rc = upmu_trace_next(t, &e)) > 0)
        if (e->kind == UPMU_TRACE_LOCK_ACQUIRE && e->object == (uint64_t)(uintptr_t)&mutex) {
            CHECK(frames == 0);
            CHECK(upmu_trace_stack_find(t, e->process, e->stack, &s) == 0);
            CHECK(s.method != UPMU_STACK_NONE && s.method != UPMU_STACK_LIBUNWIND);
            frames = s.n_frames;
        }
    CHECK(rc == 0);
    upmu_trace_close(t);
    return frames;
}

int main(void)
{
    if (UNDER_THREAD_SANITIZER) {
        puts("skipped, because ThreadSanitizer does not see atomic operations within calls that block");
        return 77;
    }
    pthread_t t;
    int result = 0;
    CHECK(mkdtemp(dir) && sem_init(&begun, 0, 0) == 0);
    CHECK(pthread_create(&t, NULL, older, &result) == 0);
    const struct upmu_sync_opts o = {.size = sizeof o, .mode = UPMU_SYNC_ALL, .trace = dir};
    CHECK(upmu_sync_begin(&o) == 0);
    CHECK(sem_post(&begun) == 0 && pthread_join(t, NULL) == 0 && result == 1);
    CHECK(upmu_sync_end() == 0);
    uint32_t frames = frames_recorded();
    if (frames < 3) {
        fprintf(stderr, "FAILED: %u frames; inner, outer and older called\n", frames);
        return 1;
    }
    char command[sizeof dir + 16];
    snprintf(command, sizeof command, "rm -rf %s", dir);
    return system(command) != 0;
}
