/* SPDX-License-Identifier: MIT */
/* upmu report as JSON. */
#include <stddef.h>

#include "ui/disk.h"
#include "ui/json.h"
#include "report.h"

static void json_waits(struct textbuf *j, const char *key, const struct upmu_wait_sum *w)
{
    json_object(j, key);
    json_uint(j, "count", w->count);
    json_uint(j, "total_ns", w->total_ns);
    json_uint(j, "max_ns", w->max_ns);
    json_uint(j, "unfinished", w->unfinished);
    json_uint(j, "unfinished_ns", w->unfinished_ns);
    json_object_end(j);
}

void report_json_value(struct textbuf *j, const char *key, const struct upmu_value *v)
{
    json_object(j, key);
    json_value_members(j, v);
    json_object_end(j);
}

/* Numbers of 64 bits beyond what a double holds would be rounded by many readers: addresses are text. */
void report_json_address(struct textbuf *j, const char *key, uint64_t address)
{
    char text[24];
    snprintf(text, sizeof text, "0x%llx", (unsigned long long)address);
    json_string(j, key, address ? text : NULL);
}

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
    report_json_address(j, "address", s->address);
    json_string(j, "module", s->module);
    report_json_address(j, "offset", s->offset);
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
        json_int(j, "pid", p.pid);
        json_string(j, "host", p.host);
        json_string(j, "command", p.command);
        json_string(j, "kernel", p.kernel);
        json_uint(j, "start_ns", p.start_ns);
        json_uint(j, "clock_hz", p.clock_hz);
        json_uint(j, "records", p.events);
        json_uint(j, "lost", p.lost);
        json_uint(j, "overwritten", p.overwritten);
        json_uint_if(j, "clock_error_ns", p.clock_error_ns != UPMU_NO_VALUE, p.clock_error_ns);
        json_uint_if(j, "event_cost_ps", p.event_cost_ps != 0, p.event_cost_ps);
        json_uint_if(j, "compact_event_cost_ps", p.event_cost_ps != 0, p.compact_cost_ps);
        json_uint_if(j, "stack_cost_ps", p.event_cost_ps != 0, p.stack_cost_ps);
        json_string(j, "lost_note", p.lost_note[0] ? p.lost_note : NULL);
        json_string(j, "sched_note", p.sched_note[0] ? p.sched_note : NULL);
        report_json_futexes(j, r, i, &p);
        json_bool(j, "stopped", p.stopped != 0);
        json_bool(j, "complete", p.complete != 0);
        json_bool(j, "execed", p.execed != 0);
        json_object_end(j);
    }
    json_array_end(j);
}

static void json_totals(struct textbuf *j, const struct report *r)
{
    const struct upmu_overview_totals *t = &r->totals;
    json_object(j, "totals");
    json_uint(j, "events", t->events);
    json_uint(j, "begin_ns", t->begin_ns);
    json_uint(j, "end_ns", t->end_ns);
    json_uint(j, "lost", t->lost);
    uint64_t disk = disk_bytes(r->dir);
    json_uint_if(j, "disk_bytes", disk != UINT64_MAX, disk);
    json_uint_if(j, "own_cost_ns", t->own_cost_ns != UPMU_NO_VALUE, t->own_cost_ns);
    json_uint(j, "lifetime_ns", t->lifetime_ns);
    json_uint(j, "unmatched", t->unmatched);
    json_uint(j, "unfinished", t->unfinished);
    json_uint(j, "unknown", t->unknown);
    json_uint(j, "threads", t->n_threads);
    json_uint(j, "objects", t->n_objects);
    json_uint(j, "regions", t->n_regions);
    json_object_end(j);
    json_array(j, "damages");
    for (size_t i = 0; i < t->n_damages; i++)
        json_string(j, NULL, upmu_overview_damage_message(r->overview, i));
    json_array_end(j);
}

void report_json_counts(struct textbuf *j, const struct report *r, uint32_t process,
                        const struct upmu_overview_count *counts, size_t n)
{
    json_array(j, "counters");
    for (size_t k = 0; k < n; k++) {
        json_object(j, NULL);
        json_string(j, "name", upmu_overview_counter_name(r->overview, process, k));
        report_json_value(j, "sum", &counts[k].sum);
        json_uint(j, "without_value", counts[k].without_value);
        json_object_end(j);
    }
    json_array_end(j);
}

static void json_sched(struct textbuf *j, const struct report *r, size_t thread)
{
    struct upmu_overview_sched s = {.size = sizeof s};
    if (upmu_overview_sched_at(r->overview, thread, &s) != 0 || !s.recorded) {
        json_null(j, "sched");
        return;
    }
    json_object(j, "sched");
    json_uint(j, "running_ns", s.running_ns);
    json_uint(j, "preempted_ns", s.preempted_ns);
    json_uint(j, "blocked_ns", s.blocked_ns);
    json_uint(j, "unknown_ns", s.unknown_ns);
    json_uint(j, "voluntary", s.voluntary);
    json_uint(j, "involuntary", s.involuntary);
    json_uint(j, "lost", s.lost);
    json_object_end(j);
}

static void json_thread_futexes(struct textbuf *j, const struct report *r, size_t thread)
{
    struct upmu_overview_sched s = {.size = sizeof s};
    if (upmu_overview_sched_at(r->overview, thread, &s) != 0 || !s.futexes_counted) {
        json_null(j, "futexes");
        return;
    }
    json_object(j, "futexes");
    json_uint(j, "waits", s.futex_waits);
    json_uint(j, "recorded", s.futex_recorded);
    json_object_end(j);
}

static void json_threads(struct textbuf *j, const struct report *r)
{
    struct upmu_overview_thread t = {.size = sizeof t};
    json_array(j, "threads");
    for (size_t i = 0; i < r->top && upmu_overview_thread_at(r->overview, i, &t) == 0; i++) {
        json_object(j, NULL);
        json_int(j, "pid", t.pid);
        json_int(j, "tid", t.tid);
        json_string(j, "name", t.name[0] ? t.name : NULL);
        json_uint(j, "begin_ns", t.begin_ns);
        json_uint(j, "end_ns", t.end_ns);
        json_bool(j, "started", t.started != 0);
        json_bool(j, "ended", t.ended != 0);
        json_uint(j, "events", t.events);
        json_uint(j, "blocked_ns", t.blocked_ns);
        json_object(j, "waits");
        struct upmu_overview_thread_wait w = {.size = sizeof w};
        for (int kind = 0; upmu_overview_thread_wait_at(r->overview, i, kind, &w) == 0; kind++)
            json_waits(j, upmu_wait_kind_name(kind), &w.waits);
        json_object_end(j);
        report_json_value(j, "switches", &t.switches);
        json_sched(j, r, i);
        json_thread_futexes(j, r, i);
        report_json_counts(j, r, t.process, t.counts, t.n_counts);
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

/* Holds with a certain begin and end, and those of which a part is recorded. */
static void json_holds(struct textbuf *j, uint64_t n, uint64_t ns, uint64_t max_ns, uint64_t partial,
                       uint64_t partial_ns, uint64_t partial_max_ns)
{
    json_uint(j, "holds", n);
    json_uint(j, "hold_ns", ns);
    json_uint(j, "hold_max_ns", max_ns);
    json_uint(j, "partial_holds", partial);
    json_uint(j, "partial_hold_ns", partial_ns);
    json_uint(j, "partial_hold_max_ns", partial_max_ns);
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
        json_uint(j, "acquisitions", use.acquisitions);
        json_uint(j, "contended", use.contended);
        json_bool(j, "counts_exact", use.counts_exact != 0);
        json_waits(j, "waits", &use.waits);
        json_holds(j, use.holds, use.hold_ns, use.hold_max_ns, use.partial_holds, use.partial_ns, use.partial_max_ns);
        json_uint(j, "blocked", use.blocked);
        json_uint(j, "blocked_ns", use.blocked_ns);
        json_uint(j, "shared", use.shared);
        json_uint(j, "last", use.last_arrivals);
        json_object_end(j);
    }
    json_array_end(j);
    json_array(j, "sites");
    for (size_t k = 0; k < r->top && upmu_overview_call_site_at(r->overview, i, k, &site) == 0; k++) {
        json_object(j, NULL);
        report_json_location(j, r, "site", o->process, site.address);
        json_uint(j, "acquisitions", site.acquisitions);
        json_waits(j, "waits", &site.waits);
        json_holds(j, site.holds, site.hold_ns, site.hold_max_ns, site.partial_holds, site.partial_ns,
                   site.partial_max_ns);
        json_uint(j, "blocked", site.blocked);
        json_uint(j, "blocked_ns", site.blocked_ns);
        json_object_end(j);
    }
    json_array_end(j);
}

static void json_one_object(struct textbuf *j, const struct report *r, size_t i, const struct upmu_overview_object *o)
{
    json_object(j, NULL);
    json_int(j, "pid", o->pid);
    json_string(j, "type", report_type_name(o->type));
    report_json_address(j, "address", o->address);
    json_uint(j, "generation", o->generation);
    json_string(j, "name", o->name[0] ? o->name : NULL);
    json_string(j, "named_by", report_identity_name(o->named_by));
    json_string(j, "group", o->group[0] ? o->group : NULL);
    json_uint(j, "acquisitions", o->acquisitions);
    json_uint(j, "contended", o->contended);
    json_bool(j, "counts_exact", o->counts_exact != 0);
    json_waits(j, "waits", &o->waits);
    json_uint(j, "failed", o->failed);
    json_holds(j, o->holds, o->hold_ns, o->hold_max_ns, o->partial_holds, o->partial_ns, o->partial_max_ns);
    json_bool(j, "holds_complete", o->holds_complete != 0);
    json_uint(j, "before_holds", o->before_holds);
    json_uint(j, "before_waits", o->before_waits);
    json_uint(j, "signals", o->signals);
    json_uint(j, "broadcasts", o->broadcasts);
    json_uint(j, "misuses", o->misuses);
    json_uint(j, "shared", o->shared);
    json_waits(j, "shared_waits", &o->shared_waits);
    json_uint(j, "tries_failed", o->tries_failed);
    json_uint(j, "rounds", o->rounds);
    json_uint(j, "samples", o->samples);
    json_uint(j, "sample_ns", o->sample_ns);
    json_uint(j, "sample_max_ns", o->sample_max_ns);
    report_json_location(j, r, "init_site", o->process, o->init_site);
    report_json_stack(j, r, "init_stack", o->process, o->init_stack);
    json_longest(j, r, o);
    report_json_sections(j, r, i, o->process);
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
        json_int(j, "pid", region.pid);
        json_string(j, "name", region.name);
        json_uint(j, "count", region.count);
        json_uint(j, "wall_ns", region.wall_ns);
        json_uint(j, "max_ns", region.max_ns);
        json_uint(j, "unfinished", region.unfinished);
        report_json_counts(j, r, region.process, region.counts, region.n_counts);
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
