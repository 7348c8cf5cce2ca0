/* SPDX-License-Identifier: MIT */
/* Two threads with regions, and without locks and calls that wait. */
#include <pthread.h>

#include "upmu/region.h"

static void *run(void *arg)
{
    upmu_region_begin("first");
    upmu_region_end("first");
    return arg;
}

int main(void)
{
    pthread_t thread[2];
    for (int i = 0; i < 2; i++)
        if (pthread_create(&thread[i], NULL, run, NULL) != 0)
            return 1;
    for (int i = 0; i < 2; i++)
        pthread_join(thread[i], NULL);
    return 0;
}
