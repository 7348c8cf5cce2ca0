/* SPDX-License-Identifier: MIT */
/** @file What launchers of MPI jobs put into the environment of each rank. */
#ifndef UPMU_MPI_LAUNCHER_H
#define UPMU_MPI_LAUNCHER_H

#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

/** Bytes of a job's name. */
enum { LAUNCHER_JOB_MAX = 128 };

/** The number in the first of these variables that has one; -1: none. */
static inline long launcher_number(const char *const *names)
{
    for (; *names; names++) {
        char *end;
        const char *text = getenv(*names);
        long n = text && *text ? strtol(text, &end, 10) : -1;
        if (n >= 0 && n <= INT_MAX && *end == '\0')
            return n;
    }
    return -1;
}

/** Rank in the job; -1: this process is not of a job, as far as its environment shows. */
static inline long launcher_rank(void)
{
    static const char *const names[] = {"OMPI_COMM_WORLD_RANK", "PMIX_RANK",    "PMI_RANK",       "MV2_COMM_WORLD_RANK",
                                        "PALS_RANKID",          "SLURM_PROCID", "FLUX_TASK_RANK", NULL};
    return launcher_number(names);
}

/** Number of ranks; -1: unknown. */
static inline long launcher_size(void)
{
    static const char *const names[] = {
        "OMPI_COMM_WORLD_SIZE", "PMI_SIZE", "MV2_COMM_WORLD_SIZE", "PALS_SIZE", "SLURM_NTASKS", "FLUX_JOB_SIZE", NULL};
    return launcher_number(names);
}

/** Name of the job, which is the same in all ranks of a host: the launcher's, else by the process that started the ranks there.
 *  @return false: this process is not of a job. */
static inline bool launcher_job(char job[LAUNCHER_JOB_MAX])
{
    static const char *const names[] = {"UPMU_MPI_JOB", "PMIX_NAMESPACE", "PALS_APID", "FLUX_JOB_ID", NULL};
    if (launcher_rank() < 0)
        return false;
    for (const char *const *n = names; *n; n++) {
        const char *text = getenv(*n);
        if (text && *text) {
            snprintf(job, LAUNCHER_JOB_MAX, "%s", text);
            return true;
        }
    }
    const char *slurm = getenv("SLURM_JOB_ID"), *step = getenv("SLURM_STEP_ID");
    if (slurm)
        snprintf(job, LAUNCHER_JOB_MAX, "slurm-%s-%s", slurm, step ? step : "0");
    else
        snprintf(job, LAUNCHER_JOB_MAX, "parent-%ld", (long)getppid());
    return true;
}

#endif
