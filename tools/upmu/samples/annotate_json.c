/* SPDX-License-Identifier: MIT */
/* An annotated function as JSON. */
#include <stdlib.h>

#include "annotate.h"
#include "objdump.h"
#include "ui/json.h"

static void json_sums(struct textbuf *j, uint64_t self_samples, uint64_t samples, uint64_t self_weight, uint64_t weight)
{
    json_uint(j, "self_samples", self_samples);
    json_uint(j, "samples", samples);
    json_uint(j, "self_weight", self_weight);
    json_uint(j, "weight", weight);
}

/* All lines with code; those of line 0 have none. "text" is null where the source file cannot be read. */
static void json_lines(struct textbuf *j, struct annotate *a)
{
    struct upmu_annotation_line l = {.size = sizeof l};
    struct source_text text = {0};
    const char *file = NULL;
    json_array(j, "lines");
    for (size_t i = 0; upmu_annotation_line_at(a->of, i, &l) == 0; i++) {
        if (l.file && l.file != file) {
            source_text_free(&text);
            annotate_source(a, l.file, &text);
            file = l.file;
        }
        char *line = l.line > 0 && l.line <= text.n && !l.inlined ? source_text_line(&text, l.line) : NULL;
        json_object(j, NULL);
        json_string(j, "file", l.file);
        json_uint_if(j, "line", l.line > 0, l.line);
        json_string(j, "inlined", l.inlined);
        json_string(j, "inlined_file", l.inlined_file);
        json_uint_if(j, "inlined_line", l.inlined_line > 0, l.inlined_line);
        json_sums(j, l.self_samples, l.samples, l.self_weight, l.weight);
        json_string(j, "text", line);
        json_object_end(j);
        free(line);
    }
    json_array_end(j);
    source_text_free(&text);
}

static void json_place(struct textbuf *j, const struct upmu_annotation_instruction *s)
{
    json_string(j, "function", s->function);
    json_string(j, "file", s->file);
    json_uint_if(j, "line", s->line > 0, s->line);
    json_uint_if(j, "own_line", s->own_line > 0, s->own_line);
    json_bool(j, "is_own", s->is_own);
}

static void json_instruction(void *arg, const struct annotate_row *row)
{
    struct textbuf *j = arg;
    const struct upmu_annotation_instruction *s = &row->sums;
    json_object(j, NULL);
    json_uint(j, "address", row->line->address);
    json_string(j, row->line->is_label ? "label" : "text", row->line->text);
    if (!row->line->is_label)
        json_sums(j, s->self_samples, s->samples, s->self_weight, s->weight);
    if (s->size > 0)
        json_place(j, s);
    json_object_end(j);
}

/* Without --disassembly those with samples only, where "text" is missing. */
static void json_sampled(struct textbuf *j, const struct annotate *a, uint32_t range)
{
    struct upmu_annotation_instruction s = {.size = sizeof s};
    for (size_t i = 0; upmu_annotation_instruction_at(a->of, i, &s) == 0; i++) {
        if (s.range != range)
            continue;
        json_object(j, NULL);
        json_uint(j, "address", s.address);
        json_sums(j, s.self_samples, s.samples, s.self_weight, s.weight);
        json_place(j, &s);
        json_object_end(j);
    }
}

static void json_ranges(struct textbuf *j, struct annotate *a)
{
    struct upmu_annotation_range r = {.size = sizeof r};
    json_array(j, "ranges");
    for (uint32_t i = 0; upmu_annotation_range_at(a->of, i, &r) == 0; i++) {
        json_object(j, NULL);
        json_string(j, "module", r.module);
        json_string(j, "problem", r.problem && r.problem[0] ? r.problem : NULL);
        json_uint(j, "begin", r.begin);
        json_uint(j, "end", r.end);
        json_bool(j, "is_recorded", r.is_recorded);
        json_bool(j, "is_bounded", r.is_bounded);
        json_uint(j, "self_samples", r.self_samples);
        json_uint(j, "self_weight", r.self_weight);
        json_array(j, "instructions");
        if (a->with_instructions)
            annotate_instructions(a, i, json_instruction, j);
        else
            json_sampled(j, a, i);
        json_array_end(j);
        json_object_end(j);
    }
    json_array_end(j);
}

void annotate_write_json(struct output *out, struct annotate *a)
{
    struct json_document doc;
    struct textbuf *j = json_begin(&doc, out->file, "upmu-annotation");
    json_string(j, "dir", a->r->dir);
    json_string(j, "event", a->r->totals.event);
    json_string(j, "unit", a->r->totals.is_time ? "ns" : "events");
    json_string(j, "function", a->f.name);
    json_string(j, "module", a->f.module);
    json_string(j, "problem", a->f.problem && a->f.problem[0] ? a->f.problem : NULL);
    json_sums(j, a->totals.self_samples, a->totals.samples, a->totals.self_weight, a->totals.weight);
    json_uint(j, "all_samples", a->r->totals.samples);
    json_uint(j, "all_weight", a->r->totals.weight);
    json_lines(j, a);
    json_ranges(j, a);
    json_end(&doc);
}
