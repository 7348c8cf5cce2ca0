/* SPDX-License-Identifier: MIT */
/* Table of MPI calls. */
#include "trace/format/mpi_calls.h"

#define MPI_CALL_ROW(number, name, lower, upper, arguments, class, comm, peer, tag, count, type, request, status) \
    [number] = {"MPI_" #name, arguments, MPI_CLASS_##class, comm, peer, tag, count, type, request, status},

/* A name without its end would be no error. */
#define MPI_CALL_FITS(number, name, ...) \
    _Static_assert(sizeof "MPI_" #name <= MPI_CALL_NAME_MAX, #name " is longer than MPI_CALL_NAME_MAX");
MPI_CALLS(MPI_CALL_FITS, MPI_CALL_FITS, MPI_CALL_FITS)

const struct mpi_call_row mpi_call_rows[MPI_CALL_NUMBERS] = {MPI_CALLS(MPI_CALL_ROW, MPI_CALL_ROW, MPI_CALL_ROW)};
