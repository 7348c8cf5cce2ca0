/* SPDX-License-Identifier: MIT */
/* Ranks that wait for each other in known ways: waits SHARED_FILE PATTERN. */
#include <fcntl.h>
#include <mpi.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

enum { ROUNDS = 3, DELAY_MS = 50, LARGE = 1 << 20 };

static volatile int *ready; /* rounds that each rank has reached */
static int rank, size;
static char buffer[LARGE], other[LARGE];

static void pause_ms(int ms)
{
    const struct timespec t = {.tv_nsec = ms * 1000000L};
    nanosleep(&t, NULL);
}

/* The early ranks announce that they call MPI now; the late one waits for all of them, and then for the delay. */
static void meet(int late, int round)
{
    if (rank != late) {
        __atomic_store_n(&ready[rank], round + 1, __ATOMIC_SEQ_CST);
        return;
    }
    for (int i = 0; i < size; i++)
        while (i != late && __atomic_load_n(&ready[i], __ATOMIC_SEQ_CST) <= round)
            pause_ms(1);
    pause_ms(DELAY_MS);
}

static void round_of(const char *what, int round)
{
    double in = 1, out = 0;
    MPI_Request request;
    if (strcmp(what, "late-sender") == 0 || strcmp(what, "irecv") == 0) {
        if (rank == 1 && what[0] == 'i')
            MPI_Irecv(&out, 1, MPI_DOUBLE, MPI_ANY_SOURCE, 7, MPI_COMM_WORLD, &request);
        meet(0, round);
        if (rank == 0)
            MPI_Send(&in, 1, MPI_DOUBLE, 1, 7, MPI_COMM_WORLD);
        else if (what[0] == 'i')
            MPI_Wait(&request, MPI_STATUS_IGNORE);
        else
            MPI_Recv(&out, 1, MPI_DOUBLE, 0, 7, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    } else if (strcmp(what, "wrong-order") == 0) { /* what was sent first is received last */
        if (rank == 0)
            MPI_Send(&in, 1, MPI_DOUBLE, 1, 8, MPI_COMM_WORLD);
        meet(0, round);
        if (rank == 0)
            MPI_Send(&in, 1, MPI_DOUBLE, 1, 7, MPI_COMM_WORLD);
        for (int tag = 7; rank == 1 && tag <= 8; tag++)
            MPI_Recv(&out, 1, MPI_DOUBLE, MPI_ANY_SOURCE, tag, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    } else if (strcmp(what, "late-receiver") == 0) {
        meet(1, round);
        if (rank == 0)
            MPI_Ssend(buffer, LARGE, MPI_BYTE, 1, 7, MPI_COMM_WORLD);
        else
            MPI_Recv(other, LARGE, MPI_BYTE, 0, 7, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    } else if (strcmp(what, "wait-at-barrier") == 0) {
        meet(1, round);
        MPI_Barrier(MPI_COMM_WORLD);
    } else if (strcmp(what, "wait-for-all") == 0) {
        meet(0, round);
        MPI_Allreduce(&in, &out, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    } else if (strcmp(what, "late-broadcast") == 0) {
        meet(1, round);
        MPI_Bcast(&in, 1, MPI_DOUBLE, 1, MPI_COMM_WORLD);
    } else if (strcmp(what, "early-reduce") == 0) {
        meet(1, round);
        MPI_Reduce(&in, &out, 1, MPI_DOUBLE, MPI_SUM, 0, MPI_COMM_WORLD);
    } else if (strcmp(what, "early-scan") == 0) {
        meet(0, round);
        MPI_Scan(&in, &out, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    } else if (strcmp(what, "wait-at-finalize") == 0 && round == 0) {
        meet(1, round);
    }
}

int main(int argc, char **argv)
{
    int fd = argc == 3 ? open(argv[1], O_RDWR) : -1;
    void *shared = fd < 0 ? MAP_FAILED : mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    if (shared == MAP_FAILED)
        return 2;
    ready = shared;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    for (int i = 0; i < ROUNDS; i++)
        round_of(argv[2], i);
    MPI_Finalize();
    return 0;
}
