/* SPDX-License-Identifier: MIT */
/* Notes of the report at exit that several formats have. */
#include "region/report.h"

#include <inttypes.h>

/* A counter that was opened and has no value any more has the cause UPMU_E_IO. */
bool report_closed_note(const struct report *r, size_t i, struct textbuf *out)
{
    uint64_t without = 0, all = 0;
    for (size_t k = 0; k < r->n_rows; k++) {
        const struct upmu_region_event_stats *e = &r->rows[k].stats.events[i];
        if (!r->rows[k].all)
            continue;
        all += e->stat.count + e->without_value;
        without += e->cause == UPMU_E_IO ? e->without_value : 0;
    }
    if (without > 0)
        textbuf_printf(out,
                       "%s: %" PRIu64 " of %" PRIu64 " instances have no value: its file descriptor was closed by the "
                       "program, or belongs to another file now",
                       region_event_name(i), without, all);
    return without > 0;
}
