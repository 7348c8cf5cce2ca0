/* SPDX-License-Identifier: MIT */
/*
 * Locks that come to lie at one address after the other have counts of their own, exact though threads go on counting
 * there, and though one thread ends a lock that another used. Room: tests; linked with libupmu_sync and
 * libupmu_analysis.
 */
#include <sys/wait.h>

#include "look.h"

#include "upmu/analysis.h"

enum { LIVES = 4, WORKERS = 2 };

static pthread_mutex_t mutex;
static pthread_barrier_t turn;

/* In life n worker i takes the mutex so often. */
static uint64_t share(int life, int worker)
{
    return (uint64_t)(1 + 10 * life + 3 * worker);
}

static void *work(void *arg)
{
    int worker = (int)(intptr_t)arg;
    for (int life = 0; life < LIVES; life++) {
        pthread_barrier_wait(&turn); /* the mutex lives */
        /* One of them knows nothing of the second life. */
        for (uint64_t n = life == 1 && worker == 1 ? 0 : share(life, worker); n > 0; n--) {
            CHECK(pthread_mutex_lock(&mutex) == 0);
            CHECK(pthread_mutex_unlock(&mutex) == 0);
        }
        pthread_barrier_wait(&turn); /* it is done with */
    }
    return NULL;
}

static void live(void)
{
    pthread_t t[WORKERS];
    CHECK(pthread_barrier_init(&turn, NULL, WORKERS + 1) == 0);
    for (int i = 0; i < WORKERS; i++)
        CHECK(pthread_create(&t[i], NULL, work, (void *)(intptr_t)i) == 0);
    for (int life = 0; life < LIVES; life++) {
        CHECK(pthread_mutex_init(&mutex, NULL) == 0);
        pthread_barrier_wait(&turn);
        pthread_barrier_wait(&turn);
        CHECK(pthread_mutex_destroy(&mutex) == 0);
    }
    for (int i = 0; i < WORKERS; i++)
        CHECK(pthread_join(t[i], NULL) == 0);
}

static void check_lives(void)
{
    struct upmu_overview *o;
    struct upmu_overview_object object = {.size = sizeof object};
    unsigned seen = 0;
    CHECK(upmu_overview_open(&o, dir, NULL) == 0);
    for (size_t i = 0; upmu_overview_object(o, i, &object) == 0; i++) {
        if (object.address != (uintptr_t)&mutex)
            continue;
        int life = (int)object.generation;
        CHECK(life < LIVES && object.created && object.destroyed);
        CHECK(object.acquisitions == share(life, 0) + (life == 1 ? 0 : share(life, 1)));
        CHECK(object.counts_exact);
        seen |= 1u << life;
    }
    CHECK(seen == (1u << LIVES) - 1);
    upmu_overview_close(o);
}

int main(void)
{
    int status = 1;
    CHECK(mkdtemp(dir) != NULL);
    pid_t child = fork();
    if (child == 0) { /* counts are exact once the process has ended well */
        begin(UPMU_SYNC_CONTENDED);
        live();
        end();
        exit(0);
    }
    CHECK(child > 0 && waitpid(child, &status, 0) == child && status == 0);
    check_lives();
    char command[sizeof dir + 16];
    snprintf(command, sizeof command, "rm -rf %s", dir);
    return system(command) != 0;
}
