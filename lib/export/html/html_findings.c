/* SPDX-License-Identifier: MIT */
/* Findings as JSON. */
#include "export/html/html.h"

#include "facts/facts.h"

int html_findings_write(struct export_job *job, const struct upmu_deadlocks *deadlocks, struct textbuf *b)
{
    struct upmu_finding f = {.size = sizeof f};
    struct upmu_findings *findings;
    int rc = upmu_findings_open(&findings, job->facts, deadlocks, NULL);
    if (rc != 0)
        return rc;
    json_array(b, "findings");
    for (size_t i = 0; upmu_findings_at(findings, i, &f) == 0; i++) {
        json_object(b, NULL);
        facts_finding(b, &f);
        json_uint_if(b, "begin", f.begin_ns != 0, html_since(job->html, f.begin_ns));
        json_uint_if(b, "end", f.begin_ns != 0, html_since(job->html, f.end_ns));
        json_object_end(b);
    }
    json_array_end(b);
    upmu_findings_close(findings);
    return 0;
}
