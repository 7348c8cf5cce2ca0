/* SPDX-License-Identifier: MIT */
/** @file What upmu report shows and how. Room: tools/upmu. Before it: cmd_report.c; after it: table, json and output. */
#ifndef UPMU_TOOL_REPORT_H
#define UPMU_TOOL_REPORT_H

#include <stddef.h>
#include <stdint.h>

#include "output.h"
#include "upmu/analysis.h"

struct report {
    struct upmu_overview *overview;
    struct upmu_overview_totals totals;
    const char *dir;
    size_t top; /**< rows per table */
};

void report_write_text(struct output *out, const struct report *r);
void report_write_json(struct output *out, const struct report *r);

/** The first counters of a region of process `process`, at most `max`: names and sums, fit for upmu_metric_eval().
 *  @return how many. */
size_t report_counts(const struct report *r, const struct upmu_overview_region *region, const char **names,
                     struct upmu_value *values, size_t max);
/** Told of each metric that has a number. */
typedef void (*report_metric_fn)(void *arg, const struct upmu_metric_info *info, const struct upmu_metric_value *value);
void report_metrics(const struct report *r, const struct upmu_overview_region *region, report_metric_fn tell,
                    void *arg);

/** What an address is, in one line: "function file:line", "module+0x12", "?". To be freed. */
char *report_place(const struct report *r, uint32_t process, uint64_t address);
/** "mutex", "semaphore", ... */
const char *report_type_name(int type);
/** What an object is called: its name, or its address. To be freed. */
char *report_object_name(const struct upmu_overview_object *object);
/** A duration for people, four digits: "12.34 ms". To be freed. */
char *report_duration(uint64_t ns);
/** A counter's value in words, by its standing: "1234", "~12.34 ms", "refused". To be freed. */
char *report_value(const char *counter, const struct upmu_value *value);
/** The file's name without its folders. */
const char *report_base_name(const char *path);

#endif
