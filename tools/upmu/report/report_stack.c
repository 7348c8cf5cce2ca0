/* SPDX-License-Identifier: MIT */
/* Call stacks as text, with what is special about a frame. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "report.h"
#include "ui/memory.h"
#include "ui/shorten.h"

void report_text_stack(struct output *out, const struct report *r, uint32_t process, uint32_t id, const char *what)
{
    struct upmu_symbol s = {.size = sizeof s};
    for (size_t i = 0; upmu_overview_frame_at(r->overview, process, id, i, &s) == 0; i++) {
        const char *label = upmu_frame_label(&s);
        if (i == 0)
            fprintf(out->file, "      %s\n", what);
        char *where = s.file ? memory_format(" %s:%" PRIu32, report_base_name(s.file), s.line) : memory_copy("");
        fputs("        ", out->file);
        if (s.kind >= UPMU_FRAME_TRUNCATED) { /* no function */
            fprintf(out->file, "(%s)\n", label);
            free(where);
            continue;
        }
        if (s.function)
            output_name(out, s.function, strlen("         ()") + text_width(where) + strlen(label));
        else
            fprintf(out->file, "%s+0x%" PRIx64, s.module ? report_base_name(s.module) : "", s.offset);
        output_clean(out->file, where);
        free(where);
        fprintf(out->file, label[0] ? " (%s)\n" : "%s\n", label);
    }
}
