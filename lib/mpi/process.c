/* SPDX-License-Identifier: MIT */
/* Begin and end of MPI in the process. */
#include "mpi/process.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/error.h"
#include "base/tick.h"
#include "base/process/variables.h"
#include "mpi/arguments.h"
#include "mpi/clocks.h"
#include "mpi/comms.h"
#include "mpi/exchange.h"
#include "mpi/labels.h"
#include "mpi/rank_list.h"
#include "mpi/summary/reduce.h"
#include "region/recorder.h"
#include "upmu/upmu.h"

/* The program restricts its system calls. */
static void process_restrict(void)
{
    __atomic_store_n(&mpi_process.gate, MPI_GATE_OFF, __ATOMIC_RELEASE);
}

/* A rank is labeled even if it never calls MPI_Init(), or its MPI is not known. */
__attribute__((constructor)) static void mpi_load(void)
{
    struct trace_stream *s;
    if (!variable_is_on("UPMU_MPI"))
        return;
    mpi_labels_read();
    if (strcmp(variable_value("UPMU_MPI"), "ranks") == 0 && mpi_process.rank < 0)
        return; /* the launcher */
    if (upmu_recorder_begin_(NULL) < 0 || upmu_recorder_at_finish_(process_restrict) < 0) {
        variable_report("MPI calls are not recorded", upmu_error());
        return;
    }
    (void)recorder_use_clock();
    mpi_process.locks = variable_is_on("UPMU_MPI_LOCKS");
    if (variable_value("UPMU_MPI_RANKS") && !rank_list_has(variable_value("UPMU_MPI_RANKS"), -1))
        variable_report("UPMU_MPI_RANKS is ignored, and all ranks are recorded", "it is not a list as 0-15,every:64");
    s = mpi_process.rank >= 0 ? upmu_recorder_stream_() : NULL;
    if (s)
        mpi_write_env(s, tick_now(), -1, 0, "MPI_Init was not called");
    __atomic_store_n(&mpi_process.gate, MPI_GATE_ARMED, __ATOMIC_RELEASE);
}

/* Calls of a rank that is not to be recorded are counted for the job's table. */
static bool process_is_quiet(void)
{
    const char *list = variable_value("UPMU_MPI_RANKS");
    return list && rank_list_has(list, -1) && !rank_list_has(list, mpi_process.rank);
}

/* The rank, and the communicators that are there from the beginning. */
static void process_write_start(const struct mpi_call *c, const char *why)
{
    enum { THREAD_MULTIPLE = 3 };
    char text[512];
    static const char differs[] = "; the launcher's rank is another one: is it the launcher of another MPI?";
    if (!why && mpi_process.quiet)
        snprintf(text, sizeof text, "%s: not among the ranks to record (--ranks, UPMU_MPI_RANKS)", mpi_library);
    else
        snprintf(text, sizeof text, "%s%s%s%s", mpi_library, why && *mpi_library ? ": " : "", why ? why : "",
                 mpi_launcher_differs ? differs : "");
    int level = why || !mpi_process.world ? -1 : mpi_thread_level();
    mpi_process.several |= level == THREAD_MULTIPLE || level < 0;
    uint64_t tick = tick_now();
    if (!mpi_process.begin) {
        mpi_process.begin = tick;
        mpi_tls.ticks = 0;
    }
    mpi_write_env(c->stream, tick, level, why == NULL && !mpi_process.quiet, text);
    const struct mpi_comm *world = why ? NULL : mpi_comm_find(mpi_abi.world);
    if (world)
        mpi_write_comm(c->stream, tick_now(), world, 0);
}

/* The call by which MPI begins, and what is known then. */
static void process_write_begin(struct mpi_call *c, uint64_t tick, const char *why)
{
    mpi_write_enter(c->stream, c->tick, &c->e);
    c->e.result = c->rc;
    mpi_write_leave(c->stream, tick, &c->e);
    mpi_total_add(c->e.call, tick - c->tick, UPMU_NO_VALUE);
    process_write_start(c, why);
}

void mpi_process_initialized(struct mpi_call *c)
{
    uint32_t armed =
        MPI_GATE_ARMED; /* unless the recording has ended within MPI_Init(), or a session has begun before */
    if (c->rc != 0) {
        (void)__atomic_compare_exchange_n(&mpi_process.gate, &armed, MPI_GATE_OFF, false, __ATOMIC_RELEASE,
                                          __ATOMIC_RELAXED);
        mpi_write_env(c->stream, tick_now(), -1, 0, "MPI_Init failed");
        return;
    }
    uint64_t tick = tick_now();
    const char *why = mpi_abi_start();
    mpi_process.world = !why;
    if (!why) {
        mpi_comms_start();
        mpi_exchange_start();
        mpi_clocks_start();
        mpi_process.quiet = process_is_quiet();
    }
    process_write_begin(c, tick, why);
    bool frequent = !mpi_process.several && !mpi_process.quiet && !mpi_process.locks && tick_is_short();
    uint32_t gate = why ? MPI_GATE_OFF : frequent ? MPI_GATE_FREQUENT : MPI_GATE_ON;
    (void)__atomic_compare_exchange_n(&mpi_process.gate, &armed, gate, false, __ATOMIC_RELEASE, __ATOMIC_RELAXED);
}

bool mpi_process_session_began(struct mpi_call *c, uint64_t tick)
{
    enum { SESSION = 3 };
    uint32_t armed = MPI_GATE_ARMED;
    if (c->rc == MPI_CALL_UNWOUND || __atomic_load_n(&mpi_process.gate, __ATOMIC_ACQUIRE) != MPI_GATE_ARMED) {
        if (c->rc == 0)
            (void)mpi_session_add(c->a[SESSION - 1], c->fortran);
        return !c->entered;
    }
    const char *why = c->rc != 0 ? "MPI_Session_init failed" : mpi_abi_start_session(c->a[SESSION - 1], c->fortran);
    mpi_process.quiet = !why && process_is_quiet();
    process_write_begin(c, tick, why);
    if (c->rc == 0)
        (void)__atomic_compare_exchange_n(&mpi_process.gate, &armed, why ? MPI_GATE_OFF : MPI_GATE_ON, false,
                                          __ATOMIC_RELEASE, __ATOMIC_RELAXED);
    return true;
}

void mpi_process_session_ended(void)
{
    uint32_t on = MPI_GATE_ON; /* the next session begins as the first one did */
    (void)__atomic_compare_exchange_n(&mpi_process.gate, &on, MPI_GATE_ARMED, false, __ATOMIC_RELEASE,
                                      __ATOMIC_RELAXED);
}

void mpi_process_write_counts(struct mpi_call *c)
{
    for (uint32_t i = 0; i < MPI_CALL_NUMBERS; i++) {
        uint64_t calls = __atomic_load_n(&mpi_process.calls[i], __ATOMIC_RELAXED);
        if (calls)
            mpi_write_count(c->stream, c->tick, i, calls);
    }
}

void mpi_process_finalizing(uint64_t tick)
{
    if (mpi_exchange_agree(true)) {
        mpi_clocks_end();
        summary_reduce(tick);
    }
    mpi_exchange_end();
}

void mpi_process_finalized(void)
{
    __atomic_store_n(&mpi_process.gate, MPI_GATE_OFF, __ATOMIC_RELEASE);
}
