/* SPDX-License-Identifier: MIT */
/* Calls of all kinds until a rank is killed: kill SHARED_FILE, in which each rank keeps its process and how many calls have returned. */
#include <fcntl.h>
#include <mpi.h>
#include <stdint.h>
#include <sys/mman.h>
#include <unistd.h>

enum { RANKS_MAX = 8, LARGE = 1 << 17 };

static struct shared {
    int64_t pid[RANKS_MAX], calls[RANKS_MAX];
} * shared;
static int rank, size;
static char large[LARGE], other[LARGE];

/* Whatever has returned has to be in the recording. */
#define DONE(call)                                                     \
    do {                                                               \
        (call);                                                        \
        __atomic_fetch_add(&shared->calls[rank], 1, __ATOMIC_RELEASE); \
    } while (0)

static void round_of_calls(int round)
{
    int next = (rank + 1) % size, before = (rank + size - 1) % size;
    double in = rank, out;
    MPI_Request requests[2], persistent;
    MPI_Comm copy;
    DONE(MPI_Allreduce(&in, &out, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD));
    DONE(MPI_Irecv(&out, 1, MPI_DOUBLE, before, 1, MPI_COMM_WORLD, &requests[0]));
    DONE(MPI_Isend(&in, 1, MPI_DOUBLE, next, 1, MPI_COMM_WORLD, &requests[1]));
    DONE(MPI_Waitall(2, requests, MPI_STATUSES_IGNORE));
    DONE(MPI_Sendrecv(large, LARGE, MPI_BYTE, next, 2, other, LARGE, MPI_BYTE, before, 2, MPI_COMM_WORLD,
                      MPI_STATUS_IGNORE));
    DONE(MPI_Barrier(MPI_COMM_WORLD));
    if (rank == 0)
        DONE(MPI_Ssend(large, LARGE, MPI_BYTE, 1, 3, MPI_COMM_WORLD));
    if (rank == 1)
        DONE(MPI_Recv(other, LARGE, MPI_BYTE, MPI_ANY_SOURCE, 3, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
    DONE(MPI_Bcast(&out, 1, MPI_DOUBLE, round % size, MPI_COMM_WORLD));
    DONE(MPI_Recv_init(&out, 1, MPI_DOUBLE, before, 4, MPI_COMM_WORLD, &persistent));
    DONE(MPI_Start(&persistent));
    DONE(MPI_Send(&in, 1, MPI_DOUBLE, next, 4, MPI_COMM_WORLD));
    DONE(MPI_Wait(&persistent, MPI_STATUS_IGNORE));
    DONE(MPI_Request_free(&persistent));
    if (round % 8 != 0)
        return;
    DONE(MPI_Comm_dup(MPI_COMM_WORLD, &copy));
    DONE(MPI_Comm_free(&copy));
}

int main(int argc, char **argv)
{
    int fd = argc == 2 ? open(argv[1], O_RDWR) : -1;
    void *memory = fd < 0 ? MAP_FAILED : mmap(NULL, sizeof *shared, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    if (memory == MAP_FAILED)
        return 2;
    shared = memory;
    MPI_Init(&argc, &argv);
    PMPI_Comm_rank(MPI_COMM_WORLD, &rank);
    PMPI_Comm_size(MPI_COMM_WORLD, &size);
    __atomic_store_n(&shared->calls[rank], 1, __ATOMIC_RELEASE);
    __atomic_store_n(&shared->pid[rank], getpid(), __ATOMIC_RELEASE);
    for (int round = 0;; round++)
        round_of_calls(round);
}
