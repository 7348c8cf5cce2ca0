/* SPDX-License-Identifier: MIT */
/* Rank and job by the launcher's environment. */
#include "mpi/labels.h"

#include <limits.h>
#include <stdlib.h>

#include "mpi/launcher.h"
#include "mpi/state.h"

/* FNV-1a. */
static uint64_t label_hash(const char *text)
{
    uint64_t h = UINT64_C(0xcbf29ce484222325);
    for (; *text; text++)
        h = (h ^ (unsigned char)*text) * UINT64_C(0x100000001b3);
    return h ? h : 1;
}

void mpi_labels_read(void)
{
    char job[LAUNCHER_JOB_MAX];
    mpi_process.rank = (int32_t)launcher_rank();
    mpi_process.size = (int32_t)launcher_size();
    mpi_process.job = launcher_job(job) ? label_hash(job) : 0;
}
