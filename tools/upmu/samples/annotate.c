/* SPDX-License-Identifier: MIT */
/* upmu report --annotate. */
#include "annotate.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "objdump.h"
#include "report/report.h"
#include "ui/memory.h"
#include "ui/options.h"

enum { NAME_OTHER, NAME_PART, NAME_WHOLE };

/* ------------------------------------------------------------------------------------------------------- function */

/* "sum" is a part of "void ns::sum<int>(int*)". */
static int annotate_match(const char *name, const char *wanted)
{
    size_t n = strlen(wanted);
    if (strcmp(name, wanted) == 0)
        return NAME_WHOLE;
    for (const char *at = name; n > 0 && (at = strstr(at, wanted)); at++)
        if ((at == name || at[-1] == ':' || at[-1] == ' ') && (at[n] == '\0' || at[n] == '(' || at[n] == '<'))
            return NAME_PART;
    return NAME_OTHER;
}

static int annotate_match_function(const struct samples_report *r, uint32_t i, const struct upmu_sample_function *f,
                                   const char *wanted)
{
    if (f->name)
        return annotate_match(f->name, wanted);
    char *text = samples_function_text(r, i); /* "libfoo.so+0x1234" */
    int match = strcmp(text, wanted) == 0 ? NAME_WHOLE : NAME_OTHER;
    free(text);
    return match;
}

static bool annotate_same(const char *a, const char *b)
{
    return a == b || (a && b && strcmp(a, b) == 0);
}

/* Copies of one function in one module are annotated together. */
static void annotate_report_others(const struct samples_report *r, const struct annotate *a, const char *wanted,
                                   int match)
{
    struct upmu_sample_function f = {.size = sizeof f};
    bool reported = false;
    for (uint32_t i = 0; !reported && upmu_samples_function_at(r->samples, i, &f) == 0; i++) {
        bool is_copy = annotate_same(f.name, a->f.name) && annotate_same(f.module, a->f.module);
        if (is_copy || annotate_match_function(r, i, &f, wanted) != match)
            continue;
        char *first = samples_function_text(r, a->function), *other = samples_function_text(r, i);
        complain("more functions are called \"%s\": this is %s; another is %s", wanted, first, other);
        free(first);
        free(other);
        reported = true;
    }
}

/* Functions are in the order of their own samples: of those that match best the first one. */
static bool annotate_find(struct annotate *a, const char *wanted)
{
    struct upmu_sample_function f = {.size = sizeof f};
    int best = NAME_OTHER;
    for (uint32_t i = 0; best != NAME_WHOLE && upmu_samples_function_at(a->r->samples, i, &f) == 0; i++) {
        int match = annotate_match_function(a->r, i, &f, wanted);
        if (match > best) {
            best = match;
            a->f = f;
            a->function = i;
        }
    }
    if (best == NAME_OTHER) {
        complain("no sample is in a function \"%s\": upmu report --samples lists the functions", wanted);
        return false;
    }
    annotate_report_others(a->r, a, wanted, best);
    return true;
}

/* --------------------------------------------------------------------------------------------------------- source */

void annotate_source(struct annotate *a, const char *file, struct source_text *text)
{
    char *why = source_text_read(text, file);
    if (why) {
        complain("%s: lines are shown without their text", why);
        a->failed = true;
    } else {
        source_text_check(file, a->f.module);
    }
    free(why);
}

/* --------------------------------------------------------------------------------------------------- instructions */

/* Without a build-id in the recording the time of the file is what remains. */
static void annotate_check_module(const struct annotate *a, const struct upmu_annotation_range *range)
{
    struct upmu_sample first = {.size = sizeof first};
    struct stat st;
    enum { SECOND = 1000000000 };
    if (range->is_recorded || stat(range->module, &st) != 0 || upmu_samples_at(a->r->samples, 0, &first) != 0)
        return;
    if ((uint64_t)st.st_mtime > first.time_ns / SECOND)
        complain("%s is newer than the recording, which has no build-id of it: instructions may have moved",
                 range->module);
}

static const char *annotate_no_file(const struct upmu_annotation_range *range)
{
    if (!range->module)
        return "no module is known at these addresses";
    if (range->problem[0])
        return range->problem;
    return range->module[0] == '/' ? NULL : "it is not in a file";
}

static void annotate_add(struct upmu_annotation_instruction *sums, const struct upmu_annotation_instruction *one)
{
    if (sums->size == 0) {
        *sums = *one;
        return;
    }
    sums->self_samples += one->self_samples;
    sums->self_weight += one->self_weight;
    sums->samples += one->samples;
    sums->weight += one->weight;
}

/* Instructions with samples come by address, as the lines do. */
static uint64_t annotate_join(const struct annotate *a, uint32_t range, const struct objdump *d, annotate_row_fn write,
                              void *arg)
{
    struct upmu_annotation_instruction one = {.size = sizeof one};
    uint64_t missed = 0;
    size_t next = 0;
    while (upmu_annotation_instruction_at(a->of, next, &one) == 0 && one.range < range)
        next++;
    for (size_t i = 0; i < d->n; i++) {
        struct annotate_row row = {.line = &d->lines[i]};
        size_t after = i + 1;
        while (after < d->n && d->lines[after].is_label)
            after++;
        uint64_t end = after < d->n ? d->lines[after].address : UINT64_MAX;
        while (!row.line->is_label && upmu_annotation_instruction_at(a->of, next, &one) == 0 && one.range == range &&
               one.address < end) {
            if (one.address >= row.line->address)
                annotate_add(&row.sums, &one);
            else
                missed += one.self_samples;
            next++;
        }
        write(arg, &row);
    }
    return missed;
}

void annotate_instructions(struct annotate *a, uint32_t range, annotate_row_fn write, void *arg)
{
    struct upmu_annotation_range r = {.size = sizeof r};
    struct objdump d = {0};
    if (upmu_annotation_range_at(a->of, range, &r) != 0)
        return;
    const char *no_file = annotate_no_file(&r);
    char *why = no_file ? memory_format("%s: not disassembled: %s", r.module ? r.module : "code", no_file)
                        : objdump_read(&d, r.module, r.begin, r.end);
    if (!why) {
        annotate_check_module(a, &r);
        uint64_t missed = annotate_join(a, range, &d, write, arg);
        if (missed)
            why = memory_format("%" PRIu64 " samples are at addresses without an instruction", missed);
    }
    if (why) {
        complain("%s", why);
        a->failed = true;
    }
    free(why);
    objdump_free(&d);
}

/* ----------------------------------------------------------------------------------------------------------- view */

static int annotate_write(const struct report_request *q, struct annotate *a)
{
    struct output out;
    if (output_standard(&out, OUTPUT_STDOUT) != 0)
        return EXIT_FAILED;
    if (q->as_json)
        annotate_write_json(&out, a);
    else
        annotate_write_text(&out, a);
    return output_close(&out) == 0 && !a->failed ? EXIT_OK : EXIT_FAILED;
}

int samples_annotate(const struct report_request *q, const struct samples_report *r)
{
    struct annotate a = {
        .r = r, .f.size = sizeof a.f, .totals.size = sizeof a.totals, .with_instructions = q->disassembly};
    struct upmu_annotation *annotation = NULL;
    if (!annotate_find(&a, q->annotate))
        return EXIT_FAILED;
    int rc = upmu_samples_annotate(r->samples, a.function, &annotation);
    if (rc == 0)
        rc = upmu_annotation_totals_read(annotation, &a.totals);
    a.of = annotation;
    if (rc != 0)
        complain("%s", upmu_error());
    int status = rc == 0 ? annotate_write(q, &a) : EXIT_FAILED;
    upmu_annotation_close(annotation);
    return status;
}
