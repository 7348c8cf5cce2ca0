/* SPDX-License-Identifier: MIT */
/* State of regions in the process and in the calling thread, and its lock. */
#include "region/region.h"

UPMU_API uint32_t upmu_region_gate_ = 0;
struct region_process upmu_regions = {.stderr_fd = -1};
struct trace_stream *region_no_stream;
_Thread_local struct trace_stream **upmu_recorder_place_ = &region_no_stream;
_Thread_local struct region_tls region_tls __attribute__((tls_model("initial-exec")));

void region_lock(void)
{
    struct region_thread *t = region_tls.thread;
    if (t && t->live)
        __atomic_store_n(&t->busy, 1, __ATOMIC_RELAXED);
    region_tls.starting++;
    __atomic_signal_fence(__ATOMIC_SEQ_CST);
    tiny_lock_take(&upmu_regions.shared->lock);
}

void region_unlock(void)
{
    struct region_thread *t = region_tls.thread;
    tiny_lock_give(&upmu_regions.shared->lock);
    __atomic_signal_fence(__ATOMIC_SEQ_CST);
    region_tls.starting--;
    if (t && t->live)
        __atomic_store_n(&t->busy, 0, __ATOMIC_RELAXED);
}
