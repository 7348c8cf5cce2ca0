/* SPDX-License-Identifier: MIT */
/* The longest single calls of a recording with events, as text and JSON. */
#include "functions_longest.h"

#include <inttypes.h>
#include <stdlib.h>

#include "report/report.h"
#include "report/report_cells.h"
#include "ui/memory.h"

static uint64_t longest_ns(const struct upmu_function_event *e)
{
    return e->raw_ns - e->begin_raw_ns;
}

/* The shortest one kept is the first of a heap. */
static void longest_sift(struct functions_longest *l, size_t at)
{
    struct upmu_function_event moved = l->calls[at];
    for (size_t child; (child = 2 * at + 1) < l->n; at = child) {
        if (child + 1 < l->n && longest_ns(&l->calls[child + 1]) < longest_ns(&l->calls[child]))
            child++;
        if (longest_ns(&l->calls[child]) >= longest_ns(&moved))
            break;
        l->calls[at] = l->calls[child];
    }
    l->calls[at] = moved;
}

static void longest_offer(struct functions_longest *l, size_t most, const struct upmu_function_event *e)
{
    if (l->n < most) {
        l->calls[l->n++] = *e;
        for (size_t i = l->n == most ? most / 2 : 0; i-- > 0;)
            longest_sift(l, i);
    } else if (longest_ns(e) > longest_ns(&l->calls[0])) {
        l->calls[0] = *e;
        longest_sift(l, 0);
    }
}

static int longest_compare(const void *a, const void *b)
{
    const struct upmu_function_event *x = a, *y = b;
    if (longest_ns(x) != longest_ns(y))
        return longest_ns(x) > longest_ns(y) ? -1 : 1;
    return x->begin_raw_ns < y->begin_raw_ns ? -1 : x->begin_raw_ns > y->begin_raw_ns;
}

int functions_longest_find(struct functions_longest *l, const struct functions_report *r, size_t most)
{
    struct upmu_function_event e = {.size = sizeof e};
    *l = (struct functions_longest){.calls = memory_array(most + 1, sizeof *l->calls)};
    int rc = upmu_functions_events_begin(r->functions);
    while (rc == 0 && (rc = upmu_functions_event_next(r->functions, &e)) == 0) {
        l->first_raw_ns = l->events++ == 0 || e.begin_raw_ns < l->first_raw_ns ? e.begin_raw_ns : l->first_raw_ns;
        l->inferred += e.inferred;
        if (e.kind == UPMU_FUNCTION_LEAVE)
            longest_offer(l, most, &e);
    }
    qsort(l->calls, l->n, sizeof *l->calls, longest_compare);
    return rc == UPMU_E_END ? 0 : rc;
}

void functions_longest_text(struct output *out, const struct functions_report *r, const struct functions_longest *l)
{
    static const struct table_column columns[] = {
        {"TIME", true}, {"BEGIN", true}, {"THREAD", true}, {"DEPTH", true}, {"FUNCTION", TABLE_NAME}};
    struct table t;
    report_title(out, "Longest calls (TIME includes the overhead of recording; BEGIN is relative to the first call)");
    table_begin(&t, columns, sizeof columns / sizeof *columns);
    for (size_t i = 0; i < l->n; i++) {
        const struct upmu_function_event *e = &l->calls[i];
        cell_duration(&t, longest_ns(e));
        cell_free(&t, STYLE_PLAIN, report_duration(e->begin_raw_ns - l->first_raw_ns));
        cell_free(&t, STYLE_PLAIN, memory_format("%ld", (long)e->tid));
        cell_free(&t, STYLE_PLAIN, memory_format("%" PRIu32, e->depth));
        cell_free(&t, STYLE_PLAIN, functions_name(r, e->function));
    }
    table_end(&t, out, 2);
}

void functions_longest_json(struct textbuf *j, const struct functions_longest *l)
{
    json_uint(j, "inferred_events", l->inferred);
    json_array(j, "longest");
    for (size_t i = 0; i < l->n; i++) {
        const struct upmu_function_event *e = &l->calls[i];
        json_object(j, NULL);
        json_uint(j, "function", e->function);
        json_uint(j, "ns", longest_ns(e));
        json_uint(j, "begin_raw_ns", e->begin_raw_ns);
        json_int(j, "pid", e->pid);
        json_int(j, "tid", e->tid);
        json_uint(j, "depth", e->depth);
        json_object_end(j);
    }
    json_array_end(j);
}

void functions_longest_free(struct functions_longest *l)
{
    free(l->calls);
}
