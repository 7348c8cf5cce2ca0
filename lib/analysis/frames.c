/* SPDX-License-Identifier: MIT */
/* Frames of a call stack: inlined functions, functions that left by a tail call, and how it ends. */
#include <stdlib.h>
#include <string.h>

#include "analysis/locations.h"
#include "analysis/public.h"
#include "base/opts.h"

static int frames_add(struct lookup *l, const struct upmu_symbol *s)
{
    struct upmu_symbol *all = array_reserve(l->frames.all, l->frames.n, &l->frames.cap, sizeof *all);
    if (!all)
        return overview_no_memory();
    l->frames.all = all;
    all[l->frames.n++] = *s;
    return 0;
}

/* The functions at an address, innermost first. */
static int frames_add_address(const struct upmu_overview *o, size_t process, uint64_t address)
{
    struct location *l = &o->lookup->own;
    int rc = location_find(o, process, address, l);
    for (size_t depth = 0; rc == 0 && (depth == 0 || depth < l->n_frames); depth++) {
        const struct upmu_symbol s = location_symbol_at(o, l, depth);
        rc = frames_add(o->lookup, &s);
    }
    return rc;
}

/* A function that was called at `address` and has left the stack: the frame inside is of another one. */
static int frames_add_tail_caller(struct upmu_overview *o, size_t process, uint64_t address, const char *inside)
{
    struct upmu_symbol s = {.size = sizeof s};
    if (!inside)
        return 0;
    int rc = upmu_overview_tail_caller(o, process, address, &s);
    if (rc == UPMU_E_NAME || (rc == 0 && (!s.function || strcmp(s.function, inside) == 0)))
        return 0;
    return rc == 0 ? frames_add(o->lookup, &s) : rc;
}

/* What is missing at the outer end; UPMU_FRAME_CODE: nothing. */
static int frames_end(const struct upmu_trace_stack *stack, const struct upmu_symbol *outermost)
{
    if (stack->method == UPMU_STACK_NONE)
        return UPMU_FRAME_ONLY_SITE;
    if (stack->truncated)
        return UPMU_FRAME_TRUNCATED;
    if (stack->method == UPMU_STACK_SCANNED)
        return UPMU_FRAME_SCANNED;
    bool is_end = outermost->kind == UPMU_FRAME_ROOT || (outermost->kind == UPMU_FRAME_UNKNOWN && outermost->module);
    return is_end ? UPMU_FRAME_CODE : UPMU_FRAME_LOST;
}

static int frames_expand(struct upmu_overview *o, size_t process, const struct upmu_trace_stack *stack)
{
    struct lookup *l = o->lookup;
    struct upmu_symbol outermost = {.problem = ""};
    int rc = 0;
    l->frames.n = 0;
    for (uint32_t i = 0; rc == 0 && i < stack->n_frames; i++) {
        /* The address of an interrupted frame is exact; others are return addresses. */
        bool interrupted = i > 0 && outermost.kind == UPMU_FRAME_SIGNAL;
        if (i > 0 && !interrupted)
            rc = frames_add_tail_caller(o, process, stack->frames[i], outermost.function);
        rc = rc == 0 ? frames_add_address(o, process, stack->frames[i] + interrupted) : rc;
        if (rc == 0)
            outermost = l->frames.all[l->frames.n - 1];
    }
    const struct upmu_symbol end = {.kind = frames_end(stack, &outermost), .problem = ""};
    return rc == 0 && end.kind != UPMU_FRAME_CODE ? frames_add(l, &end) : rc;
}

int upmu_overview_frame_at(struct upmu_overview *overview, size_t process, uint32_t stack, size_t i,
                           struct upmu_symbol *out)
{
    struct upmu_trace_stack found = {.size = sizeof found};
    if (!overview || !out)
        return ARGUMENT_NULL(overview, out);
    struct lookup *l = overview->lookup;
    if (!l->frames.valid || l->frames.process != process || l->frames.stack != stack) {
        l->frames.valid = false;
        if (process >= overview->pass.n_processes || stack == 0 ||
            upmu_trace_stack_find(overview->trace, process, stack, &found) != 0)
            return UPMU_E_END;
        int rc = frames_expand(overview, process, &found);
        if (rc != 0)
            return rc;
        l->frames.process = process;
        l->frames.stack = stack;
        l->frames.valid = true;
    }
    if (i >= l->frames.n)
        return UPMU_E_END;
    const struct upmu_symbol s = l->frames.all[i];
    return OPTS_GIVE(out, s, UPMU_SYMBOL_SIZE_V1);
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
