/* SPDX-License-Identifier: MIT */
/* Sessions, with and without MPI_Init(): sessions once|twice|several|world|killed. Ranks are numbered in reverse in the communicators. */
#include <mpi.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>

enum { TAG = 3, ROUNDS = 3 };

static MPI_Session session_begin(void)
{
    MPI_Session s;
    MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_RETURN, &s);
    return s;
}

static MPI_Comm make_comm(MPI_Session s, const char *tag)
{
    MPI_Group world, reversed;
    MPI_Comm comm;
    int size;
    MPI_Group_from_session_pset(s, "mpi://WORLD", &world);
    MPI_Group_size(world, &size);
    MPI_Group_range_incl(world, 1, (int[1][3]){{size - 1, 0, -1}}, &reversed);
    MPI_Comm_create_from_group(reversed, tag, MPI_INFO_NULL, MPI_ERRORS_RETURN, &comm);
    MPI_Group_free(&reversed);
    MPI_Group_free(&world);
    return comm;
}

/* In each round a message to the next rank, with a size that is its number, one of MPI_Isendrecv(), and two collective calls. */
static void talk(MPI_Comm comm)
{
    char out[64], in[64];
    int rank, size, sum;
    MPI_Request r;
    MPI_Comm copy;
    MPI_Comm_rank(comm, &rank);
    MPI_Comm_size(comm, &size);
    MPI_Comm_dup(comm, &copy);
    for (int i = 1; i <= ROUNDS; i++) {
        int next = (rank + 1) % size, before = (rank + size - 1) % size;
        MPI_Send_c(out, i, MPI_BYTE, next, TAG, comm);
        MPI_Recv_c(in, sizeof in, MPI_BYTE, i % 2 ? MPI_ANY_SOURCE : before, TAG, comm, MPI_STATUS_IGNORE);
        MPI_Isendrecv(out, 10 * i, MPI_BYTE, before, TAG, in, sizeof in, MPI_BYTE, next, TAG, copy, &r);
        MPI_Wait(&r, MPI_STATUS_IGNORE);
        MPI_Isendrecv_replace(in, 10 * i, MPI_BYTE, next, TAG + 1, before, TAG + 1, copy, &r);
        MPI_Wait(&r, MPI_STATUS_IGNORE);
        MPI_Allreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, comm);
        MPI_Barrier(copy);
    }
    MPI_Comm_free(&copy);
}

static void session_of_its_own(const char *tag)
{
    MPI_Session s = session_begin();
    MPI_Comm comm = make_comm(s, tag);
    talk(comm);
    MPI_Comm_free(&comm);
    MPI_Session_finalize(&s);
}

static void several_sessions(void)
{
    MPI_Session first = session_begin(), second = session_begin();
    MPI_Comm a = make_comm(first, "a"), b = make_comm(second, "b"), same;
    talk(b);
    talk(a);
    MPI_Comm_free(&a);
    MPI_Session_finalize(&first);  /* the first one that began, and through which ranks were known */
    same = make_comm(second, "b"); /* of the same members and tag */
    talk(same);
    talk(b);
    MPI_Comm_free(&same);
    MPI_Comm_free(&b);
    MPI_Session_finalize(&second);
}

int main(int argc, char **argv)
{
    const char *how = argc == 2 ? argv[1] : "";
    if (strcmp(how, "once") == 0)
        session_of_its_own("once");
    if (strcmp(how, "twice") == 0) {
        MPI_Session s = session_begin();
        MPI_Session_finalize(&s);
        session_of_its_own("second");
    }
    if (strcmp(how, "several") == 0)
        several_sessions();
    if (strcmp(how, "world") == 0) {
        MPI_Session s = session_begin();
        MPI_Comm comm = make_comm(s, "before");
        talk(comm);
        MPI_Init(&argc, &argv);
        talk(MPI_COMM_WORLD);
        talk(comm);
        MPI_Comm_free(&comm);
        MPI_Session_finalize(&s);
        talk(MPI_COMM_WORLD);
        MPI_Finalize();
    }
    if (strcmp(how, "killed") == 0) {
        MPI_Session s = session_begin();
        MPI_Comm comm = make_comm(s, "killed");
        int rank;
        MPI_Comm_rank(comm, &rank);
        talk(comm);
        MPI_Barrier(comm);
        if (rank == 0) /* rank 1 of the job */
            raise(SIGKILL);
        MPI_Recv(&rank, 1, MPI_INT, 0, TAG, comm, MPI_STATUS_IGNORE);
    }
    return 0;
}
