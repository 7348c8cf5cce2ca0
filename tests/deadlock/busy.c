/* SPDX-License-Identifier: MIT */
/* Threads that wake each other all the time: all wait, one already woken, and no deadlock. */
#include <linux/futex.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

static sem_t sems[2];
static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t conds[2] = {PTHREAD_COND_INITIALIZER, PTHREAD_COND_INITIALIZER};
static pthread_barrier_t barrier;
static int turn;

/* One round of the player 0 or 1. */
static void play_sem(int mine)
{
    (void)sem_wait(&sems[mine]);
    (void)sem_post(&sems[1 - mine]);
}

static void play_cond(int mine)
{
    pthread_mutex_lock(&m);
    while (turn != mine)
        pthread_cond_wait(&conds[mine], &m);
    turn = 1 - mine;
    pthread_cond_signal(&conds[turn]);
    pthread_mutex_unlock(&m);
}

static void play_barrier(int mine)
{
    (void)mine;
    (void)pthread_barrier_wait(&barrier);
}

static void play_futex(int mine)
{
    while (__atomic_load_n(&turn, __ATOMIC_ACQUIRE) != mine)
        (void)syscall(SYS_futex, &turn, FUTEX_WAIT_PRIVATE, 1 - mine, NULL, NULL, 0);
    __atomic_store_n(&turn, 1 - mine, __ATOMIC_RELEASE);
    (void)syscall(SYS_futex, &turn, FUTEX_WAKE_PRIVATE, 1, NULL, NULL, 0);
}

struct game {
    const char *name;
    void (*play)(int mine);
};

static const struct game *game;

static void *player(void *arg)
{
    for (;;)
        game->play((int)(intptr_t)arg);
    return NULL;
}

int main(int argc, char **argv)
{
    static const struct game games[] = {
        {"sem", play_sem}, {"cond", play_cond}, {"barrier", play_barrier}, {"futex", play_futex}};
    for (size_t i = 0; i < sizeof games / sizeof *games; i++)
        if (argc == 3 && strcmp(games[i].name, argv[1]) == 0)
            game = &games[i];
    FILE *pid = game ? fopen(argv[2], "w") : NULL;
    if (!pid || fprintf(pid, "%ld\n", (long)getpid()) < 0 || fclose(pid) != 0) {
        fprintf(stderr, "usage: busy sem|cond|barrier|futex PIDFILE\n");
        return 2;
    }
    pthread_t t;
    if (sem_init(&sems[0], 0, 1) != 0 || sem_init(&sems[1], 0, 0) != 0 ||
        pthread_barrier_init(&barrier, NULL, 2) != 0 || pthread_create(&t, NULL, player, (void *)1) != 0)
        return 1;
    player((void *)0);
}
