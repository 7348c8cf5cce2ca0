/* SPDX-License-Identifier: MIT */
/* Frames of a recorded call stack: inlined functions, functions that left by a tail call, and how it ends. */
#include "analysis/stack_frames.h"

#include <stdlib.h>
#include <string.h>

#include "analysis/public.h"

int frame_list_add(struct frame_list *list, const struct upmu_symbol *s)
{
    struct upmu_symbol *all = array_reserve(list->all, list->n, &list->cap, sizeof *all);
    if (!all)
        return overview_no_memory();
    list->all = all;
    all[list->n++] = *s;
    return 0;
}

int frame_list_add_address(const struct upmu_overview *o, size_t process, uint64_t address, struct frame_list *out)
{
    struct location *l = &o->lookup->own;
    int rc = location_find(o, process, address, l);
    for (size_t depth = 0; rc == 0 && (depth == 0 || depth < l->n_frames); depth++) {
        const struct upmu_symbol s = location_symbol_at(o, l, depth);
        rc = frame_list_add(out, &s);
    }
    return rc;
}

/* A function that was called at `address` and has left the stack: the frame inside is of another one. */
static int frames_add_tail_caller(struct upmu_overview *o, size_t process, uint64_t address, const char *inside,
                                  struct frame_list *out)
{
    struct upmu_symbol s = {.size = sizeof s};
    if (!inside)
        return 0;
    int rc = upmu_overview_tail_caller(o, process, address, &s);
    if (rc == UPMU_E_NAME || (rc == 0 && (!s.function || strcmp(s.function, inside) == 0)))
        return 0;
    return rc == 0 ? frame_list_add(out, &s) : rc;
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

int frame_list_add_stack(struct upmu_overview *o, size_t process, const struct upmu_trace_stack *stack,
                         struct frame_list *out)
{
    struct upmu_symbol outermost = {.problem = ""};
    int rc = 0;
    for (uint32_t i = 0; rc == 0 && i < stack->n_frames; i++) {
        /* The address of an interrupted frame is exact; others are return addresses. */
        bool interrupted = i > 0 && outermost.kind == UPMU_FRAME_SIGNAL;
        if (i > 0 && !interrupted)
            rc = frames_add_tail_caller(o, process, stack->frames[i], outermost.function, out);
        rc = rc == 0 ? frame_list_add_address(o, process, stack->frames[i] + interrupted, out) : rc;
        if (rc == 0)
            outermost = out->all[out->n - 1];
    }
    const struct upmu_symbol end = {.kind = frames_end(stack, &outermost), .problem = ""};
    return rc == 0 && end.kind != UPMU_FRAME_CODE ? frame_list_add(out, &end) : rc;
}
