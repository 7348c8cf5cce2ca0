/* SPDX-License-Identifier: MIT */
/* Messages to and fro for a while, so that one that is received before it is sent shows: clocks [die]. */
#include <mpi.h>
#include <signal.h>
#include <string.h>
#include <time.h>

enum { TAG = 5, ROUNDS = 40, PAUSE_NS = 3000000 };

int main(int argc, char **argv)
{
    const struct timespec pause = {.tv_nsec = PAUSE_NS};
    int rank, size, token = 0;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    for (int i = 0; i < ROUNDS; i++) {
        for (int other = 1; other < size; other++) {
            if (rank == 0) {
                MPI_Send(&token, 1, MPI_INT, other, TAG, MPI_COMM_WORLD);
                MPI_Recv(&token, 1, MPI_INT, other, TAG, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
            } else if (rank == other) {
                MPI_Recv(&token, 1, MPI_INT, 0, TAG, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
                MPI_Send(&token, 1, MPI_INT, 0, TAG, MPI_COMM_WORLD);
            }
        }
        (void)nanosleep(&pause, NULL);
    }
    if (argc > 1 && strcmp(argv[1], "die") == 0)
        raise(SIGKILL);
    MPI_Finalize();
    return 0;
}
