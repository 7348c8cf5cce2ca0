/* SPDX-License-Identifier: MIT */
/** @file upmu record as a rank of an MPI job: the recorders of a job share a directory. */
#ifndef UPMU_TOOL_JOB_H
#define UPMU_TOOL_JOB_H

#include <stdbool.h>

/** Whether the launcher of an MPI job started upmu record itself. */
bool job_is_rank(void);
/** Default name of the recording (no -o), the same in all ranks of the job; to be freed. */
char *job_directory(const char *command);
/** Create the directory, or reuse that of an earlier rank of the same job. @return 0, or -1 after a message. */
int job_make_directory(const char *dir);
/** Whether the command is an MPI launcher, which is not recorded itself. */
bool job_is_launcher(const char *command);
/** Set UPMU_MPI_JOB for the command: a job without a name is identified by its parent process, which differs for the command.
 *  @return 0; -1 with errno. */
int job_set_environment(void);
/** Whether this rank is the first one on its host. */
bool job_is_first_of_host(void);
/** To be called once the command of this rank has ended. @return whether those of all ranks that record into `dir` have. */
bool job_is_last(const char *dir);

#endif
