/* SPDX-License-Identifier: MIT */
/* A source file with the sums of its functions at the lines where they begin. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "functions.h"
#include "report/report.h"
#include "ui/command.h"
#include "ui/memory.h"
#include "ui/source_text.h"

struct source_line {
    uint64_t calls, inclusive_ns, exclusive_ns;
};

struct source {
    const char *path, *module; /* of the functions' debug information */
    struct source_line *lines; /* by number, from 1 on */
    uint32_t n;
    bool several; /* files end with the name */
};

/* Whole names of folders and files only. */
static bool source_is(const char *path, const char *end)
{
    size_t n = strlen(path), m = strlen(end);
    return m <= n && strcmp(path + n - m, end) == 0 && (m == n || end[0] == '/' || path[n - m - 1] == '/');
}

/* The function with the longest time of its own decides which file it is. */
static void source_find(struct source *s, const struct functions_report *r, const char *end)
{
    struct upmu_function f = {.size = sizeof f};
    for (size_t i = 0; upmu_functions_at(r->functions, i, &f) == 0; i++) {
        if (!f.file || !source_is(f.file, end))
            continue;
        s->several |= s->path && strcmp(s->path, f.file) != 0;
        s->path = s->path ? s->path : f.file;
        s->module = s->module ? s->module : f.module;
    }
}

static void source_sum(struct source *s, const struct functions_report *r)
{
    struct upmu_function f = {.size = sizeof f};
    for (size_t i = 0; upmu_functions_at(r->functions, i, &f) == 0; i++)
        if (f.file && strcmp(f.file, s->path) == 0 && f.line > s->n)
            s->n = f.line;
    s->lines = memory_array((size_t)s->n + 1, sizeof *s->lines);
    for (size_t i = 0; upmu_functions_at(r->functions, i, &f) == 0; i++)
        if (f.file && strcmp(f.file, s->path) == 0) {
            s->lines[f.line].calls += f.calls;
            s->lines[f.line].inclusive_ns += f.inclusive_ns;
            s->lines[f.line].exclusive_ns += f.exclusive_ns;
        }
}

static void source_write_line(struct output *out, const struct functions_report *r, const struct source *s,
                              uint32_t number, const char *text)
{
    if (number <= s->n && s->lines[number].calls > 0) {
        const struct source_line *l = &s->lines[number];
        char *inclusive = report_duration(l->inclusive_ns), *exclusive = report_duration(l->exclusive_ns);
        double share = r->totals.total_ns ? 100 * (double)l->exclusive_ns / (double)r->totals.total_ns : 0;
        fprintf(out->file, "  %9s  %9s  %5.1f %%  %12" PRIu64, inclusive, exclusive, share, l->calls);
        free(inclusive);
        free(exclusive);
    } else {
        fprintf(out->file, "  %9s  %9s  %7s  %12s", "", "", "", "");
    }
    fprintf(out->file, "  %5" PRIu32 "  ", number);
    output_clean(out->file, text);
    fputc('\n', out->file);
}

static void source_write_file(struct output *out, const struct functions_report *r, const struct source *s,
                              const struct source_text *text)
{
    fprintf(out->file, "%s  %9s  %9s  %7s  %12s  %5s  ", output_style(out, STYLE_TITLE), "INCLUSIVE", "EXCLUSIVE",
            "SHARE", "CALLS", "LINE");
    output_clean(out->file, s->path);
    fprintf(out->file, "%s\n", output_plain(out));
    for (uint32_t number = 1; number <= text->n; number++) {
        char *line = source_text_line(text, number);
        source_write_line(out, r, s, number, line);
        free(line);
    }
}

int functions_write_source(struct output *out, const struct functions_report *r, const char *file)
{
    struct source s = {0};
    source_find(&s, r, file);
    if (!s.path) {
        complain(
            "no recorded function is in a source file \"%s\": upmu report --functions lists the files; -g is needed",
            file);
        return EXIT_FAILED;
    }
    struct source_text text;
    char *why = source_text_read(&text, s.path);
    if (why) {
        complain("%s", why);
        free(why);
        return EXIT_FAILED;
    }
    if (s.several)
        complain("more files end with that name: this is %s", s.path);
    source_text_check(s.path, s.module);
    source_sum(&s, r);
    source_write_file(out, r, &s, &text);
    source_text_free(&text);
    free(s.lines);
    return EXIT_OK;
}
