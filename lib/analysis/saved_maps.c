/* SPDX-License-Identifier: MIT */
/* JIT symbol maps saved into a recording. */
#include "symbols/jit_map.h"
#include "base/error.h"
#include "upmu/analysis.h"
#include "upmu/control.h"

int upmu_overview_save_jit_maps(const char *dir)
{
    struct upmu_control *control;
    struct upmu_control_status status = {.size = sizeof status};
    int kept = 0;
    if (!dir)
        return upmu_fail(UPMU_E_INVAL, "%s: `dir` is NULL", __func__);
    int rc = upmu_control_open(&control, dir);
    if (rc != 0)
        return rc;
    for (size_t i = 0; rc >= 0 && i < upmu_control_process_count(control); i++) {
        rc = upmu_control_status_read(control, i, &status);
        if (rc == 0)
            rc = jit_map_keep(status.dir, status.pid, jit_map_since(status.dir));
        kept += rc > 0;
    }
    upmu_control_close(control);
    return rc < 0 ? rc : kept;
}
