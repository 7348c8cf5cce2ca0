/* SPDX-License-Identifier: MIT */
/* upmu report as JSON. */
#include <stddef.h>

#include "facts/facts.h"
#include "ui/disk.h"
#include "ui/json.h"
#include "report.h"

static void json_function(struct textbuf *j, const struct upmu_symbol *s)
{
    const char *label = upmu_frame_label(s);
    json_object(j, NULL);
    json_string(j, "function", s->function);
    json_string(j, "file", s->file);
    json_uint_if(j, "line", s->line, s->line);
    json_bool(j, "inlined", s->inlined != 0);
    json_bool(j, "wrapper", s->wrapper != 0);
    json_string(j, "label", label[0] ? label : NULL);
    json_object_end(j);
}

/* What all functions at an address have in common. */
static void json_location_begin(struct textbuf *j, const char *key, const struct upmu_symbol *s)
{
    json_object(j, key);
    facts_address(j, "address", s->address);
    json_string(j, "module", s->module);
    facts_address(j, "offset", s->offset);
    json_string(j, "problem", s->problem[0] ? s->problem : NULL);
    json_string(j, "kind", upmu_frame_kind_name(s->kind));
    json_array(j, "functions");
}

static void json_location_end(struct textbuf *j)
{
    json_array_end(j);
    json_object_end(j);
}

/* An address with the functions there, innermost first. */
void report_json_location(struct textbuf *j, const struct report *r, const char *key, uint32_t process,
                          uint64_t address)
{
    struct upmu_symbol s = {.size = sizeof s};
    if (address == 0 || upmu_overview_symbol_at(r->overview, process, address, 0, &s) != 0) {
        json_null(j, key);
        return;
    }
    json_location_begin(j, key, &s);
    for (size_t depth = 0; upmu_overview_symbol_at(r->overview, process, address, depth, &s) == 0; depth++)
        json_function(j, &s);
    json_location_end(j);
}

void report_json_stack(struct textbuf *j, const struct report *r, const char *key, uint32_t process, uint32_t id)
{
    struct upmu_symbol s = {.size = sizeof s};
    bool is_inside = false; /* of the functions at an address */
    if (upmu_overview_frame_at(r->overview, process, id, 0, &s) != 0) {
        json_null(j, key);
        return;
    }
    json_array(j, key);
    for (size_t i = 0; upmu_overview_frame_at(r->overview, process, id, i, &s) == 0; i++) {
        if (!is_inside)
            json_location_begin(j, NULL, &s);
        json_function(j, &s);
        is_inside = s.inlined != 0;
        if (!is_inside)
            json_location_end(j);
    }
    json_array_end(j);
}

static void json_processes(struct textbuf *j, const struct report *r)
{
    struct upmu_trace_process p = {.size = sizeof p};
    json_array(j, "processes");
    for (size_t i = 0; upmu_overview_process_at(r->overview, i, &p) == 0; i++) {
        json_object(j, NULL);
        facts_process(j, &p);
        facts_recorded(j, r->overview, i, &p);
        report_json_futexes(j, r, i, &p);
        json_object_end(j);
    }
    json_array_end(j);
}

static void json_totals(struct textbuf *j, const struct report *r)
{
    uint64_t disk = disk_bytes(r->dir);
    json_object(j, "totals");
    facts_totals(j, &r->totals);
    json_uint_if(j, "disk_bytes", disk != UINT64_MAX, disk);
    json_object_end(j);
    facts_damages(j, r->overview, &r->totals);
}

static void json_threads(struct textbuf *j, const struct report *r)
{
    struct upmu_overview_thread t = {.size = sizeof t};
    json_array(j, "threads");
    for (size_t i = 0; i < r->top && upmu_overview_thread_at(r->overview, i, &t) == 0; i++) {
        json_object(j, NULL);
        facts_thread(j, r->overview, i, &t);
        json_uint(j, "begin_ns", t.begin_ns);
        json_uint(j, "end_ns", t.end_ns);
        facts_counters(j, r->overview, t.process, t.counts, t.n_counts);
        json_object_end(j);
    }
    json_array_end(j);
}

static void json_longest(struct textbuf *j, const struct report *r, const struct upmu_overview_object *o)
{
    const struct upmu_longest_wait *l = &o->longest;
    if (l->waiter == 0) {
        json_null(j, "longest");
        return;
    }
    json_object(j, "longest");
    json_uint(j, "begin_ns", l->begin_ns);
    json_uint(j, "ns", l->ns);
    json_bool(j, "unfinished", l->unfinished != 0);
    json_bool(j, "before", l->before != 0);
    json_bool(j, "shared", l->shared != 0);
    json_bool(j, "holder_shared", l->holder_shared != 0);
    json_int(j, "waiter", l->waiter);
    json_int_if(j, "holder", l->holder, l->holder);
    json_uint_if(j, "holder_since_ns", l->holder_since, l->holder_since);
    json_uint_if(j, "hold_ns", l->hold_ns, l->hold_ns);
    report_json_location(j, r, "waiter_site", o->process, l->waiter_site);
    report_json_location(j, r, "holder_site", o->process, l->holder_site);
    report_json_stack(j, r, "waiter_stack", o->process, l->waiter_stack);
    report_json_stack(j, r, "holder_stack", o->process, l->holder_stack);
    report_json_stack(j, r, "release_stack", o->process, l->release_stack);
    json_object_end(j);
}

static void json_uses_and_sites(struct textbuf *j, const struct report *r, size_t i,
                                const struct upmu_overview_object *o)
{
    struct upmu_overview_object_thread use = {.size = sizeof use};
    struct upmu_overview_call_site site = {.size = sizeof site};
    json_array(j, "threads");
    for (size_t k = 0; k < r->top && upmu_overview_object_thread_at(r->overview, i, k, &use) == 0; k++) {
        json_object(j, NULL);
        json_int(j, "tid", use.tid);
        json_string(j, "name", use.thread_name[0] ? use.thread_name : NULL);
        facts_object_thread(j, &use);
        json_object_end(j);
    }
    json_array_end(j);
    json_array(j, "sites");
    for (size_t k = 0; k < r->top && upmu_overview_call_site_at(r->overview, i, k, &site) == 0; k++) {
        json_object(j, NULL);
        report_json_location(j, r, "site", o->process, site.address);
        facts_call_site(j, &site);
        json_object_end(j);
    }
    json_array_end(j);
}

static void json_one_object(struct textbuf *j, const struct report *r, size_t i, const struct upmu_overview_object *o)
{
    json_object(j, NULL);
    json_uint(j, "process", o->process);
    json_int(j, "pid", o->pid);
    json_string(j, "type", report_type_name(o->type));
    json_string(j, "named_by", report_identity_name(o->named_by));
    facts_object(j, o);
    report_json_location(j, r, "init_site", o->process, o->init_site);
    report_json_stack(j, r, "init_stack", o->process, o->init_stack);
    json_longest(j, r, o);
    facts_sections(j, r->overview, i, o->process);
    json_uses_and_sites(j, r, i, o);
    json_object_end(j);
}

static void json_metric(void *arg, const struct upmu_metric_info *info, const struct upmu_metric_value *value)
{
    struct textbuf *j = arg;
    json_object(j, NULL);
    json_string(j, "name", info->name);
    json_double(j, "value", value->value);
    json_string(j, "unit", info->unit);
    json_string(j, "status", upmu_status_name(value->status));
    json_object_end(j);
}

static void json_regions(struct textbuf *j, const struct report *r)
{
    struct upmu_overview_region region = {.size = sizeof region};
    json_array(j, "regions");
    for (size_t i = 0; i < r->top && upmu_overview_region_at(r->overview, i, &region) == 0; i++) {
        json_object(j, NULL);
        facts_region(j, &region);
        facts_counters(j, r->overview, region.process, region.counts, region.n_counts);
        json_array(j, "metrics");
        report_metrics(r, &region, json_metric, j);
        json_array_end(j);
        json_object_end(j);
    }
    json_array_end(j);
}

void report_write_json(struct output *out, const struct report *r)
{
    struct upmu_overview_object o = {.size = sizeof o};
    struct json_document doc;

    struct textbuf *j = json_begin(&doc, out->file, "upmu-report");
    json_totals(j, r);
    json_processes(j, r);
    report_json_findings(j, r);
    json_threads(j, r);
    json_array(j, "objects");
    for (size_t i = 0; i < r->top && i < r->totals.n_objects; i++)
        if (upmu_overview_object_at(r->overview, r->order[i], &o) == 0)
            json_one_object(j, r, r->order[i], &o);
    json_array_end(j);
    json_regions(j, r);
    report_json_kernel(j, r);
    report_json_pairs(j, r);
    report_json_paths(j, r);
    json_end(&doc);
}

void report_write_regions_json(struct output *out, const struct report *r)
{
    struct json_document doc;
    struct textbuf *j = json_begin(&doc, out->file, "upmu-report");
    json_totals(j, r);
    json_processes(j, r);
    json_regions(j, r);
    json_end(&doc);
}
