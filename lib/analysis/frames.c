/* SPDX-License-Identifier: MIT */
/* Frames of a call stack, and their labels. */
#include <stdlib.h>
#include <string.h>

#include "analysis/locations.h"
#include "analysis/openmp_frames.h"
#include "analysis/public.h"
#include "base/opts.h"

int upmu_overview_frame_at(struct upmu_overview *overview, size_t process, uint32_t stack, size_t i,
                           struct upmu_symbol *out)
{
    if (!overview || !out)
        return ARGUMENT_NULL(overview, out);
    struct lookup *l = overview->lookup;
    if (!l->frames.valid || l->frames.process != process || l->frames.stack != stack) {
        l->frames.valid = false;
        l->frames.list.n = 0;
        if (process >= overview->pass.n_processes || stack == 0)
            return UPMU_E_END;
        int rc = openmp_frames_add(overview, process, stack, &l->frames.list);
        if (rc != 0)
            return rc;
        l->frames.process = process;
        l->frames.stack = stack;
        l->frames.valid = true;
    }
    if (i >= l->frames.list.n)
        return UPMU_E_END;
    const struct upmu_symbol s = l->frames.list.all[i];
    return OPTS_GIVE(out, s, UPMU_SYMBOL_SIZE_V1);
}

int upmu_overview_line_at(struct upmu_overview *overview, size_t process, uint64_t address, uint32_t stack,
                          struct upmu_symbol *out)
{
    struct upmu_symbol s = {.size = sizeof s};
    if (!overview || !out)
        return ARGUMENT_NULL(overview, out);
    if (process >= overview->pass.n_processes)
        return UPMU_E_END;
    uint64_t call = lookup_call(overview, (uint32_t)process, address, stack);
    struct location *l = &overview->lookup->last;
    int rc = location_find(overview, process, call, l);
    size_t depth = rc == 0 ? location_line(overview, l) : 0;
    if (rc == 0 && depth == SIZE_MAX) /* nothing else is there: the outermost one */
        depth = l->n_frames > 0 ? l->n_frames - 1 : 0;
    rc = rc == 0 ? upmu_overview_symbol_at(overview, process, call, depth, &s) : rc;
    rc = rc == 0 ? openmp_frame_name(overview, process, stack, &s) : rc;
    return rc == 0 ? OPTS_GIVE(out, s, UPMU_SYMBOL_SIZE_V1) : rc;
}

/* ------------------------------------------------------------------------------------------------------- labels */

static const struct {
    const char *name, *label;
} kinds[] = {
    [UPMU_FRAME_UNKNOWN] = {"unknown", ""},
    [UPMU_FRAME_CODE] = {"code", ""},
    [UPMU_FRAME_SIGNAL] = {"signal", "signal frame"},
    [UPMU_FRAME_ROOT] = {"root", "thread start"},
    [UPMU_FRAME_STUB] = {"stub", "PLT stub"},
    [UPMU_FRAME_JIT] = {"jit", "generated at run time"},
    [UPMU_FRAME_TAIL_CALL] = {"tail-call", "left by a tail call"},
    [UPMU_FRAME_TRUNCATED] = {"truncated", "deeper frames were not recorded"},
    [UPMU_FRAME_LOST] = {"lost", "callers unknown: the unwinder stopped here"},
    [UPMU_FRAME_ONLY_SITE] = {"only-site", "only the call site was recorded"},
    [UPMU_FRAME_SCANNED] = {"scanned", "found by scanning code: callers may be wrong or missing"},
    [UPMU_FRAME_TASK_CALLERS] = {"task-callers", "the call stack that created the task was not recorded"},
    [UPMU_FRAME_REGION_CALLERS] = {"region-callers",
                                   "callers unknown: where the OpenMP region was begun was not recorded"},
};

static bool frame_kind_is_known(int kind)
{
    return kind >= 0 && (size_t)kind < sizeof kinds / sizeof *kinds;
}

const char *upmu_frame_kind_name(int kind)
{
    return frame_kind_is_known(kind) ? kinds[kind].name : "?";
}

const char *upmu_frame_label(const struct upmu_symbol *symbol)
{
    if (!symbol)
        return "";
    return symbol->inlined ? "inlined" : frame_kind_is_known(symbol->kind) ? kinds[symbol->kind].label : "";
}
