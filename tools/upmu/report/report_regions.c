/* SPDX-License-Identifier: MIT */
/* Regions with their counters and metrics as text. */
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>

#include "report.h"
#include "report_cells.h"
#include "ui/table.h"

static void regions_metric_row(void *arg, const struct upmu_metric_info *info, const struct upmu_metric_value *value)
{
    struct table *t = arg;
    table_cell(t, STYLE_PLAIN, fabs(value->value) < 1000 ? "%.4g" : "%.0f", value->value);
    table_cell(t, STYLE_PLAIN, "%s%s%s", info->name, info->unit[0] ? ", " : "", info->unit);
    table_cell(t, value->status == UPMU_EXACT ? STYLE_PLAIN : STYLE_WARNING, "%s", upmu_status_name(value->status));
}

static void regions_text_counts(struct output *out, const struct report *r, const struct upmu_overview_region *region)
{
    static const struct table_column columns[] = {{"VALUE", true}, {"COUNTER OR METRIC", false}, {"STATUS", false}};
    struct table t;

    table_begin(&t, columns, sizeof columns / sizeof *columns);
    for (size_t i = 0; i < region->n_counts; i++) {
        const struct upmu_value *v = &region->counts[i].sum;
        const char *name = upmu_overview_counter_name(r->overview, region->process, i);
        bool number = v->status == UPMU_EXACT || v->status == UPMU_SCALED;
        if (number)
            cell_free(&t, STYLE_PLAIN, report_value(name, v));
        else
            table_cell(&t, STYLE_WARNING, "-");
        table_cell(&t, STYLE_PLAIN, "%s", name ? name : "?");
        table_cell(&t, v->status == UPMU_EXACT ? STYLE_PLAIN : STYLE_WARNING, "%s%s%s", upmu_status_name(v->status),
                   v->cause ? ": " : "", v->cause ? upmu_strerror(v->cause) : "");
    }
    report_metrics(r, region, regions_metric_row, &t);
    table_end(&t, out, 6);
}

void report_text_regions(struct output *out, const struct report *r)
{
    struct upmu_overview_region region = {.size = sizeof region};
    size_t i = 0;
    if (r->totals.n_regions == 0)
        return;
    report_title(out, "Regions, by wall time");
    for (; i < r->top && upmu_overview_region_at(r->overview, i, &region) == 0; i++) {
        char *wall = report_duration(region.wall_ns), *max = report_duration(region.max_ns);
        char *mean = report_duration(region.count ? region.wall_ns / region.count : 0);
        fputs("  ", out->file);
        output_clean(out->file, region.name);
        report_text_process(out, r, ", process ", region.process, "");
        if (region.count == 1)
            fprintf(out->file, ": once, %s", wall);
        else
            fprintf(out->file, ": %" PRIu64 " times, %s, mean %s, max %s", region.count, wall, mean, max);
        if (region.unfinished)
            fprintf(out->file, ", %" PRIu64 " not ended", region.unfinished);
        fputc('\n', out->file);
        regions_text_counts(out, r, &region);
        free(wall);
        free(max);
        free(mean);
    }
    report_more(out, r->totals.n_regions, i);
}
