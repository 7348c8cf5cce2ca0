/* SPDX-License-Identifier: MIT */
/* Call stacks as text, with what is special about a frame. */
#include <inttypes.h>
#include <string.h>

#include "report.h"

/* The functions at an address. `*outermost` is the last of them afterwards. */
static void stack_text_frame(struct output *out, const struct report *r, uint32_t process, uint64_t address,
                             struct upmu_symbol *outermost)
{
    struct upmu_symbol s = {.size = sizeof s};
    for (size_t depth = 0; upmu_overview_symbol_at(r->overview, process, address, depth, &s) == 0; depth++) {
        *outermost = s;
        fputs("        ", out->file);
        if (s.function)
            output_clean(out->file, s.function);
        else
            fprintf(out->file, "%s+0x%" PRIx64, s.module ? report_base_name(s.module) : "", s.offset);
        if (s.file)
            fprintf(out->file, " %s:%" PRIu32, report_base_name(s.file), s.line);
        fprintf(out->file, "%s\n", report_frame_remark(&s));
    }
}

/* A function between two frames that has left the stack. */
static void stack_text_tail_caller(struct output *out, const struct report *r, uint32_t process, uint64_t address,
                                   const char *inside)
{
    struct upmu_symbol s = {.size = sizeof s};
    if (!inside || upmu_overview_tail_caller(r->overview, process, address, &s) != 0 || !s.function ||
        strcmp(s.function, inside) == 0)
        return;
    fputs("        ", out->file);
    output_clean(out->file, s.function);
    fputs(" (left by a tail call)\n", out->file);
}

void report_text_stack(struct output *out, const struct report *r, uint32_t process, uint32_t id, const char *what)
{
    struct upmu_trace_stack stack = {.size = sizeof stack};
    struct upmu_symbol outermost = {.size = sizeof outermost};
    if (id == 0 || upmu_overview_stack_find(r->overview, process, id, &stack) != 0)
        return;
    fprintf(out->file, "      %s\n", what);
    for (uint32_t i = 0; i < stack.n_frames; i++) {
        /* The address of an interrupted frame is exact; others are return addresses. */
        bool interrupted = i > 0 && outermost.kind == UPMU_FRAME_SIGNAL;
        if (i > 0 && !interrupted)
            stack_text_tail_caller(out, r, process, stack.frames[i], outermost.function);
        stack_text_frame(out, r, process, stack.frames[i] + interrupted, &outermost);
    }
    if (stack.method == UPMU_STACK_NONE)
        fputs("        (only the call site was recorded)\n", out->file);
    else if (stack.truncated)
        fputs("        (deeper frames were not recorded)\n", out->file);
}
