/* SPDX-License-Identifier: MIT */
/* Progress line of long reads. */
#include "progress.h"

#include <inttypes.h>
#include <stdio.h>
#include <unistd.h>

static void progress_show(void *arg, uint64_t done, uint64_t all)
{
    struct progress *p = arg;
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    if (all == 0 || (now.tv_sec - p->start.tv_sec) * 1000 + (now.tv_nsec - p->start.tv_nsec) / 1000000 < 1000)
        return;
    fprintf(stderr, "\r%3d %% of %" PRIu64 " events", (int)(100 * (done < all ? done : all) / all), all);
    fflush(stderr);
    p->shown = true;
}

progress_fn progress_begin(struct progress *p)
{
    *p = (struct progress){0};
    if (!isatty(STDERR_FILENO))
        return NULL;
    clock_gettime(CLOCK_MONOTONIC, &p->start);
    return progress_show;
}

void progress_end(const struct progress *p)
{
    if (p->shown)
        fputs("\r\033[K", stderr);
}
