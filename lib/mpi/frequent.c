/* SPDX-License-Identifier: MIT */
/* Frequent calls that did not succeed. */
#include "mpi/frequent.h"

void mpi_frequent_fail(const struct mpi_frequent *f, bool brief, uint64_t tick)
{
    if (brief)
        mpi_write_enter(f->stream, f->tick, &f->e);
    mpi_write_leave(f->stream, tick, &f->e);
}

void mpi_frequent_abandon(const struct mpi_frequent *f)
{
    const struct mpi_call_row *row = &mpi_call_rows[f->e.call];
    struct mpi_frequent left = *f;
    uint64_t tick = tick_now();
    if (mpi_row_is_poll(row)) {
        mpi_frequent_resume(&left);
        return;
    }
    left.e.result = MPI_CALL_UNWOUND;
    mpi_frequent_fail(&left, mpi_row_is_brief(row), tick);
    mpi_frequent_leave(&left, f->e.call, tick, UPMU_NO_VALUE);
}
