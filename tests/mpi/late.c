/* SPDX-License-Identifier: MIT */
/* A tool that holds the receives of some threads back: those with `late_until` until `late_now` has that value. */
#include <mpi.h>
#include <sched.h>

_Thread_local int late_until;
int late_now;

int MPI_Recv(void *buffer, int count, MPI_Datatype type, int source, int tag, MPI_Comm comm, MPI_Status *status)
{
    if (late_until)
        __atomic_store_n(&late_now, 1, __ATOMIC_RELEASE);
    while (__atomic_load_n(&late_now, __ATOMIC_ACQUIRE) < late_until)
        sched_yield();
    return PMPI_Recv(buffer, count, type, source, tag, comm, status);
}
