/* SPDX-License-Identifier: MIT */
/** @file Result of upmu list, for its text, CSV and JSON output. */
#ifndef UPMU_TOOL_LIST_H
#define UPMU_TOOL_LIST_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "events/trials.h"
#include "ui/output.h"
#include "upmu/upmu.h"

struct list_event {
    struct upmu_event_info info;
    struct trial trial;
};

struct list_metric {
    struct upmu_metric_info info;
    struct trial trial; /**< of the first of its events that cannot be counted */
};

struct list {
    struct upmu_cpu_info cpu; /**< the CPU asked for by name; its `name` is NULL where the list is this machine's */
    struct list_event *events;
    size_t n_events;
    struct list_metric *metrics;
    size_t n_metrics;
    struct upmu_metric_group_info *groups;
    size_t n_groups;
};

/** "exact", "approximate", "absent". */
const char *list_match(int match);
/** "verified", "not seen" or "refused"; NULL if not tried. */
const char *list_state(const struct trial *trial);

struct textbuf;
/** A CPU's members of a JSON object that was begun. */
void list_cpu_members(struct textbuf *j, const struct upmu_cpu_info *cpu);

/** What is known of an event before any trial, as members of a JSON object that was begun. */
void list_event_members(struct textbuf *j, const struct upmu_event_info *info);

/** `upmu list --cpus`. @return an exit status. */
int list_cpus(bool as_json, bool as_csv);

void list_write_json(struct output *out, const struct list *list);

#endif
