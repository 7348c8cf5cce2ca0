/* SPDX-License-Identifier: MIT */
/* Arguments of a call. */
#include "mpi/arguments.h"

long mpi_call_comm(const struct mpi_call *c, unsigned at, bool pointer)
{
    if (c->fortran)
        return mpi_comm_of_fortran((int32_t)mpi_call_int(c, at));
    if (pointer)
        return mpi_handle_load(c->a[at - 1]);
    return mpi_abi.handle_bytes == sizeof(long) ? c->a[at - 1] : (int32_t)c->a[at - 1];
}
