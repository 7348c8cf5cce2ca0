/* SPDX-License-Identifier: MIT */
/* Begin and end of an MPI call. */
#include "mpi/call.h"

#include <errno.h>

#include "base/tick.h"
#include "mpi/comms.h"
#include "mpi/exchange.h"
#include "mpi/finish.h"
#include "mpi/process.h"
#include "mpi/withhold.h"
#include "region/recorder.h"
#include "upmu/trace.h"
#include "upmu/upmu.h"

/* ------------------------------------------------------------------------------------------------------ arguments */

static bool is_collective(const struct mpi_call_row *row)
{
    return row->class >= MPI_CLASS_BARRIER && row->class <= MPI_CLASS_ICOLLECTIVE;
}

/* Bytes of the message by count and type. Called only after the call succeeded, which makes the type valid; it is not used, and
 * may be invalid, if the buffer before the count is MPI_IN_PLACE. */
static uint64_t call_bytes(const struct mpi_call *c)
{
    const struct mpi_call_row *row = c->row;
    if (!row->count || !row->type || c->e.peer == UPMU_MPI_PROC_NULL)
        return row->type && c->e.peer == UPMU_MPI_PROC_NULL ? 0 : UPMU_NO_VALUE;
    if (is_collective(row) && mpi_is_in_place(c->a[row->count - 2], c->fortran))
        return UPMU_NO_VALUE;
    long type = c->fortran ? mpi_type_of_fortran((int32_t)mpi_call_int(c, row->type)) : c->a[row->type - 1];
    if (mpi_abi.handle_bytes != sizeof(long))
        type = (int32_t)type;
    return mpi_type_bytes(type, mpi_call_count(c));
}

/* --------------------------------------------------------------------------------------------------------- begin */

/* Calls that make a communicator without another one. */
static bool is_made_by_groups(uint32_t call)
{
    return call == MPI_CALL_Comm_create_from_group || call == MPI_CALL_Intercomm_create_from_groups;
}

/* Calls that make a communicator without all ranks of another one. */
static bool is_made_alone(uint32_t call)
{
    return call == MPI_CALL_Comm_create_group || call == MPI_CALL_Intercomm_create || is_made_by_groups(call);
}

/* Calls that make a communicator, and return before it can be used. */
static bool is_copy(uint32_t call)
{
    return call == MPI_CALL_Comm_idup || call == MPI_CALL_Comm_idup_with_info;
}

/* Whether MPI requires all ranks of the communicator to make the call in the same order. */
static bool is_ordered(const struct mpi_call_row *row, uint32_t call)
{
    return is_collective(row) || (row->class == MPI_CLASS_COMM && !is_made_alone(call));
}

/* Source and tag of the receive of MPI_Sendrecv(), in `sequence`. */
static void call_describe_receive(struct mpi_call *c)
{
    bool in_place = c->e.call == MPI_CALL_Sendrecv_replace || c->e.call == MPI_CALL_Isendrecv_replace;
    c->e.sequence = mpi_sendrecv_pack(mpi_peer_in(mpi_call_int(c, in_place ? 6 : 9), c->remote),
                                      mpi_tag_of(mpi_call_int(c, in_place ? 7 : 10)));
}

static uint64_t message_key(const struct mpi_call *c)
{
    unsigned at = mpi_call_message(c->e.call);
    return mpi_message_key(c->fortran ? mpi_call_int(c, at) : mpi_handle_load(c->a[at - 1]), c->fortran);
}

static bool receives_message(const struct mpi_call *c)
{
    return c->e.call == MPI_CALL_Mrecv || c->e.call == MPI_CALL_Imrecv;
}

/* MPI_Mrecv() and MPI_Imrecv() name only the message: the rest is known since it was probed. Its handle may be another one's as soon as
 * it is received. */
static void call_describe_message(struct mpi_call *c)
{
    struct mpi_request r;
    c->message = message_key(c);
    if (!mpi_request_complete(c->message, &r))
        return;
    c->e.sequence = r.number;
    c->e.comm = r.comm;
    c->e.peer = r.peer;
    c->e.tag = r.tag;
    c->remote = r.remote;
}

static bool is_poll(const struct mpi_call_row *row)
{
    return row->class >= MPI_CLASS_TEST && row->class <= MPI_CLASS_IPROBE;
}

static bool makes_request(const struct mpi_call_row *row)
{
    return (row->class >= MPI_CLASS_ISEND && row->class <= MPI_CLASS_ISENDRECV) || row->class == MPI_CLASS_ICOLLECTIVE;
}

/* Whether the call never waits: its begin need not show what a killed rank was in. Locks in it would come before the begin. */
static bool is_brief(const struct mpi_call_row *row)
{
    return row->class >= MPI_CLASS_ISEND && row->class <= MPI_CLASS_ISENDRECV && !mpi_process.locks;
}

/* Fill the event with what the arguments give before the call: communicator, peer, tag, request. */
static void call_describe(struct mpi_call *c)
{
    const struct mpi_call_row *row = c->row;
    struct mpi_comm *comm = NULL;
    if (row->comm)
        comm = mpi_comm_find(mpi_call_comm(c, row->comm, row->class == MPI_CLASS_COMM_FREE));
    if (comm) {
        c->e.comm = comm->id;
        c->remote = comm->remote;
    }
    if (row->class == MPI_CLASS_COMM_FREE)
        mpi_comm_remove(mpi_call_comm(c, row->comm, true));
    if (comm && !comm->inter && is_ordered(row, c->e.call))
        c->e.sequence = mpi_count(&comm->collectives, 1);
    if (row->peer)
        c->e.peer = mpi_peer_in(mpi_call_int(c, row->peer), c->remote);
    if (row->tag)
        c->e.tag = mpi_tag_of(mpi_call_int(c, row->tag));
    if (row->class == MPI_CLASS_SENDRECV || row->class == MPI_CLASS_ISENDRECV)
        call_describe_receive(c);
    if (receives_message(c))
        call_describe_message(c);
    if (makes_request(row))
        c->e.request = mpi_request_number();
    if (row->class == MPI_CLASS_REQUEST_FREE)
        mpi_request_remove(mpi_finish_key(c, 0));
    if (row->class == MPI_CLASS_CANCEL)
        mpi_request_cancel(mpi_finish_key(c, 0));
    if (c->e.call == MPI_CALL_Session_finalize)
        c->last = mpi_session_remove(c->a[0], c->fortran) == 0 && !mpi_process.world;
}

static void call_enter(struct mpi_call *c)
{
    if (mpi_tls.polls)
        mpi_polls_write(c->stream);
    if (c->row->class == MPI_CLASS_FINALIZE || c->last)
        mpi_process_write_counts(c);
    if (!c->brief)
        mpi_write_enter(c->stream, c->tick, &c->e);
    c->entered = true;
}

static bool completes_requests(const struct mpi_call_row *row)
{
    return row->class >= MPI_CLASS_WAIT && row->class <= MPI_CLASS_TESTSOME;
}

/* All that is known before the call. */
static void call_enter_described(struct mpi_call *c)
{
    call_describe(c);
    if (completes_requests(c->row))
        mpi_finish_describe(c);
    call_enter(c);
}

/* What is written about the call, as far as it is known by its arguments alone. */
static void call_init_event(struct mpi_call *c)
{
    c->e = (struct mpi_event){
        .call = c->number, .peer = UPMU_MPI_NONE, .tag = UPMU_MPI_NONE, .bytes = UPMU_NO_VALUE, .site = c->site};
}

/* Most polls find nothing, and are no events: what is only needed for one is done when it has found something. Keeps errno. */
static void call_begin_poll(struct mpi_call *c, long *a)
{
    uint32_t stack;
    c->tick = tick_now();
    if (!mpi_process.locks && upmu_sync_withhold_)
        mpi_tls.where.withheld = upmu_sync_withhold_(c->tick, 0, &stack);
    mpi_finish_prepare(c, a);
}

/* At the begin and end of MPI the recorder calls it, too; but not if a session has begun before, as MPI_Init() waits for no other rank then. */
static __attribute__((noinline, cold)) void call_begin_exchange(const struct mpi_call *c)
{
    int saved = errno;
    if (c->row->class == MPI_CLASS_FINALIZE)
        mpi_process_finalizing(c->tick);
    else if (!mpi_process.begin)
        mpi_exchange_announce();
    errno = saved;
}

/* Keeps errno, as all that is called here does. */
static void call_begin_event(struct mpi_call *c, long *a, uint32_t gate)
{
    call_init_event(c);
    c->tick = tick_now();
    /* Threads that MPI creates are its own, and so are the locks that it takes in this one. */
    if (!mpi_process.locks && upmu_sync_withhold_)
        mpi_tls.where.withheld = upmu_sync_withhold_(c->tick, mpi_process.quiet ? 0 : c->site, &c->e.stack);
    else if (upmu_sync_stack_ && !mpi_process.quiet)
        c->e.stack = upmu_sync_stack_(c->tick, c->site, __builtin_frame_address(0));
    if (LIKELY(gate >= MPI_GATE_ON)) {
        if (c->row->status || completes_requests(c->row))
            mpi_finish_prepare(c, a);
        call_enter_described(c);
        if (c->row->class == MPI_CLASS_START || c->row->class == MPI_CLASS_STARTALL)
            mpi_finish_start(c);
    }
    if (UNLIKELY(c->row->class == MPI_CLASS_INIT || c->row->class == MPI_CLASS_FINALIZE))
        call_begin_exchange(c);
}

/* Nothing is recorded, but at MPI_Finalize() the other ranks may be waiting. `lost`: it would be, with a stream. */
static __attribute__((noinline, cold)) void call_begin_unrecorded(const struct mpi_call *c, uint32_t gate, bool lost)
{
    int saved = errno;
    if (lost)
        upmu_recorder_lost_(LOSS_THREAD, 2);
    if (c->row->class == MPI_CLASS_FINALIZE && gate == MPI_GATE_OFF)
        (void)mpi_exchange_agree(false);
    else if (c->row->class == MPI_CLASS_FINALIZE && lost)
        mpi_process_finalizing(tick_now());
    errno = saved;
}

void mpi_call_begin(struct mpi_call *c, uint32_t number, enum mpi_variant variant, long *a, uintptr_t site)
{
    const struct mpi_call_row *row = &mpi_call_rows[number];
    c->row = row;
    c->rc = MPI_CALL_UNWOUND;
    c->recorded = false;
    c->outer = mpi_tls.where.inside == MPI_INSIDE_NOT;
    if (UNLIKELY(!c->outer))
        return;
    mpi_tls.where.withheld = false;
    mpi_tls.frame = c;
    __atomic_signal_fence(__ATOMIC_RELEASE);
    mpi_tls.where.inside = MPI_INSIDE_CALL;
    uint32_t gate = __atomic_load_n(&mpi_process.gate, __ATOMIC_ACQUIRE);
    if (UNLIKELY(row->class == MPI_CLASS_INIT) && gate >= MPI_GATE_ON)
        gate = MPI_GATE_ARMED; /* after the begin of a session */
    if (UNLIKELY(gate < MPI_GATE_ON) &&
        (gate != MPI_GATE_ARMED || (row->class != MPI_CLASS_INIT && number != MPI_CALL_Session_init))) {
        call_begin_unrecorded(c, gate, false);
        return;
    }
    if (row->class == MPI_CLASS_COUNTED) { /* which any thread may call at any time, whatever the thread level is */
        (void)__atomic_fetch_add(&mpi_process.calls[number], 1, __ATOMIC_RELAXED);
        return;
    }
    c->stream = recorder_stream_made();
    if (UNLIKELY(!c->stream) && !(c->stream = upmu_recorder_stream_())) {
        call_begin_unrecorded(c, gate, true);
        return;
    }
    c->recorded = true;
    c->a = a;
    c->number = number;
    c->site = site;
    c->fortran = variant > MPI_C_LARGE;
    c->large = variant == MPI_C_LARGE;
    c->last = false;
    c->entered = false;
    c->n_done = 0;
    c->brief = is_brief(row);
    c->mapped = NULL;
    c->n = 0;
    c->remote = 0;
    if (is_poll(row))
        call_begin_poll(c, a);
    else
        call_begin_event(c, a, gate);
}

/* ----------------------------------------------------------------------------------------------------------- end */

/* A request that the call has made. */
static void call_add_request(struct mpi_call *c)
{
    const struct mpi_call_row *row = c->row;
    bool persistent = row->class == MPI_CLASS_SEND_INIT || row->class == MPI_CLASS_RECV_INIT;
    if (c->rc != 0 || !row->request || (!persistent && !makes_request(row)))
        return;
    long handle = c->fortran ? mpi_call_int(c, row->request) : mpi_handle_load(c->a[row->request - 1]);
    const struct mpi_request r = {
        .key = mpi_request_key(handle, c->fortran),
        .number = c->e.request,
        .comm = c->e.comm,
        .bytes = c->e.bytes,
        .peer = c->e.peer,
        .tag = c->e.tag,
        .call = (uint16_t)c->e.call,
        .receives = row->class == MPI_CLASS_IRECV || row->class == MPI_CLASS_RECV_INIT,
        .persistent = persistent,
        .remote = c->remote,
    };
    (void)mpi_request_add(&r); /* one that does not fit completes without an event */
}

/* The tag of a communicator that its members make themselves, and the call. */
static uint64_t call_own_tag(const struct mpi_call *c)
{
    enum { GROUP_TAG = 3, INTER_TAG = 5, FROM_GROUP_TAG = 2 };
    uint64_t tag = c->e.call;
    if (is_made_by_groups(c->e.call)) {
        const char *text =
            (const char *)c->a[(c->e.call == MPI_CALL_Comm_create_from_group ? FROM_GROUP_TAG : INTER_TAG) - 1];
        while (text && *text)
            tag = mpi_mix(tag, (unsigned char)*text++);
        return tag;
    }
    return (uint64_t)c->e.call << 32 |
           (uint32_t)mpi_call_int(c, c->e.call == MPI_CALL_Comm_create_group ? GROUP_TAG : INTER_TAG);
}

static void call_add_comm(struct mpi_call *c, uint64_t tick)
{
    const struct mpi_call_row *row = c->row;
    bool copy = is_copy(c->e.call);
    if (c->rc != 0)
        return;
    long of = row->comm ? mpi_call_comm(c, row->comm, false) : mpi_abi.comm_null;
    long handle = mpi_call_comm(c, copy ? row->request - 1U : row->arguments, true);
    struct mpi_comm *parent = mpi_comm_find(of);
    const struct mpi_comm *made = is_made_alone(c->e.call) ? mpi_comm_add_own(handle, call_own_tag(c))
                                                           : mpi_comm_add(parent, handle, copy ? of : handle);
    if (made)
        mpi_write_comm(c->stream, tick, made, parent ? parent->id : 0);
}

/* The source, tag and size of what was received or found. */
static void call_read_status(const struct mpi_call *c, struct mpi_event *e)
{
    const void *status;
    e->bytes = UPMU_NO_VALUE;
    if (c->rc != 0 || !mpi_finish_status(c, 0, &status))
        return;
    struct mpi_status s = mpi_status_read(status);
    e->peer = mpi_peer_in(s.source, c->remote);
    e->tag = mpi_tag_of(s.tag);
    e->bytes = s.bytes;
}

/* The other half of a send and receive. */
static void call_add_received(struct mpi_call *c)
{
    struct mpi_event *e = &c->done[c->n_done++];
    *e = c->e;
    e->peer = e->tag = UPMU_MPI_UNKNOWN;
    call_read_status(c, e);
    e->result = c->rc;
}

/* That of a probe from MPI_PROC_NULL is the same one each time. */
static void call_found(struct mpi_call *c)
{
    call_read_status(c, &c->e);
    if (c->rc != 0 || !mpi_call_message(c->e.call) || c->e.peer == UPMU_MPI_PROC_NULL)
        return;
    c->e.request = mpi_request_number();
    mpi_finish_add_message(&c->e, message_key(c), c->e.request, c->remote);
}

/* What is known once the call has returned. */
static void call_complete(struct mpi_call *c, uint64_t tick)
{
    switch (c->row->class) {
    case MPI_CLASS_PROBE:
    case MPI_CLASS_IPROBE:
        call_found(c);
        break;
    case MPI_CLASS_RECV:
        call_read_status(c, &c->e);
        break;
    case MPI_CLASS_COMM:
        call_add_comm(c, tick);
        break;
    case MPI_CLASS_REQUEST_FREE:
        break;
    default:
        if (c->rc == 0)
            c->e.bytes = call_bytes(c);
        call_add_request(c);
        if (is_copy(c->e.call))
            call_add_comm(c, tick);
        if (completes_requests(c->row))
            mpi_finish_collect(c, tick);
        break;
    }
    if (c->row->class == MPI_CLASS_SENDRECV)
        call_add_received(c);
    if (c->rc != 0 && receives_message(c) && c->e.sequence && message_key(c) == c->message)
        mpi_finish_add_message(&c->e, c->message, c->e.sequence,
                               c->remote); /* the receive failed before it got the message */
}

static void call_end_poll(struct mpi_call *c, uint64_t tick)
{
    mpi_poll_add(c->stream, c->tick, tick, c->number);
    mpi_total_add(c->number, tick - c->tick, UPMU_NO_VALUE);
}

/* The end, and what was left for it. */
static void call_leave(struct mpi_call *c, uint64_t tick)
{
    c->e.result = c->rc;
    if (c->brief && c->rc == 0) {
        mpi_write_call(c->stream, c->tick, tick, &c->e);
        return;
    }
    if (c->brief)
        mpi_write_enter(c->stream, c->tick, &c->e);
    if (c->rc == 0 && c->row->class == MPI_CLASS_SENDRECV) {
        mpi_write_exchange(c->stream, tick, &c->e, &c->done[0]);
    } else if (c->rc == 0 && c->n_done > 0) {
        mpi_write_done(c->stream, tick, &c->e, c->done, c->n_done);
    } else {
        mpi_finish_write_done(c, tick);
        mpi_write_leave(c->stream, tick, &c->e);
    }
}

static void call_end_event(struct mpi_call *c, uint64_t tick)
{
    if (c->row->class == MPI_CLASS_INIT) {
        mpi_process_initialized(c);
        return;
    }
    if (c->e.call == MPI_CALL_Session_init && mpi_process_session_began(c, tick))
        return;
    if (c->rc != MPI_CALL_UNWOUND) {
        if (!c->entered) {
            call_init_event(c);
            call_enter_described(c);
        }
        call_complete(c, tick);
    }
    if (c->entered) {
        call_leave(c, tick);
        mpi_total_add(c->number, tick - c->tick, c->e.bytes);
        mpi_tls.ticks += tick - c->tick;
    }
}

static void call_end_recorded(struct mpi_call *c)
{
    int saved = errno;
    uint64_t tick = tick_now();
    if (c->rc == MPI_CALL_UNWOUND)
        c->n = 0;
    if (is_poll(c->row) && c->rc == 0 && !mpi_finish_found(c))
        call_end_poll(c, tick);
    else
        call_end_event(c, tick);
    if (UNLIKELY(c->mapped != NULL))
        mpi_finish_release(c);
    if (c->row->class == MPI_CLASS_FINALIZE)
        mpi_process_finalized();
    if (c->last)
        mpi_process_session_ended();
    errno = saved;
}

void mpi_call_end(struct mpi_call *c)
{
    if (UNLIKELY(!c->outer))
        return;
    if (c->recorded)
        call_end_recorded(c);
    if (mpi_tls.where.withheld)
        upmu_sync_resume_(); /* keeps errno */
    mpi_tls.where.inside = MPI_INSIDE_NOT;
}
