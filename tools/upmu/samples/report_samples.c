/* SPDX-License-Identifier: MIT */
/* upmu report --samples. */
#include <inttypes.h>

#include "report/report_views.h"
#include "samples/annotate.h"
#include "samples/samples.h"
#include "ui/options.h"

enum { TOP_DEFAULT = 10 };

static int samples_write(const struct report_request *q, const struct samples_report *r)
{
    struct output out;
    if (output_standard(&out, OUTPUT_STDOUT) != 0)
        return EXIT_FAILED;
    if (q->as_json)
        samples_write_json(&out, r);
    else
        samples_write_text(&out, r);
    int rc = output_close(&out);
    if (r->totals.damages)
        complain("%" PRIu64 " damaged parts of the samples file were skipped", r->totals.damages);
    return rc == 0 && r->totals.damages == 0 ? EXIT_OK : EXIT_FAILED;
}

static int samples_show(const struct report_request *q, const struct samples_report *r)
{
    return q->annotate ? samples_annotate(q, r) : samples_write(q, r);
}

int report_samples(const struct report_request *q)
{
    struct samples_report r = {.totals.size = sizeof r.totals, .dir = q->dir};
    r.top = q->top > 0 ? (size_t)q->top : q->as_json ? SIZE_MAX : TOP_DEFAULT;
    if (q->sort || q->group_given)
        return options_usage(q->self, "--samples can be combined with --json and --top only");
    if (q->annotate && q->top > 0)
        return options_usage(q->self, "--annotate prints the whole function: it cannot be combined with --top");
    if (q->annotate && q->stacks_given)
        return options_usage(q->self, "--annotate shows functions as executed: it cannot be combined with --stacks");
    struct upmu_samples_opts opts = UPMU_INIT(struct upmu_samples_opts);
    opts.with_code = q->annotate != NULL;
    opts.stacks = q->stacks;
    opts.from_ns = q->from_ns;
    opts.to_ns = q->to_ns;
    int rc = upmu_samples_open(&r.samples, q->dir, &opts);
    if (rc == 0)
        rc = upmu_samples_totals_read(r.samples, &r.totals);
    if (rc < 0)
        complain("%s", upmu_error());
    int status = rc < 0 ? EXIT_FAILED : samples_show(q, &r);
    upmu_samples_close(r.samples);
    return status;
}
