/* SPDX-License-Identifier: MIT */
/* Samples of one function by source line and by instruction. */
#include <stdlib.h>
#include <string.h>

#include "base/opts.h"
#include "samples/samples.h"

/* Code that is searched for lines without samples: a function beyond has no such lines. */
enum { ANNOTATE_SCANNED_MAX = 1 << 18 };

struct annotate_sums {
    uint64_t self_samples, samples, self_weight, weight;
};

struct annotate_line {
    const char *file;
    uint32_t file_order; /* in the order of their first use */
    uint32_t line;
    uint32_t inlined; /* function; MAP_NONE: the line itself */
    uint32_t inlined_line;
    struct annotate_sums sums;
};

struct annotate_range {
    uint32_t file; /* in `spaces.files`; MAP_NONE */
    uint64_t begin, end;
    bool is_bounded;
    uint64_t self_samples, self_weight;
};

struct annotate_instruction {
    uint32_t location, range;
    struct annotate_sums sums;
};

/* What a location is in the annotation; MAP_NONE: nothing. */
struct annotate_use {
    uint32_t line, inlined, instruction;
};

struct upmu_annotation {
    const struct upmu_samples *samples;
    uint32_t function; /* the one that was asked for */
    const char **files;
    size_t n_files, cap_files;
    struct annotate_line *lines;
    size_t n_lines, cap_lines;
    struct map by_line;
    struct annotate_range *ranges;
    size_t n_ranges, cap_ranges;
    struct annotate_instruction *instructions;
    size_t n_instructions, cap_instructions;
    struct annotate_use *uses; /* by location */
    struct annotate_sums totals;
};

/* Copies of a function: of one name, in one module. Without a name, of one address. */
static bool annotate_is_same(const struct upmu_samples *s, uint32_t a, uint32_t b)
{
    const struct samples_function *f = &s->functions[a], *g = &s->functions[b];
    if (a == b)
        return true;
    return f->name && g->name && f->module_file != MAP_NONE && g->module_file != MAP_NONE &&
           strcmp(f->name, g->name) == 0 &&
           strcmp(s->spaces.files[f->module_file].path, s->spaces.files[g->module_file].path) == 0;
}

/* The outermost frame of the function at a location; MAP_NONE. */
static uint32_t annotate_frame(const struct upmu_annotation *a, const struct samples_location *l)
{
    for (uint32_t i = l->n; i-- > 0;)
        if (annotate_is_same(a->samples, a->function, a->samples->inlined[l->first + i].function))
            return i;
    return MAP_NONE;
}

/* ---------------------------------------------------------------------------------------------------------- lines */

static bool annotate_file(struct upmu_annotation *a, const char *file, uint32_t *order)
{
    for (*order = 0; *order < a->n_files; ++*order)
        if (file == a->files[*order] || (file && a->files[*order] && strcmp(file, a->files[*order]) == 0))
            return true;
    const char **all = array_reserve(a->files, a->n_files, &a->cap_files, sizeof *all);
    if (!all)
        return false;
    a->files = all;
    all[a->n_files++] = file;
    return true;
}

/* The row of a line, created if needed; MAP_NONE without memory. */
static uint32_t annotate_line(struct upmu_annotation *a, const char *file, const struct annotate_line *wanted)
{
    struct annotate_line row = *wanted;
    if (!annotate_file(a, row.line > 0 ? file : NULL, &row.file_order))
        return MAP_NONE;
    row.file = a->files[row.file_order];
    uint64_t low = (uint64_t)row.line << 32 | row.inlined_line, high = (uint64_t)row.inlined << 32 | row.file_order;
    uint32_t found = map_find(&a->by_line, low, high);
    if (found != MAP_NONE)
        return found;
    struct annotate_line *all = array_reserve(a->lines, a->n_lines, &a->cap_lines, sizeof *all);
    if (!all)
        return MAP_NONE;
    a->lines = all;
    if (!map_put(&a->by_line, low, high, (uint32_t)a->n_lines))
        return MAP_NONE;
    all[a->n_lines] = row;
    return (uint32_t)a->n_lines++;
}

static bool annotate_use_lines(struct upmu_annotation *a, const struct samples_location *l, struct annotate_use *use)
{
    const struct upmu_samples *s = a->samples;
    uint32_t frame = annotate_frame(a, l);
    if (frame == MAP_NONE)
        return true;
    const struct samples_inlined *own = &s->inlined[l->first + frame], *leaf = &s->inlined[l->first];
    struct annotate_line row = {.line = own->line, .inlined = MAP_NONE};
    const char *file = s->functions[own->function].file;
    use->line = annotate_line(a, file, &row);
    if (frame > 0 && use->line != MAP_NONE) {
        row.inlined = leaf->function;
        row.inlined_line = leaf->line;
        use->inlined = annotate_line(a, file, &row);
    }
    return use->line != MAP_NONE && (frame == 0 || use->inlined != MAP_NONE);
}

/* --------------------------------------------------------------------------------------------------------- ranges */

static uint32_t annotate_range_at(const struct upmu_annotation *a, const struct samples_location *l)
{
    for (uint32_t i = 0; i < a->n_ranges; i++)
        if (a->ranges[i].file == l->file && l->address >= a->ranges[i].begin && l->address < a->ranges[i].end)
            return i;
    return MAP_NONE;
}

static int annotate_add_range(struct upmu_annotation *a, const struct samples_location *l)
{
    const struct upmu_samples *s = a->samples;
    struct annotate_range row = {.file = l->file, .begin = l->address, .end = l->address + 1};
    struct annotate_range *all = array_reserve(a->ranges, a->n_ranges, &a->cap_ranges, sizeof *all);
    int rc = 0;
    if (!all)
        return samples_no_memory();
    a->ranges = all;
    if (l->file != MAP_NONE)
        rc = symbols_range(s->symbols, s->spaces.files[l->file].module, l->address, &row.begin, &row.end);
    row.is_bounded = rc == 1;
    all[a->n_ranges++] = row;
    return rc < 0 ? rc : 0;
}

/* Lines that have code, but no samples. */
static int annotate_scan(struct upmu_annotation *a, const struct annotate_range *r, uint64_t *left)
{
    const struct upmu_samples *s = a->samples;
    const char *name = s->functions[a->function].name;
    struct symbol_frame frames[SAMPLES_INLINED_MAX];
    uint32_t module = s->spaces.files[r->file].module;
    if (r->end - r->begin > *left)
        return 0;
    *left -= r->end - r->begin;
    for (uint64_t at = r->begin; at < r->end; at++) {
        int n = symbols_find(s->symbols, module, at, frames, SAMPLES_INLINED_MAX);
        if (n < 0)
            return n;
        while (n > 0 && (!frames[n - 1].function || strcmp(frames[n - 1].function, name) != 0))
            n--;
        const struct annotate_line row = {.line = n > 0 ? frames[n - 1].line : 0, .inlined = MAP_NONE};
        if (row.line > 0 && frames[n - 1].file && annotate_line(a, frames[n - 1].file, &row) == MAP_NONE)
            return samples_no_memory();
    }
    return 0;
}

/* Each location of the function is in one range, and has its line. */
static int annotate_find(struct upmu_annotation *a)
{
    const struct upmu_samples *s = a->samples;
    uint64_t left = ANNOTATE_SCANNED_MAX;
    int rc = 0;
    for (size_t i = 0; rc == 0 && i < s->n_locations; i++) {
        a->uses[i] = (struct annotate_use){MAP_NONE, MAP_NONE, MAP_NONE};
        if (!annotate_use_lines(a, &s->locations[i], &a->uses[i]))
            return samples_no_memory();
        if (a->uses[i].line != MAP_NONE && annotate_range_at(a, &s->locations[i]) == MAP_NONE)
            rc = annotate_add_range(a, &s->locations[i]);
    }
    for (size_t i = 0; rc == 0 && i < a->n_ranges && s->functions[a->function].name; i++)
        if (a->ranges[i].is_bounded)
            rc = annotate_scan(a, &a->ranges[i], &left);
    return rc;
}

/* --------------------------------------------------------------------------------------------------- instructions */

/* All of the ranges: where the function was inlined, also those of the function around it. */
static bool annotate_instructions(struct upmu_annotation *a)
{
    const struct upmu_samples *s = a->samples;
    for (uint32_t i = 0; i < s->n_locations; i++) {
        uint32_t range = annotate_range_at(a, &s->locations[i]);
        if (range == MAP_NONE)
            continue;
        struct annotate_instruction *all =
            array_reserve(a->instructions, a->n_instructions, &a->cap_instructions, sizeof *all);
        if (!all)
            return false;
        a->instructions = all;
        a->uses[i].instruction = (uint32_t)a->n_instructions;
        all[a->n_instructions++] = (struct annotate_instruction){.location = i, .range = range};
    }
    return true;
}

/* ----------------------------------------------------------------------------------------------------------- sums */

enum annotate_what { ANNOTATE_FUNCTION, ANNOTATE_LINE, ANNOTATE_INLINED, ANNOTATE_INSTRUCTION, ANNOTATE_WHATS };

static uint32_t annotate_use_of(const struct upmu_annotation *a, uint32_t code, enum annotate_what what)
{
    uint32_t location = a->samples->codes[code].location;
    if (location == MAP_NONE)
        return MAP_NONE;
    const struct annotate_use *use = &a->uses[location];
    switch (what) {
    case ANNOTATE_FUNCTION:
        return use->line != MAP_NONE ? 0 : MAP_NONE;
    case ANNOTATE_LINE:
        return use->line;
    case ANNOTATE_INLINED:
        return use->inlined;
    default:
        return use->instruction;
    }
}

/* Of nested calls the outermost one counts. */
static bool annotate_is_outermost(const struct upmu_annotation *a, uint32_t code, enum annotate_what what)
{
    uint32_t row = annotate_use_of(a, code, what);
    for (uint32_t at = a->samples->codes[code].parent; at != 0; at = a->samples->codes[at].parent)
        if (annotate_use_of(a, at, what) == row)
            return false;
    return true;
}

/* NULL: the code is nothing of that kind. */
static struct annotate_sums *annotate_sums_of(struct upmu_annotation *a, uint32_t code, enum annotate_what what)
{
    uint32_t row = annotate_use_of(a, code, what);
    if (what == ANNOTATE_INSTRUCTION)
        return row < a->n_instructions ? &a->instructions[row].sums : NULL;
    if (what == ANNOTATE_FUNCTION)
        return row == 0 ? &a->totals : NULL;
    return row < a->n_lines ? &a->lines[row].sums : NULL;
}

static void annotate_add(struct upmu_annotation *a, uint32_t code, enum annotate_what what)
{
    const struct samples_code *c = &a->samples->codes[code];
    struct annotate_sums *sums = annotate_sums_of(a, code, what);
    if (!sums)
        return;
    bool of_inlined = annotate_use_of(a, code, ANNOTATE_INLINED) != MAP_NONE;
    if (!of_inlined || what == ANNOTATE_INLINED || what == ANNOTATE_INSTRUCTION) {
        sums->self_samples += c->self_samples;
        sums->self_weight += c->self_weight;
    }
    if (annotate_is_outermost(a, code, what)) {
        sums->samples += c->samples;
        sums->weight += c->weight;
    }
}

static void annotate_sum(struct upmu_annotation *a)
{
    for (uint32_t i = 1; i < a->samples->n_codes; i++)
        for (int what = 0; what < ANNOTATE_WHATS; what++)
            annotate_add(a, i, (enum annotate_what)what);
    for (size_t i = 0; i < a->n_instructions; i++) {
        struct annotate_range *r = &a->ranges[a->instructions[i].range];
        r->self_samples += a->instructions[i].sums.self_samples;
        r->self_weight += a->instructions[i].sums.self_weight;
    }
}

/* ---------------------------------------------------------------------------------------------------------- order */

static int annotate_compare_lines(const void *x, const void *y)
{
    const struct annotate_line *a = x, *b = y;
    if (a->file_order != b->file_order)
        return a->file_order < b->file_order ? -1 : 1;
    if (a->line != b->line)
        return a->line < b->line ? -1 : 1;
    if ((a->inlined == MAP_NONE) != (b->inlined == MAP_NONE))
        return a->inlined == MAP_NONE ? -1 : 1;
    if (a->sums.self_weight != b->sums.self_weight)
        return a->sums.self_weight > b->sums.self_weight ? -1 : 1;
    if (a->sums.weight != b->sums.weight)
        return a->sums.weight > b->sums.weight ? -1 : 1;
    if (a->inlined != b->inlined)
        return a->inlined < b->inlined ? -1 : 1;
    return a->inlined_line < b->inlined_line ? -1 : a->inlined_line > b->inlined_line;
}

struct annotate_rank {
    uint64_t weight, begin;
    uint32_t range;
};

static int annotate_compare_ranks(const void *x, const void *y)
{
    const struct annotate_rank *a = x, *b = y;
    if (a->weight != b->weight)
        return a->weight > b->weight ? -1 : 1;
    return a->begin < b->begin ? -1 : a->begin > b->begin;
}

struct annotate_place {
    uint64_t address;
    struct annotate_instruction row;
};

static int annotate_compare_places(const void *x, const void *y)
{
    const struct annotate_place *a = x, *b = y;
    if (a->row.range != b->row.range)
        return a->row.range < b->row.range ? -1 : 1;
    return a->address < b->address ? -1 : a->address > b->address;
}

static bool annotate_sort_ranges(struct upmu_annotation *a)
{
    struct annotate_rank *ranks = calloc(a->n_ranges + 1, sizeof *ranks);
    struct annotate_range *sorted = calloc(a->n_ranges + 1, sizeof *sorted);
    uint32_t *place = calloc(a->n_ranges + 1, sizeof *place);
    bool ok = ranks && sorted && place;
    for (uint32_t i = 0; ok && i < a->n_ranges; i++)
        ranks[i] = (struct annotate_rank){a->ranges[i].self_weight, a->ranges[i].begin, i};
    if (ok)
        qsort(ranks, a->n_ranges, sizeof *ranks, annotate_compare_ranks);
    for (uint32_t i = 0; ok && i < a->n_ranges; i++) {
        sorted[i] = a->ranges[ranks[i].range];
        place[ranks[i].range] = i;
    }
    for (size_t i = 0; ok && i < a->n_instructions; i++)
        a->instructions[i].range = place[a->instructions[i].range];
    if (ok) {
        free(a->ranges);
        a->ranges = sorted;
        a->cap_ranges = a->n_ranges + 1;
    } else {
        free(sorted);
    }
    free(ranks);
    free(place);
    return ok;
}

static bool annotate_sort(struct upmu_annotation *a)
{
    struct annotate_place *places = calloc(a->n_instructions + 1, sizeof *places);
    if (!places || !annotate_sort_ranges(a)) {
        free(places);
        return false;
    }
    for (size_t i = 0; i < a->n_instructions; i++)
        places[i] =
            (struct annotate_place){a->samples->locations[a->instructions[i].location].address, a->instructions[i]};
    qsort(places, a->n_instructions, sizeof *places, annotate_compare_places);
    for (size_t i = 0; i < a->n_instructions; i++)
        a->instructions[i] = places[i].row;
    free(places);
    if (a->n_lines > 0)
        qsort(a->lines, a->n_lines, sizeof *a->lines, annotate_compare_lines);
    return true;
}

/* --------------------------------------------------------------------------------------------------------- public */

static int annotate_check(const struct upmu_samples *s, size_t function)
{
    if (!s->with_code)
        return upmu_fail(UPMU_E_STATE, "upmu_samples_annotate: the samples were opened without `with_code`");
    if (function >= s->n_used)
        return UPMU_E_END;
    const struct samples_function *f = &s->functions[s->order[function]];
    if (f->module_file == MAP_NONE && f->name)
        return upmu_fail(UPMU_E_STATE, "%s has no lines: it is of the kernel, or was generated at run time", f->name);
    return 0;
}

int upmu_samples_annotate(const struct upmu_samples *samples, size_t function, struct upmu_annotation **annotation)
{
    if (!samples || !annotation)
        return ARGUMENT_NULL(samples, annotation);
    *annotation = NULL;
    int rc = annotate_check(samples, function);
    if (rc != 0)
        return rc;
    struct upmu_annotation *a = calloc(1, sizeof *a);
    if (!a)
        return samples_no_memory();
    a->samples = samples;
    a->function = samples->order[function];
    a->uses = calloc(samples->n_locations + 1, sizeof *a->uses);
    if (!a->uses) {
        free(a);
        return samples_no_memory();
    }
    rc = annotate_find(a);
    if (rc == 0 && !annotate_instructions(a))
        rc = samples_no_memory();
    if (rc == 0) {
        annotate_sum(a);
        rc = annotate_sort(a) ? 0 : samples_no_memory();
    }
    if (rc == 0)
        *annotation = a;
    else
        upmu_annotation_close(a);
    return rc;
}

void upmu_annotation_close(struct upmu_annotation *a)
{
    if (!a)
        return;
    free(a->files);
    free(a->lines);
    free(a->ranges);
    free(a->instructions);
    free(a->uses);
    map_free(&a->by_line);
    free(a);
}

int upmu_annotation_totals_read(const struct upmu_annotation *annotation, struct upmu_annotation_totals *out)
{
    if (!annotation || !out)
        return ARGUMENT_NULL(annotation, out);
    const struct annotate_sums *t = &annotation->totals;
    const struct upmu_annotation_totals ours = {
        .self_samples = t->self_samples, .samples = t->samples, .self_weight = t->self_weight, .weight = t->weight};
    return OPTS_GIVE(out, ours, UPMU_ANNOTATION_TOTALS_SIZE_V1);
}

int upmu_annotation_line_at(const struct upmu_annotation *annotation, size_t i, struct upmu_annotation_line *out)
{
    if (!annotation || !out)
        return ARGUMENT_NULL(annotation, out);
    if (i >= annotation->n_lines)
        return UPMU_E_END;
    const struct annotate_line *l = &annotation->lines[i];
    const struct samples_function *f = l->inlined == MAP_NONE ? NULL : &annotation->samples->functions[l->inlined];
    const struct upmu_annotation_line ours = {
        .file = l->file,
        .inlined = f ? f->name ? f->name : "?" : NULL,
        .inlined_file = f ? f->file : NULL,
        .line = l->line,
        .inlined_line = l->inlined_line,
        .self_samples = l->sums.self_samples,
        .samples = l->sums.samples,
        .self_weight = l->sums.self_weight,
        .weight = l->sums.weight,
    };
    return OPTS_GIVE(out, ours, UPMU_ANNOTATION_LINE_SIZE_V1);
}

int upmu_annotation_range_at(const struct upmu_annotation *annotation, size_t i, struct upmu_annotation_range *out)
{
    if (!annotation || !out)
        return ARGUMENT_NULL(annotation, out);
    if (i >= annotation->n_ranges)
        return UPMU_E_END;
    const struct annotate_range *r = &annotation->ranges[i];
    const struct upmu_samples *s = annotation->samples;
    const struct spaces_file *file = r->file == MAP_NONE ? NULL : &s->spaces.files[r->file];
    const char *problem = file && file->module != MAP_NONE ? symbols_problem(s->symbols, file->module) : "";
    const struct upmu_annotation_range ours = {
        .module = file ? file->path : NULL,
        .problem = problem,
        .begin = r->begin,
        .end = r->end,
        .self_samples = r->self_samples,
        .self_weight = r->self_weight,
        .is_recorded = file && file->build_id[0] && !problem[0],
        .is_bounded = r->is_bounded,
    };
    return OPTS_GIVE(out, ours, UPMU_ANNOTATION_RANGE_SIZE_V1);
}

int upmu_annotation_instruction_at(const struct upmu_annotation *annotation, size_t i,
                                   struct upmu_annotation_instruction *out)
{
    if (!annotation || !out)
        return ARGUMENT_NULL(annotation, out);
    if (i >= annotation->n_instructions)
        return UPMU_E_END;
    const struct annotate_instruction *row = &annotation->instructions[i];
    const struct upmu_samples *s = annotation->samples;
    const struct samples_location *l = &s->locations[row->location];
    const struct samples_inlined *leaf = &s->inlined[l->first];
    uint32_t frame = annotate_frame(annotation, l);
    const struct upmu_annotation_instruction ours = {
        .function = s->functions[leaf->function].name,
        .file = s->functions[leaf->function].file,
        .address = l->address,
        .line = leaf->line,
        .range = row->range,
        .is_own = frame != MAP_NONE,
        .own_line = frame != MAP_NONE ? s->inlined[l->first + frame].line : 0,
        .self_samples = row->sums.self_samples,
        .samples = row->sums.samples,
        .self_weight = row->sums.self_weight,
        .weight = row->sums.weight,
    };
    return OPTS_GIVE(out, ours, UPMU_ANNOTATION_INSTRUCTION_SIZE_V1);
}
