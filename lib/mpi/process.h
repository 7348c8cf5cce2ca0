/* SPDX-License-Identifier: MIT */
/** @file Begin and end of MPI in the process. */
#ifndef UPMU_MPI_PROCESS_H
#define UPMU_MPI_PROCESS_H

#include <stdint.h>

struct mpi_call;

/** The outermost MPI_Init() has returned: recording begins, if the library is known, with this call. */
void mpi_process_initialized(struct mpi_call *c);
/** The outermost MPI_Finalize() is about to be called: the last exchange between ranks, recorded or not. */
void mpi_process_finalizing(uint64_t tick);
/** MPI_Finalize() has returned. */
void mpi_process_finalized(void);
/** Write the numbers of calls that are counted only. */
void mpi_process_write_counts(struct mpi_call *c);

#endif
