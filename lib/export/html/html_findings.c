/* SPDX-License-Identifier: MIT */
/* Findings as JSON. */
#include "upmu/findings.h"

#include "export/html/html.h"

static void findings_write_index(struct textbuf *b, const char *key, uint32_t index)
{
    html_value(b, key, index == UPMU_NO_INDEX ? UPMU_NO_VALUE : index);
}

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
        html_string(b, "kind", upmu_finding_kind_name(f.kind));
        html_string(b, "text", f.text);
        findings_write_index(b, "object", f.object);
        findings_write_index(b, "thread", f.thread);
        html_value(b, "gain", f.gain_ns);
        json_uint(b, "run", f.run_ns);
        html_value(b, "begin", f.begin_ns == 0 ? UPMU_NO_VALUE : html_since(job->html, f.begin_ns));
        html_value(b, "end", f.begin_ns == 0 ? UPMU_NO_VALUE : html_since(job->html, f.end_ns));
        json_object_end(b);
    }
    json_array_end(b);
    upmu_findings_close(findings);
    return 0;
}
