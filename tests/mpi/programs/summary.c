/* SPDX-License-Identifier: MIT */
/* Regions of different ranks, and MPI calls, whose numbers are known: summary [end | many]. With `end`, the recording of rank 1 ends early; with
 * `many`, it has more regions than a process can. */
#include <dlfcn.h>
#include <mpi.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>

enum { TAG = 5, ROUNDS = 10, MANY = 3000 };

int main(int argc, char **argv)
{
    int rank, size;
    char own[32];
    double data[8] = {0};
    int (*begin)(const char *) = (int (*)(const char *))dlsym(RTLD_DEFAULT, "upmu_region_begin");
    int (*end)(const char *) = (int (*)(const char *))dlsym(RTLD_DEFAULT, "upmu_region_end");
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    if (!begin || !end)
        return 1;
    snprintf(own, sizeof own, "only in %d", rank);
    for (int i = 0; i < ROUNDS + rank; i++) {
        begin("in all");
        end("in all");
    }
    for (int i = 0; i < MANY && rank == 1 && argc > 1 && strcmp(argv[1], "many") == 0; i++) {
        char name[32];
        snprintf(name, sizeof name, "number %d", i);
        if (begin(name) == 0)
            end(name);
    }
    begin(own);
    for (int i = 0; i < ROUNDS; i++) {
        if (rank == 0 && size > 1)
            MPI_Send(data, 8, MPI_DOUBLE, 1, TAG, MPI_COMM_WORLD);
        if (rank == 1)
            MPI_Recv(data, 8, MPI_DOUBLE, 0, TAG, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        MPI_Allreduce(MPI_IN_PLACE, data, 8, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    }
    end(own);
    if (argc > 1 && rank == 1 &&
        strcmp(argv[1], "end") == 0) { /* recording ends here, because it reads time stamps (x86) */
        if (prctl(PR_SET_TSC, PR_TSC_SIGSEGV, 0, 0, 0) != 0)
            puts("no PR_SET_TSC");
        prctl(PR_SET_TSC, PR_TSC_ENABLE, 0, 0, 0); /* MPI's own end needs them */
    }
    MPI_Finalize();
    return 0;
}
