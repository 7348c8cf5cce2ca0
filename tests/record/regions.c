/* SPDX-License-Identifier: MIT */
/* A program with regions and without locks, until a given file exists. */
#include <stdio.h>
#include <time.h>
#include <unistd.h>

#include "upmu/region.h"

int main(int argc, char **argv)
{
    if (argc != 2)
        return 1;
    puts("ready");
    fflush(stdout);
    while (access(argv[1], F_OK) != 0) {
        upmu_region_begin("round");
        nanosleep(&(struct timespec){.tv_nsec = 5000000}, NULL);
        upmu_region_end("round");
    }
    return 0;
}
