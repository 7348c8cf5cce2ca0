/* SPDX-License-Identifier: MIT */
/**
 * @file
 * Begin and end of an MPI call.
 *
 * Fortran's functions may call those of C, and an implementation its own public ones: only the outermost call of a thread is
 * recorded.
 */
#ifndef UPMU_MPI_CALL_H
#define UPMU_MPI_CALL_H

#include "mpi/arguments.h"

/** Whether the call is only passed on, as by mpi_call_begin() and mpi_call_end(): a function less to call while nothing is recorded. */
static inline bool mpi_call_is_off(uint32_t number)
{
    return __atomic_load_n(&mpi_process.gate, __ATOMIC_RELAXED) == MPI_GATE_OFF && number != MPI_CALL_Finalize;
}

/** Begin. `a` may be changed: a status that the program ignores is replaced. Keeps errno. */
void mpi_call_begin(struct mpi_call *c, uint32_t number, enum mpi_variant variant, long *a, uintptr_t site);
/** End, with c->rc set. A cleanup function. Keeps errno. */
void mpi_call_end(struct mpi_call *c);

#endif
