/* SPDX-License-Identifier: MIT */
/* upmu report --view overview and --view regions. */
#include <stdlib.h>
#include <string.h>

#include "ui/json.h"
#include "ui/progress.h"
#include "report.h"
#include "report_views.h"
#include "samples/holders.h"
#include "upmu/findings.h"
#include "upmu/samples.h"

enum { TOP_DEFAULT = 10, GROUP_DEFAULT = 10 };

typedef void (*write_fn)(struct output *out, const struct report *r);

/* JSON is for programs, which choose for themselves: everything, unless a number was given. */
static size_t overview_rows(const struct report_request *q)
{
    if (q->top > 0)
        return (size_t)q->top;
    return q->as_json ? SIZE_MAX : TOP_DEFAULT;
}

static int overview_write(struct report *r, const struct report_request *q, write_fn write)
{
    struct output out;
    if (upmu_overview_totals_read(r->overview, &r->totals) < 0) {
        complain("%s", upmu_error());
        return EXIT_FAILED;
    }
    if (!report_find(r) || !report_sort(r, q->sort ? q->sort : "wait"))
        return EXIT_FAILED;
    if (write == report_write_text)
        r->holders = samples_holders_open(q);
    if (!q->as_json)
        report_group(r, q->group_given ? (size_t)q->group : GROUP_DEFAULT, !q->sort || strcmp(q->sort, "wait") == 0);
    if (output_standard(&out, OUTPUT_STDOUT) != 0)
        return EXIT_FAILED;
    write(&out, r);
    int rc = output_close(&out);
    size_t damages = report_damages(r->overview);
    return rc == 0 && damages == 0 ? EXIT_OK : EXIT_FAILED;
}

/* A process that ran already has samples and no trace. */
static void overview_suggest_samples(const char *dir)
{
    struct upmu_samples *samples;
    if (upmu_samples_open(&samples, dir, NULL) != 0)
        return;
    upmu_samples_close(samples);
    complain("it has samples; see 'upmu report --samples'");
}

static int overview_show(const struct report_request *q, write_fn write)
{
    struct report r = {.totals.size = sizeof r.totals, .dir = q->dir, .top = overview_rows(q)};
    struct progress progress;
    const struct upmu_overview_opts opts = {.size = sizeof opts,
                                            .progress = progress_begin(&progress),
                                            .arg = &progress,
                                            .stacks = q->stacks,
                                            .from_ns = q->from_ns,
                                            .to_ns = q->to_ns};
    int rc = upmu_overview_open(&r.overview, q->dir, &opts);
    progress_end(&progress);
    if (rc < 0) {
        complain("%s", upmu_error());
        overview_suggest_samples(q->dir);
        return EXIT_FAILED;
    }
    int status = overview_write(&r, q, write);
    report_groups_free(&r);
    upmu_findings_close(r.findings);
    samples_holders_close(r.holders);
    upmu_overview_close(r.overview);
    free(r.order);
    return status;
}

int report_overview(const struct report_request *q)
{
    return overview_show(q, q->as_json ? report_write_json : report_write_text);
}

int report_regions(const struct report_request *q)
{
    return overview_show(q, q->as_json ? report_write_regions_json : report_write_regions);
}

/* ------------------------------------------------------------------------ stretch of --from and --to, of other views */

struct upmu_overview *report_open_stretch(const struct report_request *q, uint64_t *from_ns, uint64_t *to_ns)
{
    struct upmu_overview_totals t = {.size = sizeof t};
    const struct upmu_overview_opts opts = {.size = sizeof opts, .from_ns = q->from_ns, .to_ns = q->to_ns};
    struct upmu_overview *o = NULL;
    if (upmu_overview_open(&o, q->dir, &opts) < 0 || upmu_overview_totals_read(o, &t) < 0) {
        complain("%s", upmu_error());
        upmu_overview_close(o);
        return NULL;
    }
    *from_ns = q->from_ns ? t.from_ns : 0;
    *to_ns = q->to_ns ? t.to_ns : 0;
    return o;
}

bool report_is_stretch(const struct upmu_overview_totals *totals)
{
    return totals->from_ns != totals->begin_ns || totals->to_ns != totals->end_ns;
}

void report_text_stretch(struct output *out, const struct upmu_overview *overview)
{
    struct upmu_overview_totals t = {.size = sizeof t};
    if (upmu_overview_totals_read(overview, &t) == 0 && report_is_stretch(&t))
        fprintf(out->file, " from %.9g to %.9g s", (double)(t.from_ns - t.begin_ns) / 1e9,
                (double)(t.to_ns - t.begin_ns) / 1e9);
}

void report_json_stretch(struct textbuf *j, const struct upmu_overview *overview)
{
    struct upmu_overview_totals t = {.size = sizeof t};
    if (upmu_overview_totals_read(overview, &t) != 0)
        return;
    json_uint(j, "from_ns", t.from_ns);
    json_uint(j, "to_ns", t.to_ns);
}
