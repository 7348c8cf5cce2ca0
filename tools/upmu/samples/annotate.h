/* SPDX-License-Identifier: MIT */
/** @file One function of the samples by source line and instruction. */
#ifndef UPMU_TOOL_ANNOTATE_H
#define UPMU_TOOL_ANNOTATE_H

#include <stdbool.h>

#include "report/report_views.h"
#include "samples/samples.h"
#include "ui/source_text.h"

struct annotate {
    const struct samples_report *r;
    const struct upmu_annotation *of;
    struct upmu_sample_function f; /**< name and module */
    struct upmu_annotation_totals totals;
    uint32_t function;
    bool with_instructions;
    bool failed; /**< a part is missing; its reason was printed */
};

/** @return the exit status. */
int samples_annotate(const struct report_request *q, const struct samples_report *r);

void annotate_write_text(struct output *out, struct annotate *a);
void annotate_write_json(struct output *out, struct annotate *a);

/** Read a source file; without it there are numbers only, after a message. */
void annotate_source(struct annotate *a, const char *file, struct source_text *text);

/** An instruction of a range. */
struct annotate_row {
    const struct objdump_line *line;
    struct upmu_annotation_instruction sums; /**< of all samples in it; `size` 0: there are none */
};

/** Called for each line of a range. */
typedef void (*annotate_row_fn)(void *arg, const struct annotate_row *row);
/** Disassemble a range. What prevents that is printed. */
void annotate_instructions(struct annotate *a, uint32_t range, annotate_row_fn write, void *arg);

#endif
