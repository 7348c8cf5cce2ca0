/* SPDX-License-Identifier: MIT */
/* Counters while locks were held or waited for. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "ui/memory.h"
#include "report.h"
#include "report_cells.h"

struct row {
    size_t object;
    struct upmu_overview_section section;
    const struct upmu_value *by; /* what the rows are ranked by */
};

static bool sections_has_number(const struct upmu_value *v)
{
    return v->status == UPMU_EXACT || v->status == UPMU_SCALED;
}

size_t report_counter_index(const struct report *r, uint32_t process, const char *name)
{
    const char *counter;
    for (size_t i = 0; (counter = upmu_overview_counter_name(r->overview, process, i)) != NULL; i++)
        if (strcmp(counter, name) == 0)
            return i;
    return SIZE_MAX;
}

/* Most first; what has no number comes last. */
static int sections_compare(const void *a, const void *b)
{
    const struct row *x = a, *y = b;
    bool known = sections_has_number(x->by);
    if (known != sections_has_number(y->by))
        return known ? -1 : 1;
    if (known && x->by->value != y->by->value)
        return x->by->value > y->by->value ? -1 : 1;
    return x->object < y->object ? -1 : x->object > y->object;
}

/** The objects of all processes, those of one behind each other: of process `i` from `first[i]` to `first[i + 1]`. */
struct objects_by_process {
    size_t *first, *objects;
};

static struct objects_by_process sections_objects(const struct report *r)
{
    struct upmu_overview_object o = {.size = sizeof o};
    size_t n = r->totals.n_processes;
    struct objects_by_process by = {memory_array(n + 2, sizeof *by.first),
                                    memory_array(r->totals.n_objects + 1, sizeof *by.objects)};
    /* Shifted by one, so that each entry has moved to its process's begin when all objects are in their places. */
    for (size_t i = 0; i < r->totals.n_objects && upmu_overview_object_at(r->overview, i, &o) == 0; i++)
        by.first[o.process + 2]++;
    for (size_t i = 1; i <= n; i++)
        by.first[i + 1] += by.first[i];
    for (size_t i = 0; i < r->totals.n_objects && upmu_overview_object_at(r->overview, i, &o) == 0; i++)
        by.objects[by.first[o.process + 1]++] = i;
    return by;
}

/* All objects of a process that have been counted. @return them, to be freed. */
static struct row *sections_rows_of(const struct report *r, const struct objects_by_process *of, uint32_t process,
                                    int kind, size_t by, size_t *n)
{
    const size_t *objects = of->objects + of->first[process];
    size_t all = of->first[process + 1] - of->first[process];
    struct row *rows = memory_array(all + 1, sizeof *rows);
    *n = 0;
    for (size_t i = 0; i < all; i++) {
        struct row row = {.object = objects[i], .section = {.size = sizeof row.section}};
        if (upmu_overview_section_read(r->overview, objects[i], kind, &row.section) != 0 || by >= row.section.n_counts)
            continue;
        row.by = &row.section.counts[by].sum;
        rows[(*n)++] = row;
    }
    qsort(rows, *n, sizeof *rows, sections_compare);
    return rows;
}

static void sections_text_rows(struct table *t, const struct report *r, const struct row *rows, size_t n,
                               size_t n_counters, const struct table_column *counters)
{
    struct upmu_overview_object o = {.size = sizeof o};
    for (size_t i = 0; i < n; i++) {
        const struct upmu_overview_section *s = &rows[i].section;
        if (upmu_overview_object_at(r->overview, rows[i].object, &o) != 0)
            continue;
        cell_free(t, STYLE_PLAIN, report_object_name(r, &o));
        table_cell(t, STYLE_PLAIN, "%s", report_type_name(o.type));
        table_cell(t, STYLE_PLAIN, "%" PRIu64, s->sections);
        cell_duration(t, s->ns);
        for (size_t k = 0; k < n_counters; k++)
            cell_free(t, STYLE_PLAIN, report_value(counters[k].title, &s->counts[k].sum));
    }
}

static void sections_text_process(struct output *out, const struct report *r, const struct objects_by_process *of,
                                  uint32_t process, int kind)
{
    enum { FIXED = 4 };
    struct table_column columns[TABLE_COLUMNS_MAX] = {
        {"OBJECT", TABLE_NAME}, {"KIND", false}, {"TIMES", true}, {"TIME", true}};
    size_t n = 0, n_columns = FIXED, by = r->counter ? report_counter_index(r, process, r->counter) : 0;
    const char *name;
    struct table table;
    while (n_columns < TABLE_COLUMNS_MAX &&
           (name = upmu_overview_counter_name(r->overview, process, n_columns - FIXED)) != NULL)
        columns[n_columns++] = (struct table_column){name, true};
    struct row *rows = sections_rows_of(r, of, process, kind, by, &n);
    size_t shown = n < r->top ? n : r->top;
    table_begin(&table, columns, n_columns);
    if (n > 0) {
        char *title = memory_format("Counters while %s, as far as they were read, by %s",
                                    kind == UPMU_SECTION_HELD ? "locks were held" : "objects were waited for",
                                    columns[FIXED + by].title);
        report_title(out, title);
        free(title);
        sections_text_rows(&table, r, rows, shown, n_columns - FIXED, &columns[FIXED]);
    }
    table_end(&table, out, 2);
    report_more(out, n, shown);
    free(rows);
}

void report_text_sections(struct output *out, const struct report *r)
{
    struct objects_by_process of = sections_objects(r);
    for (uint32_t process = 0; process < r->totals.n_processes; process++) {
        sections_text_process(out, r, &of, process, UPMU_SECTION_HELD);
        sections_text_process(out, r, &of, process, UPMU_SECTION_WAITED);
    }
    free(of.first);
    free(of.objects);
}
