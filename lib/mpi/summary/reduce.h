/* SPDX-License-Identifier: MIT */
/** @file What the ranks of a job have measured, reduced to rank 0 and written there. */
#ifndef UPMU_MPI_SUMMARY_REDUCE_H
#define UPMU_MPI_SUMMARY_REDUCE_H

#include <stdint.h>

/** At MPI_Finalize(), which was called at `tick`, by all ranks, after mpi_clocks_end() and before mpi_exchange_end(). */
void summary_reduce(uint64_t tick);

#endif
