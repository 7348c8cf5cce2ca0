/* SPDX-License-Identifier: MIT */
/*
 * Chrome's trace event format, in the dialect of all its readers.
 *
 * Events are sorted by time; begin and end are separate, as Qt Creator truncates the duration of complete events to
 * microseconds; each event has a time, as Qt Creator drops those without.
 */
#include "base/text/json.h"
#include "export/export.h"
#include "export/messages.h"

#include <string.h>

/* Opens an event, which has a line of its own. The buffer may have been flushed before it. */
static void chrome_event_open(struct export_job *job, const char *phase, uint64_t ns, uint32_t process, pid_t tid)
{
    struct textbuf *b = &job->out;
    uint64_t zero = job->facts->pass.begin_ns;
    export_text(b, job->listed ? ",\n{" : "\n{");
    job->listed = true;
    json_string(b, "ph", phase);
    json_key(b, "ts");
    export_micros(b, ns > zero ? ns - zero : 0);
    json_uint(b, "pid", (uint64_t)export_pid(job, process));
    json_uint(b, "tid", (uint64_t)tid);
}

/* Closes the event, and its arguments if there are any. */
static void chrome_event_close(struct textbuf *b, bool arguments)
{
    if (arguments)
        json_object_end(b);
    json_object_end(b);
}

static void chrome_argument_key(struct textbuf *b, const char *key, bool *any)
{
    if (!*any)
        json_object(b, "args");
    *any = true;
    json_key(b, key);
}

static void chrome_argument_text(struct textbuf *b, const char *key, const char *value, bool *any)
{
    chrome_argument_key(b, key, any);
    textbuf_json(b, value);
}

static void chrome_metadata(struct export_job *job, const char *name, uint32_t process, pid_t tid, const char *value)
{
    bool any = false;
    chrome_event_open(job, "M", 0, process, tid);
    json_string(&job->out, "name", name);
    chrome_argument_text(&job->out, "name", value, &any);
    chrome_event_close(&job->out, any);
}

static int chrome_start(struct export_job *job)
{
    const struct overview *o = &job->facts->pass;
    struct upmu_trace_process p = {.size = sizeof p};
    textbuf_printf(&job->out,
                   "{\"displayTimeUnit\":\"ns\",\"otherData\":{\"creator\":\"libupmu\",\"lost\":\"%llu\","
                   "\"omitted\":\"%llu\"},\n",
                   (unsigned long long)job->facts->lost, (unsigned long long)job->limit.omitted);
    export_text(&job->out, "\"traceEvents\":[");
    for (uint32_t i = 0; upmu_overview_process_at(job->facts, i, &p) == 0; i++)
        chrome_metadata(job, "process_name", i, p.pid, export_process_name(job, i, p.command, &job->scratch[0]));
    for (uint32_t i = 0; i < o->n_threads; i++)
        chrome_metadata(job, "thread_name", o->threads[i].process, o->threads[i].tid, export_thread_name(job, i));
    return 0;
}

/* Half an arrow, in the span of the call at whose begin or end it is. */
static void chrome_arrow(struct export_job *job, const struct span *s, const struct export_arrow *a)
{
    const struct ov_thread *t = export_thread(job, s->thread);
    struct textbuf *b = &job->out;
    bool any = false;
    chrome_event_open(job, a->received ? "f" : "s", a->received ? s->end_ns : s->begin_ns, t->process, t->tid);
    json_string(b, "cat", "mpi");
    json_string(b, "name", "message");
    json_uint(b, "id", a->id);
    if (a->received)
        json_string(b, "bp", "e");
    chrome_argument_key(b, a->received ? "from rank" : "to rank", &any);
    textbuf_uint(b, (uint64_t)(a->received ? a->message.source : a->message.destination));
    chrome_argument_key(b, "tag", &any);
    textbuf_uint(b, (uint64_t)a->message.tag);
    if (a->message.bytes != UPMU_NO_VALUE) {
        chrome_argument_key(b, "bytes", &any);
        textbuf_uint(b, a->message.bytes);
    }
    chrome_event_close(b, any);
}

static int chrome_arrows(struct export_job *job, const struct span *s, bool received)
{
    struct export_arrow a = {.received = received};
    int rc;
    while ((rc = messages_next(job, s, &a)) > 0)
        chrome_arrow(job, s, &a);
    return rc;
}

static int chrome_begin(struct export_job *job, const struct span *s)
{
    const struct ov_thread *t = export_thread(job, s->thread);
    struct textbuf *b = &job->out;
    bool any = false;
    chrome_event_open(job, "B", s->begin_ns, t->process, t->tid);
    json_string(b, "cat", export_span_category(s));
    json_string(b, "name", export_span_name(job, s));
    if (s->site)
        chrome_argument_text(b, "at", export_site_label(job, t->process, s->site), &any);
    if (s->holder != MAP_NONE)
        chrome_argument_text(b, "holder", export_thread_name(job, s->holder), &any);
    if (s->holder_site)
        chrome_argument_text(b, "acquired at", export_site_label(job, t->process, s->holder_site), &any);
    chrome_event_close(b, any);
    return chrome_arrows(job, s, false);
}

/* The counts of a region; a counter without a value has its status instead. */
static int chrome_end(struct export_job *job, const struct span *s)
{
    const struct ov_thread *t = export_thread(job, s->thread);
    struct textbuf *b = &job->out;
    bool any = false;
    int rc = chrome_arrows(job, s, true);
    chrome_event_open(job, "E", s->end_ns, t->process, t->tid);
    for (size_t i = 0; s->after && i < s->n_values; i++) {
        struct upmu_value v = value_difference(&s->before[i], &s->after[i]);
        const char *name = upmu_overview_counter_name(job->facts, t->process, i);
        chrome_argument_key(b, name ? name : "?", &any);
        if (v.status == UPMU_EXACT)
            textbuf_uint(b, v.value);
        else if (v.status == UPMU_SCALED)
            textbuf_printf(b, "\"~%llu\"", (unsigned long long)v.value);
        else
            textbuf_json(b, upmu_status_name(v.status));
    }
    if (!s->finished)
        chrome_argument_text(b, "unfinished", export_unfinished(job), &any);
    chrome_event_close(b, any);
    return rc;
}

/* Counter tracks: totals of the thread. */
static void chrome_counters(struct export_job *job, const struct upmu_trace_event *e)
{
    struct textbuf *b = &job->out;
    for (size_t i = 0; i < e->n_values; i++) {
        const char *name = upmu_overview_counter_name(job->facts, e->process, i);
        bool any = false;
        if (!export_has_number(&e->values[i]) || !name)
            continue;
        chrome_event_open(job, "C", e->time_ns, e->process, e->tid);
        json_key(b, "id");
        textbuf_printf(b, "\"%ld\"", (long)e->tid);
        json_string(b, "name", name);
        chrome_argument_key(b, "value", &any);
        textbuf_uint(b, e->values[i].value);
        chrome_event_close(b, any);
    }
}

static int chrome_event(struct export_job *job, const struct overview *pass, uint32_t thread,
                        const struct upmu_trace_event *e)
{
    (void)pass;
    (void)thread;
    if (e->kind == UPMU_TRACE_MARK) {
        chrome_event_open(job, "i", e->time_ns, e->process, e->tid);
        json_string(&job->out, "cat", "mark");
        json_string(&job->out, "s", "t");
        json_string(&job->out, "name", e->name);
        chrome_event_close(&job->out, false);
    }
    chrome_counters(job, e);
    return 0;
}

static int chrome_finish(struct export_job *job)
{
    export_text(&job->out, "\n]}\n");
    return 0;
}

const struct export_format export_chrome = {
    .name = "chrome",
    .suffix = "json",
    .summary = "timeline for Perfetto's and Chrome's viewers and Qt Creator",
    .limited = true,
    .calls = true,
    .start = chrome_start,
    .begin = chrome_begin,
    .end = chrome_end,
    .stops = true,
    .event = chrome_event,
    .finish = chrome_finish,
};
