/* SPDX-License-Identifier: MIT */
/* Report at exit as CSV. */
#include <inttypes.h>
#include <stdio.h>

#include "region/report.h"

static void csv_put_key(struct textbuf *out, const struct report_row *row)
{
    textbuf_csv(out, row->region, ',');
    if (row->all)
        textbuf_printf(out, ",all,,");
    else {
        textbuf_printf(out, ",%d,", (int)row->tid);
        textbuf_csv(out, row->thread, ',');
        textbuf_printf(out, ",");
    }
}

static void csv_put_stat(struct textbuf *out, const struct upmu_stat *s)
{
    if (s->count == 0)
        textbuf_printf(out, "0,,,,,\n");
    else
        textbuf_printf(out, "%" PRIu64 ",%" PRIu64 ",%" PRIu64 ",%" PRIu64 ",%" PRIu64 ",%.17g\n", s->count, s->sum,
                       s->min, s->max, s->last, s->sum_squares);
}

static void csv_put_total(struct textbuf *out, const struct report_row *row, const char *quantity, uint64_t n)
{
    csv_put_key(out, row);
    textbuf_printf(out, "%s,,exact,%" PRIu64 ",%" PRIu64 ",,,,\n", quantity, row->stats.count, n);
}

static void csv_put_row(struct textbuf *out, const struct report_row *row)
{
    const struct region_stats *s = &row->stats;
    csv_put_key(out, row);
    textbuf_printf(out, "wall,ns,exact,");
    csv_put_stat(out, &s->wall);
    csv_put_key(out, row);
    textbuf_printf(out, "self,ns,exact,%" PRIu64 ",%" PRIu64 ",,,,\n", s->count, s->self_ns);
    if (s->deschedule_unknown == 0)
        csv_put_total(out, row, "descheduled", s->descheduled);
    for (uint32_t i = 0; i < s->n_events; i++) {
        const char *unit = upmu_regions.list.events[i].unit;
        csv_put_key(out, row);
        textbuf_csv(out, region_event_name(i), ',');
        textbuf_printf(out, ",%s,%s,", unit ? unit : "", upmu_status_name(s->events[i].status));
        csv_put_stat(out, &s->events[i].stat);
    }
}

static void write_csv(const struct report *r, struct textbuf *out)
{
    textbuf_printf(out, "region,thread,thread_name,quantity,unit,status,count,sum,min,max,last,sum_squares\n");
    for (size_t i = 0; i < r->n_rows; i++)
        csv_put_row(out, &r->rows[i]);
    if (r->health.trace_lost)
        textbuf_printf(out, ",all,,trace-lost,,exact,,%" PRIu64 ",,,,\n", r->health.trace_lost);
}

const struct report_format report_csv = {.write = write_csv};
