/* SPDX-License-Identifier: MIT */
/* Locks a mutex at the end of N different call stacks: many_stacks N */
#include <pthread.h>
#include <stdlib.h>

enum { LEVELS = 8, BITS = 2, SITES = 1 << BITS };

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static volatile long sink;

/* The digits of `path` select the call sites. */
static void descend(unsigned long path, int levels) /* NOLINT(misc-no-recursion) */
{
    if (levels == 0) {
        pthread_mutex_lock(&mutex);
        sink++;
        pthread_mutex_unlock(&mutex);
        return;
    }
    switch (path % SITES) {
    case 0:
        descend(path / SITES, levels - 1);
        sink += 1;
        break;
    case 1:
        descend(path / SITES, levels - 1);
        sink += 2;
        break;
    case 2:
        descend(path / SITES, levels - 1);
        sink += 3;
        break;
    default:
        descend(path / SITES, levels - 1);
        sink += 4;
    }
}

int main(int argc, char **argv)
{
    unsigned long n = argc == 2 ? strtoul(argv[1], NULL, 10) : 0;
    for (unsigned long i = 0; i < n; i++)
        descend(i, LEVELS);
    return n > 0 && n <= 1UL << (LEVELS * BITS) ? 0 : 2;
}
