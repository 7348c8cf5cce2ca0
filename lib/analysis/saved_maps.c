/* SPDX-License-Identifier: MIT */
/* JIT symbol maps saved into a recording. */
#include "base/error.h"
#include "symbols/jit_map.h"
#include "trace/read/bare.h"
#include "upmu/analysis.h"

static int maps_keep(const char *process, pid_t pid, void *arg)
{
    int rc = jit_map_keep(process, pid, jit_map_since(process)), *kept = arg;
    *kept += rc > 0;
    return rc;
}

int upmu_overview_save_jit_maps(const char *dir)
{
    int kept = 0;
    if (!dir)
        return upmu_fail(UPMU_E_INVAL, "%s: `dir` is NULL", __func__);
    int rc = trace_each_process(dir, maps_keep, &kept);
    return rc < 0 ? rc : kept;
}
