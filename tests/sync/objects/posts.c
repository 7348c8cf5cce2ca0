/* SPDX-License-Identifier: MIT */
/* Semaphore posts recorded in mode contended: only those that a thread waits for. */
#include <sched.h>
#include <semaphore.h>
#include <stdatomic.h>

#include "../read_object.h"

enum { ALONE = 1000, THREADS = 3, PAIRS = 400, EVENTS_MAX = 100000 };

static sem_t lock_sem;
static atomic_int tids[THREADS];

static bool is_asleep(int tid)
{
    char path[64], text[256];
    snprintf(path, sizeof path, "/proc/self/task/%d/stat", tid);
    FILE *f = tid ? fopen(path, "r") : NULL;
    const char *end = f && fgets(text, sizeof text, f) ? strrchr(text, ')') : NULL;
    if (f)
        fclose(f);
    return end && end[2] == 'S';
}

static void *takes_and_gives(void *arg)
{
    CHECK(sem_trywait(&lock_sem) ==
          -1); /* main has it; from here on the thread is being recorded, and sleeps in sem_wait() only */
    atomic_store((atomic_int *)arg, gettid());
    for (int i = 0; i < PAIRS; i++) {
        CHECK(sem_wait(&lock_sem) == 0);
        sched_yield(); /* who is on the same CPU finds it taken */
        CHECK(sem_post(&lock_sem) == 0);
    }
    return arg;
}

static void alone(void)
{
    static sem_t s;
    CHECK(sem_init(&s, 0, 1) == 0);
    for (int i = 0; i < ALONE; i++)
        CHECK(sem_wait(&s) == 0 && sem_post(&s) == 0);
    CHECK(sem_destroy(&s) == 0); /* its counts are in the trace with that */
    struct seen seen = read_object(&s);
    CHECK(seen.counted == ALONE);
    CHECK(seen.kind[UPMU_TRACE_SEM_POST] == 0);
}

struct moment {
    int32_t kind;
    pid_t tid;
};

/* What the trace has of the semaphore, in the order of time. */
static size_t moments_of(const sem_t *s, struct moment *out)
{
    struct upmu_trace *t;
    const struct upmu_trace_event *e;
    size_t n = 0;
    int rc;
    CHECK(upmu_trace_open(&t, dir) == 0);
    while ((rc = upmu_trace_next(t, &e)) > 0)
        if (e->object == (uintptr_t)s && n < EVENTS_MAX)
            out[n++] = (struct moment){.kind = e->kind, .tid = e->tid};
    CHECK(rc == 0 && n < EVENTS_MAX);
    upmu_trace_close(t);
    return n;
}

/* The wait that ends there was ended by a recorded post of another thread. */
static bool has_its_post(const struct moment *m, size_t end)
{
    bool posted = false;
    size_t i = end;
    while (i > 0 && !(m[i - 1].tid == m[end].tid && m[i - 1].kind == UPMU_TRACE_LOCK_BLOCK)) {
        posted |= m[i - 1].kind == UPMU_TRACE_SEM_POST && m[i - 1].tid != m[end].tid;
        i--;
    }
    CHECK(i > 0);
    return posted;
}

static void together(void)
{
    static struct moment moments[EVENTS_MAX];
    pthread_t threads[THREADS];
    size_t waited = 0, posts = 0, unexplained = 0;
    CHECK(sem_init(&lock_sem, 0, 1) == 0);
    CHECK(sem_wait(&lock_sem) == 0);
    for (int i = 0; i < THREADS; i++)
        CHECK(pthread_create(&threads[i], NULL, takes_and_gives, &tids[i]) == 0);
    for (int i = 0; i < THREADS; i++) /* each waits once, even if the threads never run in parallel */
        while (!is_asleep(atomic_load(&tids[i])))
            usleep(1000);
    CHECK(sem_post(&lock_sem) == 0);
    for (int i = 0; i < THREADS; i++)
        CHECK(pthread_join(threads[i], NULL) == 0);
    CHECK(sem_destroy(&lock_sem) == 0);
    size_t n = moments_of(&lock_sem, moments);
    for (size_t i = 0; i < n; i++) {
        posts += moments[i].kind == UPMU_TRACE_SEM_POST;
        if (moments[i].kind != UPMU_TRACE_LOCK_ACQUIRED)
            continue;
        waited++;
        unexplained += !has_its_post(moments, i);
    }
    CHECK(read_object(&lock_sem).counted == (uint64_t)THREADS * PAIRS + 1);
    CHECK(waited >= THREADS && posts > 0);
    printf("%zu waits, %zu posts of %d are events; %zu waits without one\n", waited, posts, THREADS * PAIRS,
           unexplained);
    /* Who posts may be put off its CPU between looking at the clock and posting. */
    CHECK(unexplained * 50 <= waited + 50);
}

int main(void)
{
    if (UNDER_THREAD_SANITIZER) {
        printf(
            "skipped, because ThreadSanitizer's own sem_wait() stands before ours, and takes what is ordered in it for "
            "races\n");
        return 77;
    }
    CHECK(mkdtemp(dir) != NULL);
    begin(UPMU_SYNC_CONTENDED);
    alone();
    together();
    end();
    return remove_recording();
}
