/* SPDX-License-Identifier: MIT */
/* upmu report: a recording as a whole, or one view of it. */
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "ui/command.h"
#include "trace/export_file.h"
#include "ui/library.h"
#include "ui/numbers.h"
#include "ui/options.h"
#include "report.h"
#include "report_views.h"

enum {
    REPORT_JSON = 1,
    REPORT_TOP,
    REPORT_SORT,
    REPORT_VIEW,
    REPORT_FUNCTIONS,
    REPORT_SAMPLES,
    REPORT_THREAD,
    REPORT_LOCK,
    REPORT_TYPE,
    REPORT_FROM,
    REPORT_TO,
    REPORT_PAGE,
    REPORT_EVENT,
    REPORT_DIFF,
    REPORT_MPI,
    REPORT_OPENMP,
    REPORT_HEAP,
    REPORT_HTML,
    REPORT_GROUP,
    REPORT_WIDE,
    REPORT_SOURCE,
    REPORT_ANNOTATE,
    REPORT_DISASSEMBLY,
    REPORT_STACKS
};
enum { TOP_MAX = 1000000000 };

static const struct report_view {
    const char *name;
    int (*show)(const struct report_request *q);
    bool filters;                                   /* takes the options of the timeline */
    bool stretch;                                   /* takes --from and --to */
    bool stacks;                                    /* takes --stacks */
    int (*compare)(const struct report_request *q); /* NULL: not of two recordings */
} views[] = {
    {"overview", report_overview, false, true, true, report_diff},
    {"timeline", report_timeline, true, true, true, NULL},
    {"deadlock", report_deadlock, false, false, false, NULL},
    {"regions", report_regions, false, true, true, NULL},
    {"functions", report_functions, false, true, false, report_functions_diff},
    {"mpi", report_mpi, false, true, false, NULL},
    {"openmp", report_openmp, false, true, false, NULL},
    {"heap", report_heap, false, true, false, NULL},
    {"samples", report_samples, false, true, true, NULL},
};

static const struct report_view *report_view_named(const char *name)
{
    for (size_t i = 0; i < sizeof views / sizeof *views; i++)
        if (strcmp(views[i].name, name) == 0)
            return &views[i];
    return NULL;
}

static int report_take_time(struct report_request *q, const char *option, const char *value, uint64_t *ns)
{
    q->stretch = option;
    return options_time(q->self, option, value, ns);
}

static int report_take_number(struct report_request *q, const char *option, const char *value, long *out)
{
    if (strcmp(option, "--top") != 0)
        q->filter = option;
    return number_long(value, 1, TOP_MAX, out)
               ? 0
               : options_usage(q->self, "%s needs a number from 1 to %d", option, TOP_MAX);
}

static int report_take_view(struct report_request *q, const char *value)
{
    q->view = report_view_named(value);
    return q->view ? 0
                   : options_usage(q->self,
                                   "--view is one of overview, timeline, deadlock, regions, functions, samples, mpi, "
                                   "openmp and heap, not '%s'",
                                   value);
}

static int report_take_filter(struct report_request *q, int id, const char *value)
{
    switch (id) {
    case REPORT_THREAD:
        q->filter = "--thread";
        q->thread = value;
        return 0;
    case REPORT_LOCK:
        q->filter = "--lock";
        q->lock = value;
        return 0;
    case REPORT_TYPE:
        q->filter = "--type";
        return report_types(q, value);
    case REPORT_FROM:
        return report_take_time(q, "--from", value, &q->from_ns);
    case REPORT_TO:
        return report_take_time(q, "--to", value, &q->to_ns);
    case REPORT_PAGE:
        return report_take_number(q, "--page", value, &q->page);
    default:
        return report_take_number(q, "--event", value, &q->event);
    }
}

static int report_option(void *arg, int id, const char *value)
{
    struct report_request *q = arg;
    switch (id) {
    case REPORT_JSON:
        q->as_json = true;
        return 0;
    case REPORT_WIDE:
        output_wide();
        return 0;
    case REPORT_SORT:
        q->sort = value;
        return report_sort_known(value)
                   ? 0
                   : options_usage(q->self,
                                   "--sort is one of wait, hold, path, held:COUNTER and waited:COUNTER, not '%s'",
                                   value);
    case REPORT_HTML:
        q->html = value;
        return 0;
    case REPORT_VIEW:
        return report_take_view(q, value);
    case REPORT_FUNCTIONS:
        return report_take_view(q, "functions");
    case REPORT_MPI:
        return report_take_view(q, "mpi");
    case REPORT_OPENMP:
        return report_take_view(q, "openmp");
    case REPORT_HEAP:
        return report_take_view(q, "heap");
    case REPORT_SAMPLES:
        return report_take_view(q, "samples");
    case REPORT_SOURCE:
        q->source = value;
        return report_take_view(q, "functions");
    case REPORT_ANNOTATE:
        q->annotate = value;
        return report_take_view(q, "samples");
    case REPORT_DISASSEMBLY:
        q->disassembly = true;
        return 0;
    case REPORT_STACKS:
        q->stacks_given = true;
        return options_stacks(q->self, value, &q->stacks);
    case REPORT_TOP:
        return report_take_number(q, "--top", value, &q->top);
    case REPORT_GROUP:
        q->group_given = true;
        return number_long(value, 0, TOP_MAX, &q->group)
                   ? 0
                   : options_usage(q->self, "--group-locks needs a number, 0 for no groups, not '%s'", value);
    case REPORT_DIFF:
        q->diff = true;
        return 0;
    case OPTION_OPERAND:
        break;
    default:
        return report_take_filter(q, id, value);
    }
    if (q->other_dir)
        return options_usage(q->self, "one directory at a time; with --diff two");
    if (q->dir)
        q->other_dir = value;
    else
        q->dir = value;
    return 0;
}

/* The page has everything, and views, order and filters of its own. */
static int report_html(const struct report_request *q)
{
    const struct export_order order = {.dir = q->diff ? q->other_dir : q->dir,
                                       .format = "html",
                                       .output = q->html,
                                       .opts = {.size = sizeof order.opts,
                                                .from_ns = q->from_ns,
                                                .to_ns = q->to_ns,
                                                .base = q->diff ? q->dir : NULL,
                                                .stacks = q->stacks}};
    bool filtered = q->thread || q->lock || q->kinds || q->object_types || q->page || q->event;
    if (q->as_json || q->sort || q->top || filtered || q->view != &views[0])
        return options_usage(
            q->self, "--html can be combined with --diff, --stacks, or --from and --to, only: the page sorts and "
                     "filters itself");
    return export_to_file(&order);
}

static int report_run(const struct command *self, int argc, char **argv)
{
    struct report_request q = {.self = self, .view = &views[0]};
    int status = options_parse(self, argc, argv, report_option, &q, NULL);

    if (status != OPTIONS_CONTINUE)
        return status;
    if (!q.dir)
        return options_usage(self, "DIR is missing: give the directory of a recording");
    if (q.diff != (q.other_dir != NULL))
        return options_usage(self, q.diff ? "--diff compares two recordings: give the old one and the new one"
                                          : "one directory at a time; with --diff two");
    if (q.diff && (q.filter || q.sort || q.source || q.annotate || !q.view->compare))
        return options_usage(
            self, "--diff can be combined with --functions, --json, --top, --html, and --from and --to only");
    if (q.diff && q.html && q.stretch)
        return options_usage(
            self, "a page of two recordings compares them as a whole: %s with --diff needs text or JSON", q.stretch);
    if (q.source && strcmp(q.view->name, "functions") != 0)
        return options_usage(self, "--source requires --functions");
    if (q.annotate && strcmp(q.view->name, "samples") != 0)
        return options_usage(self, "--annotate requires --samples");
    if (q.disassembly && !q.annotate)
        return options_usage(self, "--disassembly requires --annotate FUNCTION");
    if (q.to_ns != 0 && q.to_ns < q.from_ns)
        return options_usage(self, "--to is before --from");
    if (q.html || (!q.as_json && q.view->show != report_overview && q.view->show != report_regions))
        library_complain_symbols(); /* those two have it in their head */
    if (q.html)
        return report_html(&q);
    if (q.stacks_given && (q.diff || !q.view->stacks))
        return options_usage(self,
                             "--stacks applies to the views overview, timeline, regions and samples, and to --html");
    if (q.filter && !q.view->filters)
        return options_usage(self, "%s needs --view timeline", q.filter);
    if (q.stretch && !q.view->stretch)
        return options_usage(self,
                             "%s does not apply to deadlocks, which last to the end, and lock orders, which are of the "
                             "whole recording; '--view timeline' has the waits of a stretch",
                             q.stretch);
    return q.diff ? q.view->compare(&q) : q.view->show(&q);
}

static const struct option_spec report_options[] = {
    {REPORT_JSON, 'j', "json", NULL, "one JSON document, with everything"},
    {REPORT_TOP, 'n', "top", "N", "N threads, locks and regions of each (default: 10; JSON: all); N rows per page"},
    {REPORT_SORT, 's', "sort", "KEY",
     "order of locks: wait (default), hold, path (held on the critical path), held:COUNTER or waited:COUNTER"},
    {REPORT_VIEW, 'v', "view", "VIEW",
     "overview (default), timeline, deadlock, regions, functions, samples, mpi, openmp or heap"},
    {REPORT_MPI, 0, "mpi", NULL, "as --view mpi: ranks, waits and calls of MPI jobs"},
    {REPORT_OPENMP, 0, "openmp", NULL, "as --view openmp: work and waits in parallel regions of OpenMP"},
    {REPORT_HEAP, 0, "heap", NULL, "as --view heap: bytes live, at the peak and allocated, by call site"},
    {REPORT_FUNCTIONS, 0, "functions", NULL, "as --view functions: profile of recorded functions"},
    {REPORT_SAMPLES, 0, "samples", NULL, "as --view samples: profile from samples"},
    {REPORT_GROUP, 'g', "group-locks", "N",
     "one row for N or more locks created, or first used, at one call site (default: 10; 0: never)"},
    {REPORT_WIDE, 'w', "wide", NULL,
     "names in full on a terminal, too; without it they are shortened to fit its lines"},
    {REPORT_STACKS, 0, "stacks", "HOW", OPTIONS_STACKS_HELP},
    {REPORT_DIFF, 'd', "diff", NULL,
     "compare two recordings, OLD and NEW; with --functions their functions, with --html as a page"},
    {REPORT_SOURCE, 0, "source", "FILE", "functions: source file FILE with the sums of its functions"},
    {REPORT_ANNOTATE, 0, "annotate", "FUNCTION", "samples: source of FUNCTION with the samples of each line"},
    {REPORT_DISASSEMBLY, 0, "disassembly", NULL, "with --annotate: also the instructions, from objdump"},
    {REPORT_HTML, 0, "html", "FILE", "write an HTML page to FILE: all views, flame graphs and tables"},
    {REPORT_THREAD, 't', "thread", "NAME", "timeline: only threads of that name or id"},
    {REPORT_LOCK, 'l', "lock", "NAME", "timeline: only the object of that name or address"},
    {REPORT_TYPE, 0, "type", "TYPES",
     "timeline: wait, region, acquire, release, wake, thread, mark, object; mutex, ..."},
    {REPORT_FROM, 0, "from", "SECONDS",
     "all views but deadlock, --html and --diff: from this time on, since the start"},
    {REPORT_TO, 0, "to", "SECONDS", "up to this time"},
    {REPORT_PAGE, 'p', "page", "N", "timeline: page N of its rows (default: 1)"},
    {REPORT_EVENT, 'e', "event", "N", "timeline: details of row N, with its call stack"},
    {0, 0, NULL, NULL, NULL},
};

const struct command command_report = {
    .name = "report",
    .summary = "show waits, lock holders, the critical path and counters of a recording",
    .usage = "[--json] [--top N] [--sort KEY] [--view VIEW] [FILTERS] DIR | --html FILE DIR\n"
             "       upmu report [--functions] [--json] [--top N] --diff OLD NEW\n"
             "       upmu report --html FILE --diff OLD NEW",
    .about =
        "Reads the recording DIR (or one process in it) and shows its threads with their blocked time, the waits\n"
        "between threads, the critical path with the gain of shorter critical sections, the locks with their waiters,\n"
        "holders and call sites, and the regions with their counters.\n"
        "The head shows how it was recorded and what was lost; numbers that are not exact are marked.\n"
        "--view timeline lists the events in time order instead, --view deadlock is upmu deadlock, --view functions is "
        "the\n"
        "profile of functions recorded with upmu record --functions, --view samples that from samples (upmu record "
        "-F), --view mpi is that of MPI jobs, --view openmp that\nof OpenMP, --view heap that of allocations.\n",
    .options = report_options,
    .exits =
        "  0  the report covers everything recorded\n"
        "  1  DIR cannot be read, a part of it is damaged (the rest is shown), or the output could not be written\n"
        "  2  the command line is invalid\n",
    .run = report_run,
};
