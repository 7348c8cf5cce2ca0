/* SPDX-License-Identifier: MIT */
/* The recording of a forked child is set up in a call that the program makes with a lock held: that time is not of the hold. */
#include <sys/wait.h>
#include <time.h>

#include "../read_object.h"

#include "upmu/analysis.h"

enum { CHILDREN = 9, SET_UP_PARTS = 10 };

static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t c = PTHREAD_COND_INITIALIZER;

static uint64_t now(void)
{
    struct timespec t;
    CHECK(clock_gettime(CLOCK_MONOTONIC_RAW, &t) == 0);
    return (uint64_t)t.tv_sec * 1000000000U + (uint64_t)t.tv_nsec;
}

/* A child, and how long it held the mutex, nearly all of it in its first call about a condition variable. */
struct child {
    pid_t pid;
    uint64_t ns;
};

static struct child hold_in_child(void)
{
    int status, fds[2];
    uint64_t ns = 0;
    CHECK(pipe(fds) == 0);
    pid_t pid = fork();
    CHECK(pid >= 0);
    if (pid == 0) {
        lock(&m);
        uint64_t since = now();
        CHECK(pthread_cond_signal(&c) == 0);
        unlock(&m);
        ns = now() - since;
        CHECK(write(fds[1], &ns, sizeof ns) == (ssize_t)sizeof ns);
        exit(0);
    }
    CHECK(read(fds[0], &ns, sizeof ns) == (ssize_t)sizeof ns && close(fds[0]) == 0 && close(fds[1]) == 0);
    CHECK(waitpid(pid, &status, 0) == pid && status == 0);
    return (struct child){pid, ns};
}

static const struct child *child_with(const struct child children[CHILDREN], pid_t pid)
{
    for (int i = 0; i < CHILDREN; i++)
        if (children[i].pid == pid)
            return &children[i];
    return NULL;
}

int main(void)
{
    struct upmu_overview *o;
    struct upmu_overview_object x = {.size = sizeof x};
    struct child children[CHILDREN];
    unsigned holds = 0, with_set_up = 0;
    if (UNDER_THREAD_SANITIZER) {
        puts("skipped, because ThreadSanitizer starts a thread in each forked child, whose recording is set up there");
        return 77;
    }
    CHECK(mkdtemp(dir) != NULL);
    begin(UPMU_SYNC_HOLDERS);
    for (int i = 0; i < CHILDREN; i++)
        children[i] = hold_in_child();
    end();
    CHECK(upmu_overview_open(&o, dir, NULL) == 0);
    for (size_t i = 0; upmu_overview_object_at(o, i, &x) == 0; i++) {
        const struct child *of = x.address == (uintptr_t)&m ? child_with(children, x.pid) : NULL;
        if (!of || x.partial_holds == 0)
            continue;
        holds++;
        with_set_up += x.partial_ns > of->ns / SET_UP_PARTS;
    }
    upmu_overview_close(o);
    CHECK(holds == CHILDREN);
    CHECK(with_set_up <= CHILDREN / 2); /* a thread may lose its CPU after the set-up, too */
    return remove_recording();
}
