/* SPDX-License-Identifier: MIT */
/*
 * One busy thread with a million lock events a second, for what it costs to be watched.
 *
 *     locks FILE [SECONDS]     the pairs so far are the first 8 bytes of FILE; ends with the input, or after SECONDS
 *
 * Calculations of a fixed length, found at the start, are between two pairs: pairs per CPU second are its speed, and the processor
 * never idles, which would change its frequency.
 */
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

enum { LOCKS = 8, PAIR_NS = 2000, TRIES = 5, TRY_PAIRS = 50000, BATCH = 500 };
static pthread_mutex_t locks[LOCKS];

static uint64_t clock_ns(clockid_t clock)
{
    struct timespec t;
    clock_gettime(clock, &t);
    return (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec;
}

static void pairs(int n, unsigned steps)
{
    for (int i = 0; i < n; i++) {
        pthread_mutex_lock(&locks[i % LOCKS]);
        for (volatile unsigned k = 0; k < steps; k++)
            ;
        pthread_mutex_unlock(&locks[i % LOCKS]);
    }
}

/* Steps of calculation that make a pair last PAIR_NS. */
static unsigned calibrated(void)
{
    unsigned steps = 500;
    for (int i = 0; i < TRIES; i++) {
        uint64_t begin = clock_ns(CLOCK_THREAD_CPUTIME_ID);
        pairs(TRY_PAIRS, steps);
        uint64_t ns = (clock_ns(CLOCK_THREAD_CPUTIME_ID) - begin) / TRY_PAIRS;
        steps = (unsigned)(steps * (uint64_t)PAIR_NS / (ns ? ns : 1)) + 1;
    }
    return steps;
}

int main(int argc, char **argv)
{
    int file = argc > 1 ? open(argv[1], O_RDWR | O_CREAT | O_TRUNC, 0600) : -1;
    if (file < 0 || ftruncate(file, sizeof(uint64_t)) != 0)
        return 2;
    volatile uint64_t *done = mmap(NULL, sizeof *done, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    if (done == MAP_FAILED)
        return 2;
    for (int i = 0; i < LOCKS; i++)
        pthread_mutex_init(&locks[i], NULL);
    const unsigned steps = calibrated();
    const uint64_t end = argc > 2 ? clock_ns(CLOCK_MONOTONIC) + strtoull(argv[2], NULL, 10) * 1000000000 : UINT64_MAX;
    struct pollfd input = {.fd = 0, .events = POLLIN};
    while (clock_ns(CLOCK_MONOTONIC) < end && (argc > 2 || poll(&input, 1, 0) == 0)) {
        pairs(BATCH, steps);
        *done += BATCH;
    }
    return 0;
}
