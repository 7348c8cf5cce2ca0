/* SPDX-License-Identifier: MIT */
/* A rank alone whose calls fail: some return the error, some call MPI in an error handler, some are left by an exception. */
#include <mpi.h>
#include <pthread.h>
#include <time.h>

enum { NO_RANK = 99, TAG = 7, LEFT = 3 };

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t never = PTHREAD_COND_INITIALIZER;

/* A wait that is recorded, if this thread's locks are. */
static void wait_in_vain(void)
{
    struct timespec until;
    clock_gettime(CLOCK_REALTIME, &until);
    pthread_mutex_lock(&mutex);
    until.tv_nsec = 0; /* in the past */
    until.tv_sec--;
    pthread_cond_timedwait(&never, &mutex, &until);
    pthread_mutex_unlock(&mutex);
}

/* Truncation, two peers that do not exist, and a request that is still to be waited for. */
static int fail_all(void)
{
    char buffer[8] = {0};
    MPI_Request request, none;
    int failed = 0;
    failed += MPI_Send(buffer, 1, MPI_BYTE, NO_RANK, TAG, MPI_COMM_SELF) != MPI_SUCCESS;
    wait_in_vain();
    failed += MPI_Isend(buffer, 1, MPI_BYTE, NO_RANK, TAG, MPI_COMM_SELF, &none) != MPI_SUCCESS;
    wait_in_vain();
    MPI_Isend(buffer, sizeof(buffer), MPI_BYTE, 0, TAG, MPI_COMM_SELF, &request);
    char small;
    failed += MPI_Recv(&small, 1, MPI_BYTE, 0, TAG, MPI_COMM_SELF, MPI_STATUS_IGNORE) != MPI_SUCCESS;
    wait_in_vain();
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    return failed;
}

static void call_mpi(MPI_Comm *comm, int *code, ...)
{
    char text[MPI_MAX_ERROR_STRING];
    int length;
    MPI_Error_string(*code, text, &length);
    MPI_Barrier(*comm); /* within the call that fails: no event */
}

static void leave(MPI_Comm *comm, int *code, ...)
{
    (void)comm;
    throw *code;
}

static void handle(void (*handler)(MPI_Comm *, int *, ...))
{
    MPI_Errhandler made;
    MPI_Comm_create_errhandler(handler, &made);
    MPI_Comm_set_errhandler(MPI_COMM_SELF, made);
    MPI_Errhandler_free(&made);
}

int main(int argc, char **argv)
{
    char buffer = 0;
    int left = 0;
    MPI_Init(&argc, &argv);
    MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
    if (fail_all() != 3)
        return 1;
    handle(call_mpi);
    if (fail_all() != 3)
        return 2;
    handle(leave);
    for (int i = 0; i < LEFT; i++) {
        try {
            MPI_Send(&buffer, 1, MPI_BYTE, NO_RANK, TAG, MPI_COMM_SELF);
        } catch (int) {
            left++;
        }
        wait_in_vain();
    }
    if (left != LEFT)
        return 3;
    MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
    MPI_Finalize();
    return 0;
}
