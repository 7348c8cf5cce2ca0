/* SPDX-License-Identifier: MIT */
/* Calls of one rank with the ABI of MPI 5.0, with known peers, tags and sizes. */
#include <stdint.h>

enum { WORLD = 0x101, BYTE = 0x247, DOUBLE = 0x214, ANY_SOURCE = -1, ANY_TAG = -2, NULL_REQUEST = 0x180, ROUNDS = 10 };
int MPI_Init(int *, char ***), MPI_Finalize(void), MPI_Barrier(intptr_t);
int MPI_Session_init(intptr_t, intptr_t, intptr_t *), MPI_Session_finalize(intptr_t *), MPI_Pready(int, intptr_t);
int MPI_Psend_init(const void *, int, int64_t, intptr_t, int, int, intptr_t, intptr_t, intptr_t *);
int MPI_Send(const void *, int, intptr_t, int, int, intptr_t),
    MPI_Recv(void *, int, intptr_t, int, int, intptr_t, void *);
int MPI_Irecv(void *, int, intptr_t, int, int, intptr_t, intptr_t *), MPI_Wait(intptr_t *, void *);

int main(int argc, char **argv)
{
    double out[4] = {1, 2, 3, 4}, in[8];
    intptr_t request, session;
    int bad = MPI_Init(&argc, &argv);
    for (int i = 0; i < ROUNDS; i++) {
        bad |= MPI_Send(out, 4, DOUBLE, 0, 7, WORLD);
        bad |= MPI_Recv(in, 8, DOUBLE, ANY_SOURCE, ANY_TAG, WORLD, 0); /* no status */
        bad |= in[3] != 4;
        bad |= MPI_Irecv(in, 5, BYTE, ANY_SOURCE, 9, WORLD, &request);
        bad |= MPI_Send("upmu", 5, BYTE, 0, 9, WORLD);
        bad |= MPI_Wait(&request, 0);
        bad |= request != NULL_REQUEST;
    }
    bad |= MPI_Session_init(0, 0, &session);
    bad |= MPI_Psend_init(out, 2, 4, DOUBLE, 0, 3, WORLD, 0, &request);
    bad |= MPI_Pready(0, request) | MPI_Pready(1, request);
    bad |= MPI_Session_finalize(&session);
    bad |= MPI_Barrier(WORLD);
    return MPI_Finalize() | bad;
}
