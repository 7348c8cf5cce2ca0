/* SPDX-License-Identifier: MIT */
/* A rank alone whose calls fail: some return the error, some call MPI in an error handler, some are left by an exception or by longjmp(). */
#include <mpi.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdlib.h>
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

static jmp_buf back;
static sigjmp_buf back_from_signal;

static void jump(MPI_Comm *comm, int *code, ...)
{
    (void)comm;
    (void)code;
    longjmp(back, 1);
}

/* On a stack of its own. */
static void jump_from_signal(int)
{
    siglongjmp(back_from_signal, 1);
}

static void raise_signal(MPI_Comm *comm, int *code, ...)
{
    (void)comm;
    (void)code;
    raise(SIGUSR1);
}

/* A jump within the call, which continues. */
static void jump_within(MPI_Comm *comm, int *code, ...)
{
    (void)code;
    jmp_buf here;
    if (setjmp(here) == 0)
        longjmp(here, 1);
    MPI_Barrier(*comm); /* no event */
    wait_in_vain();     /* not recorded */
}

static void handle(void (*handler)(MPI_Comm *, int *, ...))
{
    MPI_Errhandler made;
    MPI_Comm_create_errhandler(handler, &made);
    MPI_Comm_set_errhandler(MPI_COMM_SELF, made);
    MPI_Errhandler_free(&made);
}

/* Farther down than the calls that were left, over what is left of their frames. */
static __attribute__((noinline)) void send_below(void)
{
    volatile char untouched[1 << 16];
    char out = 0, in;
    MPI_Request request;
    untouched[0] = 0;
    MPI_Isend(&out, 1, MPI_BYTE, 0, TAG, MPI_COMM_SELF, &request);
    MPI_Recv(&in, 1, MPI_BYTE, 0, TAG, MPI_COMM_SELF, MPI_STATUS_IGNORE);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    untouched[1] = 0;
}

/* A call that is frequent, one that is not, and one whose begin is written with its end; `i` of them all. */
static void fail_by_jump(int i)
{
    char buffer = 0;
    MPI_Request none;
    if (i == 0)
        MPI_Send(&buffer, 1, MPI_BYTE, NO_RANK, TAG, MPI_COMM_SELF);
    else if (i == 1)
        MPI_Ssend(&buffer, 1, MPI_BYTE, NO_RANK, TAG, MPI_COMM_SELF);
    else
        MPI_Isend(&buffer, 1, MPI_BYTE, NO_RANK, TAG, MPI_COMM_SELF, &none);
}

static int fail_by_jumps(void)
{
    static volatile int jumps = 0;
    handle(jump);
    for (volatile int i = 0; i < LEFT; i++) {
        if (setjmp(back) == 0)
            fail_by_jump(i);
        else
            jumps++;
        wait_in_vain();
        send_below();
    }
    stack_t stack = {};
    stack.ss_size = 1 << 16;
    stack.ss_sp = malloc(stack.ss_size);
    struct sigaction on = {};
    on.sa_handler = jump_from_signal;
    on.sa_flags = SA_ONSTACK;
    sigaltstack(&stack, NULL);
    sigaction(SIGUSR1, &on, NULL);
    handle(raise_signal);
    if (sigsetjmp(back_from_signal, 1) == 0)
        fail_by_jump(0);
    else
        jumps++;
    wait_in_vain();
    send_below();
    handle(jump_within);
    for (int i = 0; i < LEFT; i++)
        fail_by_jump(i);
    wait_in_vain();
    return jumps;
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
    if (fail_by_jumps() != LEFT + 1)
        return 4;
    MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
    MPI_Finalize();
    return 0;
}
