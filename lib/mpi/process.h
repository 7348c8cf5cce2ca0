/* SPDX-License-Identifier: MIT */
/** @file Begin and end of MPI in the process. */
#ifndef UPMU_MPI_PROCESS_H
#define UPMU_MPI_PROCESS_H

#include <stdbool.h>
#include <stdint.h>

struct mpi_call;

/** The outermost MPI_Init() has returned: recording begins, if the library is known, with this call. */
void mpi_process_initialized(struct mpi_call *c);
/** The outermost MPI_Finalize() is about to be called: the last exchange between ranks, recorded or not. */
void mpi_process_finalizing(uint64_t tick);
/** MPI_Finalize() has returned. */
void mpi_process_finalized(void);
/** MPI_Session_init() has returned, at `tick`: recording begins if it was not preceded by MPI_Init() or another session. @return true: the
 *  call is recorded, or cannot be. */
bool mpi_process_session_began(struct mpi_call *c, uint64_t tick);
/** The last session has ended, without MPI_Init(). */
void mpi_process_session_ended(void);
/** Write the numbers of calls that are counted only. */
void mpi_process_write_counts(struct mpi_call *c);

#endif
