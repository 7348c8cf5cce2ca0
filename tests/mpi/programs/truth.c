/* SPDX-License-Identifier: MIT */
/* Calls and messages of all kinds, which the program itself counts: truth FILE PROGRAM... writes its counts to FILE.RANK. */
#include <mpi.h>
#ifdef OPEN_MPI
#include <mpi-ext.h>
#endif
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { TAG = 5, ROUNDS = 4, THREADS = 4, NAMES = 128, LARGE = 1 << 20, DELAY_MS = 60 };

static int rank, size, other;
static char out[LARGE], in[LARGE];

/* ------------------------------------------------------------------------------------------------------------ counts */

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct {
    char name[48];
    long calls, bytes;
} counts[NAMES];

static void count(const char *name, long bytes)
{
    int i = 0;
    pthread_mutex_lock(&lock);
    while (counts[i].name[0] && strcmp(counts[i].name, name) != 0)
        i++;
    snprintf(counts[i].name, sizeof counts[i].name, "%s", name);
    counts[i].calls++;
    counts[i].bytes += bytes;
    pthread_mutex_unlock(&lock);
}

/* A call, counted. */
#define DO(name, ...) (count("MPI_" #name, 0), MPI_##name(__VA_ARGS__))

static void note(const char *what, int peer, long bytes)
{
    char name[48];
    snprintf(name, sizeof name, "%s %d", what, peer);
    count(name, bytes);
}
static void sent(int to, long bytes)
{
    note("sent", to, bytes);
}
static void received(int from, long bytes)
{
    note("received", from, bytes);
}

/* By a status. */
static void received_as(const MPI_Status *status)
{
    int bytes;
    DO(Get_count, status, MPI_BYTE, &bytes);
    received(status->MPI_SOURCE, bytes);
}

/* The same, of a message of the other one of ranks 0 and 1. */
static void received_as_other(const MPI_Status *status)
{
    int bytes;
    DO(Get_count, status, MPI_BYTE, &bytes);
    received(other, bytes);
}

static void write_counts(const char *file)
{
    char name[256];
    snprintf(name, sizeof name, "%s.%d", file, rank);
    FILE *f = fopen(name, "w");
    if (!f)
        exit(1);
    for (int i = 0; counts[i].name[0]; i++)
        fprintf(f, "%s %ld %ld\n", counts[i].name, counts[i].calls, counts[i].bytes);
    fclose(f);
}

static void send(int bytes, int to, int tag, MPI_Comm comm)
{
    sent(to, bytes);
    DO(Send, out, bytes, MPI_BYTE, to, tag, comm);
}

/* --------------------------------------------------------------------------------------------------------- messages */

/* Rank 0 sends to all others messages that these receive by their handles, in another order than they were probed. */
static void run_mprobe(void)
{
    MPI_Message first, second, none;
    MPI_Request request;
    MPI_Status status;
    MPI_Comm copy;
    int flag = 0, tag = TAG + 1;
    DO(Comm_dup, MPI_COMM_WORLD, &copy);
    for (int i = 0; i < ROUNDS && rank == 0; i++)
        for (int to = 1; to < size; to++)
            for (int k = 1; k <= 4; k++)
                send(100 * i + k, to, TAG, copy);
    for (int i = 0; i < ROUNDS && rank; i++) {
        DO(Mprobe, MPI_ANY_SOURCE, MPI_ANY_TAG, copy, &first, i % 2 ? &status : MPI_STATUS_IGNORE);
        DO(Mprobe, 0, TAG, copy, &second, MPI_STATUS_IGNORE);
        DO(Recv, in, LARGE, MPI_BYTE, 0, TAG, copy, &status); /* the third one */
        received_as(&status);
        DO(Mrecv, in, LARGE, MPI_BYTE, &second, i % 2 ? MPI_STATUS_IGNORE : &status);
        received(0, 100 * i + 2);
        DO(Imrecv, in, LARGE, MPI_BYTE, &first, &request);
        DO(Wait, &request, &status);
        received_as(&status);
        DO(Improbe, MPI_ANY_SOURCE, TAG + 7, copy, &flag, &none, MPI_STATUS_IGNORE); /* finds nothing */
        if (flag || first != MPI_MESSAGE_NULL)
            exit(1);
        while (!flag)
            DO(Improbe, MPI_ANY_SOURCE, TAG, copy, &flag, &first, MPI_STATUS_IGNORE);
        flag = 0;
        DO(Mrecv, in, LARGE, MPI_BYTE, &first, &status);
        received_as(&status);
    }
    DO(Mprobe, MPI_PROC_NULL, TAG, copy, &none, &status);
    DO(Mprobe, MPI_PROC_NULL, TAG, copy, &first, MPI_STATUS_IGNORE);
    if (none != MPI_MESSAGE_NO_PROC)
        exit(1);
    DO(Mrecv, in, LARGE, MPI_BYTE, &none, &status);
    DO(Imrecv, in, LARGE, MPI_BYTE, &first, &request);
    DO(Wait, &request, MPI_STATUS_IGNORE);
    none = MPI_MESSAGE_NO_PROC; /* without a probe */
    DO(Mrecv, in, LARGE, MPI_BYTE, &none, MPI_STATUS_IGNORE);
    /* A receive that fails before it takes the message, or while it does; and one whose communicator is freed before it. */
    DO(Comm_set_errhandler, copy, MPI_ERRORS_RETURN);
    DO(Comm_set_errhandler, MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    if (rank == 0)
        send(77, 1, tag, copy);
    if (rank == 1) {
        DO(Mprobe, MPI_ANY_SOURCE, tag, copy, &first, MPI_STATUS_IGNORE);
        if (DO(Mrecv, in, -1, MPI_BYTE, &first, &status) == MPI_SUCCESS)
            exit(1);
    }
    DO(Comm_free, &copy);
    if (rank == 1) {
        DO(Mrecv, in, LARGE, MPI_BYTE, &first, &status);
        received_as(&status);
    }
    DO(Comm_set_errhandler, MPI_COMM_WORLD, MPI_ERRORS_ARE_FATAL);
}

static void delay_ms(int ms)
{
    struct timespec begin, now;
    clock_gettime(CLOCK_MONOTONIC, &begin);
    do
        clock_gettime(CLOCK_MONOTONIC, &now);
    while ((now.tv_sec - begin.tv_sec) * 1000 + (now.tv_nsec - begin.tv_nsec) / 1000000 < ms);
}

/* Rank 1 waits in its probe until rank 0 sends, and rank 0 in its send until rank 1 receives what it has probed. */
static void run_late(void)
{
    MPI_Message message;
    MPI_Status status;
    DO(Barrier, MPI_COMM_WORLD);
    if (rank == 0) {
        delay_ms(DELAY_MS);
        sent(1, LARGE);
        DO(Ssend, out, LARGE, MPI_BYTE, 1, TAG, MPI_COMM_WORLD);
    } else if (rank == 1) {
        DO(Mprobe, 0, TAG, MPI_COMM_WORLD, &message, &status);
        delay_ms(DELAY_MS);
        DO(Mrecv, in, LARGE, MPI_BYTE, &message, &status);
        received_as(&status);
    }
}

/* Each thread has a tag of its own in both ranks; they send to each other, and receive in all ways. */
static void *run_thread(void *argument)
{
    int number = *(int *)argument, flag = 0, bytes = 10 * (number + 1);
    char *mine = in + number * 4096;
    MPI_Message message;
    MPI_Request request;
    MPI_Status status;
    for (int i = 0; i < ROUNDS; i++) {
        DO(Isend, out, bytes, MPI_BYTE, other, TAG + number, MPI_COMM_WORLD, &request);
        sent(other, bytes);
        if (i % 2) {
            DO(Mprobe, MPI_ANY_SOURCE, TAG + number, MPI_COMM_WORLD, &message, MPI_STATUS_IGNORE);
            DO(Mrecv, mine, 4096, MPI_BYTE, &message, &status);
        } else {
            MPI_Request receive;
            for (flag = 0; !flag;)
                DO(Improbe, MPI_ANY_SOURCE, TAG + number, MPI_COMM_WORLD, &flag, &message, MPI_STATUS_IGNORE);
            DO(Imrecv, mine, 4096, MPI_BYTE, &message, &receive);
            DO(Wait, &receive, &status);
        }
        received_as(&status);
        DO(Wait, &request, MPI_STATUS_IGNORE);
    }
    return NULL;
}

/* A tool between the recorder and MPI (late.c) holds the first thread's receive until the second one's has ended: MPI gets the receives in
 * another order than the recorder. */
extern _Thread_local int late_until;
extern int late_now;

static void *run_receive(void *argument)
{
    int first = *(int *)argument;
    late_until = first ? 2 : 0;
    while (!first && __atomic_load_n(&late_now, __ATOMIC_ACQUIRE) != 1)
        ; /* the other one has begun */
    DO(Recv, in + first * 64, 64, MPI_BYTE, 0, TAG + 8, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    received(0, first ? 32 : 16);
    if (!first) {
        send(1, 0, TAG + 9, MPI_COMM_WORLD);
        __atomic_store_n(&late_now, 2, __ATOMIC_RELEASE);
    }
    return NULL;
}

/* MPI may give the handle of a request that is complete to another thread before the call that completed it has returned. */
extern _Thread_local int held_until;
extern int held_now;

static void *run_handle(void *argument)
{
    int first = *(int *)argument;
    MPI_Request r;
    while (!first && __atomic_load_n(&held_now, __ATOMIC_ACQUIRE) != 1)
        ; /* the other one's request is complete */
    DO(Irecv, in + first * 64, 64, MPI_BYTE, 0, TAG + 10 + first, MPI_COMM_WORLD, &r);
    if (!first)
        __atomic_store_n(&held_now, 2, __ATOMIC_RELEASE);
    while (!first && __atomic_load_n(&held_now, __ATOMIC_ACQUIRE) != 3)
        ; /* its call has returned */
    held_until = first ? 2 : 0;
    DO(Wait, &r, MPI_STATUS_IGNORE);
    if (first)
        __atomic_store_n(&held_now, 3, __ATOMIC_RELEASE);
    received(0, first ? 41 : 40);
    return NULL;
}

static void run_order(void)
{
    int first[] = {1, 0};
    pthread_t threads[2];
    if (rank == 0) {
        send(16, 1, TAG + 8, MPI_COMM_WORLD);
        DO(Recv, in, 64, MPI_BYTE, 1, TAG + 9, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        received(1, 1);
        send(32, 1, TAG + 8, MPI_COMM_WORLD);
        send(41, 1, TAG + 11, MPI_COMM_WORLD);
        send(40, 1, TAG + 10, MPI_COMM_WORLD);
    }
    for (int i = 0; i < 4 && rank == 1; i++) {
        pthread_create(&threads[i % 2], NULL, i < 2 ? run_receive : run_handle, &first[i % 2]);
        if (i % 2) {
            pthread_join(threads[0], NULL);
            pthread_join(threads[1], NULL);
        }
    }
}

static void run_threads(void)
{
    pthread_t threads[THREADS];
    int numbers[THREADS], level;
    DO(Query_thread, &level);
    for (int i = 0; i < THREADS && rank < 2 && level == MPI_THREAD_MULTIPLE; i++) {
        numbers[i] = i;
        pthread_create(&threads[i], NULL, run_thread, &numbers[i]);
    }
    for (int i = 0; i < THREADS && rank < 2 && level == MPI_THREAD_MULTIPLE; i++)
        pthread_join(threads[i], NULL);
    DO(Barrier, MPI_COMM_WORLD);
    if (level == MPI_THREAD_MULTIPLE)
        run_order();
}

/* Persistent requests, started one by one and together; one is freed while it is active, one never started. */
static void run_persistent(void)
{
    MPI_Request r[3];
    MPI_Status status[2];
    if (rank > 1)
        return;
    DO(Recv_init, in, 64, MPI_BYTE, MPI_ANY_SOURCE, TAG, MPI_COMM_WORLD, &r[0]);
    DO(Ssend_init, out, 33, MPI_BYTE, other, TAG, MPI_COMM_WORLD, &r[1]);
    DO(Send_init, out, 9, MPI_BYTE, other, TAG, MPI_COMM_WORLD, &r[2]);
    for (int i = 0; i < ROUNDS; i++) {
        if (i % 2) {
            DO(Startall, 2, r);
        } else {
            DO(Start, &r[0]);
            DO(Start, &r[1]);
        }
        DO(Waitall, 2, r, i == 1 ? MPI_STATUSES_IGNORE : status);
        sent(other, 33);
        received(other, 33);
    }
    for (int i = 0; i < 3; i++)
        DO(Request_free, &r[i]);
}

#if MPI_VERSION >= 4
#define COLLECTIVE_INIT(name, ...) DO(name##_init, __VA_ARGS__)
#elif defined(OMPI_HAVE_MPI_EXT_PCOLLREQ)
#define COLLECTIVE_INIT(name, ...) MPIX_##name##_init(__VA_ARGS__) /* which is not recorded */
#endif

/* Persistent collectives with all ranks and with neighbors, which are no messages. They get the handles of persistent messages that were
 * freed, and are started and completed together with one of those. */
static void run_persistent_collectives(void)
{
#ifdef COLLECTIVE_INIT
    enum { KINDS = 22, WORDS = 16 };
    static int a[WORDS], b[KINDS][WORDS], ones[WORDS] = {1, 1, 1, 1}, offsets[WORDS], words[WORDS] = {0, 4, 8, 12};
    static MPI_Aint addresses[WORDS];
    MPI_Datatype types[WORDS];
    MPI_Request r[KINDS + 1];
    MPI_Comm ring;
    int period = 1, index, n = 0, all = KINDS + (rank < 2);
    for (int i = 0; i < WORDS; i++)
        types[i] = MPI_INT;
    DO(Cart_create, MPI_COMM_WORLD, 1, &size, &period, 0, &ring);
    for (int i = 0; i < KINDS; i++)
        DO(Send_init, out, 7, MPI_BYTE, (rank + 1) % size, TAG, MPI_COMM_WORLD, &r[i]);
    for (int i = 0; i < KINDS; i++)
        DO(Request_free, &r[i]);
#define INIT(name, ...) (COLLECTIVE_INIT(name, __VA_ARGS__, ring, MPI_INFO_NULL, &r[n]), n++)
    COLLECTIVE_INIT(Barrier, ring, MPI_INFO_NULL, &r[n++]);
    INIT(Bcast, b[n], 1, MPI_INT, 0);
    INIT(Scatter, a, 1, MPI_INT, b[n], 1, MPI_INT, 0);
    INIT(Scatterv, a, ones, offsets, MPI_INT, b[n], 1, MPI_INT, 0);
    INIT(Gather, a, 1, MPI_INT, b[n], 1, MPI_INT, 0);
    INIT(Gatherv, a, 1, MPI_INT, b[n], ones, offsets, MPI_INT, 0);
    INIT(Reduce, a, b[n], 1, MPI_INT, MPI_SUM, 0);
    INIT(Allgather, a, 1, MPI_INT, b[n], 1, MPI_INT);
    INIT(Allgatherv, a, 1, MPI_INT, b[n], ones, offsets, MPI_INT);
    INIT(Alltoall, a, 1, MPI_INT, b[n], 1, MPI_INT);
    INIT(Alltoallv, a, ones, offsets, MPI_INT, b[n], ones, offsets, MPI_INT);
    INIT(Alltoallw, a, ones, words, types, b[n], ones, words, types);
    INIT(Allreduce, MPI_IN_PLACE, b[n], 1, MPI_INT, MPI_SUM);
    INIT(Reduce_scatter, a, b[n], ones, MPI_INT, MPI_SUM);
    INIT(Reduce_scatter_block, a, b[n], 1, MPI_INT, MPI_SUM);
    INIT(Scan, a, b[n], 1, MPI_INT, MPI_SUM);
    INIT(Exscan, a, b[n], 1, MPI_INT, MPI_SUM);
    INIT(Neighbor_allgather, a, 1, MPI_INT, b[n], 1, MPI_INT);
    INIT(Neighbor_allgatherv, a, 1, MPI_INT, b[n], ones, offsets, MPI_INT);
    INIT(Neighbor_alltoall, a, 1, MPI_INT, b[n], 1, MPI_INT);
    INIT(Neighbor_alltoallv, a, ones, offsets, MPI_INT, b[n], ones, offsets, MPI_INT);
    INIT(Neighbor_alltoallw, a, ones, addresses, types, b[n], ones, addresses, types);
#undef INIT
    if (rank == 0)
        DO(Send_init, out, 21, MPI_BYTE, 1, TAG, MPI_COMM_WORLD, &r[KINDS]);
    if (rank == 1)
        DO(Recv_init, in, 64, MPI_BYTE, MPI_ANY_SOURCE, TAG, MPI_COMM_WORLD, &r[KINDS]);
    for (int i = 0; i < ROUNDS; i++) {
        for (int k = 0; k < KINDS; k++) {
            DO(Start, &r[k]);
            if (k % 2)
                DO(Wait, &r[k], MPI_STATUS_IGNORE);
            else
                DO(Waitany, 1, &r[k], &index, MPI_STATUS_IGNORE);
        }
        DO(Startall, all, r);
        DO(Waitall, all, r, MPI_STATUSES_IGNORE);
        if (rank == 0)
            sent(1, 21);
        if (rank == 1)
            received(0, 21);
    }
    for (int i = 0; i < all; i++)
        DO(Request_free, &r[i]);
    DO(Comm_free, &ring);
#endif
}

/* Completions of a part of several requests, in all ways. */
static void run_some(void)
{
    enum { N = 6 };
    MPI_Request r[N];
    MPI_Status status[N];
    int index, indices[N], n, flag;
    if (rank > 1)
        return;
    for (int way = 0; way < 6; way++) {
        for (int i = 0; i < N; i++)
            DO(Irecv, in + i * 64, 64, MPI_BYTE, i % 2 ? other : MPI_ANY_SOURCE, TAG + i, MPI_COMM_WORLD, &r[i]);
        for (int i = 0; i < N; i++)
            send(i + 1, other, TAG + i, MPI_COMM_WORLD);
        for (int left = N; left > 0;) {
            flag = 1;
            n = 1;
            index = 0;
            if (way == 0)
                DO(Waitany, N, r, &index, status);
            else if (way == 1)
                DO(Waitsome, N, r, &n, indices, status);
            else if (way == 2)
                DO(Testsome, N, r, &n, indices, MPI_STATUSES_IGNORE);
            else if (way == 3)
                DO(Testany, N, r, &index, &flag, status);
            else if (way == 4)
                DO(Testall, N, r, &flag, status);
            else
                DO(Waitall, N, r, MPI_STATUSES_IGNORE);
            left = way >= 4 ? (flag ? 0 : left) : way == 1 || way == 2 ? left - n : left - flag;
        }
        for (int i = 0; i < N; i++)
            received(other, i + 1);
    }
    DO(Waitany, N, r, &index, MPI_STATUS_IGNORE); /* all are MPI_REQUEST_NULL */
}

/* A receive that is canceled, and one whose message arrives for the same buffer afterwards. */
static void run_cancel(void)
{
    MPI_Request r;
    MPI_Status status;
    int canceled = 0;
    if (rank > 1)
        return;
    DO(Irecv, in, 64, MPI_BYTE, other, TAG + 9, MPI_COMM_WORLD, &r);
    DO(Cancel, &r);
    DO(Wait, &r, &status);
    DO(Test_cancelled, &status, &canceled);
    if (!canceled)
        exit(1);
    DO(Sendrecv, NULL, 0, MPI_BYTE, other, TAG, NULL, 0, MPI_BYTE, other, TAG, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    sent(other, 0);
    received(other, 0);
    send(12, other, TAG + 9, MPI_COMM_WORLD);
    DO(Recv, in, 64, MPI_BYTE, MPI_ANY_SOURCE, TAG + 9, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    received(other, 12);
}

static void run_replace(void)
{
    MPI_Status status;
    int next = (rank + 1) % size, previous = (rank + size - 1) % size;
    for (int i = 0; i < ROUNDS; i++) {
        DO(Sendrecv_replace, in, 21, MPI_BYTE, next, TAG, i % 2 ? MPI_ANY_SOURCE : previous, MPI_ANY_TAG,
           MPI_COMM_WORLD, i == 1 ? MPI_STATUS_IGNORE : &status);
        sent(next, 21);
        received(previous, 21);
    }
}

/* Nothing is sent to MPI_PROC_NULL, or received from it. */
static void run_null(void)
{
    MPI_Request r[2];
    DO(Send, out, 5, MPI_BYTE, MPI_PROC_NULL, TAG, MPI_COMM_WORLD);
    DO(Recv, in, 5, MPI_BYTE, MPI_PROC_NULL, MPI_ANY_TAG, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    DO(Irecv, in, 5, MPI_BYTE, MPI_PROC_NULL, TAG, MPI_COMM_WORLD, &r[0]);
    DO(Isend, out, 5, MPI_BYTE, MPI_PROC_NULL, TAG, MPI_COMM_WORLD, &r[1]);
    DO(Waitall, 2, r, MPI_STATUSES_IGNORE);
    DO(Sendrecv, out, 5, MPI_BYTE, MPI_PROC_NULL, TAG, in, 5, MPI_BYTE, MPI_PROC_NULL, TAG, MPI_COMM_WORLD,
       MPI_STATUS_IGNORE);
    DO(Probe, MPI_PROC_NULL, TAG, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

/* Half of a Sendrecv with MPI_PROC_NULL, as at the end of a line of ranks. */
static void run_line(void)
{
    int next = rank + 1 < size ? rank + 1 : MPI_PROC_NULL, previous = rank ? rank - 1 : MPI_PROC_NULL;
    DO(Sendrecv, out, 17, MPI_BYTE, next, TAG, in, 64, MPI_BYTE, previous, TAG, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    if (next >= 0)
        sent(next, 17);
    if (previous >= 0)
        received(previous, 17);
}

/* ---------------------------------------------------------------------------------------------------- communicators */

/* Communicators that are freed, whose handles are used again; ranks are other ones in them. */
static void run_comms(void)
{
    MPI_Comm split, copy, part;
    MPI_Group world, group;
    int members[] = {1, 0}, of;
    for (int i = 0; i < ROUNDS; i++) {
        DO(Comm_split, MPI_COMM_WORLD, rank < 2 ? 0 : MPI_UNDEFINED, -rank, &split); /* the order is reversed */
        if (split != MPI_COMM_NULL) {
            DO(Comm_dup, split, &copy);
            DO(Comm_rank, copy, &of);
            DO(Send, out, 40 + i, MPI_BYTE, 1 - of, TAG, copy);
            sent(other, 40 + i);
            DO(Recv, in, 64, MPI_BYTE, MPI_ANY_SOURCE, TAG, copy, MPI_STATUS_IGNORE);
            received(other, 40 + i);
            DO(Comm_free, &split);
            DO(Send, out, 7, MPI_BYTE, 1 - of, TAG, copy);
            sent(other, 7);
            DO(Recv, in, 64, MPI_BYTE, 1 - of, TAG, copy, MPI_STATUS_IGNORE);
            received(other, 7);
            DO(Comm_free, &copy);
        }
    }
    DO(Comm_group, MPI_COMM_WORLD, &world);
    DO(Group_incl, world, 2, members, &group);
    DO(Comm_create, MPI_COMM_WORLD, group, &part);
    if (part != MPI_COMM_NULL) {
        DO(Comm_rank, part, &of);
        DO(Sendrecv, out, 3, MPI_BYTE, 1 - of, TAG, in, 64, MPI_BYTE, 1 - of, TAG, part, MPI_STATUS_IGNORE);
        sent(other, 3);
        received(other, 3);
        DO(Comm_free, &part);
    }
    if (rank < 2) {
        DO(Comm_create_group, MPI_COMM_WORLD, group, 7, &part);
        DO(Comm_rank, part, &of);
        DO(Sendrecv, out, 4, MPI_BYTE, 1 - of, TAG, in, 64, MPI_BYTE, 1 - of, TAG, part, MPI_STATUS_IGNORE);
        sent(other, 4);
        received(other, 4);
        DO(Comm_free, &part);
    }
    DO(Group_free, &group);
    DO(Group_free, &world);
}

/* Messages between two groups: rank 0 is alone in one of them, and number 0 there as rank 1 is in the other one. */
static void between(MPI_Comm inter, int tag)
{
    MPI_Request r[2];
    MPI_Status status;
    MPI_Message message;
    int flag = 0;
    for (int to = 0; to < size - 1 && rank == 0; to++) {
        sent(to + 1, 10 + to);
        DO(Send, out, 10 + to, MPI_BYTE, to, tag, inter);
        DO(Recv, in, 64, MPI_BYTE, MPI_ANY_SOURCE, tag, inter, &status);
        received(status.MPI_SOURCE + 1, 20 + status.MPI_SOURCE + 1);
    }
    if (rank) {
        DO(Irecv, in, 64, MPI_BYTE, rank % 2 ? 0 : MPI_ANY_SOURCE, tag, inter, &r[0]);
        DO(Isend, out, 20 + rank, MPI_BYTE, 0, tag, inter, &r[1]);
        sent(0, 20 + rank);
        DO(Waitall, 2, r, MPI_STATUSES_IGNORE);
        received(0, 10 + rank - 1);
    }
    if (rank > 1)
        return;
    tag += 20; /* none of these is for the receives from any rank above */
    for (int i = 0; i < ROUNDS; i++) {
        sent(other, 1 + rank);
        received(other, 1 + other);
        DO(Sendrecv, out, 1 + rank, MPI_BYTE, 0, tag, in, 64, MPI_BYTE, i % 2 ? MPI_ANY_SOURCE : 0, tag, inter,
           &status);
    }
    sent(other, 3);
    DO(Isend, out, 3, MPI_BYTE, 0, tag, inter, &r[0]);
    while (!flag)
        DO(Improbe, MPI_ANY_SOURCE, tag, inter, &flag, &message, MPI_STATUS_IGNORE);
    DO(Imrecv, in, 64, MPI_BYTE, &message, &r[1]);
    DO(Waitall, 2, r, MPI_STATUSES_IGNORE);
    received(other, 3);
    DO(Irecv, in, 64, MPI_BYTE, MPI_ANY_SOURCE, tag, inter, &r[1]);
    sent(other, 4);
    DO(Send, out, 4, MPI_BYTE, 0, tag, inter);
    DO(Wait, &r[1], &status);
    received_as_other(&status);
}

static void run_inter(void)
{
    MPI_Comm half, inter, copy, again, all, part;
    MPI_Request r;
    int of, word = 0, sum = 0;
    DO(Comm_split, MPI_COMM_WORLD, rank == 0, rank, &half);
    DO(Intercomm_create, half, 0, MPI_COMM_WORLD, rank == 0, TAG, &inter);
    DO(Intercomm_create, half, 0, MPI_COMM_WORLD, rank == 0, TAG, &again); /* the same groups and tag */
    between(inter, TAG);
    between(again, TAG);
    DO(Comm_dup, inter, &copy);
    DO(Allreduce, &word, &sum, 1, MPI_INT, MPI_SUM, copy);
    DO(Bcast, &word, 1, MPI_INT, rank == 0 ? MPI_ROOT : 0, copy);
    between(copy, TAG);
    DO(Intercomm_merge, inter, rank == 0, &all);
    DO(Comm_rank, all, &of); /* rank 0 is the last one */
    DO(Barrier, all);
    DO(Comm_split, all, 0, rank, &part);
    if (of == 0) {
        sent(0, 6);
        DO(Send, out, 6, MPI_BYTE, size - 1, TAG, all);
        sent(0, 7);
        DO(Send, out, 7, MPI_BYTE, 0, TAG, part);
    }
    if (rank == 0) {
        DO(Recv, in, 64, MPI_BYTE, 0, TAG, all, MPI_STATUS_IGNORE);
        received(1, 6);
        DO(Recv, in, 64, MPI_BYTE, 1, TAG, part, MPI_STATUS_IGNORE);
        received(1, 7);
    }
    DO(Barrier, part);
    DO(Comm_free, &part);
    DO(Comm_free, &all);
    DO(Comm_free, &copy);
    DO(Comm_free, &again);
    DO(Comm_free, &inter);
    DO(Comm_free, &half);
}

/* Copies that are not there yet when the call returns; between it and its completion there are other collectives. */
static void run_idup(void)
{
    MPI_Comm half, copy[3];
    MPI_Request r[3];
    int word = 0, sum;
    DO(Comm_split, MPI_COMM_WORLD, rank < 2 ? 0 : 1, -rank, &half);
    for (int i = 0; i < ROUNDS; i++) {
        DO(Comm_idup, MPI_COMM_WORLD, &copy[0], &r[0]);
        DO(Comm_idup, MPI_COMM_SELF, &copy[1], &r[1]);
        DO(Comm_idup, half, &copy[2], &r[2]);
        DO(Allreduce, &word, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
        if (i % 2) {
            DO(Waitall, 3, r, MPI_STATUSES_IGNORE);
        } else {
            DO(Wait, &r[1], MPI_STATUS_IGNORE);
            DO(Wait, &r[0], MPI_STATUS_IGNORE);
            DO(Wait, &r[2], MPI_STATUS_IGNORE);
        }
        DO(Sendrecv, out, 11, MPI_BYTE, 0, TAG, in, 64, MPI_BYTE, 0, TAG, copy[1], MPI_STATUS_IGNORE);
        sent(rank, 11);
        received(rank, 11);
        if (rank < 2) {
            DO(Sendrecv, out, 12, MPI_BYTE, other, TAG, in, 64, MPI_BYTE, other, TAG, copy[0], MPI_STATUS_IGNORE);
            DO(Sendrecv, out, 13, MPI_BYTE, rank, TAG, in, 64, MPI_BYTE, rank, TAG, copy[2], MPI_STATUS_IGNORE);
            sent(other, 12);
            sent(other, 13);
            received(other, 12);
            received(other, 13);
        }
        DO(Barrier, copy[0]);
        for (int k = 0; k < 3; k++)
            DO(Comm_free, &copy[k]);
    }
    DO(Comm_free, &half);
}

/* Collectives with neighbors, which are no messages. */
static void run_neighbors(void)
{
    MPI_Comm ring;
    MPI_Request r;
    int period = 1, word = rank, words[2];
    DO(Cart_create, MPI_COMM_WORLD, 1, &size, &period, 0, &ring);
    DO(Neighbor_allgather, &word, 1, MPI_INT, words, 1, MPI_INT, ring);
    DO(Neighbor_alltoall, words, 1, MPI_INT, (int *)in, 1, MPI_INT, ring);
    DO(Ineighbor_allgather, &word, 1, MPI_INT, words, 1, MPI_INT, ring, &r);
    DO(Wait, &r, MPI_STATUS_IGNORE);
    DO(Comm_free, &ring);
}

/* --------------------------------------------------------------------------------------------------- counted calls */

static void run_rma(void)
{
    MPI_Win win;
    DO(Win_create, in, LARGE, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &win);
    DO(Win_fence, 0, win);
    DO(Put, out, 8, MPI_BYTE, (rank + 1) % size, 0, 8, MPI_BYTE, win);
    DO(Win_fence, 0, win);
    DO(Win_lock, MPI_LOCK_SHARED, (rank + 1) % size, 0, win);
    DO(Get, out, 8, MPI_BYTE, (rank + 1) % size, 0, 8, MPI_BYTE, win);
    DO(Win_flush, (rank + 1) % size, win);
    DO(Win_unlock, (rank + 1) % size, win);
    DO(Win_free, &win);
}

static void run_files(void)
{
    MPI_File file;
    MPI_Status status;
    DO(File_open, MPI_COMM_WORLD, "truth.file", MPI_MODE_CREATE | MPI_MODE_RDWR, MPI_INFO_NULL, &file);
    DO(File_write_at, file, rank * 16, out, 16, MPI_BYTE, &status);
    DO(File_write_at_all, file, rank * 16, out, 16, MPI_BYTE, &status);
    DO(File_sync, file);
    DO(File_read_at, file, rank * 16, in, 16, MPI_BYTE, MPI_STATUS_IGNORE);
    DO(File_close, &file);
}

/* Partitioned messages and sessions are of MPI 4. */
static void run_partitioned(void)
{
#if MPI_VERSION >= 4
    enum { PARTS = 4 };
    MPI_Request r;
    int flag;
    if (rank == 0) {
        DO(Psend_init, out, PARTS, 8, MPI_BYTE, 1, TAG, MPI_COMM_WORLD, MPI_INFO_NULL, &r);
        DO(Start, &r);
        DO(Pready, 0, r);
        DO(Pready_range, 1, PARTS - 1, r);
    } else if (rank == 1) {
        DO(Precv_init, in, PARTS, 8, MPI_BYTE, 0, TAG, MPI_COMM_WORLD, MPI_INFO_NULL, &r);
        DO(Start, &r);
        DO(Parrived, r, 0, &flag);
    }
    if (rank < 2) {
        DO(Wait, &r, MPI_STATUS_IGNORE);
        DO(Request_free, &r);
    }
#endif
}

static void run_session(void)
{
#if MPI_VERSION >= 4
    MPI_Session session;
    DO(Session_init, MPI_INFO_NULL, MPI_ERRORS_RETURN, &session);
    DO(Session_finalize, &session);
#endif
}

int main(int argc, char **argv)
{
    static const struct {
        const char *name;
        void (*run)(void);
    } programs[] = {
        {"mprobe", run_mprobe},       {"late", run_late},
        {"threads", run_threads},     {"persistent", run_persistent},
        {"some", run_some},           {"cancel", run_cancel},
        {"replace", run_replace},     {"null", run_null},
        {"line", run_line},           {"comms", run_comms},
        {"inter", run_inter},         {"idup", run_idup},
        {"neighbors", run_neighbors}, {"rma", run_rma},
        {"files", run_files},         {"partitioned", run_partitioned},
        {"session", run_session},     {"collectives", run_persistent_collectives},
    };
    int level, wanted = MPI_THREAD_SINGLE;
    for (int a = 2; a < argc; a++)
        if (strcmp(argv[a], "threads") == 0)
            wanted = MPI_THREAD_MULTIPLE;
    DO(Init_thread, &argc, &argv, wanted, &level);
    DO(Comm_rank, MPI_COMM_WORLD, &rank);
    DO(Comm_size, MPI_COMM_WORLD, &size);
    other = 1 - rank;
    for (int a = 2; a < argc; a++)
        for (size_t i = 0; i < sizeof programs / sizeof *programs; i++)
            if (strcmp(programs[i].name, argv[a]) == 0) {
                programs[i].run();
                DO(Barrier, MPI_COMM_WORLD);
            }
    DO(Finalize);
    write_counts(argv[1]);
    return 0;
}
