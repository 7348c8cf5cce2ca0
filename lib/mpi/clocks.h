/* SPDX-License-Identifier: MIT */
/**
 * @file
 * Clocks of a job's hosts, measured against that of rank 0.
 *
 * Ranks of one boot and tick source have one clock. Of each, one rank exchanges messages with that of another host, in a binomial tree:
 * that with the shortest round trip places a tick of one between two of the other. This is done at MPI_Init() and at MPI_Finalize();
 * in between, clocks are taken as straight lines. Slopes are not measured in a short time: that is far less precise.
 */
#ifndef UPMU_MPI_CLOCKS_H
#define UPMU_MPI_CLOCKS_H

#include <stdint.h>

/** After mpi_exchange_start(), and before mpi_exchange_end() if all agree: collective on all ranks. */
void mpi_clocks_start(void);
void mpi_clocks_end(void);

/** After mpi_clocks_end(): nanoseconds since 1970 of a tick, and of a number of ticks, as the trace has them. */
uint64_t mpi_clocks_ns(uint64_t tick);
uint64_t mpi_clocks_ticks_ns(uint64_t ticks);

#endif
