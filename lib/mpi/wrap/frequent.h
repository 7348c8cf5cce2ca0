/* SPDX-License-Identifier: MIT */
/**
 * @file
 * Frequent calls of C, begun and ended within their wrappers.
 *
 * What a call has to record depends on its row in the table, which is a constant there: half of the instructions of mpi_call_begin()
 * and mpi_call_end(), with the same events. It is for calls that succeed, of one thread at a time; everything else is theirs.
 */
#ifndef UPMU_MPI_WRAP_FREQUENT_H
#define UPMU_MPI_WRAP_FREQUENT_H

#include "base/tick.h"
#include "mpi/arguments.h"
#include "mpi/comms.h"
#include "mpi/finish.h"
#include "mpi/put.h"
#include "mpi/withhold.h"
#include "region/recorder.h"

struct mpi_frequent {
    struct trace_stream *stream;
    uint64_t tick; /**< of its begin */
    struct mpi_event e;
    struct mpi_request *request; /**< that MPI_Wait() waits for, if it still has this key: NULL: it is not followed */
    uint64_t key;
    int32_t remote; /**< of its communicator */
    bool on;        /**< begun, and not ended */
};

/** What of it is in memory. */
struct mpi_frequent_frame {
    uint64_t tick;                                                    /**< of its begin */
    unsigned char status[MPI_STATUS_MAX] __attribute__((aligned(8))); /**< in place of one that the program ignores */
};

MPI_INLINE bool mpi_row_is_brief(const struct mpi_call_row *row)
{
    return row->class == MPI_CLASS_ISEND || row->class == MPI_CLASS_IRECV;
}

MPI_INLINE bool mpi_row_is_collective(const struct mpi_call_row *row)
{
    return row->class >= MPI_CLASS_BARRIER && row->class <= MPI_CLASS_SCAN;
}

/** A call that mostly finds nothing, and is an event only if it does. */
MPI_INLINE bool mpi_row_is_poll(const struct mpi_call_row *row)
{
    return row->class == MPI_CLASS_TEST || row->class == MPI_CLASS_IPROBE;
}

/**
 * 1 for a class whose calls may be recorded here, else 0. For the preprocessor: all functions that are always inlined are, before constant
 * conditions are removed.
 */
#define MPI_IS_FREQUENT(class_) MPI_SECOND(MPI_FREQUENT_##class_, 0, )
#define MPI_SECOND(...) MPI_SECOND_(__VA_ARGS__)
#define MPI_SECOND_(first, second, ...) second
#define MPI_FREQUENT_SEND ~, 1
#define MPI_FREQUENT_RECV ~, 1
#define MPI_FREQUENT_ISEND ~, 1
#define MPI_FREQUENT_IRECV ~, 1
#define MPI_FREQUENT_WAIT ~, 1
#define MPI_FREQUENT_TEST ~, 1
#define MPI_FREQUENT_IPROBE ~, 1
#define MPI_FREQUENT_BARRIER ~, 1
#define MPI_FREQUENT_FROM_ROOT ~, 1
#define MPI_FREQUENT_TO_ROOT ~, 1
#define MPI_FREQUENT_ALL_TO_ALL ~, 1
#define MPI_FREQUENT_SCAN ~, 1

/** Of those, a receive of a message that was probed before has no communicator, and is not recorded here. */
MPI_INLINE bool mpi_row_is_frequent(const struct mpi_call_row *row)
{
    return row->comm || !(mpi_row_is_brief(row) || row->class == MPI_CLASS_RECV);
}

MPI_INLINE long mpi_frequent_handle(long argument)
{
    return mpi_abi.handle_bytes == sizeof(long) ? argument : (int32_t)argument;
}

MPI_INLINE void mpi_frequent_describe(struct mpi_frequent *f, const struct mpi_call_row *row, const long *a)
{
    struct mpi_comm *comm = row->comm ? mpi_comm_find_again(mpi_frequent_handle(a[row->comm - 1])) : NULL;
    if (comm)
        f->e.comm = comm->id;
    f->remote = comm ? comm->remote : 0;
    if (comm && mpi_row_is_collective(row) && LIKELY(!comm->inter))
        f->e.sequence = ++comm->collectives;
    if (row->peer)
        f->e.peer = mpi_peer_in((int)a[row->peer - 1], f->remote);
    if (row->tag)
        f->e.tag = mpi_tag_of((int)a[row->tag - 1]);
    if (mpi_row_is_brief(row))
        f->e.request = ++mpi_process.requests;
    if (row->class != MPI_CLASS_WAIT && row->class != MPI_CLASS_TEST)
        return;
    if (row->class == MPI_CLASS_TEST)
        f->request = mpi_request_at(f->key);
    const struct mpi_request *r = f->request;
    if (r) {
        f->e.request = r->number;
        f->e.comm = r->comm;
        f->e.peer = r->peer;
        f->e.tag = r->tag;
    }
}

/** The thread's first call, or libupmu_sync is not loaded. @return id of the stack. */
__attribute__((noinline, cold)) uint32_t mpi_frequent_withhold(uint64_t tick, uintptr_t site);

/* All that is known before the call. */
MPI_INLINE void mpi_frequent_enter(struct mpi_frequent *f, const struct mpi_call_row *row, const long *a)
{
    mpi_frequent_describe(f, row, a);
    if (UNLIKELY(mpi_tls.polls != 0))
        mpi_polls_write(f->stream);
    if (!mpi_row_is_brief(row) && UNLIKELY(!mpi_put_enter(f->stream, f->tick, &f->e))) {
        const struct mpi_event copy = f->e; /* so that *f stays in registers */
        mpi_write_enter(f->stream, f->tick, &copy);
    }
}

/** Begin, as mpi_call_begin(). @return false: that function has to be
 *  called. */
MPI_INLINE bool mpi_frequent_begin(struct mpi_frequent *f, uint32_t number, const struct mpi_call_row *row, long *a,
                                   struct mpi_frequent_frame *frame, uintptr_t site)
{
    struct mpi_tls *t = &mpi_tls;
    uint32_t stack = 0;
    f->on = false;
    f->stream = recorder_stream_made();
    if (UNLIKELY(t->where.inside != MPI_INSIDE_NOT || !f->stream ||
                 __atomic_load_n(&mpi_process.gate, __ATOMIC_ACQUIRE) != MPI_GATE_FREQUENT))
        return false;
    t->frame = frame;
    frame->tick = f->tick = tick_short();
    __atomic_signal_fence(__ATOMIC_RELEASE);
    t->where = (struct mpi_where){.inside = MPI_INSIDE_FREQUENT, .call = (uint16_t)number};
    f->on = true;
    if (LIKELY(t->locks != NULL))
        t->where.withheld = sync_withhold(t->locks, f->tick, mpi_row_is_poll(row) ? 0 : site, &stack);
    else
        stack = mpi_frequent_withhold(f->tick, mpi_row_is_poll(row) ? 0 : site);
    f->request = NULL;
    f->e = (struct mpi_event){.call = number,
                              .peer = UPMU_MPI_NONE,
                              .tag = UPMU_MPI_NONE,
                              .bytes = UPMU_NO_VALUE,
                              .stack = stack,
                              .site = site};
    if (row->class == MPI_CLASS_WAIT || row->class == MPI_CLASS_TEST)
        f->key = mpi_request_key(mpi_handle_load(a[row->request - 1]), false);
    if (row->class == MPI_CLASS_WAIT)
        f->request = mpi_request_at(f->key);
    /* That of a send, which MPI takes time to copy, has nothing but whether it was canceled. */
    bool wanted = !f->request || f->request->receives || f->request->to_cancel;
    if (row->status && wanted && LIKELY(a[row->status - 1] == mpi_abi.status_ignore))
        a[row->status - 1] = (long)frame->status;
    if (!mpi_row_is_poll(row))
        mpi_frequent_enter(f, row, a);
    return true;
}

MPI_INLINE void mpi_frequent_resume(struct mpi_frequent *f)
{
    if (mpi_tls.where.withheld)
        sync_resume(mpi_tls.locks);
    mpi_tls.where.inside = MPI_INSIDE_NOT;
    f->on = false;
}

MPI_INLINE void mpi_frequent_leave(struct mpi_frequent *f, uint32_t number, uint64_t tick, uint64_t bytes)
{
    mpi_total_add_alone(number, tick - f->tick, bytes);
    mpi_tls.ticks += tick - f->tick;
    mpi_frequent_resume(f);
}

/** The call has failed, or is left. */
__attribute__((noinline, cold)) void mpi_frequent_fail(const struct mpi_frequent *f, bool brief, uint64_t tick);

/* A brief call has made this request. */
MPI_INLINE void mpi_frequent_add(const struct mpi_frequent *f, const struct mpi_call_row *row, long handle)
{
    const struct mpi_request made = {.key = mpi_request_key(handle, false),
                                     .number = f->e.request,
                                     .comm = f->e.comm,
                                     .bytes = f->e.bytes,
                                     .peer = f->e.peer,
                                     .tag = f->e.tag,
                                     .call = (uint16_t)f->e.call,
                                     .receives = row->class == MPI_CLASS_IRECV,
                                     .remote = (uint16_t)f->remote};
    struct mpi_request *r = mpi_request_make(made.key);
    if (__builtin_expect(r != NULL, 1)) {
        *r = made;
    } else {
        const struct mpi_request copy = made;
        (void)mpi_request_add(&copy);
    }
}

/* MPI_Wait() has returned with success. */
MPI_INLINE void mpi_frequent_put_done(struct mpi_frequent *f, uint64_t tick, long status)
{
    struct mpi_request *r = f->request;
    if (UNLIKELY(!r || r->key != f->key || r->number == 0)) {
        const struct mpi_event copy = f->e;
        mpi_write_leave(f->stream, tick, &copy);
        return;
    }
    const struct mpi_event done = mpi_finish_event(r, 0, (const void *)status);
    mpi_request_end(r);
    if (UNLIKELY(!mpi_put_done(f->stream, tick, &f->e, &done, 1))) {
        const struct mpi_event copy = f->e, copy_done = done;
        mpi_write_done(f->stream, tick, &copy, &copy_done, 1);
    }
}

MPI_INLINE uint64_t mpi_frequent_bytes(const struct mpi_frequent *f, const struct mpi_call_row *row, const long *a)
{
    if (!row->count || !row->type || f->e.peer == UPMU_MPI_PROC_NULL)
        return row->type && f->e.peer == UPMU_MPI_PROC_NULL ? 0 : UPMU_NO_VALUE;
    if (mpi_row_is_collective(row) && a[row->count - 2] == mpi_abi.in_place)
        return UPMU_NO_VALUE;
    return mpi_type_bytes(mpi_frequent_handle(a[row->type - 1]), (int)a[row->count - 1]);
}

/** End, as mpi_call_end(). */
MPI_INLINE void mpi_frequent_end(struct mpi_frequent *f, uint32_t number, const struct mpi_call_row *row, const long *a,
                                 int rc)
{
    enum { TEST_FLAG = 2, PROBE_FLAG = 4 }; /* arguments, from 1 on */
    uint64_t tick = tick_short();
    if (mpi_row_is_poll(row)) {
        const int *found = (const int *)a[(row->class == MPI_CLASS_TEST ? TEST_FLAG : PROBE_FLAG) - 1];
        if (__builtin_expect(rc == 0 && *found == 0, 1)) {
            mpi_poll_add(f->stream, f->tick, tick, number);
            mpi_total_add_alone(number, tick - f->tick, UPMU_NO_VALUE);
            mpi_frequent_resume(f);
            return;
        }
        mpi_frequent_enter(f, row, a);
    }
    f->e.result = rc;
    if (UNLIKELY(rc != 0)) {
        const struct mpi_frequent copy = *f;
        mpi_frequent_fail(&copy, mpi_row_is_brief(row), tick);
    } else if (row->class == MPI_CLASS_WAIT || row->class == MPI_CLASS_TEST) {
        mpi_frequent_put_done(f, tick, a[row->status - 1]);
    } else if (row->class == MPI_CLASS_RECV || row->class == MPI_CLASS_IPROBE) {
        struct mpi_status s = mpi_status_read((const void *)a[row->status - 1]);
        f->e.peer = mpi_peer_in(s.source, f->remote);
        f->e.tag = mpi_tag_of(s.tag);
        f->e.bytes = s.bytes;
        if (mpi_call_message(number) && s.source != mpi_abi.proc_null) {
            const struct mpi_event copy = f->e;
            f->e.request = ++mpi_process.requests;
            mpi_finish_add_message(&copy, mpi_message_key(mpi_handle_load(a[mpi_call_message(number) - 1]), false),
                                   f->e.request, (uint16_t)f->remote);
        }
    } else {
        f->e.bytes = mpi_frequent_bytes(f, row, a);
    }
    if (rc == 0 && mpi_row_is_brief(row)) {
        mpi_frequent_add(f, row, mpi_handle_load(a[row->request - 1]));
        if (UNLIKELY(!mpi_put_call(f->stream, f->tick, tick, &f->e))) {
            const struct mpi_event copy = f->e;
            mpi_write_call(f->stream, f->tick, tick, &copy);
        }
    } else if (rc == 0 && row->class != MPI_CLASS_WAIT && row->class != MPI_CLASS_TEST &&
               UNLIKELY(!mpi_put_end(f->stream, tick, SCHEMA_ID_MPI_LEAVE, &f->e))) {
        const struct mpi_event copy = f->e;
        mpi_write_leave(f->stream, tick, &copy);
    }
    mpi_frequent_leave(f, number, tick, f->e.bytes);
}

/** The call is left by an exception or by longjmp(). Keeps errno. */
__attribute__((noinline, cold)) void mpi_frequent_abandon(const struct mpi_frequent *f);
/** A cleanup function. */
MPI_INLINE void mpi_frequent_unwound(struct mpi_frequent *f)
{
    if (UNLIKELY(f->on)) {
        const struct mpi_frequent copy = *f;
        mpi_frequent_abandon(&copy);
    }
}

#endif
