/* SPDX-License-Identifier: MIT */
/* upmu report --view deadlock. */
#include "deadlock.h"
#include "report/report.h"
#include "report/report_views.h"

int report_deadlock(const struct report_request *q)
{
    struct deadlock_report r = {.subject = q->dir};
    struct output out;
    int rc = -1;
    if (upmu_deadlocks_open(&r.deadlocks, q->dir, NULL) < 0) {
        complain("%s", upmu_error());
        return EXIT_FAILED;
    }
    r.report = (struct report){.overview = upmu_deadlocks_overview(r.deadlocks), .dir = q->dir};
    if (output_standard(&out, OUTPUT_STDOUT) == 0) {
        if (q->as_json)
            deadlock_write_json(&out, &r);
        else
            deadlock_write_text(&out, &r);
        rc = output_close(&out);
    }
    size_t damages = report_damages(r.report.overview);
    upmu_deadlocks_close(r.deadlocks);
    return rc == 0 && damages == 0 ? EXIT_OK : EXIT_FAILED;
}
