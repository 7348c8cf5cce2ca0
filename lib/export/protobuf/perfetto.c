/* SPDX-License-Identifier: MIT */
/*
 * Perfetto's protobuf trace: slices on a track per thread, counter tracks below it, arrows from a release to the
 * thread it woke.
 *
 * Names are interned in the packet that uses them first. Thread tracks have the numbers 1 + thread, counter tracks
 * follow.
 */
#include "export/export.h"
#include "export/messages.h"
#include "export/protobuf/protobuf.h"

#include <stdio.h>
#include <string.h>

#include "base/error.h"

/* Field numbers of perfetto.protos. */
enum {
    TRACE_PACKET = 1,
    PACKET_TIMESTAMP = 8,
    PACKET_SEQUENCE = 10,
    PACKET_EVENT = 11,
    PACKET_INTERNED = 12,
    PACKET_FLAGS = 13,
    PACKET_DESCRIPTOR = 60,
    TRACK_UUID = 1,
    TRACK_NAME = 2,
    TRACK_PROCESS = 3,
    TRACK_THREAD = 4,
    TRACK_PARENT = 5,
    TRACK_COUNTER = 8,
    COUNTER_UNIT = 6,
    PROCESS_PID = 1,
    PROCESS_NAME = 6,
    THREAD_PID = 1,
    THREAD_TID = 2,
    THREAD_NAME = 5,
    EVENT_ANNOTATION = 4,
    EVENT_TYPE = 9,
    EVENT_NAME_ID = 10,
    EVENT_TRACK = 11,
    EVENT_CATEGORY = 22,
    EVENT_VALUE = 30,
    EVENT_FLOW = 47,
    EVENT_FLOW_END = 48,
    ANNOTATION_NUMBER = 3,
    ANNOTATION_TEXT = 6,
    ANNOTATION_NAME = 10,
    INTERNED_NAME = 2,
    NAME_ID = 1,
    NAME_TEXT = 2,
};
enum { SLICE_BEGIN = 1, SLICE_END = 2, INSTANT = 3, COUNTER = 4 };
enum { STATE_CLEARED = 1, NEEDS_STATE = 2, OUR_SEQUENCE = 1 };
/* Arrows of messages have numbers from here on, those of releases lower ones. */
#define MESSAGE_FLOWS (UINT64_C(1) << 32)

static void perfetto_text_field(struct textbuf *b, uint32_t field, const char *text)
{
    struct textbuf clean = {0};
    export_plain(&clean, text, "");
    b->failed |= clean.failed;
    proto_bytes(b, field, clean.data ? clean.data : "", clean.len);
    textbuf_free(&clean);
}

static uint64_t perfetto_thread_track(uint32_t thread)
{
    return 1 + (uint64_t)thread;
}

static uint64_t perfetto_process_track(const struct export_job *job, uint32_t process)
{
    return 1 + job->facts->pass.n_threads + process;
}

static uint64_t perfetto_counter_track(const struct export_job *job, uint32_t thread, size_t counter)
{
    uint64_t first = 1 + job->facts->pass.n_threads + job->facts->pass.n_processes;
    return first + (uint64_t)thread * UPMU_REGION_EVENTS_MAX + counter;
}

/* ------------------------------------------------------------------------------------------------ descriptors */

static void perfetto_write_packet(struct export_job *job, struct textbuf *packet, uint32_t flags)
{
    proto_uint(packet, PACKET_SEQUENCE, OUR_SEQUENCE);
    proto_uint(packet, PACKET_FLAGS, flags);
    proto_message(&job->out, TRACE_PACKET, packet);
}

static void perfetto_write_track(struct export_job *job, struct textbuf *track)
{
    struct textbuf packet = {0};
    proto_message(&packet, PACKET_DESCRIPTOR, track);
    perfetto_write_packet(job, &packet, job->listed ? NEEDS_STATE : STATE_CLEARED);
    job->listed = true;
    textbuf_free(&packet);
}

static void perfetto_describe_process(struct export_job *job, uint32_t index, const struct upmu_trace_process *p)
{
    struct textbuf track = {0}, process = {0};
    proto_uint(&track, TRACK_UUID, perfetto_process_track(job, index));
    proto_uint(&process, PROCESS_PID, (uint64_t)export_pid(job, index));
    perfetto_text_field(&process, PROCESS_NAME, export_process_name(job, index, p->command, &job->scratch[0]));
    proto_message(&track, TRACK_PROCESS, &process);
    perfetto_write_track(job, &track);
    textbuf_free(&track);
    textbuf_free(&process);
}

static void perfetto_describe_counters(struct export_job *job, uint32_t thread)
{
    uint32_t process = export_thread(job, thread)->process;
    struct textbuf track = {0}, counter = {0};
    const char *name;
    for (size_t i = 0; (name = upmu_overview_counter_name(job->facts, process, i)) != NULL; i++) {
        struct upmu_event_info info = {.size = sizeof info};
        proto_uint(&track, TRACK_UUID, perfetto_counter_track(job, thread, i));
        proto_uint(&track, TRACK_PARENT, perfetto_thread_track(thread));
        perfetto_text_field(&track, TRACK_NAME, name);
        if (upmu_event_find(name, &info) == 0 && info.unit[0])
            perfetto_text_field(&counter, COUNTER_UNIT, info.unit);
        proto_message(&track, TRACK_COUNTER, &counter);
        perfetto_write_track(job, &track);
    }
    textbuf_free(&track);
    textbuf_free(&counter);
}

static void perfetto_describe_thread(struct export_job *job, uint32_t index)
{
    const struct ov_thread *t = export_thread(job, index);
    struct textbuf track = {0}, thread = {0};
    proto_uint(&track, TRACK_UUID, perfetto_thread_track(index));
    proto_uint(&track, TRACK_PARENT, perfetto_process_track(job, t->process));
    proto_uint(&thread, THREAD_PID, (uint64_t)export_pid(job, t->process));
    proto_uint(&thread, THREAD_TID, (uint64_t)t->tid);
    perfetto_text_field(&thread, THREAD_NAME, export_thread_name(job, index));
    proto_message(&track, TRACK_THREAD, &thread);
    perfetto_write_track(job, &track);
    textbuf_free(&track);
    textbuf_free(&thread);
}

static int perfetto_start(struct export_job *job)
{
    const struct overview *o = &job->facts->pass;
    struct upmu_trace_process p = {.size = sizeof p};
    for (uint32_t i = 0; upmu_overview_process_at(job->facts, i, &p) == 0; i++)
        perfetto_describe_process(job, i, &p);
    for (uint32_t i = 0; i < o->n_threads; i++) {
        perfetto_describe_thread(job, i);
        perfetto_describe_counters(job, i);
    }
    return 0;
}

/* ----------------------------------------------------------------------------------------------------- events */

/* The number of a name, which this packet interns if it is new: numbers are those of the tree's labels. */
static int perfetto_intern(struct export_job *job, const char *name, struct textbuf *packet, struct textbuf *event)
{
    uint32_t label = tree_label(&job->tree, name, NULL, NULL, 0);
    if (label == MAP_NONE)
        return export_no_memory();
    proto_uint(event, EVENT_NAME_ID, (uint64_t)label + 1);
    if (map_find(&job->by_text, label, 0) != MAP_NONE)
        return 0;
    struct textbuf entry = {0}, interned = {0};
    proto_uint(&entry, NAME_ID, (uint64_t)label + 1);
    perfetto_text_field(&entry, NAME_TEXT, name);
    proto_message(&interned, INTERNED_NAME, &entry);
    proto_message(packet, PACKET_INTERNED, &interned);
    textbuf_free(&entry);
    textbuf_free(&interned);
    return map_put(&job->by_text, label, 0, 0) ? 0 : export_no_memory();
}

static int perfetto_write_event(struct export_job *job, uint64_t ns, struct textbuf *packet, struct textbuf *event)
{
    proto_uint(packet, PACKET_TIMESTAMP, ns);
    proto_message(packet, PACKET_EVENT, event);
    perfetto_write_packet(job, packet, NEEDS_STATE);
    return 0;
}

static void perfetto_annotate_text(struct textbuf *event, const char *name, const char *text)
{
    struct textbuf a = {0};
    perfetto_text_field(&a, ANNOTATION_NAME, name);
    perfetto_text_field(&a, ANNOTATION_TEXT, text);
    proto_message(event, EVENT_ANNOTATION, &a);
    textbuf_free(&a);
}

static void perfetto_annotate_number(struct textbuf *event, const char *name, uint64_t n)
{
    struct textbuf a = {0};
    perfetto_text_field(&a, ANNOTATION_NAME, name);
    proto_uint(&a, ANNOTATION_NUMBER, n);
    proto_message(event, EVENT_ANNOTATION, &a);
    textbuf_free(&a);
}

static void perfetto_clear(struct textbuf *packet, struct textbuf *event)
{
    packet->len = event->len = 0;
}

/* Add `more` to the number of waiters of the span's object and subtract `less`: only a release with waiters begins an arrow. */
static int perfetto_count_waiter(struct export_job *job, const struct span *s, uint32_t more, uint32_t less)
{
    uint32_t n = map_find(&job->by_waiters, s->what, 0);
    if (s->kind != SPAN_WAIT)
        return 0;
    n = (n == MAP_NONE ? 0 : n) + more;
    return map_put(&job->by_waiters, s->what, 0, n > less ? n - less : 0) ? 0 : export_no_memory();
}

static int perfetto_point(struct export_job *job, uint32_t thread, uint64_t ns, const char *name, uint32_t flow_field,
                          uint64_t flow)
{
    struct textbuf *packet = &job->scratch[0], *event = &job->scratch[1];
    perfetto_clear(packet, event);
    proto_uint(event, EVENT_TYPE, INSTANT);
    proto_uint(event, EVENT_TRACK, perfetto_thread_track(thread));
    int rc = perfetto_intern(job, name, packet, event);
    if (flow)
        proto_fixed64(event, flow_field, flow);
    return rc == 0 ? perfetto_write_event(job, ns, packet, event) : rc;
}

/* Messages of MPI: an arrow from the begin of a call to the end of another one. */
static int perfetto_messages(struct export_job *job, const struct span *s, bool received)
{
    struct export_arrow a = {.received = received};
    char name[64];
    int rc;
    while ((rc = messages_next(job, s, &a)) > 0) {
        snprintf(name, sizeof name, received ? "received from rank %ld" : "send to rank %ld",
                 (long)(received ? a.message.source : a.message.destination));
        rc = perfetto_point(job, s->thread, received ? s->end_ns : s->begin_ns, name,
                            received ? EVENT_FLOW_END : EVENT_FLOW, MESSAGE_FLOWS + a.id);
        if (rc != 0)
            break;
    }
    return rc;
}

static int perfetto_begin(struct export_job *job, const struct span *s)
{
    struct textbuf *packet = &job->scratch[0], *event = &job->scratch[1];
    uint32_t process = export_thread(job, s->thread)->process;
    perfetto_clear(packet, event);
    proto_uint(event, EVENT_TYPE, SLICE_BEGIN);
    proto_uint(event, EVENT_TRACK, perfetto_thread_track(s->thread));
    perfetto_text_field(event, EVENT_CATEGORY, export_span_category(s));
    int rc = perfetto_intern(job, export_span_name(job, s), packet, event);
    if (s->site)
        perfetto_annotate_text(event, "at", export_site_label(job, process, s->site));
    if (s->holder != MAP_NONE)
        perfetto_annotate_text(event, "holder", export_thread_name(job, s->holder));
    if (s->holder_site)
        perfetto_annotate_text(event, "acquired at", export_site_label(job, process, s->holder_site));
    if (rc == 0)
        rc = perfetto_count_waiter(job, s, 1, 0);
    if (rc == 0)
        rc = perfetto_write_event(job, s->begin_ns, packet, event);
    return rc == 0 ? perfetto_messages(job, s, false) : rc;
}

static int perfetto_end(struct export_job *job, const struct span *s)
{
    struct textbuf *packet = &job->scratch[0], *event = &job->scratch[1];
    uint32_t process = export_thread(job, s->thread)->process;
    int rc = perfetto_messages(job, s, true);
    perfetto_clear(packet, event);
    proto_uint(event, EVENT_TYPE, SLICE_END);
    proto_uint(event, EVENT_TRACK, perfetto_thread_track(s->thread));
    for (size_t i = 0; s->after && i < s->n_values; i++) {
        struct upmu_value v = value_difference(&s->before[i], &s->after[i]);
        const char *name = upmu_overview_counter_name(job->facts, process, i);
        char scaled[32];
        snprintf(scaled, sizeof scaled, "~%llu", (unsigned long long)v.value);
        if (v.status == UPMU_EXACT)
            perfetto_annotate_number(event, name ? name : "?", v.value);
        else if (v.status == UPMU_SCALED)
            perfetto_annotate_text(event, name ? name : "?", scaled);
        else
            perfetto_annotate_text(event, name ? name : "?", upmu_status_name(v.status));
    }
    if (!s->finished)
        perfetto_annotate_text(event, "unfinished", export_unfinished(job));
    if (rc == 0)
        rc = perfetto_count_waiter(job, s, 0, 1);
    return rc == 0 ? perfetto_write_event(job, s->end_ns, packet, event) : rc;
}

static int perfetto_counter_points(struct export_job *job, uint32_t thread, const struct upmu_trace_event *e)
{
    struct textbuf *packet = &job->scratch[0], *event = &job->scratch[1];
    int rc = 0;
    for (size_t i = 0; rc == 0 && i < e->n_values && i < UPMU_REGION_EVENTS_MAX; i++) {
        if (!export_has_number(&e->values[i]))
            continue;
        perfetto_clear(packet, event);
        proto_uint(event, EVENT_TYPE, COUNTER);
        proto_uint(event, EVENT_TRACK, perfetto_counter_track(job, thread, i));
        proto_uint(event, EVENT_VALUE, e->values[i].value);
        rc = perfetto_write_event(job, e->time_ns, packet, event);
    }
    return rc;
}

/* The last release of an object begins an arrow, which ends at the waiter that acquires it next. */
static int perfetto_arrow(struct export_job *job, const struct overview *pass, uint32_t thread,
                          const struct upmu_trace_event *e)
{
    uint32_t object = object_known(pass, e->process, e->object);
    char name[400];
    if (object == MAP_NONE)
        return 0;
    if (e->kind == UPMU_TRACE_LOCK_ACQUIRED) {
        uint32_t flow = map_find(&job->by_flow, object, 0);
        if (flow == MAP_NONE || flow == 0)
            return 0;
        snprintf(name, sizeof name, "got %s", export_object_name(job, object));
        int rc = perfetto_point(job, thread, e->time_ns, name, EVENT_FLOW_END, flow);
        return rc == 0 && !map_put(&job->by_flow, object, 0, 0) ? UPMU_E_NOMEM : rc;
    }
    uint32_t waiters = map_find(&job->by_waiters, object, 0);
    if (waiters == MAP_NONE || waiters == 0)
        return 0;
    if (job->ids >= EXPORT_LIMIT) {
        job->left_out++;
        return 0;
    }
    if (!map_put(&job->by_flow, object, 0, (uint32_t)++job->ids))
        return export_no_memory();
    snprintf(name, sizeof name, "release %s", export_object_name(job, object));
    return perfetto_point(job, thread, e->time_ns, name, EVENT_FLOW, job->ids);
}

static int perfetto_event(struct export_job *job, const struct overview *pass, uint32_t thread,
                          const struct upmu_trace_event *e)
{
    switch (e->kind) {
    case UPMU_TRACE_MARK:
        return perfetto_point(job, thread, e->time_ns, e->name, 0, 0);
    case UPMU_TRACE_LOCK_RELEASE:
    case UPMU_TRACE_SEM_POST:
    case UPMU_TRACE_LOCK_ACQUIRED:
        return perfetto_arrow(job, pass, thread, e);
    default:
        return perfetto_counter_points(job, thread, e);
    }
}

const struct export_format export_perfetto = {
    .name = "perfetto",
    .suffix = "pftrace",
    .summary = "timeline for Perfetto: counter tracks, arrows from release to waiter and from send to receive",
    .limited = true,
    .calls = true,
    .start = perfetto_start,
    .begin = perfetto_begin,
    .end = perfetto_end,
    .stops = true,
    .event = perfetto_event,
};
