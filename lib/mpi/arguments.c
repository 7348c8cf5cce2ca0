/* SPDX-License-Identifier: MIT */
/* Arguments of a call. */
#include "mpi/arguments.h"

#include "upmu/trace.h"

long mpi_call_comm(const struct mpi_call *c, unsigned at, bool pointer)
{
    if (c->fortran)
        return mpi_comm_of_fortran((int32_t)mpi_call_int(c, at));
    if (pointer)
        return mpi_handle_load(c->a[at - 1]);
    return mpi_abi.handle_bytes == sizeof(long) ? c->a[at - 1] : (int32_t)c->a[at - 1];
}

int32_t mpi_peer_of(int rank)
{
    if (rank == mpi_abi.any_source)
        return UPMU_MPI_ANY;
    if (rank == mpi_abi.proc_null)
        return UPMU_MPI_PROC_NULL;
    return rank >= 0 ? (int32_t)rank : (int32_t)UPMU_MPI_UNKNOWN;
}

int32_t mpi_tag_of(int tag)
{
    if (tag == mpi_abi.any_tag)
        return UPMU_MPI_ANY;
    return tag >= 0 ? (int32_t)tag : (int32_t)UPMU_MPI_UNKNOWN;
}
