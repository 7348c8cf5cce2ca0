/* SPDX-License-Identifier: MIT */
/* upmu report: what a recording says as a whole. Room: tools/upmu. Before it: main; after it: the overview of
 * libupmu_analysis, report_text.c and report_json.c. */
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include "command.h"
#include "numbers.h"
#include "options.h"
#include "output.h"
#include "report.h"

enum { REPORT_JSON = 1, REPORT_TOP, REPORT_SORT };
enum { TOP_DEFAULT = 10, TOP_MOST = 1000000000 };

struct report_request {
    const struct command *self;
    const char *dir;
    bool as_json;
    long top;         /* 0: not given */
    const char *sort; /* NULL: not given */
};

static int report_option(void *arg, int id, const char *value)
{
    struct report_request *q = arg;
    if (id == REPORT_JSON) {
        q->as_json = true;
        return 0;
    }
    if (id == REPORT_SORT) {
        q->sort = value;
        return 0;
    }
    if (id == REPORT_TOP)
        return number_long(value, 1, TOP_MOST, &q->top) ? 0 : options_usage(q->self, "--top needs a number above 0");
    if (q->dir)
        return options_usage(q->self, "one directory at a time");
    q->dir = value;
    return 0;
}

/* JSON is for programs, which choose for themselves: everything, unless a number was given. */
static size_t rows(const struct report_request *q)
{
    if (q->top > 0)
        return (size_t)q->top;
    return q->as_json ? SIZE_MAX : TOP_DEFAULT;
}

static int report_write(const struct report_request *q, struct report *r)
{
    struct output out;
    if (upmu_overview_totals(r->overview, &r->totals) < 0) {
        complain("%s", upmu_error());
        return EXIT_FAILED;
    }
    if (!report_sort(r, q->sort ? q->sort : "wait"))
        return options_usage(
            q->self,
            "--sort is one of wait, hold, path, held:COUNTER and waited:COUNTER (one that was recorded), not '%s'",
            q->sort);
    if (output_standard(&out, OUTPUT_STDOUT) != 0)
        return EXIT_FAILED;
    if (q->as_json)
        report_write_json(&out, r);
    else
        report_write_text(&out, r);
    int rc = output_close(&out);
    for (size_t i = 0; i < r->totals.n_damages; i++)
        complain("damaged: %s", upmu_overview_damage(r->overview, i));
    return rc == 0 && r->totals.n_damages == 0 ? EXIT_OK : EXIT_FAILED;
}

static int report_run(const struct command *self, int argc, char **argv)
{
    struct report_request q = {.self = self};
    struct report r = {.totals.size = sizeof r.totals};
    int status = options_parse(self, argc, argv, report_option, &q, NULL);

    if (status != OPTIONS_GO_ON)
        return status;
    if (!q.dir)
        return options_usage(self, "which trace? give its directory");
    r.dir = q.dir;
    r.top = rows(&q);
    if (upmu_overview_open(&r.overview, q.dir, NULL) < 0) {
        complain("%s", upmu_error());
        return EXIT_FAILED;
    }
    status = report_write(&q, &r);
    upmu_overview_close(r.overview);
    free(r.order);
    return status;
}

static const struct option_spec report_options[] = {
    {REPORT_JSON, 'j', "json", NULL, "one JSON document, with everything"},
    {REPORT_SORT, 's', "sort", "KEY",
     "order of locks: wait (default), hold, path (held on the critical path), held:COUNTER or waited:COUNTER"},
    {REPORT_TOP, 'n', "top", "N", "N threads, locks and regions of each (default: 10; JSON: all)"},
    {0, 0, NULL, NULL, NULL},
};

const struct command command_report = {
    .name = "report",
    .summary = "show where the threads of a recording waited, who held the locks, what the counters say",
    .usage = "[--json] [--top N] [--sort KEY] DIR",
    .about = "Reads the recording DIR (or one process in it) once and shows its threads with the time they were\n"
             "blocked, who waited for whom, the critical path with what shorter sections would gain, the locks with\n"
             "who waited, who held them and where, and the regions with their counters.\n"
             "How it was recorded and what was lost stands above; a number that is not exact says so.\n",
    .options = report_options,
    .exits = "  0  everything recorded went into the report\n"
             "  1  DIR cannot be read, a stream is damaged, or the output could not be written\n"
             "  2  the command line makes no sense\n",
    .run = report_run,
};
