/* SPDX-License-Identifier: MIT */
/**
 * @file
 * Messages of the recorder's own between the ranks of a job.
 *
 * A rank without this library would neither answer nor take part in a collective call, and the others would wait permanently, or its
 * receives would find messages that are not the program's. So the ranks agree first. Rank 0 leaves a file in the recording before
 * MPI_Init(), which ends only after all ranks have begun it: only ranks that find it send a message, which rank 0 has a receive
 * for, and it answers whether all have. Unless all have, there are no further messages.
 *
 * No communicator of our own is there between MPI_Init() and MPI_Finalize(): a program's own ones are the same as without us. The first
 * collective calls are on MPI_COMM_WORLD, before the program has it. At MPI_Finalize() the program may have left receives there.
 */
#ifndef UPMU_MPI_EXCHANGE_H
#define UPMU_MPI_EXCHANGE_H

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "trace/write/writer.h"

/** Valid between mpi_exchange_start() and mpi_exchange_end(). */
struct mpi_exchange {
    bool on;   /**< all ranks take part */
    long comm; /**< all of them, numbered as in MPI_COMM_WORLD, which it is until MPI_Finalize() */
    int rank, size;
    uint64_t *words;          /**< one for each rank */
    struct trace_clock clock; /**< before MPI_Init() */
};
extern struct mpi_exchange mpi_exchange __attribute__((visibility("hidden")));

/** Before MPI_Init(). */
void mpi_exchange_announce(void);
/** After it: agree. Waits for the other ranks. */
void mpi_exchange_start(void);
/** Path of the recording, after mpi_exchange_announce(). */
void mpi_exchange_dir(char dir[PATH_MAX]);
/** At MPI_Finalize(): agree again, since the recording of a rank may have ended. `takes_part` false: this one's has, and nothing but MPI is
 *  called. Makes `comm`. @return whether all take part. */
bool mpi_exchange_agree(bool takes_part);
/** Before MPI_Finalize(). */
void mpi_exchange_end(void);

/** Send bytes to a rank of `comm`, receive them from it, spread them from its rank 0. mpi_exchange_await() leaves the CPU to others
 *  meanwhile, mpi_exchange_receive() returns as soon as possible. */
void mpi_exchange_send(long comm, int to, const void *bytes, size_t n);
void mpi_exchange_receive(long comm, int from, void *bytes, size_t n);
void mpi_exchange_await(long comm, int from, void *bytes, size_t n);
void mpi_exchange_spread(long comm, void *bytes, size_t n);
/** Set `words` to the word of each rank. */
void mpi_exchange_collect(uint64_t word);
/** A communicator of those with the same `color` (0 or more), to be freed by mpi_exchange_leave(). */
long mpi_exchange_split(int color);
void mpi_exchange_leave(long comm);

#endif
