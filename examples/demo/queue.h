/* SPDX-License-Identifier: MIT */
/** @file A bounded queue of blocks between the threads of the pipeline. */
#ifndef DEMO_QUEUE_H
#define DEMO_QUEUE_H

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>

struct block;

struct queue {
    pthread_mutex_t lock;
    pthread_cond_t changed;
    struct block **slots;
    size_t capacity, first, used;
    bool closed;
};

/** @return 0, or -1 when memory or the lock cannot be had. */
int queue_init(struct queue *q, size_t capacity);
void queue_destroy(struct queue *q);
/** Put a block in; the caller never holds more blocks than the queue has slots, so there is always a free slot. */
void queue_put(struct queue *q, struct block *b);
/** The oldest block, waiting for one; NULL when the queue is closed and empty. */
struct block *queue_take(struct queue *q);
/** No more blocks will come: those who wait are woken. */
void queue_close(struct queue *q);

#endif
