/* SPDX-License-Identifier: MIT */
/* upmu_trace_filter(). */
#include "trace/read/filter.h"

#include "base/error.h"
#include "base/opts.h"
#include "trace/read/reader.h"

int upmu_trace_filter(struct upmu_trace *trace, const struct upmu_trace_filter_opts *opts)
{
    struct upmu_trace_filter_opts given;
    struct filter f = {.set = opts != NULL};
    if (!trace)
        return argument_null(__func__, "trace");
    int rc = OPTS_TAKE(given, opts, UPMU_TRACE_FILTER_OPTS_SIZE_V1);
    if (rc != 0)
        return rc;
    f.by_kind = given.kinds != NULL;
    for (size_t i = 0; given.kinds && i < given.n_kinds; i++) {
        if (given.kinds[i] < 0 || given.kinds[i] >= FILTER_KINDS)
            return upmu_fail(UPMU_E_INVAL, "%s: opts->kinds[%zu] is %d, not within 0 and %d", __func__, i,
                             given.kinds[i], FILTER_KINDS - 1);
        f.kinds[given.kinds[i] / 64] |= (uint64_t)1 << given.kinds[i] % 64;
    }
    f.from_ns = given.from_ns;
    f.to_ns = given.to_ns ? given.to_ns : UINT64_MAX;
    f.pid = given.pid;
    f.tid = given.tid;
    trace->filter = f;
    return 0;
}
