/* SPDX-License-Identifier: MIT */
/* What functions have counted of events, as text and JSON. */
#include "functions_counts.h"

#include <inttypes.h>
#include <stdlib.h>

#include "report/report.h"
#include "report/report_cells.h"
#include "ui/memory.h"
#include "ui/table.h"

struct counted {
    uint32_t function;
    struct upmu_function_counts counts;
};

/* Values without a number come last. */
static uint64_t counted_rank(const struct counted *c)
{
    const struct upmu_value *v = &c->counts.exclusive;
    return v->status == UPMU_EXACT || v->status == UPMU_SCALED ? v->value + 1 : 0;
}

static int counted_compare(const void *a, const void *b)
{
    uint64_t x = counted_rank(a), y = counted_rank(b);
    return x < y ? 1 : x > y ? -1 : 0;
}

static void cell_value(struct table *t, const struct upmu_value *v)
{
    if (v->status == UPMU_EXACT)
        table_cell(t, STYLE_PLAIN, "%" PRIu64, v->value);
    else if (v->status == UPMU_SCALED)
        table_cell(t, STYLE_WARNING, "~%" PRIu64, v->value);
    else
        table_cell(t, STYLE_WARNING, "%s", upmu_status_name(v->status));
}

static void cell_status(struct table *t, const struct upmu_function_counts *c)
{
    const struct upmu_value *v = &c->exclusive;
    if (c->exclusive_without > 0)
        table_cell(t, STYLE_WARNING, "%" PRIu64 " calls without a count", c->exclusive_without);
    else if (v->status == UPMU_SCALED)
        table_cell(t, STYLE_WARNING, "scaled, counted %.1f %% of the time",
                   100.0 * (double)v->running / (double)v->enabled);
    else
        table_cell(t, STYLE_PLAIN, "%s", "");
}

static void counts_table(struct output *out, const struct functions_report *r, size_t counter,
                         const struct upmu_function_counter *c)
{
    static const struct table_column columns[] = {
        {"EXCLUSIVE", true}, {"INCLUSIVE", true}, {"CALLS", true}, {"STATUS", false}, {"FUNCTION", TABLE_NAME}};
    size_t n = upmu_functions_count(r->functions), i = 0;
    struct counted *all = calloc(n + 1, sizeof *all);
    struct upmu_function f = {.size = sizeof f};
    struct table t;
    char *title = memory_format("Functions by %s, exclusive", c->name);
    report_title(out, title);
    free(title);
    if (c->reason[0])
        fprintf(out->file, "  %s\n", c->reason);
    fprintf(out->file, "  overhead of the hooks: %" PRIu64 " per call, subtracted from the counts below\n",
            c->call_counts);
    table_begin(&t, columns, sizeof columns / sizeof *columns);
    for (uint32_t k = 0; all && k < n; k++) {
        all[k] = (struct counted){.function = k, .counts = {.size = sizeof all[k].counts}};
        if (upmu_functions_counts_read(r->functions, UPMU_FUNCTION_ROWS, k, counter, &all[k].counts) != 0)
            break;
    }
    if (all)
        qsort(all, n, sizeof *all, counted_compare);
    for (; all && i < r->top && i < n && upmu_functions_at(r->functions, all[i].function, &f) == 0; i++) {
        cell_value(&t, &all[i].counts.exclusive);
        cell_value(&t, &all[i].counts.inclusive);
        cell_count(&t, f.calls, true);
        cell_status(&t, &all[i].counts);
        cell_free(&t, STYLE_PLAIN, functions_name(r, all[i].function));
    }
    table_end(&t, out, 2);
    report_more(out, n, i);
    free(all);
}

void functions_counts_text(struct output *out, const struct functions_report *r)
{
    struct upmu_function_counter c = {.size = sizeof c};
    for (size_t i = 0; upmu_functions_counter_at(r->functions, i, &c) == 0; i++)
        if (c.cause == 0)
            counts_table(out, r, i, &c);
}

/* --------------------------------------------------------------------------------------------------------- JSON */

void functions_counters_json(struct textbuf *j, const struct functions_report *r)
{
    struct upmu_function_counter c = {.size = sizeof c};
    json_array(j, "counters");
    for (size_t i = 0; upmu_functions_counter_at(r->functions, i, &c) == 0; i++) {
        json_object(j, NULL);
        json_string(j, "name", c.name);
        json_bool(j, "counted", c.cause == 0);
        json_string(j, "reason", c.reason[0] ? c.reason : c.cause ? upmu_strerror(c.cause) : "");
        json_uint(j, "call_counts", c.call_counts);
        json_object_end(j);
    }
    json_array_end(j);
}

static void json_count(struct textbuf *j, const char *key, const struct upmu_value *v, uint64_t without)
{
    json_object(j, key);
    json_uint_if(j, "value", v->status == UPMU_EXACT || v->status == UPMU_SCALED, v->value);
    json_string(j, "status", upmu_status_name(v->status));
    json_uint(j, "raw", v->raw);
    json_uint(j, "enabled_ns", v->enabled);
    json_uint(j, "running_ns", v->running);
    json_uint(j, "without", without);
    json_object_end(j);
}

void functions_counts_json(struct textbuf *j, const struct functions_report *r, int rows, size_t i)
{
    struct upmu_function_counts c = {.size = sizeof c};
    if (upmu_functions_counter_count(r->functions) == 0)
        return;
    json_array(j, "counts");
    for (size_t k = 0; upmu_functions_counts_read(r->functions, rows, i, k, &c) == 0; k++) {
        json_object(j, NULL);
        json_count(j, "inclusive", &c.inclusive, c.inclusive_without);
        json_count(j, "exclusive", &c.exclusive, c.exclusive_without);
        json_object_end(j);
    }
    json_array_end(j);
}
