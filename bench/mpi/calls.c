/* SPDX-License-Identifier: MIT */
/*
 * Cost of MPI calls and of a job's start and end: calls | start NANOSECONDS, when the job was started (date +%s%N). Compiled by
 * bench_mpi.sh for the MPI that it measures; calls go to the rank itself, so that nothing but the call is measured.
 */
#include <mpi.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { BATCHES = 300, N = 200 };

static double now_ns(clockid_t clock)
{
    struct timespec t;
    clock_gettime(clock, &t);
    return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

static MPI_Request pending;

static void test(void)
{
    int flag;
    MPI_Test(&pending, &flag, MPI_STATUS_IGNORE);
}

static void iprobe(void)
{
    int flag;
    MPI_Iprobe(MPI_ANY_SOURCE, 99, MPI_COMM_SELF, &flag, MPI_STATUS_IGNORE);
}

static void message(void)
{
    double in = 1, out;
    MPI_Request request[2];
    MPI_Irecv(&out, 1, MPI_DOUBLE, 0, 1, MPI_COMM_SELF, &request[0]);
    MPI_Isend(&in, 1, MPI_DOUBLE, 0, 1, MPI_COMM_SELF, &request[1]);
    MPI_Wait(&request[0], MPI_STATUS_IGNORE);
    MPI_Wait(&request[1], MPI_STATUS_IGNORE);
}

static void allreduce(void)
{
    double in = 1, out;
    MPI_Allreduce(&in, &out, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_SELF);
}

static void comm_rank(void)
{
    int rank;
    MPI_Comm_rank(MPI_COMM_SELF, &rank);
}

/* What any recording of begin and end costs at least: two time stamps around a call. */
static void stamps(void)
{
    static volatile uint64_t stamp[2];
#if defined(__x86_64__)
    stamp[0] = __builtin_ia32_rdtsc();
    comm_rank();
    stamp[1] = __builtin_ia32_rdtsc();
#else
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    stamp[0] = (uint64_t)t.tv_nsec;
    comm_rank();
    clock_gettime(CLOCK_MONOTONIC, &t);
    stamp[1] = (uint64_t)t.tv_nsec;
#endif
}

/* The least of the batches. */
static void measure(const char *name, void (*call)(void))
{
    double least = 1e12;
    for (int b = 0; b < BATCHES; b++) {
        double begin = now_ns(CLOCK_MONOTONIC);
        for (int i = 0; i < N; i++)
            call();
        double took = (now_ns(CLOCK_MONOTONIC) - begin) / N;
        least = took < least ? took : least;
    }
    printf("%s %.2f\n", name, least);
}

static void measure_calls(void)
{
    double never;
    MPI_Irecv(&never, 1, MPI_DOUBLE, 0, 98, MPI_COMM_SELF, &pending);
    measure("Comm_rank", comm_rank);
    measure("stamps", stamps);
    measure("Test", test);
    measure("Iprobe", iprobe);
    measure("message", message);
    measure("Allreduce", allreduce);
    MPI_Cancel(&pending);
    MPI_Wait(&pending, MPI_STATUS_IGNORE);
}

int main(int argc, char **argv)
{
    int rank;
    bool start = argc == 3 && strcmp(argv[1], "start") == 0;
    MPI_Init(&argc, &argv);
    double init = now_ns(CLOCK_REALTIME);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    if (!start)
        measure_calls();
    MPI_Barrier(MPI_COMM_WORLD); /* so that no rank's delay is that of MPI_Finalize() */
    double end = now_ns(CLOCK_MONOTONIC);
    MPI_Finalize();
    if (rank == 0 && start)
        printf("start %.0f\nMPI_Finalize %.0f\n", init - strtod(argv[2], NULL), now_ns(CLOCK_MONOTONIC) - end);
    return 0;
}
