/* SPDX-License-Identifier: MIT */
/* An MPI program whose calls are known: subject PROGRAM. */
#include <mpi.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum { TAG = 5, ROUNDS = 10, POLLS = 50, DELAY_MS = 60, FLIGHT = 10000 };

static int rank, size;

static void delay_ms(int ms)
{
    struct timespec begin, now;
    clock_gettime(CLOCK_MONOTONIC, &begin);
    do
        clock_gettime(CLOCK_MONOTONIC, &now);
    while ((now.tv_sec - begin.tv_sec) * 1000 + (now.tv_nsec - begin.tv_nsec) / 1000000 < ms);
}

/* Of each kind of call a known number, between ranks 0 and 1 and in all. */
static void run_calls(void)
{
    double out[100] = {0}, in[100];
    int flag = 0, provided = 0;
    MPI_Status status;
    MPI_Request requests[2], persistent;
    MPI_Comm half, copy;
    MPI_Comm_split(MPI_COMM_WORLD, rank % 2, rank, &half);
    MPI_Comm_dup(half, &copy);
    for (int i = 0; i < ROUNDS && rank < 2; i++) {
        if (rank == 0)
            MPI_Send(out, 100, MPI_DOUBLE, 1, TAG, MPI_COMM_WORLD);
        else
            MPI_Recv(in, 100, MPI_DOUBLE, MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        MPI_Irecv(in, 100, MPI_DOUBLE, MPI_ANY_SOURCE, TAG + 1, MPI_COMM_WORLD, &requests[0]);
        MPI_Isend(out, 7, MPI_INT, 1 - rank, TAG + 1, MPI_COMM_WORLD, &requests[1]);
        MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
        MPI_Sendrecv(out, 3, MPI_BYTE, 1 - rank, TAG, in, 100, MPI_BYTE, 1 - rank, TAG, MPI_COMM_WORLD, &status);
    }
    if (rank == 0) {
        MPI_Send_init(out, 4, MPI_INT, 1, TAG + 2, MPI_COMM_WORLD, &persistent);
        for (int i = 0; i < ROUNDS; i++) {
            MPI_Start(&persistent);
            MPI_Wait(&persistent, &status);
        }
        MPI_Request_free(&persistent);
    }
    for (int i = 0; rank == 1 && i < ROUNDS; i++)
        MPI_Recv(in, 4, MPI_INT, 0, TAG + 2, MPI_COMM_WORLD, &status);
    MPI_Recv(in, 4, MPI_INT, MPI_PROC_NULL, TAG, MPI_COMM_WORLD, &status);
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Barrier(MPI_COMM_SELF);
    for (int i = 0; i < POLLS; i++)
        MPI_Iprobe(MPI_ANY_SOURCE, TAG + 9, MPI_COMM_WORLD, &flag, MPI_STATUS_IGNORE);
    MPI_Bcast(out, 10, MPI_DOUBLE, 1, MPI_COMM_WORLD);
    MPI_Allreduce(MPI_IN_PLACE, out, 10, MPI_DOUBLE, MPI_SUM, copy);
    MPI_Allgather(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, in, 1, MPI_DOUBLE, half);
    MPI_Query_thread(&provided);
    MPI_Comm_free(&copy);
    MPI_Comm_free(&half);
}

/* Many requests at a time. */
static void run_flight(void)
{
    static MPI_Request requests[FLIGHT];
    static int words[FLIGHT];
    for (int i = 0; i < FLIGHT; i++)
        if (rank == 0)
            MPI_Isend(&words[i], 1, MPI_INT, 1, TAG, MPI_COMM_WORLD, &requests[i]);
        else
            MPI_Irecv(&words[i], 1, MPI_INT, 0, TAG, MPI_COMM_WORLD, &requests[i]);
    for (int i = 0; i < FLIGHT / 2; i++)
        MPI_Wait(&requests[i], MPI_STATUS_IGNORE);
    MPI_Waitall(FLIGHT / 2, requests + FLIGHT / 2, MPI_STATUSES_IGNORE);
}

/* Rank 0 is in a receive, or about to be, when rank 1 dies after a while. */
static void run_killed(void)
{
    char byte;
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank == 1) {
        sleep(1);
        raise(SIGKILL);
    }
    MPI_Recv(&byte, 1, MPI_BYTE, 1, TAG, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

int main(int argc, char **argv)
{
    const char *what = argc > 1 ? argv[1] : "calls";
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    if (strcmp(what, "calls") == 0)
        run_calls();
    if (strcmp(what, "flight") == 0)
        run_flight();
    if (strcmp(what, "late") == 0 && rank == 0)
        delay_ms(DELAY_MS);
    if (strcmp(what, "killed") == 0)
        run_killed();
    while (strcmp(what, "asleep") == 0 && access("wake", F_OK) != 0)
        usleep(DELAY_MS * 1000);
    MPI_Finalize();
    return 0;
}
