/* SPDX-License-Identifier: MIT */
/* Times of a recording: the window of a view or an export, and other clocks. */
#include <inttypes.h>

#include "analysis/public.h"
#include "analysis/pass/timeline.h"
#include "base/error.h"
#include "trace/read/bare.h"

int timeline_window(const struct upmu_overview *overview, uint64_t from_ns, uint64_t to_ns, struct timeline_window *out)
{
    const struct overview *o = &overview->pass;
    uint64_t length = o->end_ns - o->begin_ns;
    *out = (struct timeline_window){o->begin_ns, UINT64_MAX};
    if (to_ns != 0 && to_ns < from_ns)
        return upmu_fail(UPMU_E_INVAL, "the time window ends before its begin");
    if (from_ns > length)
        return upmu_fail(UPMU_E_INVAL,
                         "the time window begins at %.9f s, after the end of the recording, which lasts %.9f s",
                         (double)from_ns / 1e9, (double)length / 1e9);
    out->from_ns = o->begin_ns + from_ns;
    if (to_ns != 0 && to_ns < length)
        out->to_ns = o->begin_ns + to_ns;
    return 0;
}

uint64_t timeline_of_raw(const struct upmu_overview *overview, size_t process, uint64_t raw_ns)
{
    return trace_time_of_raw(overview->trace, process, raw_ns);
}
