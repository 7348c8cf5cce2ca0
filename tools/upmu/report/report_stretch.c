/* SPDX-License-Identifier: MIT */
/* Stretch of --from and --to, of views that read the recording's events themselves. */
#include "report.h"
#include "report_views.h"
#include "ui/json.h"

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

void report_text_stretch(struct output *out, const struct upmu_overview *overview)
{
    struct upmu_overview_totals t = {.size = sizeof t};
    if (upmu_overview_totals_read(overview, &t) == 0 && (t.from_ns != t.begin_ns || t.to_ns != t.end_ns))
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
