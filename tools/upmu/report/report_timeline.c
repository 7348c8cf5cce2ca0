/* SPDX-License-Identifier: MIT */
/* upmu report --view timeline. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "ui/memory.h"
#include "ui/options.h"
#include "timeline.h"

enum { ROWS_DEFAULT = 50, ROWS_JSON = 100000 }; /* the rows of a page are in memory */

/* The number, from `first` on, that `name_of` gives the name `word`; -1 if there is none. */
static int name_number(const char *(*name_of)(int), int first, const char *word)
{
    for (int i = first; strcmp(name_of(i), "?") != 0; i++)
        if (strcmp(name_of(i), word) == 0)
            return i;
    return -1;
}

static bool timeline_add_type(struct report_request *q, const char *word)
{
    int kind = name_number(upmu_row_kind_name, 0, word);
    int type = name_number(upmu_object_type_name, UPMU_OBJECT_NONE + 1, word);
    if (kind >= 0)
        q->kinds |= 1u << kind;
    else if (type >= 0)
        q->object_types |= 1u << type;
    return kind >= 0 || type >= 0;
}

int report_types(struct report_request *q, const char *words)
{
    char *copy = memory_copy(words), *rest = copy, *word;
    int status = 0;
    while (status == 0 && (word = strsep(&rest, ",")) != NULL)
        if (!timeline_add_type(q, word))
            status =
                options_usage(q->self,
                              "--type is one of wait, region, acquire, release, wake, thread, mark, object, and the "
                              "types of objects (mutex, cond, sem, ...), not '%s'",
                              word);
    free(copy);
    return status;
}

static struct upmu_timeline_opts timeline_options(const struct report_request *q)
{
    struct upmu_timeline_opts o = {.size = sizeof o,
                                   .thread = q->thread,
                                   .object = q->lock,
                                   .kinds = q->kinds,
                                   .object_types = q->object_types,
                                   .from_ns = q->from_ns,
                                   .to_ns = q->to_ns,
                                   .number = (uint64_t)q->event,
                                   .stacks = q->stacks};
    o.rows = q->top > 0 ? (size_t)q->top : q->as_json ? ROWS_JSON : ROWS_DEFAULT;
    o.skip = q->page > 0 ? (uint64_t)(q->page - 1) * o.rows : 0;
    return o;
}

/* @return the exit status. */
static int timeline_write(const struct report_request *q, const struct upmu_timeline_opts *opts,
                          const struct timeline *t)
{
    struct output out;
    if (q->event > 0 && t->totals.shown == 0) {
        if ((uint64_t)q->event > t->totals.rows)
            complain("--event %ld: there is no such row, the last one is %llu", q->event,
                     (unsigned long long)t->totals.rows);
        else
            complain("--event %ld: the row does not match the other filters", q->event);
        return EXIT_FAILED;
    }
    if (t->page > 1 && t->totals.shown == 0 && !q->as_json) /* callers read JSON until a page is empty */
        return options_usage(q->self, "--page %ld: the last page is %" PRIu64, t->page,
                             t->totals.matched > 0 ? (t->totals.matched - 1) / opts->rows + 1 : 1);
    if (output_standard(&out, OUTPUT_STDOUT) != 0)
        return EXIT_FAILED;
    if (q->as_json)
        timeline_write_json(&out, t);
    else if (q->event > 0)
        timeline_write_row(&out, t);
    else
        timeline_write_text(&out, t);
    int rc = output_close(&out);
    size_t damages = report_damages(t->report.overview);
    return rc == 0 && damages == 0 ? EXIT_OK : EXIT_FAILED;
}

int report_timeline(const struct report_request *q)
{
    struct timeline t = {.totals.size = sizeof t.totals, .page = q->page > 0 ? q->page : 1};
    const struct upmu_timeline_opts opts = timeline_options(q);
    int status = EXIT_FAILED;
    t.report.totals.size = sizeof t.report.totals;
    if (upmu_timeline_open(&t.rows, q->dir, &opts) < 0) {
        complain("%s", upmu_error());
        return EXIT_FAILED;
    }
    t.report.overview = upmu_timeline_overview(t.rows);
    t.report.dir = q->dir;
    if (upmu_timeline_totals_read(t.rows, &t.totals) < 0 ||
        upmu_overview_totals_read(t.report.overview, &t.report.totals) < 0)
        complain("%s", upmu_error());
    else
        status = timeline_write(q, &opts, &t);
    upmu_timeline_close(t.rows);
    return status;
}
