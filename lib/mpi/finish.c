/* SPDX-License-Identifier: MIT */
/* Requests that a call starts or completes. */
#include "mpi/finish.h"

#include <errno.h>
#include <sys/mman.h>

#include "upmu/upmu.h"
#include "upmu/trace.h"

/* Places of further arguments, from 1 on. */
enum {
    TEST_FLAG = 2,
    TESTALL_FLAG = 3,
    ANY_INDEX = 3,
    TESTANY_FLAG = 4,
    SOME_COUNT = 3,
    SOME_INDICES = 4,
    PROBE_FLAG = 4
};

static bool is_single(const struct mpi_call *c)
{
    return c->row->class == MPI_CLASS_WAIT || c->row->class == MPI_CLASS_TEST;
}

static bool has_many_statuses(const struct mpi_call *c)
{
    switch (c->row->class) {
    case MPI_CLASS_WAITALL:
    case MPI_CLASS_WAITSOME:
    case MPI_CLASS_TESTALL:
    case MPI_CLASS_TESTSOME:
        return true;
    default:
        return false;
    }
}

static bool has_requests(const struct mpi_call *c)
{
    return c->row->class >= MPI_CLASS_WAIT && c->row->class <= MPI_CLASS_TESTSOME;
}

/* The handle of request `i`, which Fortran has as an integer. */
static long request_handle(const struct mpi_call *c, uint32_t i)
{
    long at = c->a[c->row->request - 1];
    int32_t word;
    if (!c->fortran)
        return mpi_handle_load(at + (long)(i * mpi_abi.handle_bytes));
    memcpy(&word, (const void *)(at + (long)(i * sizeof word)), sizeof word);
    return word;
}

uint64_t mpi_finish_key(const struct mpi_call *c, uint32_t i)
{
    return mpi_request_key(request_handle(c, i), c->fortran);
}

/* Memory for the keys and statuses of many requests. Without it they are not followed. */
static bool finish_map(struct mpi_call *c)
{
    int saved = errno;
    size_t bytes = c->n * (sizeof *c->keys + sizeof *c->before + mpi_abi.status_bytes);
    void *p = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    errno = saved;
    if (p == MAP_FAILED)
        return false;
    c->mapped = p;
    c->mapped_bytes = bytes;
    c->keys = p;
    c->before = (struct mpi_request *)(c->keys + c->n);
    c->statuses = (unsigned char *)(c->before + c->n);
    return true;
}

static bool waits_for_several(const struct mpi_call *c)
{
    return c->row->class >= MPI_CLASS_WAITALL && c->row->class <= MPI_CLASS_WAITSOME;
}

/* Which requests the call waits for: one that is killed in it leaves no other trace of them. */
static void finish_describe_set(struct mpi_call *c)
{
    uint64_t low = UINT64_MAX, high = 0, n = 0;
    bool all = true;
    for (uint32_t i = 0; i < c->n; i++) {
        struct mpi_request r;
        bool found = mpi_request_find(c->keys[i], &r);
        bool active = found && r.number != 0;
        all &= found || request_handle(c, i) == mpi_abi.request_null;
        low = active && r.number < low ? r.number : low;
        high = active && r.number > high ? r.number : high;
        n += active;
    }
    /* One of those that are not followed could be the one that completes. */
    if (n == 0 || high - low > UINT32_MAX || (!all && c->row->class != MPI_CLASS_WAITALL))
        return;
    c->e.request = low;
    c->e.sequence = mpi_set_pack((uint32_t)n, (uint32_t)(high - low));
}

void mpi_finish_prepare(struct mpi_call *c, long *a)
{
    int n = !has_requests(c) ? 0 : is_single(c) ? 1 : mpi_call_int(c, c->row->count);
    c->n = n > 0 ? (uint32_t)n : 0;
    c->keys = c->own_keys;
    c->before = c->own_before;
    c->statuses = c->own_statuses;
    if (c->n > MPI_CALL_REQUESTS && !finish_map(c))
        c->n = 0;
    for (uint32_t i = 0; i < c->n; i++)
        c->keys[i] = mpi_finish_key(c, i);
    if (!mpi_process.several)
        c->before = NULL;
    for (uint32_t i = 0; i < c->n && c->before; i++)
        if (!mpi_request_find(c->keys[i], &c->before[i]))
            c->before[i].number = 0;
    bool replaced =
        c->row->status && mpi_ignores_status(a[c->row->status - 1], c->fortran) && (c->n || !has_requests(c));
    if (replaced)
        a[c->row->status - 1] = (long)c->statuses;
    else
        c->statuses = NULL;
}

void mpi_finish_describe(struct mpi_call *c)
{
    struct mpi_request r;
    if (is_single(c) && c->n && mpi_request_find(c->keys[0], &r)) {
        c->e.request = r.number;
        c->e.comm = r.comm;
        c->e.peer = r.peer;
        c->e.tag = r.tag;
    }
    if (waits_for_several(c))
        finish_describe_set(c);
}

bool mpi_finish_status(const struct mpi_call *c, uint32_t i, const void **status)
{
    long at = c->row->status ? c->a[c->row->status - 1] : 0;
    if (!at || (c->fortran && mpi_is_fortran_ignore(at)))
        return false;
    *status = (const char *)at + (has_many_statuses(c) ? i * mpi_abi.status_bytes : 0);
    return true;
}

void mpi_finish_write_done(struct mpi_call *c, uint64_t tick)
{
    for (uint32_t i = 0; i < c->n_done; i++)
        mpi_write_request(c->stream, tick, &c->done[i]);
    c->n_done = 0;
}

/* Request `i` is complete, and its status is number `s`. */
static void request_done(struct mpi_call *c, uint64_t tick, uint32_t i, uint32_t s)
{
    struct mpi_request r;
    const void *status = NULL;
    if (i >= c->n)
        return;
    bool has_status = mpi_finish_status(c, s, &status);
    bool pending =
        c->rc != 0 && has_status && mpi_status_read(status).error != 0 && request_handle(c, i) != mpi_abi.request_null;
    if (pending)
        return;
    if (c->before) {
        r = c->before[i];
        mpi_request_complete_copy(&r);
    } else if (!mpi_request_complete(c->keys[i], &r)) {
        return;
    }
    if (r.number == 0)
        return;
    if (c->n_done == MPI_CALL_DONE)
        mpi_finish_write_done(c, tick);
    c->done[c->n_done++] = mpi_finish_event(&r, c->rc, has_status ? status : NULL);
}

/* An index into the requests of a call; Fortran counts from 1 on. */
static uint32_t index_of(const struct mpi_call *c, int32_t index)
{
    return (uint32_t)(c->fortran ? index - 1 : index); /* MPI_UNDEFINED becomes larger than any */
}

static void some_done(struct mpi_call *c, uint64_t tick)
{
    int found = mpi_call_int_at(c, SOME_COUNT);
    const char *indices = (const char *)c->a[SOME_INDICES - 1];
    for (int k = 0; k < found; k++) {
        int32_t index;
        memcpy(&index, indices + (size_t)k * sizeof index, sizeof index);
        request_done(c, tick, index_of(c, index), (uint32_t)k);
    }
}

bool mpi_finish_found(const struct mpi_call *c)
{
    switch (c->row->class) {
    case MPI_CLASS_TEST:
        return mpi_call_int_at(c, TEST_FLAG) != 0;
    case MPI_CLASS_TESTALL:
        return mpi_call_int_at(c, TESTALL_FLAG) != 0;
    case MPI_CLASS_TESTANY:
        return mpi_call_int_at(c, TESTANY_FLAG) != 0;
    case MPI_CLASS_TESTSOME:
        return mpi_call_int_at(c, SOME_COUNT) != 0;
    case MPI_CLASS_IPROBE:
        return mpi_call_int_at(c, PROBE_FLAG) != 0;
    default:
        return true;
    }
}

void mpi_finish_collect(struct mpi_call *c, uint64_t tick)
{
    if (c->rc != 0 && c->rc != mpi_abi.in_status)
        return;
    switch (c->row->class) {
    case MPI_CLASS_WAIT:
    case MPI_CLASS_TEST:
    case MPI_CLASS_WAITALL:
    case MPI_CLASS_TESTALL:
        for (uint32_t i = 0; i < c->n; i++)
            request_done(c, tick, i, i);
        break;
    case MPI_CLASS_WAITANY:
    case MPI_CLASS_TESTANY:
        request_done(c, tick, index_of(c, mpi_call_int_at(c, ANY_INDEX)), 0);
        break;
    case MPI_CLASS_WAITSOME:
    case MPI_CLASS_TESTSOME:
        some_done(c, tick);
        break;
    default:
        break;
    }
}

void mpi_finish_start(struct mpi_call *c)
{
    int n = c->row->class == MPI_CLASS_START ? 1 : mpi_call_int(c, c->row->count);
    for (int i = 0; i < n; i++) {
        struct mpi_request r;
        if (!mpi_request_start(mpi_finish_key(c, (uint32_t)i), &r))
            continue;
        const struct mpi_event e = {
            .call = r.call, .comm = r.comm, .request = r.number, .peer = r.peer, .tag = r.tag, .bytes = r.bytes};
        mpi_write_start(c->stream, c->tick, &e);
    }
}

void mpi_finish_add_message(const struct mpi_event *e, uint64_t key, uint64_t number, uint16_t remote)
{
    const struct mpi_request r = {.key = key,
                                  .number = number,
                                  .comm = e->comm,
                                  .bytes = UPMU_NO_VALUE,
                                  .peer = e->peer,
                                  .tag = e->tag,
                                  .call = (uint16_t)e->call,
                                  .remote = remote};
    (void)mpi_request_add(&r); /* one that does not fit is received without a communicator */
}

void mpi_finish_release(struct mpi_call *c)
{
    (void)munmap(c->mapped, c->mapped_bytes); /* cannot fail for a mapping of ours */
}
