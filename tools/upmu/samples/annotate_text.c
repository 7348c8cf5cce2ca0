/* SPDX-License-Identifier: MIT */
/* An annotated function as text: its source, code without lines, instructions. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "annotate.h"
#include "objdump.h"
#include "report/report.h"
#include "report/report_cells.h"
#include "ui/memory.h"

enum { HOT_PERCENT = 10, CONTEXT = 2 };

static enum output_style text_style(uint64_t part, uint64_t whole)
{
    return part == 0 ? STYLE_DIM : samples_percent(part, whole) >= HOT_PERCENT ? STYLE_BAD : STYLE_PLAIN;
}

static void annotate_head(struct output *out, const struct annotate *a)
{
    const struct upmu_annotation_totals *t = &a->totals;
    enum { OTHERS = 70 };
    char *name = samples_function_text(a->r, a->function);
    fprintf(out->file, "%sSamples in ", output_style(out, STYLE_TITLE));
    output_name(out, name, OTHERS);
    fprintf(out->file, "%s: %" PRIu64 ", with what it calls %" PRIu64 " of %" PRIu64 " (%.1f %%)\n", output_plain(out),
            t->self_samples, t->samples, a->r->totals.samples, samples_percent(t->weight, a->r->totals.weight));
    if (a->f.problem && a->f.problem[0]) {
        fprintf(out->file, "  %s", output_style(out, STYLE_WARNING));
        output_clean(out->file, a->f.problem);
        fprintf(out->file, "%s\n", output_plain(out));
    }
    free(name);
}

/* --------------------------------------------------------------------------------------------------------- source */

/* SELF, its share, TOTAL, its share. */
static void text_sums(struct table *t, const struct annotate *a, uint64_t self, uint64_t total)
{
    samples_cell_weight(t, a->r, self);
    cell_share(t, self, a->totals.weight);
    samples_cell_weight(t, a->r, total);
    cell_share(t, total, a->totals.weight);
}

static void text_line(struct table *t, const struct annotate *a, const struct source_text *text, uint32_t number,
                      const struct upmu_annotation_line *l)
{
    text_sums(t, a, l ? l->self_weight : 0, l ? l->weight : 0);
    table_cell(t, STYLE_PLAIN, "%" PRIu32, number);
    cell_free(t, text_style(l ? l->weight : 0, a->totals.weight), source_text_line(text, number));
}

/* Samples in what was inlined at a line, below it. */
static void text_inlined(struct table *t, const struct annotate *a, const struct upmu_annotation_line *l)
{
    if (l->samples == 0)
        return;
    text_sums(t, a, l->self_weight, l->weight);
    table_cell(t, STYLE_PLAIN, "%s", "");
    if (l->inlined_line > 0 && l->inlined_file)
        cell_free(
            t, STYLE_PLAIN,
            memory_format("  inlined: %s %s:%" PRIu32, l->inlined, report_base_name(l->inlined_file), l->inlined_line));
    else
        cell_free(t, STYLE_PLAIN, memory_format("  inlined: %s", l->inlined));
}

/* The lines of one file, from row `i` on. @return the first row of another one. */
static size_t text_file(struct output *out, struct annotate *a, size_t i)
{
    static const struct table_column columns[] = {{"SELF", true},  {"SHARE", true}, {"TOTAL", true},
                                                  {"SHARE", true}, {"LINE", true},  {"SOURCE", TABLE_NAME}};
    struct upmu_annotation_line l = {.size = sizeof l};
    struct source_text text = {0};
    struct table t;
    bool more = upmu_annotation_line_at(a->of, i, &l) == 0;
    const char *file = l.file;
    uint32_t next = l.line > CONTEXT ? l.line - CONTEXT : 1;
    report_title(out, file);
    annotate_source(a, file, &text);
    table_begin(&t, columns, sizeof columns / sizeof *columns);
    for (; more && l.file == file; more = upmu_annotation_line_at(a->of, ++i, &l) == 0) {
        for (; !l.inlined && next < l.line && next <= text.n; next++)
            text_line(&t, a, &text, next, NULL);
        if (l.inlined)
            text_inlined(&t, a, &l);
        else
            text_line(&t, a, &text, l.line, &l);
        next = l.line + 1;
    }
    if (next > text.n + 1 && text.n > 0) {
        complain("%s has %zu lines, but the debug information names line %" PRIu32
                 ": the file was changed after the build. Build and record again.",
                 file, text.n, next - 1);
        a->failed = true;
    }
    table_end(&t, out, 2);
    source_text_free(&text);
    return i;
}

/* Instructions of the function without a line. */
static void text_without_line(struct output *out, struct annotate *a, const struct upmu_annotation_line *all)
{
    static const struct table_column columns[] = {
        {"SELF", true}, {"SHARE", true}, {"SAMPLES", true}, {"ADDRESS", true}, {"MODULE", TABLE_NAME}};
    struct upmu_annotation_instruction one = {.size = sizeof one};
    struct upmu_annotation_range range = {.size = sizeof range};
    struct table t;
    if (all->samples == 0)
        return;
    report_title(out, "Instructions without a source line");
    table_begin(&t, columns, sizeof columns / sizeof *columns);
    for (size_t i = 0; upmu_annotation_instruction_at(a->of, i, &one) == 0; i++) {
        if (!one.is_own || one.own_line > 0 || upmu_annotation_range_at(a->of, one.range, &range) != 0)
            continue;
        samples_cell_weight(&t, a->r, one.self_weight);
        cell_share(&t, one.self_weight, a->totals.weight);
        cell_count(&t, one.self_samples, true);
        table_cell(&t, STYLE_PLAIN, "0x%" PRIx64, one.address);
        table_cell(&t, STYLE_PLAIN, "%s", range.module ? report_base_name(range.module) : "?");
    }
    table_end(&t, out, 2);
}

static void text_source(struct output *out, struct annotate *a)
{
    struct upmu_annotation_line l = {.size = sizeof l};
    for (size_t i = 0; upmu_annotation_line_at(a->of, i, &l) == 0;)
        if (l.file)
            i = text_file(out, a, i);
        else
            i++;
    for (size_t i = 0; upmu_annotation_line_at(a->of, i, &l) == 0; i++)
        if (l.line == 0 && !l.inlined)
            text_without_line(out, a, &l);
}

/* ---------------------------------------------------------------------------------------------------- disassembly */

struct text_instructions {
    struct table table;
    const struct annotate *a;
    const struct upmu_annotation_range *range;
};

static void text_instruction(void *arg, const struct annotate_row *row)
{
    struct text_instructions *t = arg;
    const struct upmu_annotation_instruction *s = &row->sums;
    if (row->line->is_label) {
        for (int i = 0; i < 4; i++)
            table_cell(&t->table, STYLE_PLAIN, "%s", "");
        table_cell(&t->table, STYLE_TITLE, "<%s>:", row->line->text);
        table_cell(&t->table, STYLE_PLAIN, "%s", "");
        return;
    }
    samples_cell_weight(&t->table, t->a->r, s->self_weight);
    cell_share(&t->table, s->self_weight, t->range->self_weight);
    samples_cell_weight(&t->table, t->a->r, s->weight);
    table_cell(&t->table, STYLE_PLAIN, "%" PRIx64, row->line->address);
    table_cell(&t->table, text_style(s->self_weight, t->range->self_weight), "%s", row->line->text);
    if (s->size > 0 && s->line > 0 && s->file)
        cell_free(&t->table, STYLE_PLAIN, memory_format("%s:%" PRIu32, report_base_name(s->file), s->line));
    else
        table_cell(&t->table, STYLE_PLAIN, "%s", "");
}

static void text_disassembly(struct output *out, struct annotate *a)
{
    static const struct table_column columns[] = {
        {"SELF", true},      {"SHARE", true}, {"TOTAL", true}, {"ADDRESS", true}, {"INSTRUCTION", TABLE_NAME},
        {"LINE", TABLE_NAME}};
    struct upmu_annotation_range r = {.size = sizeof r};
    for (uint32_t i = 0; upmu_annotation_range_at(a->of, i, &r) == 0; i++) {
        struct text_instructions t = {.a = a, .range = &r};
        char *title = memory_format("Instructions of %s, 0x%" PRIx64 " to 0x%" PRIx64 ": %" PRIu64 " samples",
                                    r.module ? r.module : "?", r.begin, r.end, r.self_samples);
        fprintf(out->file, "\n%s", output_style(out, STYLE_TITLE));
        output_clean(out->file, title);
        fprintf(out->file, "%s\n", output_plain(out));
        free(title);
        table_begin(&t.table, columns, sizeof columns / sizeof *columns);
        annotate_instructions(a, i, text_instruction, &t);
        table_end(&t.table, out, 2);
    }
}

void annotate_write_text(struct output *out, struct annotate *a)
{
    annotate_head(out, a);
    text_source(out, a);
    if (a->with_instructions)
        text_disassembly(out, a);
}
