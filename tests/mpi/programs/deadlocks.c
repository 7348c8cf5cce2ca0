/* SPDX-License-Identifier: MIT */
/* Ranks that wait for each other, and some that only seem to: deadlocks PROGRAM. */
#include <mpi.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

enum { TAG = 5, LARGE = 1 << 22, HEALTHY_MS = 2500, ALARM_S = 200 };

static int rank, size;
static char *buffer, *other;
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static int held;

static void pause_ms(int ms)
{
    const struct timespec t = {.tv_sec = ms / 1000, .tv_nsec = ms % 1000 * 1000000L};
    nanosleep(&t, NULL);
}

static void receive_from(int source)
{
    MPI_Recv(buffer, 1, MPI_BYTE, source, TAG, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

/* Each receives from the next one; before, there are messages that are received, and one that is not, of another tag. */
static void run_cycle(void)
{
    int next = (rank + 1) % size, previous = (rank + size - 1) % size;
    for (int i = 0; i < 3; i++)
        MPI_Sendrecv(buffer, 1, MPI_BYTE, next, TAG, other, 1, MPI_BYTE, previous, TAG, MPI_COMM_WORLD,
                     MPI_STATUS_IGNORE);
    MPI_Send(buffer, 1, MPI_BYTE, previous, TAG + 1, MPI_COMM_WORLD);
    receive_from(next);
}

static void run_send(void)
{
    MPI_Send(buffer, LARGE, MPI_BYTE, 1 - rank, TAG, MPI_COMM_WORLD);
    MPI_Recv(other, LARGE, MPI_BYTE, 1 - rank, TAG, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

static void stop(int unused)
{
    (void)unused;
    signal(SIGALRM, SIG_DFL);
    alarm(ALARM_S);
    raise(SIGSTOP);
}

/* Each is stopped when it has spun in its send for so short that it may just be out of turn. */
static void run_stopped(void)
{
    const struct itimerval after = {.it_value = {.tv_usec = 10000}};
    char name[32];
    snprintf(name, sizeof name, "stopped.%d", rank);
    FILE *f = fopen(name, "w");
    if (f) {
        fprintf(f, "%ld\n", (long)getpid());
        fclose(f);
    }
    signal(SIGALRM, stop);
    setitimer(ITIMER_REAL, &after, NULL);
    run_send();
}

static void run_sendrecv(void)
{
    MPI_Sendrecv(buffer, 1, MPI_BYTE, 1 - rank, TAG, other, 1, MPI_BYTE, 1 - rank, TAG + 1, MPI_COMM_WORLD,
                 MPI_STATUS_IGNORE);
}

/* Rank 1 has probed the message, and waits for another one of the same tag before it receives it. */
static void run_probed(void)
{
    MPI_Message message;
    if (rank == 0) {
        MPI_Ssend(buffer, 1, MPI_BYTE, 1, TAG, MPI_COMM_WORLD);
    } else {
        MPI_Mprobe(MPI_ANY_SOURCE, TAG, MPI_COMM_WORLD, &message, MPI_STATUS_IGNORE);
        receive_from(0);
        MPI_Mrecv(other, 1, MPI_BYTE, &message, MPI_STATUS_IGNORE);
    }
}

/* One request of two is complete. */
static void run_waitall(void)
{
    MPI_Request requests[3];
    MPI_Irecv(buffer, 1, MPI_BYTE, 1 - rank, TAG, MPI_COMM_WORLD, &requests[0]);
    MPI_Irecv(buffer, 1, MPI_BYTE, 1 - rank, TAG + 1, MPI_COMM_WORLD, &requests[1]);
    MPI_Isend(other, 1, MPI_BYTE, 1 - rank, TAG, MPI_COMM_WORLD, &requests[2]);
    MPI_Waitall(3, requests, MPI_STATUSES_IGNORE);
}

static void run_collective(void)
{
    if (rank == 0)
        MPI_Barrier(MPI_COMM_WORLD);
    else
        MPI_Allreduce(MPI_IN_PLACE, buffer, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
}

/* Two communicators in different orders. */
static void run_order(void)
{
    MPI_Comm first, second;
    MPI_Comm_dup(MPI_COMM_WORLD, &first);
    MPI_Comm_dup(MPI_COMM_WORLD, &second);
    MPI_Barrier(rank == 0 ? first : second);
    MPI_Barrier(rank == 0 ? second : first);
}

static void run_barrier(void)
{
    if (rank == 0)
        MPI_Barrier(MPI_COMM_WORLD);
    else
        receive_from(0);
}

static void run_finalize(void)
{
    if (rank == 0)
        receive_from(1);
}

static void *lock_and_send(void *unused)
{
    (void)unused;
    while (!__atomic_load_n(&held, __ATOMIC_SEQ_CST))
        pause_ms(1);
    pthread_mutex_lock(&mutex);
    MPI_Send(buffer, 1, MPI_BYTE, 1, TAG, MPI_COMM_WORLD);
    pthread_mutex_unlock(&mutex);
    return NULL;
}

/* Rank 0 receives with a mutex that its thread needs before it sends what rank 1 answers. */
static void run_lock(void)
{
    pthread_t thread;
    if (rank == 0) {
        pthread_create(&thread, NULL, lock_and_send, NULL);
        pthread_mutex_lock(&mutex);
        __atomic_store_n(&held, 1, __ATOMIC_SEQ_CST);
        pause_ms(100);
        receive_from(1);
        pthread_mutex_unlock(&mutex);
        pthread_join(thread, NULL);
    } else {
        receive_from(0);
        MPI_Send(buffer, 1, MPI_BYTE, 0, TAG, MPI_COMM_WORLD);
    }
}

/* ------------------------------------------------------------------------------------------------------- healthy */

/* Rank 1 is away for long while the others wait in all ways. */
static void run_late(void)
{
    MPI_Request requests[2];
    if (rank == 1)
        pause_ms(HEALTHY_MS);
    if (rank == 0) {
        MPI_Irecv(buffer, 1, MPI_BYTE, 1, TAG, MPI_COMM_WORLD, &requests[0]);
        MPI_Isend(other, 1, MPI_BYTE, 1, TAG, MPI_COMM_WORLD, &requests[1]);
        MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
    } else if (rank == 1) {
        receive_from(0);
        MPI_Send(buffer, 1, MPI_BYTE, 0, TAG, MPI_COMM_WORLD);
    }
    MPI_Barrier(MPI_COMM_WORLD);
}

/* A rank that polls can continue, and so can the one that waits for it. */
static void run_poll(void)
{
    int done = 0;
    MPI_Request request;
    if (rank == 0) {
        MPI_Irecv(buffer, 1, MPI_BYTE, 1, TAG, MPI_COMM_WORLD, &request);
        for (int i = 0; i < HEALTHY_MS && !done; i++) {
            MPI_Test(&request, &done, MPI_STATUS_IGNORE);
            pause_ms(1);
        }
        MPI_Send(buffer, 1, MPI_BYTE, 1, TAG, MPI_COMM_WORLD);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
    } else {
        receive_from(0);
        MPI_Send(buffer, 1, MPI_BYTE, 0, TAG, MPI_COMM_WORLD);
    }
}

/* A thread of rank 0 will send; its main thread waits for the answer. */
static void *send_late(void *unused)
{
    (void)unused;
    pause_ms(HEALTHY_MS);
    MPI_Send(buffer, 1, MPI_BYTE, 1, TAG, MPI_COMM_WORLD);
    return NULL;
}

static void run_thread(void)
{
    pthread_t thread;
    if (rank == 0) {
        pthread_create(&thread, NULL, send_late, NULL);
        receive_from(MPI_ANY_SOURCE);
        pthread_join(thread, NULL);
    } else {
        receive_from(0);
        MPI_Send(buffer, 1, MPI_BYTE, 0, TAG, MPI_COMM_WORLD);
    }
}

int main(int argc, char **argv)
{
    static const struct {
        const char *name;
        void (*run)(void);
    } programs[] = {
        {"cycle", run_cycle},
        {"send", run_send},
        {"stopped", run_stopped},
        {"sendrecv", run_sendrecv},
        {"waitall", run_waitall},
        {"probed", run_probed},
        {"collective", run_collective},
        {"order", run_order},
        {"barrier", run_barrier},
        {"finalize", run_finalize},
        {"lock", run_lock},
        {"late", run_late},
        {"poll", run_poll},
        {"thread", run_thread},
    };
    const char *what = argc > 1 ? argv[1] : "";
    int level = 0, wanted = strcmp(what, "lock") == 0 || strcmp(what, "thread") == 0 ? MPI_THREAD_MULTIPLE : 0;
    alarm(ALARM_S); /* none is left behind if the test is */
    buffer = calloc(2, LARGE);
    other = buffer + LARGE;
    MPI_Init_thread(&argc, &argv, wanted, &level);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    if (level < wanted)
        return 77;
    if (strcmp(what, "any") == 0)
        receive_from(MPI_ANY_SOURCE);
    for (size_t i = 0; i < sizeof programs / sizeof *programs; i++)
        if (strcmp(programs[i].name, what) == 0)
            programs[i].run();
    MPI_Finalize();
    return 0;
}
