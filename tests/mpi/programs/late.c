/* SPDX-License-Identifier: MIT */
/* A tool that holds back receives of threads with `late_until`, until `late_now` has that value, and returns of MPI_Wait() of those with
 * `held_until`. */
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

_Thread_local int held_until;
int held_now;

int MPI_Wait(MPI_Request *request, MPI_Status *status)
{
    int rc = PMPI_Wait(request, status);
    if (held_until)
        __atomic_store_n(&held_now, 1, __ATOMIC_RELEASE);
    while (__atomic_load_n(&held_now, __ATOMIC_ACQUIRE) < held_until)
        sched_yield();
    return rc;
}
