/* SPDX-License-Identifier: MIT */
/** @file Begin and end of MPI in the process. */
#ifndef UPMU_MPI_PROCESS_H
#define UPMU_MPI_PROCESS_H

struct mpi_call;

/** The outermost MPI_Init() has returned: recording begins, if the library is known, with this call. */
void mpi_process_initialized(struct mpi_call *c);
/** MPI_Finalize() has returned. */
void mpi_process_finalized(void);
/** Write the numbers of calls that are counted only. */
void mpi_process_write_counts(struct mpi_call *c);

#endif
