/* SPDX-License-Identifier: MIT */
/* A rank that is late, and others that wait for it: delays SHARED_FILE WHAT. */
#include <dlfcn.h>
#include <fcntl.h>
#include <mpi.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

enum { ROUNDS = 3, LAST_MS = 30, DELAY_MS = 50 };

static volatile int *ready; /* rounds that each rank has reached */
static int rank, size;
static char in[8], out[8];

static void pause_ms(int ms)
{
    const struct timespec t = {.tv_nsec = ms * 1000000L};
    nanosleep(&t, NULL);
}

/* All but rank 0 announce that they call MPI now; rank 0 waits for them. */
static void meet(int round)
{
    __atomic_store_n(&ready[rank], round + 1, __ATOMIC_SEQ_CST);
    for (int i = 1; rank == 0 && i < size; i++)
        while (__atomic_load_n(&ready[i], __ATOMIC_SEQ_CST) <= round)
            pause_ms(1);
}

/* The functions of libupmu, which is preloaded. */
static void compute(const char *region)
{
    int (*begin)(const char *), (*end)(const char *);
    *(void **)&begin = dlsym(RTLD_DEFAULT, "upmu_region_begin");
    *(void **)&end = dlsym(RTLD_DEFAULT, "upmu_region_end");
    if (region && begin && end)
        begin(region);
    pause_ms(DELAY_MS);
    if (region && begin && end)
        end(region);
}

/* Each rank waits for the one before it; rank 0 is late. */
static void chain(const char *region, int round)
{
    meet(round);
    if (rank > 0)
        MPI_Recv(in, sizeof in, MPI_BYTE, rank - 1, 7, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    else
        compute(region);
    if (rank + 1 < size)
        MPI_Send(out, sizeof out, MPI_BYTE, rank + 1, 7, MPI_COMM_WORLD);
}

/* Two ranks compute one after the other. */
static void alternate(void)
{
    if (rank == 0) {
        compute(NULL);
        MPI_Send(out, sizeof out, MPI_BYTE, 1, 7, MPI_COMM_WORLD);
        MPI_Recv(in, sizeof in, MPI_BYTE, 1, 7, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    } else if (rank == 1) {
        MPI_Recv(in, sizeof in, MPI_BYTE, 0, 7, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        compute(NULL);
        MPI_Send(out, sizeof out, MPI_BYTE, 0, 7, MPI_COMM_WORLD);
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
    for (int i = 0; i < ROUNDS; i++) {
        if (strcmp(argv[2], "alternate") == 0)
            alternate();
        else
            chain(strcmp(argv[2], "region") == 0 ? "slow" : NULL, i);
    }
    if (strcmp(argv[2], "alternate") != 0 && rank == size - 1)
        pause_ms(LAST_MS); /* so that the job ends with this rank also on a busy machine */
    MPI_Finalize();
    return 0;
}
