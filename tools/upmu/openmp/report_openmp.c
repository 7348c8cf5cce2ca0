/* SPDX-License-Identifier: MIT */
/* upmu report --openmp. */
#include "openmp.h"
#include "report/report_views.h"
#include "ui/options.h"

enum { OPENMP_TOP_DEFAULT = 10 };

static int openmp_print(const struct report_request *q, const struct openmp_report *r)
{
    struct output out;
    if (output_standard(&out, OUTPUT_STDOUT) != 0)
        return -1;
    if (q->as_json)
        openmp_write_json(&out, r);
    else
        openmp_write_text(&out, r);
    return output_close(&out);
}

int report_openmp(const struct report_request *q)
{
    struct openmp_report r = {.dir = q->dir};
    uint64_t from_ns, to_ns;
    r.top = q->top > 0 ? (size_t)q->top : q->as_json ? SIZE_MAX : OPENMP_TOP_DEFAULT;
    if (q->sort || q->group_given)
        return options_usage(q->self, "--openmp can be combined with --json, --top, --from and --to only");
    r.overview = report_open_stretch(q, &from_ns, &to_ns);
    if (!r.overview)
        return EXIT_FAILED;
    if (upmu_openmp_open_between(&r.openmp, q->dir, from_ns, to_ns) < 0) {
        complain("%s", upmu_error());
        upmu_overview_close(r.overview);
        return EXIT_FAILED;
    }
    int rc = openmp_print(q, &r);
    upmu_overview_close(r.overview);
    upmu_openmp_close(r.openmp);
    return rc == 0 ? EXIT_OK : EXIT_FAILED;
}
