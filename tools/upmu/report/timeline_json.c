/* SPDX-License-Identifier: MIT */
/* Timeline rows as JSON. */
#include "facts/facts.h"
#include "ui/json.h"
#include "timeline.h"

static void json_thread(struct textbuf *j, const struct timeline *t, const char *key, uint32_t thread)
{
    struct upmu_overview_thread of = {.size = sizeof of};
    if (thread == UINT32_MAX || upmu_overview_thread_at(t->report.overview, thread, &of) != 0) {
        json_null(j, key);
        return;
    }
    json_object(j, key);
    json_int(j, "tid", of.tid);
    json_string(j, "name", of.name[0] ? of.name : NULL);
    json_object_end(j);
}

static void json_of_object(struct textbuf *j, const struct timeline *t, uint32_t object)
{
    struct upmu_overview_object of = {.size = sizeof of};
    if (object == UINT32_MAX || upmu_overview_object_at(t->report.overview, object, &of) != 0) {
        json_null(j, "object");
        return;
    }
    json_object(j, "object");
    json_string(j, "type", report_type_name(of.type));
    facts_address(j, "address", of.address);
    json_uint(j, "generation", of.generation);
    json_string(j, "name", of.name[0] ? of.name : NULL);
    json_object_end(j);
}

static void json_row(struct textbuf *j, const struct timeline *t, const struct upmu_timeline_row *row)
{
    json_object(j, NULL);
    json_uint(j, "row", row->number);
    json_string(j, "kind", upmu_row_kind_name(row->kind));
    json_string(j, "event", upmu_trace_kind_name(row->event));
    json_thread(j, t, "thread", row->thread);
    json_uint(j, "begin_ns", row->begin_ns);
    json_uint(j, "end_ns", row->end_ns);
    json_bool(j, "ended", row->ended != 0);
    json_of_object(j, t, row->object);
    json_string(j, "waits_for", row->wait_kind >= 0 ? upmu_wait_kind_name(row->wait_kind) : NULL);
    json_thread(j, t, "holder", row->holder);
    report_json_location(j, &t->report, "holder_site", row->process, row->holder_site);
    json_int(j, "result", row->result);
    json_bool(j, "shared", (row->flags & UPMU_TRACE_FLAG_SHARED) != 0);
    json_string(j, "text", row->text[0] ? row->text : NULL);
    report_json_location(j, &t->report, "site", row->process, row->site);
    report_json_stack(j, &t->report, "stack", row->process, row->stack);
    json_array(j, "counters");
    for (size_t i = 0; i < row->n_counts; i++) {
        json_object(j, NULL);
        json_string(j, "name", upmu_overview_counter_name(t->report.overview, row->process, i));
        facts_value(j, "value", &row->counts[i]);
        json_object_end(j);
    }
    json_array_end(j);
    json_object_end(j);
}

void timeline_write_json(struct output *out, const struct timeline *t)
{
    struct upmu_timeline_row row = {.size = sizeof row};
    struct json_document doc;
    struct textbuf *j = json_begin(&doc, out->file, "upmu-timeline");
    json_uint(j, "begin_ns", t->report.totals.begin_ns);
    json_uint(j, "rows_in_recording", t->totals.rows);
    json_uint(j, "matched", t->totals.matched);
    json_uint(j, "skipped", t->totals.skipped);
    json_array(j, "rows");
    for (size_t i = 0; upmu_timeline_row_at(t->rows, i, &row) == 0; i++)
        json_row(j, t, &row);
    json_array_end(j);
    json_end(&doc);
}
