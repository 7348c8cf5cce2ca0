/* SPDX-License-Identifier: MIT */
/* upmu list --json. */
#include "ui/json.h"
#include "list.h"

static void list_trial_json(struct textbuf *j, const struct trial *trial)
{
    if (trial->made)
        json_bool(j, "countable", trial->code == 0);
    else
        json_null(j, "countable");
    json_string(j, "trial", list_state(trial));
    json_uint_if(j, "seen", trial->made && trial->code == 0 && trial->event, trial->seen);
    bool refused = trial->made && trial->code != 0;
    json_string(j, "cause", refused ? upmu_strerror(trial->code) : NULL);
    json_string(j, "reason", refused ? trial->reason : NULL);
}

/* The fields of an absent event are null: 0 would be a valid encoding. */
static void list_encoding_json(struct textbuf *j, const struct upmu_event_info *info)
{
    if (info->match == UPMU_MATCH_ABSENT) {
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

static void list_code_json(struct textbuf *j, const struct upmu_event_info *info)
{
    if (info->raw_encoding == UPMU_NO_VALUE)
        json_null(j, "raw_encoding");
    else
        json_uint(j, "raw_encoding", info->raw_encoding);
    json_string(j, "generic", info->generic_event[0] ? info->generic_event : NULL);
    json_string(j, "choice", info->choice);
    json_string(j, "formula", info->formula);
    json_double(j, "scale", info->scale);
    json_string(j, "scale_unit", info->scale_unit);
    json_string(j, "cpus", info->cpus);
}

void list_event_members(struct textbuf *j, const struct upmu_event_info *info)
{
    json_string(j, "name", info->name);
    json_string(j, "summary", info->summary);
    json_string(j, "unit", info->unit);
    json_string(j, "perf", info->perf);
    json_string(j, "papi", info->papi);
    json_string(j, "pmu", info->pmu);
    list_encoding_json(j, info);
    json_string(j, "counters", info->counters);
    list_code_json(j, info);
    json_string(j, "match", list_match(info->match));
    json_string(j, "note", info->note);
    json_string(j, "source", info->source);
}

static void list_event_json(struct textbuf *j, const struct list_event *e)
{
    json_object(j, NULL);
    list_event_members(j, &e->info);
    list_trial_json(j, &e->trial);
    json_object_end(j);
}

static void list_metric_json(struct textbuf *j, const struct list_metric *m)
{
    json_object(j, NULL);
    json_string(j, "name", m->info.name);
    json_string(j, "summary", m->info.summary);
    json_string(j, "formula", m->info.formula);
    json_string(j, "unit", m->info.unit);
    json_string(j, "events", m->info.events);
    json_string(j, "lacks", m->info.missing_event[0] ? m->info.missing_event : NULL);
    list_trial_json(j, &m->trial);
    json_object_end(j);
}

void list_cpu_members(struct textbuf *j, const struct upmu_cpu_info *cpu)
{
    json_string(j, "name", cpu->name);
    json_string(j, "title", cpu->title);
    json_string(j, "vendor", cpu->vendor);
    json_string(j, "remark", cpu->remark);
    json_string(j, "rule", cpu->rule);
    json_uint(j, "counters", cpu->counters);
    json_uint(j, "fixed_counters", cpu->fixed_counters);
    json_uint(j, "counter_bits", cpu->counter_bits);
}

/* The CPU asked for by name; null where the events are those of this machine. */
static void list_cpu_json(struct textbuf *j, const struct upmu_cpu_info *cpu)
{
    if (!cpu->name) {
        json_null(j, "cpu");
        return;
    }
    json_object(j, "cpu");
    list_cpu_members(j, cpu);
    json_object_end(j);
}

void list_write_json(struct output *out, const struct list *list)
{
    struct json_document doc;

    struct textbuf *j = json_begin(&doc, out->file, "upmu-list");
    list_cpu_json(j, &list->cpu);
    json_array(j, "events");
    for (size_t i = 0; i < list->n_events; i++)
        list_event_json(j, &list->events[i]);
    json_array_end(j);
    json_array(j, "metrics");
    for (size_t i = 0; i < list->n_metrics; i++)
        list_metric_json(j, &list->metrics[i]);
    json_array_end(j);
    json_array(j, "groups");
    for (size_t i = 0; i < list->n_groups; i++) {
        json_object(j, NULL);
        json_string(j, "name", list->groups[i].name);
        json_string(j, "summary", list->groups[i].summary);
        json_string(j, "metrics", list->groups[i].metrics);
        json_string(j, "events", list->groups[i].events);
        json_object_end(j);
    }
    json_array_end(j);
    json_end(&doc);
}
