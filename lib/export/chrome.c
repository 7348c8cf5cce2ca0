/* SPDX-License-Identifier: MIT */
/*
 * Chrome's trace event format, in the dialect that all of its readers take: sorted by time, begin and end apart (Qt
 * Creator cuts the length of complete events to whole microseconds), a time in each event (it drops those without).
 * Room: export. Before it: spans.c; after it: a file.
 */
#include "export/export.h"

#include <string.h>

static void item(struct export_job *job)
{
    export_text(&job->out, job->listed ? ",\n" : "\n");
    job->listed = true;
}

static void common(struct export_job *job, const char *phase, uint64_t ns, pid_t pid, pid_t tid)
{
    struct textbuf *b = &job->out;
    uint64_t zero = job->facts->pass.begin_ns;
    item(job);
    export_text(b, "{\"ph\":\"");
    export_text(b, phase);
    export_text(b, "\",\"ts\":");
    export_micros(b, ns > zero ? ns - zero : 0);
    export_text(b, ",\"pid\":");
    export_number(b, (uint64_t)pid);
    export_text(b, ",\"tid\":");
    export_number(b, (uint64_t)tid);
}

static void metadata(struct export_job *job, const char *what, pid_t pid, pid_t tid, const char *name)
{
    common(job, "M", 0, pid, tid);
    textbuf_printf(&job->out, ",\"name\":\"%s\",\"args\":{\"name\":", what);
    textbuf_json(&job->out, name);
    export_text(&job->out, "}}");
}

static int chrome_start(struct export_job *job)
{
    const struct overview *o = &job->facts->pass;
    struct upmu_trace_process p = {.size = sizeof p};
    textbuf_printf(&job->out,
                   "{\"displayTimeUnit\":\"ns\",\"otherData\":{\"creator\":\"libupmu\",\"lost\":\"%llu\"},\n",
                   (unsigned long long)job->facts->lost);
    export_text(&job->out, "\"traceEvents\":[");
    for (size_t i = 0; upmu_overview_process_at(job->facts, i, &p) == 0; i++)
        metadata(job, "process_name", p.pid, p.pid, p.command);
    for (uint32_t i = 0; i < o->n_threads; i++)
        metadata(job, "thread_name", o->threads[i].pid, o->threads[i].tid, export_thread_name(job, i));
    return 0;
}

static void text_argument(struct export_job *job, const char *name, const char *value, bool *any)
{
    textbuf_printf(&job->out, "%s\"%s\":", *any ? "," : ",\"args\":{", name);
    textbuf_json(&job->out, value);
    *any = true;
}

static int chrome_begin(struct export_job *job, const struct span *s)
{
    const struct ov_thread *t = export_thread(job, s->thread);
    bool any = false;
    common(job, "B", s->begin_ns, t->pid, t->tid);
    export_text(&job->out, s->kind == SPAN_REGION ? ",\"cat\":\"region\",\"name\":" : ",\"cat\":\"wait\",\"name\":");
    textbuf_json(&job->out, export_span_name(job, s));
    if (s->site)
        text_argument(job, "at", export_place(job, t->process, s->site), &any);
    if (s->holder != MAP_NONE)
        text_argument(job, "holder", export_thread_name(job, s->holder), &any);
    if (s->holder_site)
        text_argument(job, "taken at", export_place(job, t->process, s->holder_site), &any);
    export_text(&job->out, any ? "}}" : "}");
    return 0;
}

/* What the region counted; a counter without a number says why. */
static int chrome_end(struct export_job *job, const struct span *s)
{
    const struct ov_thread *t = export_thread(job, s->thread);
    bool any = false;
    common(job, "E", s->end_ns, t->pid, t->tid);
    for (size_t i = 0; s->after && i < s->n_values; i++) {
        struct upmu_value v = value_difference(&s->before[i], &s->after[i]);
        const char *name = upmu_overview_counter_name(job->facts, t->process, i);
        export_text(&job->out, any ? "," : ",\"args\":{");
        textbuf_json(&job->out, name ? name : "?");
        export_text(&job->out, ":");
        if (v.status == UPMU_EXACT)
            export_number(&job->out, v.value);
        else if (v.status == UPMU_SCALED)
            textbuf_printf(&job->out, "\"~%llu\"", (unsigned long long)v.value);
        else
            textbuf_json(&job->out, upmu_status_name(v.status));
        any = true;
    }
    if (!s->finished)
        text_argument(job, "unfinished", export_unfinished(job), &any);
    export_text(&job->out, any ? "}}" : "}");
    return 0;
}

/* Counters as lines over time: totals of the thread. */
static void counters(struct export_job *job, const struct upmu_trace_event *e)
{
    for (size_t i = 0; i < e->n_values; i++) {
        const char *name = upmu_overview_counter_name(job->facts, e->process, i);
        if (!export_has_number(&e->values[i]) || !name)
            continue;
        common(job, "C", e->time_ns, e->pid, e->tid);
        textbuf_printf(&job->out, ",\"id\":\"%ld\",\"name\":", (long)e->tid);
        textbuf_json(&job->out, name);
        export_text(&job->out, ",\"args\":{\"value\":");
        export_number(&job->out, e->values[i].value);
        export_text(&job->out, "}}");
    }
}

static int chrome_event(struct export_job *job, const struct overview *pass, uint32_t thread,
                        const struct upmu_trace_event *e)
{
    (void)pass;
    (void)thread;
    if (e->kind == UPMU_TRACE_MARK) {
        common(job, "i", e->time_ns, e->pid, e->tid);
        export_text(&job->out, ",\"cat\":\"mark\",\"s\":\"t\",\"name\":");
        textbuf_json(&job->out, e->name);
        export_text(&job->out, "}");
    }
    counters(job, e);
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
    .start = chrome_start,
    .begin = chrome_begin,
    .end = chrome_end,
    .event = chrome_event,
    .finish = chrome_finish,
};
