/* SPDX-License-Identifier: MIT */
/* A bounded queue of blocks, with a mutex and condition variables. */
#include "queue.h"

#include <stdlib.h>

int queue_init(struct queue *q, size_t capacity)
{
    *q = (struct queue){.capacity = capacity, .slots = calloc(capacity, sizeof(struct block *))};
    if (!q->slots)
        return -1;
    if (pthread_mutex_init(&q->lock, NULL) != 0)
        goto free_slots;
    if (pthread_cond_init(&q->changed, NULL) != 0)
        goto destroy_lock;
    return 0;

destroy_lock:
    pthread_mutex_destroy(&q->lock);
free_slots:
    free(q->slots);
    q->slots = NULL;
    return -1;
}

void queue_destroy(struct queue *q)
{
    if (!q->slots)
        return;
    pthread_cond_destroy(&q->changed);
    pthread_mutex_destroy(&q->lock);
    free(q->slots);
}

void queue_put(struct queue *q, struct block *b)
{
    pthread_mutex_lock(&q->lock);
    q->slots[(q->first + q->used++) % q->capacity] = b;
    pthread_cond_signal(&q->changed);
    pthread_mutex_unlock(&q->lock);
}

struct block *queue_take(struct queue *q)
{
    struct block *b = NULL;
    pthread_mutex_lock(&q->lock);
    while (q->used == 0 && !q->closed)
        pthread_cond_wait(&q->changed, &q->lock);
    if (q->used > 0) {
        b = q->slots[q->first];
        q->first = (q->first + 1) % q->capacity;
        q->used--;
    }
    pthread_mutex_unlock(&q->lock);
    return b;
}

void queue_close(struct queue *q)
{
    pthread_mutex_lock(&q->lock);
    q->closed = true;
    pthread_cond_broadcast(&q->changed);
    pthread_mutex_unlock(&q->lock);
}
