/* SPDX-License-Identifier: MIT */
/*
 * Matching of the functions of two recordings, and the differences as text and JSON.
 *
 * Addresses and lines change from build to build: functions are matched by name and source file, those that are left by name.
 */
#include "functions_diff.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "report/report.h"
#include "report/report_cells.h"
#include "ui/json.h"
#include "ui/memory.h"

/* ----------------------------------------------------------------------------------------------------- matching */

static int change_compare_texts(const char *a, const char *b)
{
    return a && b ? strcmp(a, b) : (a != NULL) - (b != NULL);
}

static const char *change_base_name(const char *path)
{
    return path ? report_base_name(path) : NULL;
}

static int change_by_name(const void *a, const void *b)
{
    const struct function_change *x = a, *y = b;
    int order = change_compare_texts(x->name, y->name);
    if (order == 0 && !x->name && x->offset != y->offset)
        return x->offset < y->offset ? -1 : 1;
    return order ? order : change_compare_texts(change_base_name(x->file), change_base_name(y->file));
}

static uint64_t change_distance(uint64_t a, uint64_t b)
{
    return a > b ? a - b : b - a;
}

static int change_by_size(const void *a, const void *b)
{
    const struct function_change *x = a, *y = b;
    uint64_t dx = change_distance(x->side[CHANGE_OLD].exclusive_ns, x->side[CHANGE_NEW].exclusive_ns);
    uint64_t dy = change_distance(y->side[CHANGE_OLD].exclusive_ns, y->side[CHANGE_NEW].exclusive_ns);
    return dx != dy ? (dx > dy ? -1 : 1) : change_by_name(a, b);
}

static void change_join(struct function_change *to, const struct function_change *from)
{
    if (from->side[CHANGE_NEW].there && !to->side[CHANGE_NEW].there) {
        to->file = from->file;
        to->module = from->module;
        to->line = from->line;
    }
    for (int i = 0; i < CHANGE_SIDES; i++) {
        to->side[i].there |= from->side[i].there;
        to->side[i].calls += from->side[i].calls;
        to->side[i].inclusive_ns += from->side[i].inclusive_ns;
        to->side[i].exclusive_ns += from->side[i].exclusive_ns;
    }
}

static bool change_is_pair(const struct function_change *a, const struct function_change *b)
{
    return a->side[CHANGE_OLD].there != b->side[CHANGE_OLD].there &&
           a->side[CHANGE_NEW].there != b->side[CHANGE_NEW].there;
}

static void diff_join_equal(struct functions_diff *d)
{
    size_t kept = 0;
    for (size_t i = 1; i < d->n; i++)
        if (change_by_name(&d->changes[kept], &d->changes[i]) == 0)
            change_join(&d->changes[kept], &d->changes[i]);
        else
            d->changes[++kept] = d->changes[i];
    d->n = d->n ? kept + 1 : 0;
}

/* Functions of one name are neighbors: of two that are left, one may be the other one, moved to another file. */
static void diff_join_pairs(struct functions_diff *d)
{
    struct function_change *c = d->changes;
    size_t kept = 0, end;
    for (size_t i = 0; i < d->n; i = end) {
        for (end = i + 1; end < d->n && c[i].name && change_compare_texts(c[i].name, c[end].name) == 0;)
            end++;
        bool pair = end - i == 2 && change_is_pair(&c[i], &c[i + 1]);
        if (pair)
            change_join(&c[i], &c[i + 1]);
        for (size_t k = i; k < (pair ? i + 1 : end); k++)
            c[kept++] = c[k];
    }
    d->n = kept;
}

void functions_diff_match(struct functions_diff *d)
{
    size_t all =
        upmu_functions_count(d->side[CHANGE_OLD].functions) + upmu_functions_count(d->side[CHANGE_NEW].functions);
    struct upmu_function f = {.size = sizeof f};
    d->changes = memory_array(all + 1, sizeof *d->changes);
    for (int side = 0; side < CHANGE_SIDES; side++)
        for (size_t i = 0; upmu_functions_at(d->side[side].functions, i, &f) == 0; i++) {
            struct function_change *c = &d->changes[d->n++];
            *c = (struct function_change){f.name, f.file, f.module, f.offset, f.line, .side = {{false}}};
            c->side[side] = (struct change_side){true, f.calls, f.inclusive_ns, f.exclusive_ns};
        }
    qsort(d->changes, d->n, sizeof *d->changes, change_by_name);
    diff_join_equal(d);
    diff_join_pairs(d);
    qsort(d->changes, d->n, sizeof *d->changes, change_by_size);
}

/* --------------------------------------------------------------------------------------------------------- text */

static void text_side(struct output *out, const char *what, const struct functions_report *r)
{
    char *total = report_duration(r->totals.total_ns);
    fprintf(out->file, "  %s: ", what);
    output_clean(out->file, r->dir);
    functions_write_stretch(out, r);
    fprintf(out->file, ": %" PRIu64 " calls of %zu functions, %s\n", r->totals.calls,
            upmu_functions_count(r->functions), total);
    free(total);
}

static void text_total(struct output *out, const struct functions_diff *d)
{
    uint64_t before = d->side[CHANGE_OLD].totals.total_ns, after = d->side[CHANGE_NEW].totals.total_ns;
    if (before == 0 || after == 0)
        return;
    bool faster = after <= before;
    fprintf(out->file, "  time in functions: %s%+.1f %%%s, %.2f times %s\n",
            output_style(out, faster ? STYLE_GOOD : STYLE_BAD), ((double)after - (double)before) / (double)before * 100,
            output_plain(out), faster ? (double)before / (double)after : (double)after / (double)before,
            faster ? "faster" : "slower");
}

static char *change_name(const struct function_change *c)
{
    if (c->name && c->file)
        return memory_format("%s %s:%" PRIu32, c->name, report_base_name(c->file), c->line);
    if (c->name)
        return memory_format("%s (%s)", c->name, c->module ? report_base_name(c->module) : "?");
    return memory_format("%s+0x%" PRIx64, c->module ? report_base_name(c->module) : "", c->offset);
}

static void text_cell_calls(struct table *t, const struct change_side *s)
{
    if (s->there)
        cell_count(t, s->calls, true);
    else
        table_cell(t, STYLE_PLAIN, "%s", "");
}

static void text_row(struct table *t, const struct function_change *c)
{
    const struct change_side *a = &c->side[CHANGE_OLD], *b = &c->side[CHANGE_NEW];
    cell_duration(t, a->exclusive_ns);
    cell_duration(t, b->exclusive_ns);
    cell_change(t, a->there, b->there, a->exclusive_ns, b->exclusive_ns);
    cell_duration(t, a->inclusive_ns);
    cell_duration(t, b->inclusive_ns);
    text_cell_calls(t, a);
    text_cell_calls(t, b);
    cell_free(t, STYLE_PLAIN, change_name(c));
}

void functions_diff_text(struct output *out, const struct functions_diff *d)
{
    static const struct table_column columns[] = {{"EXCLUSIVE OLD", true}, {"NEW", true},           {"CHANGE", true},
                                                  {"INCLUSIVE OLD", true}, {"NEW", true},           {"CALLS OLD", true},
                                                  {"NEW", true},           {"FUNCTION", TABLE_NAME}};
    static const char *const titles[] = {"Hottest path, old: share, inclusive time, calls",
                                         "Hottest path, new: share, inclusive time, calls"};
    struct table t;
    size_t i;
    fprintf(out->file, "%sFunctions of two recordings%s\n", output_style(out, STYLE_TITLE), output_plain(out));
    text_side(out, "old", &d->side[CHANGE_OLD]);
    text_side(out, "new", &d->side[CHANGE_NEW]);
    text_total(out, d);
    report_title(out, "Functions by change of exclusive time");
    table_begin(&t, columns, sizeof columns / sizeof *columns);
    for (i = 0; i < d->n && i < d->top; i++)
        text_row(&t, &d->changes[i]);
    table_end(&t, out, 2);
    report_more(out, d->n, i);
    for (int side = 0; side < CHANGE_SIDES; side++) {
        report_title(out, titles[side]);
        functions_write_hottest(out, &d->side[side]);
    }
}

/* --------------------------------------------------------------------------------------------------------- JSON */

static const char *const change_sides[CHANGE_SIDES] = {[CHANGE_OLD] = "old", [CHANGE_NEW] = "new"};

static void json_change_side(struct textbuf *j, const char *key, const struct change_side *s)
{
    if (!s->there) {
        json_null(j, key);
        return;
    }
    json_object(j, key);
    json_uint(j, "calls", s->calls);
    json_uint(j, "inclusive_ns", s->inclusive_ns);
    json_uint(j, "exclusive_ns", s->exclusive_ns);
    json_object_end(j);
}

void functions_diff_json(struct output *out, const struct functions_diff *d)
{
    struct json_document doc;
    struct textbuf *j = json_begin(&doc, out->file, "upmu-functions-diff");
    for (int side = 0; side < CHANGE_SIDES; side++) {
        json_object(j, change_sides[side]);
        json_string(j, "dir", d->side[side].dir);
        functions_json_stretch(j, &d->side[side]);
        json_uint(j, "calls", d->side[side].totals.calls);
        json_uint(j, "total_ns", d->side[side].totals.total_ns);
        json_object_end(j);
    }
    json_array(j, "functions");
    for (size_t i = 0; i < d->n && i < d->top; i++) {
        const struct function_change *c = &d->changes[i];
        json_object(j, NULL);
        json_string(j, "name", c->name);
        json_string(j, "file", c->file);
        json_uint(j, "line", c->line);
        json_string(j, "module", c->module);
        json_uint(j, "offset", c->offset);
        for (int side = 0; side < CHANGE_SIDES; side++)
            json_change_side(j, change_sides[side], &c->side[side]);
        json_object_end(j);
    }
    json_array_end(j);
    json_end(&doc);
}
