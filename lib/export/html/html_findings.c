/* SPDX-License-Identifier: MIT */
/* Findings as JSON. */
#include "export/html/html.h"

#include "facts/facts.h"

/* Findings of the stretch number threads and objects by their importance there: the page has those of the whole recording. */
static void findings_number(const struct export_job *job, const struct upmu_overview *of, struct upmu_finding *f)
{
    if (f->object != UPMU_NO_INDEX)
        f->object = job->facts->pass.object_rank[of->pass.object_order[f->object]];
    if (f->thread != UPMU_NO_INDEX)
        f->thread = job->facts->pass.thread_rank[of->pass.thread_order[f->thread]];
}

static void findings_write(struct export_job *job, const struct upmu_findings *findings, const struct upmu_overview *of,
                           struct textbuf *b)
{
    struct upmu_finding f = {.size = sizeof f};
    json_array(b, "findings");
    for (size_t i = 0; upmu_findings_at(findings, i, &f) == 0; i++) {
        findings_number(job, of, &f);
        json_object(b, NULL);
        facts_finding(b, &f);
        json_uint_if(b, "begin", f.begin_ns != 0, html_since(job->html, f.begin_ns));
        json_uint_if(b, "end", f.begin_ns != 0, html_since(job->html, f.end_ns));
        json_object_end(b);
    }
    json_array_end(b);
}

int html_findings_write(struct export_job *job, const struct upmu_deadlocks *deadlocks, struct textbuf *b)
{
    const struct upmu_overview_opts opts = {.size = sizeof opts,
                                            .debug_dir = job->opts.debug_dir,
                                            .stacks = job->opts.stacks,
                                            .from_ns = job->opts.from_ns,
                                            .to_ns = job->opts.to_ns};
    struct upmu_overview *stretch = NULL;
    struct upmu_findings *findings = NULL;
    int rc = (opts.from_ns | opts.to_ns) != 0 ? upmu_overview_open(&stretch, job->dir, &opts) : 0;
    struct upmu_overview *of = stretch ? stretch : job->facts;
    if (rc == 0)
        rc = upmu_findings_open(&findings, of, deadlocks, NULL);
    if (rc == 0)
        findings_write(job, findings, of, b);
    upmu_findings_close(findings);
    upmu_overview_close(stretch);
    return rc;
}
