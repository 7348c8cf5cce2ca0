/* SPDX-License-Identifier: MIT */
/*
 * Semaphores with an initial value of 1: `table` is used as a lock, `turn` is posted by the thread that did not wait for it.
 */
#include <pthread.h>
#include <semaphore.h>
#include <stddef.h>
#include <time.h>

enum { THREADS = 3, ROUNDS = 20, HOLD_US = 2000, PAUSE_US = 100 };

static sem_t table, turn, done;

static void pause_us(long us)
{
    nanosleep(&(struct timespec){.tv_nsec = us * 1000}, NULL);
}

__attribute__((noinline)) static void update_table(void)
{
    sem_wait(&table);
    pause_us(HOLD_US);
    sem_post(&table);
}

static void *use_table(void *arg)
{
    for (int i = 0; i < ROUNDS; i++) {
        update_table();
        pause_us(PAUSE_US);
    }
    return arg;
}

static void *answer(void *arg)
{
    for (int i = 0; i < ROUNDS; i++) {
        sem_wait(&turn);
        sem_post(&done);
    }
    return arg;
}

int main(void)
{
    pthread_t users[THREADS], other;
    sem_init(&table, 0, 1);
    sem_init(&turn, 0, 1);
    sem_init(&done, 0, 0);
    for (int i = 0; i < THREADS; i++)
        pthread_create(&users[i], NULL, use_table, NULL);
    pthread_create(&other, NULL, answer, NULL);
    for (int i = 1; i < ROUNDS; i++) {
        sem_wait(&done);
        pause_us(HOLD_US);
        sem_post(&turn);
    }
    pthread_join(other, NULL);
    for (int i = 0; i < THREADS; i++)
        pthread_join(users[i], NULL);
    return 0;
}
