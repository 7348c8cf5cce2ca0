/* SPDX-License-Identifier: MIT */
/* Two threads in one region at once, against the same in two processes. */
#include "region.h"

#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "floor.h"
#include "subject.h"

enum {
    PAIRS = 1000,
    PAIRS_PARTNER = 50, /* between two checks of `rest` */
};

/* The thread or process on the other CPU: runs pairs between `work` and `rest`, sleeps otherwise. In shared memory. */
struct partner {
    sem_t work;
    sem_t working;
    sem_t resting;
    uint32_t rest;
    int cpu;
};

static bool partner_start(struct partner *p, int cpu)
{
    memset(p, 0, sizeof *p);
    p->cpu = cpu;
    return sem_init(&p->work, 1, 0) == 0 && sem_init(&p->working, 1, 0) == 0 && sem_init(&p->resting, 1, 0) == 0;
}

static void wait_for(sem_t *sem)
{
    while (sem_wait(sem) < 0)
        continue; /* interrupted */
}

static _Noreturn void partner_life(struct partner *p)
{
    if (!bench_pin(p->cpu))
        perror("bench: sched_setaffinity");
    subject_handle_pairs(NULL, 1);
    for (;;) {
        wait_for(&p->work);
        sem_post(&p->working);
        while (!__atomic_load_n(&p->rest, __ATOMIC_RELAXED))
            subject_handle_pairs(NULL, PAIRS_PARTNER);
        sem_post(&p->resting);
    }
}

static void partner_works(void *arg)
{
    struct partner *p = arg;
    __atomic_store_n(&p->rest, 0, __ATOMIC_RELAXED);
    sem_post(&p->work);
    wait_for(&p->working);
}

static void partner_rests(void *arg)
{
    struct partner *p = arg;
    __atomic_store_n(&p->rest, 1, __ATOMIC_RELAXED);
    wait_for(&p->resting);
}

static void pairs_beside(void *arg, size_t n)
{
    (void)arg;
    subject_handle_pairs(NULL, n);
}

static void *partner_thread(void *arg)
{
    partner_life(arg);
}

static pid_t partner_process(struct partner *p, const char *events)
{
    pid_t parent = getpid(), pid = fork();
    if (pid != 0)
        return pid;
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != parent)
        _exit(2);
    subject_set_up(events);
    partner_life(p);
}

static void compare(struct bench *b, const char *shared, const char *alone, struct partner *thread,
                    struct partner *process, size_t events)
{
    struct bench_pair pair = {
        .subject = {shared, pairs_beside, thread, partner_works, partner_rests},
        .floor = {"the same in two processes", pairs_beside, process, partner_works, partner_rests},
        .n = PAIRS,
        .judge = BENCH_RATIO,
        .bar = 1.1,
    };
    subject_check(bench_compare(b, &pair), SUBJECT_HANDLE_REGION, events);
    /* For the eye: against one thread while the other CPU rests. */
    pair.subject.name = alone;
    pair.floor = (struct bench_side){.name = "one thread", .loop = pairs_beside};
    pair.judge = BENCH_NOTHING;
    subject_check(bench_compare(b, &pair), SUBJECT_HANDLE_REGION, events);
}

static void two(struct bench *b, const char *shared, const char *alone, const char *events, size_t n_events)
{
    pthread_t thread;
    if (b->other < 0) {
        bench_skip(b, shared, "it takes two CPUs");
        return;
    }
    struct partner *p = mmap(NULL, 2 * sizeof *p, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (p == MAP_FAILED || !partner_start(&p[0], b->other) || !partner_start(&p[1], b->other)) {
        perror("bench: partner");
        _exit(2);
    }
    pid_t process = partner_process(&p[1], events);
    subject_set_up(events);
    if (process < 0 || pthread_create(&thread, NULL, partner_thread, &p[0]) != 0) {
        perror("bench: partner");
        _exit(2);
    }
    compare(b, shared, alone, &p[0], &p[1], n_events);
    kill(process, SIGKILL);
    waitpid(process, NULL, 0);
}

void two_four_events(struct bench *b)
{
    struct floor_group group;
    int rc = floor_group_open(&group);
    if (rc < 0) {
        bench_skip(b, "two threads, 4 events", "the kernel refuses these events here: %s", strerror(-rc));
        return;
    }
    floor_group_close(&group);
    two(b, "two threads, 4 events", "two threads, 4 events, to one", SUBJECT_FOUR_EVENTS, 4);
}

void two_switches(struct bench *b)
{
    two(b, "two threads, time + switches", "two threads, time + switches, to one", NULL, 1);
}
