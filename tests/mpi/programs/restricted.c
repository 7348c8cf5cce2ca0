/* SPDX-License-Identifier: MIT */
/* A rank that forbids its time stamps (PR_SET_TSC, x86) after MPI_Init(), and calls MPI on: 5 barriers before, 1000 after. */
#include <mpi.h>
#include <sys/prctl.h>

enum { BEFORE = 5, AFTER = 1000 };

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    for (int i = 0; i < BEFORE; i++)
        MPI_Barrier(MPI_COMM_SELF);
    if (prctl(PR_SET_TSC, PR_TSC_SIGSEGV, 0, 0, 0) != 0)
        return 77;
    for (int i = 0; i < AFTER; i++)
        MPI_Barrier(MPI_COMM_SELF);
    prctl(PR_SET_TSC, PR_TSC_ENABLE, 0, 0, 0); /* MPI's own end needs them */
    MPI_Finalize();
    return 0;
}
