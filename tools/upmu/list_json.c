/* SPDX-License-Identifier: MIT */
/* upmu list --json. Room: tools/upmu. Before it: cmd_list; after it: json. */
#include "json.h"
#include "list.h"

static void list_trial_json(struct json *j, const struct list_trial *trial)
{
    if (trial->made)
        json_bool(j, "countable", trial->code == 0);
    else
        json_null(j, "countable");
    json_string(j, "trial", list_state(trial));
    if (trial->made && trial->code == 0 && trial->event)
        json_uint(j, "seen", trial->seen);
    else
        json_null(j, "seen");
    bool refused = trial->made && trial->code != 0;
    json_string(j, "cause", refused ? upmu_strerror(trial->code) : NULL);
    json_string(j, "reason", refused ? trial->reason : NULL);
}

/* An absent event has no encoding, and 0 would be one. */
static void list_encoding_json(struct json *j, const struct upmu_event_info *info)
{
    if (info->grade == UPMU_GRADE_ABSENT) {
        json_null(j, "type");
        json_null(j, "config");
        json_null(j, "config1");
        json_null(j, "config2");
        json_null(j, "encoding");
        return;
    }
    json_uint(j, "type", info->type);
    json_uint(j, "config", info->config);
    json_uint(j, "config1", info->config1);
    json_uint(j, "config2", info->config2);
    json_string(j, "encoding", info->encoding);
}

static void list_event_json(struct json *j, const struct list_event *e)
{
    json_object(j, NULL);
    json_string(j, "name", e->info.name);
    json_string(j, "summary", e->info.summary);
    json_string(j, "unit", e->info.unit);
    json_string(j, "perf", e->info.perf);
    json_string(j, "papi", e->info.papi);
    json_string(j, "pmu", e->info.pmu);
    list_encoding_json(j, &e->info);
    json_string(j, "counters", e->info.counters);
    json_string(j, "grade", list_grade(e->info.grade));
    json_string(j, "note", e->info.note);
    json_string(j, "source", e->info.source);
    list_trial_json(j, &e->trial);
    json_object_end(j);
}

static void list_metric_json(struct json *j, const struct list_metric *m)
{
    json_object(j, NULL);
    json_string(j, "name", m->info.name);
    json_string(j, "summary", m->info.summary);
    json_string(j, "formula", m->info.formula);
    json_string(j, "unit", m->info.unit);
    json_string(j, "events", m->info.events);
    list_trial_json(j, &m->trial);
    json_object_end(j);
}

void list_write_json(struct output *out, const struct list *list)
{
    struct json j;

    json_begin(&j, out->file, "upmu-list");
    json_array(&j, "events");
    for (size_t i = 0; i < list->n_events; i++)
        list_event_json(&j, &list->events[i]);
    json_array_end(&j);
    json_array(&j, "metrics");
    for (size_t i = 0; i < list->n_metrics; i++)
        list_metric_json(&j, &list->metrics[i]);
    json_array_end(&j);
    json_end(&j);
}
