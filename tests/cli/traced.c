/* SPDX-License-Identifier: MIT */
/*
 * A program that writes a trace with a known number of events.
 *
 *   traced DIR end    four threads, each 100 times region "outer" around "inner \"quoted\"", and one mark in main
 *   traced DIR kill   the same, and then SIGKILL to itself with region "never ended" open
 */
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>

#include "upmu/region.h"

enum { THREADS = 4, ROUNDS = 100 };

static void *worker(void *arg)
{
    (void)arg;
    for (int i = 0; i < ROUNDS; i++) {
        upmu_region_begin("outer");
        upmu_region_begin("inner \"quoted\"");
        upmu_region_end("inner \"quoted\"");
        upmu_region_end("outer");
    }
    return NULL;
}

int main(int argc, char **argv)
{
    struct upmu_region_opts opts = {.size = sizeof opts, .events = "page-faults,context-switches:u"};
    pthread_t ids[THREADS];

    if (argc != 3)
        return 99;
    opts.trace = argv[1];
    if (upmu_region_setup(&opts) < 0) {
        fprintf(stderr, "%s\n", upmu_error());
        return 98;
    }
    for (int i = 0; i < THREADS; i++)
        if (pthread_create(&ids[i], NULL, worker, NULL) != 0)
            return 97;
    for (int i = 0; i < THREADS; i++)
        pthread_join(ids[i], NULL);
    upmu_mark("half\nway");
    if (strcmp(argv[2], "kill") == 0) {
        upmu_region_begin("never ended");
        raise(SIGKILL);
    }
    return 0;
}
