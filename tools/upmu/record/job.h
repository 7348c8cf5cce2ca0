/* SPDX-License-Identifier: MIT */
/** @file upmu record as a rank of an MPI job: the recorders of a job share a directory. */
#ifndef UPMU_TOOL_JOB_H
#define UPMU_TOOL_JOB_H

#include <stdbool.h>

/** upmu record itself was started by the launcher of an MPI job. */
bool job_is_rank(void);
/** Name of the directory without -o, the same in all ranks of the job; to be freed. */
char *job_directory(const char *command);
/** Make the directory, or take that of an earlier rank of the same job. @return 0, or -1 after a message. */
int job_make_directory(const char *dir);
/** The command starts the ranks of a job: it is not recorded itself. */
bool job_is_launcher(const char *command);
/** Before the command is started: the name of the job, which may only be recognized by its parent process. @return 0; -1. */
int job_set_environment(void);
/** This recorder is that of the first rank on its host. */
bool job_is_first_of_host(void);
/** The command of this rank has ended. @return whether those of all ranks that were started in this directory have. */
bool job_is_last(const char *dir);

#endif
