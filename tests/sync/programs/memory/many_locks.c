/* SPDX-License-Identifier: MIT */
/* A program that locks a million mutexes in turn, three times, in its first thread, and every other one once in a second
 * thread. Argument: bytes from one mutex to the next. Prints "acquired N". */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

enum { LOCKS = 1000000, ROUNDS = 3 };

static char *memory;
static size_t stride;

static void use(size_t i)
{
    pthread_mutex_t *m = (pthread_mutex_t *)(void *)(memory + i * stride);
    if (pthread_mutex_lock(m) != 0 || pthread_mutex_unlock(m) != 0)
        abort();
}

static void *use_every_other(void *arg)
{
    for (size_t i = 0; i < LOCKS; i += 2)
        use(i);
    return arg;
}

int main(int argc, char **argv)
{
    pthread_t t;
    stride = argc == 2 ? strtoul(argv[1], NULL, 10) : 0;
    memory = stride >= sizeof(pthread_mutex_t) ? calloc(LOCKS, stride) : NULL; /* zeros are PTHREAD_MUTEX_INITIALIZER */
    if (!memory)
        return 1;
    for (int round = 0; round < ROUNDS; round++)
        for (size_t i = 0; i < LOCKS; i++)
            use(i);
    if (pthread_create(&t, NULL, use_every_other, NULL) != 0 || pthread_join(t, NULL) != 0)
        return 1;
    printf("acquired %d\n", ROUNDS * LOCKS + LOCKS / 2);
    return 0; /* the memory stays: its end would be that of a million locks */
}
