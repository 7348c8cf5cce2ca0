/* SPDX-License-Identifier: MIT */
/** @file What `upmu list` found out, for its text, CSV and JSON halves. Room: tools/upmu. */
#ifndef UPMU_TOOL_LIST_H
#define UPMU_TOOL_LIST_H

#include <stdbool.h>
#include <stddef.h>

#include "output.h"
#include "upmu/upmu.h"

/** Whether something can be counted here and now. */
struct list_trial {
    bool made;    /**< false: not tried (--no-probe), nothing is known */
    int code;     /**< 0: it counts; else enum upmu_code */
    char *event;  /**< the event that does not count; NULL unless code < 0 */
    char *reason; /**< the library's message with the remedy; NULL unless code < 0 */
};

struct list_event {
    struct upmu_event_info info;
    struct list_trial trial;
};

struct list_metric {
    struct upmu_metric_info info;
    struct list_trial trial; /**< of the first of its events that cannot be counted */
};

struct list {
    struct list_event *events;
    size_t n_events;
    struct list_metric *metrics;
    size_t n_metrics;
};

/** "exact", "approximate", "absent". */
const char *list_grade(int grade);
/** "" if not tried, "yes", "no" if the machine has no such event, else the short text of what stands against it. */
const char *list_here(const struct list_trial *trial);

void list_write_json(struct output *out, const struct list *list);

#endif
