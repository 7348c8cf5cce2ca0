/* SPDX-License-Identifier: MIT */
/* upmu report --functions. */
#include "functions.h"

#include "report/report_views.h"
#include "ui/options.h"

enum { TOP_DEFAULT = 10 };

int report_functions(const struct report_request *q)
{
    struct functions_report r = {.totals.size = sizeof r.totals, .dir = q->dir};
    struct output out;
    r.top = q->top > 0 ? (size_t)q->top : q->as_json ? SIZE_MAX : TOP_DEFAULT;
    if (q->sort || q->group_given)
        return options_usage(q->self, "--functions can be combined with --json and --top only");
    int rc = upmu_functions_open(&r.functions, q->dir, NULL);
    if (rc == 0)
        rc = upmu_functions_totals_read(r.functions, &r.totals);
    if (rc < 0) {
        complain("%s", upmu_error());
        upmu_functions_close(r.functions);
        return EXIT_FAILED;
    }
    if (output_standard(&out, OUTPUT_STDOUT) != 0) {
        upmu_functions_close(r.functions);
        return EXIT_FAILED;
    }
    if (q->as_json)
        functions_write_json(&out, &r);
    else
        functions_write_text(&out, &r);
    rc = output_close(&out);
    if (r.totals.damages)
        complain("%llu files of recorded functions could not be read", (unsigned long long)r.totals.damages);
    upmu_functions_close(r.functions);
    return rc == 0 && r.totals.damages == 0 ? EXIT_OK : EXIT_FAILED;
}
