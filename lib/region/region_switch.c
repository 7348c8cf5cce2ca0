/* SPDX-License-Identifier: MIT */
/* Pause and resume of all regions. */
#include "base/tick.h"
#include "region/recorder.h"
#include "region/region_frames.h"

/* A process without a recording of its own, as a forked child that has not used a region yet, has no open regions in it. */
static void switch_trace_discarded(void)
{
    bool alive = __atomic_load_n(&upmu_regions.shared->alive, __ATOMIC_ACQUIRE);
    struct trace_stream *s = alive && upmu_regions.trace ? upmu_recorder_stream_() : NULL;
    if (s)
        (void)trace_regions_discarded(s, tick_now(), 0);
}

/* Threads that are about to begin a region when it is paused begin it later than the event of the pause: hence that of the resume. */
int upmu_region_switch(int on)
{
    if (!upmu_regions.shared)
        return 0;
    if (!on) {
        if (!__atomic_exchange_n(&upmu_region_gate_, 0, __ATOMIC_ACQ_REL))
            return 0;
        switch_trace_discarded();
        return 1;
    }
    if (__atomic_load_n(&upmu_region_gate_, __ATOMIC_ACQUIRE))
        return 1;
    switch_trace_discarded();
    __atomic_fetch_add(&upmu_regions.epoch, 1, __ATOMIC_RELEASE);
    __atomic_store_n(&upmu_region_gate_, 1, __ATOMIC_RELEASE);
    return 0;
}
