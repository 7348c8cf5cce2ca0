/* SPDX-License-Identifier: MIT */
/* Events as rows: comma-separated values and JSON lines. */
#include "analysis/event_fields.h"
#include "base/text/json.h"
#include "export/export.h"

#include <string.h>

/* The live object at the event's address, or MAP_NONE. */
static uint32_t tables_object(const struct overview *pass, const struct upmu_trace_event *e)
{
    if (e->object_type == UPMU_OBJECT_CALL)
        return object_last(pass, e->process, e->object_type, e->object);
    return e->object ? object_known(pass, e->process, e->object) : MAP_NONE;
}

/* What calls wait for has a number for the recording, and no address. */
static bool tables_has_address(const struct upmu_trace_event *e)
{
    return e->object && e->object_type != UPMU_OBJECT_CALL;
}

/* Call site at which the lock waited for, or held, was acquired; 0: unknown. */
static uint64_t tables_acquired_site(const struct upmu_trace_event *e)
{
    return e->kind == UPMU_TRACE_LOCK_BLOCK     ? e->lock_block.holder_site
           : e->kind == UPMU_TRACE_LOCK_ORDER   ? e->lock_order.held_site
           : e->kind == UPMU_TRACE_LOCK_RELEASE ? e->lock_release.held_site
                                                : 0;
}

/* ------------------------------------------------------------------------------------------------------- CSV */

static void csv_comma(struct export_job *job)
{
    textbuf_add(&job->out, ",", 1);
}

static void csv_number(struct export_job *job, uint64_t n, bool shown)
{
    csv_comma(job);
    if (shown)
        textbuf_uint(&job->out, n);
}

static void csv_signed(struct export_job *job, int32_t n)
{
    if (n < 0)
        textbuf_add(&job->out, "-", 1);
    textbuf_uint(&job->out, n < 0 ? 0u - (uint32_t)n : (uint32_t)n);
}

static void csv_text(struct export_job *job, const char *text)
{
    csv_comma(job);
    textbuf_csv(&job->out, text, ',');
}

static int csv_start(struct export_job *job)
{
    const char *name;
    export_text(&job->out,
                "time_ns,pid,tid,thread,kind,text,object,address,result,peer,site,holder_site,count,contended,stack,"
                "process");
    for (size_t i = 0; (name = upmu_overview_counter_name(job->facts, 0, i)) != NULL; i++) {
        csv_text(job, name);
        textbuf_printf(&job->out, ",status_%zu", i);
    }
    export_text(&job->out, "\r\n");
    return 0;
}

/* "f a.c:12; main a.c:40; ...", innermost first. */
static void csv_stack(struct export_job *job, const struct upmu_trace_event *e)
{
    struct textbuf text = {0};
    for (const char *p = export_stack_text(job, e->process, e->stack), *end; *p; p = *end ? end + 1 : end) {
        end = strchrnul(p, '\n');
        textbuf_add(&text, p, (size_t)(end - p));
        textbuf_add(&text, "; ", *end ? 2 : 0);
    }
    csv_text(job, text.data ? text.data : "");
    job->out.failed |= text.failed;
    textbuf_free(&text);
}

/* Counters of the first process; those of another process that differ are left out. */
static void csv_counters(struct export_job *job, const struct upmu_trace_event *e)
{
    const char *name, *own;
    for (size_t i = 0; (name = upmu_overview_counter_name(job->facts, 0, i)) != NULL; i++) {
        own = e->process == 0 ? name : upmu_overview_counter_name(job->facts, e->process, i);
        bool known = i < e->n_values && own && strcmp(own, name) == 0;
        csv_number(job, known ? e->values[i].value : 0, known && export_has_number(&e->values[i]));
        csv_text(job, known ? upmu_status_name(e->values[i].status) : "");
    }
}

static int csv_event(struct export_job *job, const struct overview *pass, uint32_t thread,
                     const struct upmu_trace_event *e)
{
    uint32_t object = tables_object(pass, e);
    textbuf_uint(&job->out, e->time_ns);
    csv_number(job, (uint64_t)e->pid, true);
    csv_number(job, (uint64_t)e->tid, true);
    csv_text(job, export_thread_name(job, thread));
    csv_text(job, upmu_trace_kind_name(e->kind));
    csv_text(job, e->name);
    csv_text(job, object == MAP_NONE ? "" : export_object_name(job, object));
    csv_comma(job);
    if (tables_has_address(e))
        export_hex(&job->out, e->object);
    csv_comma(job);
    if (e->object)
        csv_signed(job, e->result);
    csv_number(job, (uint64_t)event_peer(e), event_peer(e) > 0);
    csv_text(job, export_site_label(job, e->process, e->site));
    csv_text(job, export_site_label(job, e->process, tables_acquired_site(e)));
    csv_number(job, e->lock_counts.acquisitions, e->kind == UPMU_TRACE_LOCK_COUNTS);
    csv_number(job, e->lock_counts.contended, e->kind == UPMU_TRACE_LOCK_COUNTS);
    csv_stack(job, e);
    csv_number(job, e->process, true);
    csv_counters(job, e);
    export_text(&job->out, "\r\n");
    return 0;
}

/* ------------------------------------------------------------------------------------------------ JSON lines */

static void jsonl_counters(struct export_job *job, const struct upmu_trace_event *e)
{
    struct textbuf *b = &job->out;
    for (size_t i = 0; i < e->n_values; i++) {
        const struct upmu_value *v = &e->values[i];
        const char *name = upmu_overview_counter_name(job->facts, e->process, i);
        if (i == 0)
            json_object(b, "counters");
        json_object(b, name ? name : "?");
        if (export_has_number(v))
            json_uint(b, "value", v->value);
        else
            json_null(b, "value");
        json_string(b, "status", upmu_status_name(v->status));
        json_object_end(b);
    }
    export_text(b, e->n_values > 0 ? "}" : "");
}

static void jsonl_stack(struct export_job *job, const struct upmu_trace_event *e)
{
    const char *frames = export_stack_text(job, e->process, e->stack);
    struct textbuf one = {0};
    if (frames[0] == '\0')
        return;
    json_array(&job->out, "stack");
    for (size_t n; *frames; frames += n + (frames[n] == '\n')) {
        n = strcspn(frames, "\n");
        one.len = 0;
        textbuf_add(&one, frames, n);
        json_string(&job->out, NULL, one.data);
    }
    export_text(&job->out, "]");
    job->out.failed |= one.failed;
    textbuf_free(&one);
}

static int jsonl_event(struct export_job *job, const struct overview *pass, uint32_t thread,
                       const struct upmu_trace_event *e)
{
    uint32_t object = tables_object(pass, e);
    struct textbuf *b = &job->out;
    export_text(b, "{");
    json_uint(b, "time_ns", e->time_ns);
    json_uint(b, "process", e->process);
    json_uint(b, "pid", (uint64_t)e->pid);
    json_uint(b, "tid", (uint64_t)e->tid);
    json_string(b, "thread", export_thread_name(job, thread));
    json_string(b, "kind", upmu_trace_kind_name(e->kind));
    if (e->name[0])
        json_string(b, "text", e->name);
    if (object != MAP_NONE)
        json_string(b, "object", export_object_name(job, object));
    if (tables_has_address(e)) {
        json_key(b, "address");
        export_text(b, "\"");
        export_hex(b, e->object);
        export_text(b, "\"");
    }
    if (e->object)
        json_int(b, "result", e->result);
    if (event_peer(e) > 0)
        json_uint(b, "peer", (uint64_t)event_peer(e));
    if (e->site)
        json_string(b, "site", export_site_label(job, e->process, e->site));
    if (tables_acquired_site(e))
        json_string(b, "holder_site", export_site_label(job, e->process, tables_acquired_site(e)));
    if (e->kind == UPMU_TRACE_LOCK_BLOCK && e->lock_block.holder_since)
        json_uint(b, "holder_since_ns", e->lock_block.holder_since);
    if (e->kind == UPMU_TRACE_LOCK_RELEASE && e->lock_release.held_since)
        json_uint(b, "holder_since_ns", e->lock_release.held_since);
    if (e->kind == UPMU_TRACE_LOCK_COUNTS) {
        json_uint(b, "count", e->lock_counts.acquisitions);
        json_uint(b, "contended", e->lock_counts.contended);
    }
    jsonl_stack(job, e);
    jsonl_counters(job, e);
    export_text(b, "}\n");
    return 0;
}

const struct export_format export_csv = {
    .name = "csv",
    .suffix = "csv",
    .summary = "every event as a row of comma-separated values (RFC 4180)",
    .start = csv_start,
    .event = csv_event,
};

const struct export_format export_jsonl = {
    .name = "jsonl",
    .suffix = "jsonl",
    .summary = "every event as a JSON object on a line of its own, with its stack",
    .event = jsonl_event,
};
