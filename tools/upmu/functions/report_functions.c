/* SPDX-License-Identifier: MIT */
/* upmu report --functions: of one recording, of two, or beside a source file. */
#include <stdlib.h>

#include "functions.h"
#include "functions_diff.h"
#include "functions_longest.h"
#include "report/report_views.h"
#include "ui/options.h"

enum { TOP_DEFAULT = 10 };

static bool functions_open(const struct report_request *q, struct functions_report *r)
{
    const struct upmu_functions_opts opts = {.size = sizeof opts, .from_ns = q->from_ns, .to_ns = q->to_ns};
    r->totals.size = sizeof r->totals;
    int rc = upmu_functions_open(&r->functions, r->dir, &opts);
    if (rc == 0)
        rc = upmu_functions_totals_read(r->functions, &r->totals);
    if (rc < 0)
        complain("%s", upmu_error());
    return rc == 0;
}

/* @return the exit status. */
static int functions_close(struct functions_report *r, int status)
{
    if (r->functions && r->totals.damages) {
        complain("%llu files of recorded functions of %s could not be read", (unsigned long long)r->totals.damages,
                 r->dir);
        status = EXIT_FAILED;
    }
    upmu_functions_close(r->functions);
    return status;
}

/* @return the exit status. */
static int functions_write(const struct report_request *q, const struct functions_report *r)
{
    struct output out;
    int status = EXIT_OK;
    if (output_standard(&out, OUTPUT_STDOUT) != 0)
        return EXIT_FAILED;
    if (q->source)
        status = functions_write_source(&out, r, q->source);
    else if (q->as_json)
        functions_write_json(&out, r);
    else
        functions_write_text(&out, r);
    return output_close(&out) == 0 ? status : EXIT_FAILED;
}

/* The events, if there are any, are read before. */
static int functions_show(const struct report_request *q, struct functions_report *r)
{
    struct functions_longest longest = {0};
    int rc = 0;
    if (r->totals.event_bytes > 0 && !q->source) {
        rc = functions_longest_find(&longest, r, r->top == SIZE_MAX ? TOP_DEFAULT : r->top);
        r->longest = &longest;
    }
    if (rc < 0)
        complain("%s", upmu_error());
    int status = rc == 0 ? functions_write(q, r) : EXIT_FAILED;
    functions_longest_free(&longest);
    r->longest = NULL;
    return status;
}

static int functions_compare(const struct report_request *q, struct functions_diff *d)
{
    struct output out;
    if (output_standard(&out, OUTPUT_STDOUT) != 0)
        return EXIT_FAILED;
    functions_diff_match(d);
    if (q->as_json)
        functions_diff_json(&out, d);
    else
        functions_diff_text(&out, d);
    free(d->changes);
    return output_close(&out) == 0 ? EXIT_OK : EXIT_FAILED;
}

int report_functions_diff(const struct report_request *q)
{
    struct functions_diff d = {.side = {{.dir = q->dir}, {.dir = q->other_dir}}};
    d.top = q->top > 0 ? (size_t)q->top : q->as_json ? SIZE_MAX : TOP_DEFAULT;
    bool open = functions_open(q, &d.side[CHANGE_OLD]) && functions_open(q, &d.side[CHANGE_NEW]);
    int status = open ? functions_compare(q, &d) : EXIT_FAILED;
    status = functions_close(&d.side[CHANGE_OLD], status);
    return functions_close(&d.side[CHANGE_NEW], status);
}

int report_functions(const struct report_request *q)
{
    struct functions_report r = {.dir = q->dir};
    r.top = q->top > 0 ? (size_t)q->top : q->as_json ? SIZE_MAX : TOP_DEFAULT;
    if (q->sort || q->group_given)
        return options_usage(q->self,
                             "--functions can be combined with --json, --top, --source, --diff, --from and --to only");
    if (q->source && (q->as_json || q->top > 0))
        return options_usage(q->self, "--source writes text, and all of it: without --json and --top");
    return functions_close(&r, functions_open(q, &r) ? functions_show(q, &r) : EXIT_FAILED);
}
