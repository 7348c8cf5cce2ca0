/* SPDX-License-Identifier: MIT */
/* An MPI library of one rank with the ABI of MPI 5.0, as far as the recorder and the subject call it. Messages go to the rank itself. */
#include <stdint.h>
#include <string.h>

enum {
    NULL_COMM = 0x100,
    WORLD = 0x101,
    SELF = 0x102,
    NULL_REQUEST = 0x180,
    BYTE = 0x247,
    DOUBLE = 0x214,
    GROUP = 0x10a
};
enum { ANY_SOURCE = -1, ANY_TAG = -2, THREAD_MULTIPLE = 4096, ERROR = 16, REQUEST = 0x1000, COMBINER_NAMED = 101 };

struct status {
    int source, tag, error, reserved[5];
};

static struct {
    char data[256];
    int bytes, tag;
} sent;

#define BOTH(name, parameters)                                             \
    int PMPI_##name parameters;                                            \
    int MPI_##name parameters __attribute__((weak, alias("PMPI_" #name))); \
    int PMPI_##name parameters

static int width(intptr_t type)
{
    return type == BYTE ? 1 : type == DOUBLE ? 8 : -1;
}

static int is_comm(intptr_t comm)
{
    return comm == WORLD || comm == SELF;
}

BOTH(Abi_get_version, (int *major, int *minor))
{
    *major = 1;
    *minor = 0;
    return 0;
}
BOTH(Get_library_version, (char *text, int *length))
{
    strcpy(text, "Fake MPI 5.0");
    *length = 12;
    return 0;
}
BOTH(Init, (int *argc, char ***argv))
{
    (void)argc;
    (void)argv;
    return 0;
}
BOTH(Finalize, (void))
{
    return 0;
}
BOTH(Query_thread, (int *level))
{
    *level = THREAD_MULTIPLE;
    return 0;
}
BOTH(Comm_rank, (intptr_t comm, int *rank))
{
    *rank = 0;
    return is_comm(comm) ? 0 : ERROR;
}
BOTH(Comm_size, (intptr_t comm, int *size))
{
    *size = 1;
    return is_comm(comm) ? 0 : ERROR;
}
BOTH(Comm_group, (intptr_t comm, intptr_t *group))
{
    *group = GROUP;
    return is_comm(comm) ? 0 : ERROR;
}
BOTH(Comm_remote_group, (intptr_t comm, intptr_t *group))
{
    (void)comm;
    (void)group;
    return ERROR;
}
BOTH(Group_size, (intptr_t group, int *size))
{
    *size = 1;
    return group == GROUP ? 0 : ERROR;
}
BOTH(Group_rank, (intptr_t group, int *rank))
{
    *rank = 0;
    return group == GROUP ? 0 : ERROR;
}
BOTH(Group_translate_ranks, (intptr_t a, int n, const int *x, intptr_t b, int *y))
{
    (void)a;
    (void)b;
    memcpy(y, x, (size_t)n * sizeof *y);
    return 0;
}
BOTH(Group_free, (intptr_t * group))
{
    *group = 0;
    return 0;
}
BOTH(Comm_test_inter, (intptr_t comm, int *is))
{
    *is = 0;
    return is_comm(comm) ? 0 : ERROR;
}
BOTH(Type_size, (intptr_t type, int *size))
{
    *size = width(type);
    return width(type) > 0 ? 0 : ERROR;
}
BOTH(Type_get_envelope, (intptr_t type, int *integers, int *addresses, int *types, int *combiner))
{
    *integers = *addresses = *types = 0;
    *combiner = COMBINER_NAMED;
    return width(type) > 0 ? 0 : ERROR;
}
BOTH(Get_count, (const struct status *s, intptr_t type, int *count))
{
    *count = s->reserved[0] / width(type);
    return 0;
}
BOTH(Test_cancelled, (const struct status *s, int *is))
{
    (void)s;
    *is = 0;
    return 0;
}

BOTH(Send, (const void *data, int count, intptr_t type, int to, int tag, intptr_t comm))
{
    if (to != 0 || !is_comm(comm) || width(type) < 0)
        return ERROR;
    sent.bytes = count * width(type);
    sent.tag = tag;
    memcpy(sent.data, data, (size_t)sent.bytes);
    return 0;
}

BOTH(Recv, (void *data, int count, intptr_t type, int from, int tag, intptr_t comm, struct status *s))
{
    if ((from != 0 && from != ANY_SOURCE) || (tag != sent.tag && tag != ANY_TAG) || !is_comm(comm) ||
        count * width(type) < sent.bytes)
        return ERROR;
    memcpy(data, sent.data, (size_t)sent.bytes);
    if (s)
        *s = (struct status){.tag = sent.tag, .reserved = {sent.bytes}};
    return 0;
}

BOTH(Sendrecv, (const void *out, int n, intptr_t type, int to, int tag, void *in, int capacity, intptr_t kind, int from,
                int want, intptr_t comm, struct status *s))
{
    int rc = PMPI_Send(out, n, type, to, tag, comm);
    return rc ? rc : PMPI_Recv(in, capacity, kind, from, want, comm, s);
}

static void *waiting;
static int capacity;
BOTH(Irecv, (void *data, int count, intptr_t type, int from, int tag, intptr_t comm, intptr_t *request))
{
    (void)from;
    (void)tag;
    (void)comm;
    waiting = data;
    capacity = count * width(type);
    *request = REQUEST;
    return 0;
}
BOTH(Wait, (intptr_t * request, struct status *s))
{
    *request = NULL_REQUEST;
    return PMPI_Recv(waiting, capacity, BYTE, ANY_SOURCE, ANY_TAG, WORLD, s);
}
BOTH(Test, (intptr_t * request, int *done, struct status *s))
{
    *done = 1;
    return PMPI_Wait(request, s);
}
BOTH(Cancel, (intptr_t * request))
{
    (void)request;
    return 0;
}
BOTH(Allgather, (const void *a, int n, intptr_t t, void *b, int m, intptr_t u, intptr_t comm))
{
    (void)m;
    (void)u;
    (void)comm;
    memcpy(b, a, (size_t)(n * width(t)));
    return 0;
}
BOTH(Comm_dup, (intptr_t comm, intptr_t *to))
{
    *to = comm;
    return 0;
}
BOTH(Comm_split, (intptr_t comm, int color, int key, intptr_t *to))
{
    (void)color;
    (void)key;
    *to = comm;
    return 0;
}
BOTH(Comm_free, (intptr_t * comm))
{
    *comm = NULL_COMM;
    return 0;
}
BOTH(Barrier, (intptr_t comm))
{
    return is_comm(comm) ? 0 : ERROR;
}

BOTH(Session_init, (intptr_t info, intptr_t handler, intptr_t *session))
{
    (void)info;
    (void)handler;
    *session = 0x2000;
    return 0;
}

BOTH(Session_finalize, (intptr_t * session))
{
    *session = 0x120;
    return 0;
}

BOTH(Psend_init, (const void *data, int parts, int64_t count, intptr_t type, int to, int tag, intptr_t comm,
                  intptr_t info, intptr_t *request))
{
    (void)data;
    (void)info;
    *request = REQUEST;
    return parts == 2 && count == 4 && type == DOUBLE && to == 0 && tag == 3 && comm == WORLD ? 0 : ERROR;
}

BOTH(Pready, (int part, intptr_t request))
{
    return part >= 0 && part < 2 && request == REQUEST ? 0 : ERROR;
}
