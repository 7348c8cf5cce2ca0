/* SPDX-License-Identifier: MIT */
/* upmu dump: every event of a trace in time order. */
#include <inttypes.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "facts/facts.h"
#include "ui/command.h"
#include "ui/json.h"
#include "ui/memory.h"
#include "ui/options.h"
#include "ui/output.h"
#include "upmu/trace.h"

enum { DUMP_JSON = 1 };
enum { DUMP_BUFFER = 1 << 16 };

struct dump {
    const struct command *self;
    const char *dir;
    bool as_json;
    struct upmu_trace *trace;
    struct output out;
    struct json_document doc;
    struct textbuf *json; /* the text of `doc` */
    char **damages;       /* messages of streams that had to be left */
    size_t n_damages;
};

static int dump_option(void *arg, int id, const char *value)
{
    struct dump *d = arg;
    if (id == DUMP_JSON) {
        d->as_json = true;
        return 0;
    }
    if (d->dir)
        return options_usage(d->self, "one directory at a time");
    d->dir = value;
    return 0;
}

/* Fields of single kinds of events. */
#define FIELD(first, last, name, member, form)                              \
    {                                                                       \
        (first), (last), (name), offsetof(struct upmu_trace_event, member), \
            sizeof(((const struct upmu_trace_event *)NULL)->member), (form) \
    }
#define FIELD_OF(kind, name, member, form) FIELD(UPMU_TRACE_##kind, UPMU_TRACE_##kind, name, member, form)

/* In text IF_KNOWN and ADDRESS are left out if 0; IF_VALUE is without UPMU_NO_VALUE, which is null in JSON. */
enum form { NUMBER, SIGNED, IF_KNOWN, ADDRESS, IF_VALUE };

static const struct kind_field {
    int first, last; /* kinds that have it */
    const char *name;
    size_t offset, bytes;
    enum form form;
} kind_fields[] = {
    FIELD_OF(REGIONS_DISCARDED, "thread", thread.peer, IF_KNOWN),
    FIELD_OF(LOCK_BLOCK, "holder", lock_block.holder, IF_KNOWN),
    FIELD_OF(LOCK_BLOCK, "holder_site", lock_block.holder_site, ADDRESS),
    FIELD_OF(LOCK_BLOCK, "holder_since_ns", lock_block.holder_since, IF_KNOWN),
    FIELD_OF(LOCK_BLOCK, "holder_stack", lock_block.holder_stack, IF_KNOWN),
    FIELD_OF(LOCK_RELEASE, "held_site", lock_release.held_site, ADDRESS),
    FIELD_OF(LOCK_RELEASE, "held_since_ns", lock_release.held_since, IF_KNOWN),
    FIELD_OF(LOCK_ORDER, "held", lock_order.held, ADDRESS),
    FIELD_OF(LOCK_ORDER, "held_site", lock_order.held_site, ADDRESS),
    FIELD_OF(LOCK_ORDER, "held_stack", lock_order.held_stack, IF_KNOWN),
    FIELD_OF(LOCK_ORDER, "n_held", lock_order.n_held, NUMBER),
    FIELD_OF(LOCK_ORDER, "permits", lock_order.permits, IF_KNOWN),
    FIELD_OF(LOCK_COUNTS, "acquisitions", lock_counts.acquisitions, NUMBER),
    FIELD_OF(LOCK_COUNTS, "contended", lock_counts.contended, NUMBER),
    FIELD_OF(LOCK_COUNTS, "thread", lock_counts.thread, NUMBER),
    FIELD(UPMU_TRACE_COND_WAIT, UPMU_TRACE_COND_WAKE, "mutex", cond.mutex, ADDRESS),
    FIELD_OF(COND_WAIT, "held_site", cond.held_site, ADDRESS),
    FIELD_OF(COND_WAIT, "held_since_ns", cond.held_since, IF_KNOWN),
    FIELD_OF(SEM_VALUE, "value", sem_value.value, NUMBER),
    FIELD(UPMU_TRACE_THREAD_CREATE, UPMU_TRACE_THREAD_START, "peer", thread.peer, IF_KNOWN),
    FIELD_OF(THREAD_EXIT, "switches", thread_exit.switches, NUMBER),
    FIELD_OF(THREAD_EXIT, "cpu_ns", thread_exit.cpu_ns, IF_KNOWN),
    FIELD_OF(THREAD_EXIT, "ready_ns", thread_exit.ready_ns, IF_KNOWN),
    FIELD_OF(THREAD_EXIT, "cpus", thread_exit.cpus, IF_KNOWN),
    FIELD(UPMU_TRACE_THREAD_JOIN, UPMU_TRACE_THREAD_CANCEL, "peer", thread.peer, IF_KNOWN),
    FIELD_OF(FUTEX_WAIT, "futexes", futex_wait.n_futexes, NUMBER),
    FIELD_OF(FUTEX_WOKEN, "index", futex_woken.index, NUMBER),
    FIELD_OF(FUTEX_WAKE, "moved_to", futex_wake.moved_to, ADDRESS),
    FIELD_OF(FUTEX_WAKE, "woken", futex_wake.n_woken, NUMBER),
    FIELD(UPMU_TRACE_SCHED_BEGIN, UPMU_TRACE_SCHED_IN, "cpu", sched.cpu, NUMBER),
    FIELD(UPMU_TRACE_SCHED_LOST, UPMU_TRACE_SCHED_SEEN, "switches", sched_count.switches, NUMBER),
    FIELD_OF(SCHED_WAKE, "woken", sched_wake.woken, IF_KNOWN),
    FIELD_OF(KERNEL_LOCK_BLOCK, "kinds", kernel_lock.kinds, ADDRESS),
    FIELD(UPMU_TRACE_CALL_BLOCK, UPMU_TRACE_CALL_RETURN, "call_kind", call.call, NUMBER),
    FIELD(UPMU_TRACE_CALL_BLOCK, UPMU_TRACE_CALL_RETURN, "descriptor", call.descriptor, SIGNED),
    FIELD(UPMU_TRACE_CALL_BLOCK, UPMU_TRACE_CALL_RETURN, "descriptor_type", call.descriptor_type, IF_KNOWN),
    FIELD_OF(CALL_RETURN, "waker", call.waker, IF_KNOWN),
    FIELD(UPMU_TRACE_MPI_ENTER, UPMU_TRACE_MPI_REQUEST, "comm", mpi.comm, ADDRESS),
    FIELD(UPMU_TRACE_MPI_ENTER, UPMU_TRACE_MPI_REQUEST, "peer", mpi.peer, SIGNED),
    FIELD(UPMU_TRACE_MPI_ENTER, UPMU_TRACE_MPI_REQUEST, "tag", mpi.tag, SIGNED),
    FIELD_OF(MPI_ENTER, "sequence", mpi.sequence, IF_KNOWN),
    FIELD(UPMU_TRACE_MPI_LEAVE, UPMU_TRACE_MPI_REQUEST, "bytes", mpi.bytes, IF_VALUE),
    FIELD(UPMU_TRACE_MPI_ENTER, UPMU_TRACE_MPI_REQUEST, "request", mpi.request, IF_KNOWN),
    FIELD_OF(MPI_START, "comm", mpi.comm, ADDRESS),
    FIELD_OF(MPI_START, "peer", mpi.peer, SIGNED),
    FIELD_OF(MPI_START, "tag", mpi.tag, SIGNED),
    FIELD_OF(MPI_START, "bytes", mpi.bytes, IF_VALUE),
    FIELD_OF(MPI_START, "request", mpi.request, NUMBER),
    FIELD_OF(MPI_POLL, "busy_ns", mpi_poll.busy_ns, NUMBER),
    FIELD_OF(MPI_POLL, "calls", mpi_poll.calls, NUMBER),
    FIELD_OF(MPI_POLL, "since_ns", mpi_poll.since, NUMBER),
    FIELD_OF(MPI_COMM, "comm", mpi_comm.comm, ADDRESS),
    FIELD_OF(MPI_COMM, "parent", mpi_comm.parent, ADDRESS),
    FIELD_OF(MPI_COMM, "rank", mpi_comm.rank, SIGNED),
    FIELD_OF(MPI_COMM, "size", mpi_comm.size, SIGNED),
    FIELD_OF(MPI_ENV, "job", mpi_env.job, ADDRESS),
    FIELD_OF(MPI_ENV, "rank", mpi_env.rank, SIGNED),
    FIELD_OF(MPI_ENV, "size", mpi_env.size, SIGNED),
    FIELD_OF(MPI_ENV, "thread_level", mpi_env.thread_level, SIGNED),
    FIELD_OF(MPI_ENV, "wrapped", mpi_env.wrapped, SIGNED),
    FIELD_OF(MPI_COUNT, "calls", mpi_count.calls, NUMBER),
    FIELD_OF(SAMPLE, "cpu_ns", sample.cpu_ns, NUMBER),
    FIELD_OF(SAMPLE, "total_ns", sample.total_ns, NUMBER),
    FIELD_OF(SAMPLE, "period_ns", sample.period_ns, NUMBER),
    FIELD_OF(OMP_PARALLEL, "region", omp_parallel.region, NUMBER),
    FIELD_OF(OMP_PARALLEL, "threads", omp_parallel.threads, NUMBER),
    FIELD_OF(OMP_ENV, "method", omp_env.method, NUMBER),
    FIELD_OF(HEAP_ALLOC, "bytes", heap.bytes, NUMBER),
    FIELD_OF(HEAP_ALLOC, "weight", heap.weight, NUMBER),
    FIELD_OF(HEAP_ALLOC, "period", heap.period, NUMBER),
    FIELD_OF(HEAP_FREE, "bytes", heap.bytes, NUMBER),
    FIELD_OF(HEAP_FREE, "weight", heap.weight, NUMBER),
    FIELD_OF(HEAP_FREE, "period", heap.period, NUMBER),
    FIELD_OF(FUTEX_COUNTS, "waits", futex_counts.waits, NUMBER),
    FIELD_OF(FUTEX_COUNTS, "recorded", futex_counts.recorded, NUMBER),
};
enum { KIND_FIELDS = sizeof kind_fields / sizeof *kind_fields };

static bool dump_has_field(const struct upmu_trace_event *e, const struct kind_field *f)
{
    return e->kind >= f->first && e->kind <= f->last;
}

static uint64_t dump_field_value(const struct upmu_trace_event *e, const struct kind_field *f)
{
    uint64_t u64 = 0;
    uint32_t u32 = 0; /* of thread ids, too: they are positive */
    memcpy(f->bytes == sizeof u32 ? (void *)&u32 : (void *)&u64, (const char *)e + f->offset, f->bytes);
    return f->bytes == sizeof u32 ? u32 : u64;
}

/* The number of the event's MPI call; 0: it is about none. */
static uint32_t dump_mpi_call(const struct upmu_trace_event *e)
{
    if ((e->kind >= UPMU_TRACE_MPI_ENTER && e->kind <= UPMU_TRACE_MPI_REQUEST) || e->kind == UPMU_TRACE_MPI_START)
        return e->mpi.call;
    if (e->kind == UPMU_TRACE_MPI_POLL)
        return e->mpi_poll.call;
    return e->kind == UPMU_TRACE_MPI_COUNT ? e->mpi_count.call : 0;
}

static void dump_mpi_text(FILE *out, const struct upmu_trace_event *e)
{
    if (dump_mpi_call(e))
        fprintf(out, " call=%s", upmu_trace_mpi_call_name(dump_mpi_call(e)));
    if (e->kind < UPMU_TRACE_MPI_ENTER || e->kind > UPMU_TRACE_MPI_REQUEST)
        return;
    if (e->kind != UPMU_TRACE_MPI_ENTER)
        fprintf(out, " result=%d", (int)e->result);
    if (e->stack)
        fprintf(out, " stack=%" PRIu32, e->stack);
    if (e->site)
        fprintf(out, " site=0x%" PRIx64, e->site);
}

static void dump_mpi_json(struct textbuf *j, const struct upmu_trace_event *e)
{
    if (dump_mpi_call(e))
        json_string(j, "call", upmu_trace_mpi_call_name(dump_mpi_call(e)));
    if (e->kind == UPMU_TRACE_MPI_ENTER) {
        json_uint(j, "stack", e->stack);
        json_uint(j, "site", e->site);
    }
    if (e->kind == UPMU_TRACE_MPI_LEAVE || e->kind == UPMU_TRACE_MPI_REQUEST)
        json_int(j, "result", e->result);
}

/* What the value of an event of OpenMP is. */
static const char *dump_omp_value_name(uint32_t event)
{
    switch (event) {
    case UPMU_OMP_PARALLEL_END:
    case UPMU_OMP_MEMBER:
    case UPMU_OMP_MEMBER_END:
        return "region";
    case UPMU_OMP_WAITED:
    case UPMU_OMP_RELEASE:
        return "lock";
    default:
        return "site";
    }
}

static void dump_omp_text(FILE *out, const struct upmu_trace_event *e)
{
    if (e->kind == UPMU_TRACE_OMP_PARALLEL) {
        fprintf(out, " stack=%" PRIu32 " site=0x%" PRIx64, e->stack, e->site);
        return;
    }
    if (e->kind != UPMU_TRACE_OMP)
        return;
    const char *name = dump_omp_value_name(e->omp.event);
    fprintf(out, " event=%s", upmu_trace_omp_event_name(e->omp.event));
    if (e->omp.construct)
        fprintf(out, " construct=%s", upmu_trace_omp_construct_name(e->omp.construct));
    if (e->omp.event == UPMU_OMP_MEMBER)
        fprintf(out, " number=%" PRIu32, e->omp.number);
    if (e->omp.value)
        fprintf(out, name[0] == 'r' ? " %s=%" PRIu64 : " %s=0x%" PRIx64, name, e->omp.value);
}

static void dump_omp_json(struct textbuf *j, const struct upmu_trace_event *e)
{
    if (e->kind == UPMU_TRACE_OMP_PARALLEL) {
        json_uint(j, "stack", e->stack);
        json_uint(j, "site", e->site);
    }
    if (e->kind != UPMU_TRACE_OMP)
        return;
    json_string(j, "event", upmu_trace_omp_event_name(e->omp.event));
    json_string(j, "construct", upmu_trace_omp_construct_name(e->omp.construct));
    json_uint(j, "number", e->omp.number);
    json_uint(j, dump_omp_value_name(e->omp.event), e->omp.value);
}

static void dump_fields_text(FILE *out, const struct upmu_trace_event *e)
{
    for (const struct kind_field *f = kind_fields; f < kind_fields + KIND_FIELDS; f++)
        if (dump_has_field(e, f) && f->form == SIGNED)
            fprintf(out, " %s=%d", f->name, (int)(int32_t)dump_field_value(e, f));
        else if (dump_has_field(e, f) && f->form == IF_VALUE && dump_field_value(e, f) == UPMU_NO_VALUE)
            fprintf(out, " %s=?", f->name);
        else if (dump_has_field(e, f) && (f->form == NUMBER || f->form == IF_VALUE || dump_field_value(e, f) != 0))
            fprintf(out, f->form == ADDRESS ? " %s=0x%" PRIx64 : " %s=%" PRIu64, f->name, dump_field_value(e, f));
}

static void dump_fields_json(struct textbuf *j, const struct upmu_trace_event *e)
{
    for (const struct kind_field *f = kind_fields; f < kind_fields + KIND_FIELDS; f++)
        if (dump_has_field(e, f) && f->form == SIGNED)
            json_int(j, f->name, (int32_t)dump_field_value(e, f));
        else if (dump_has_field(e, f) && f->form == IF_VALUE && dump_field_value(e, f) == UPMU_NO_VALUE)
            json_null(j, f->name);
        else if (dump_has_field(e, f))
            json_uint(j, f->name, dump_field_value(e, f));
}

static bool dump_has_object(const struct upmu_trace_event *e)
{
    return (e->kind >= UPMU_TRACE_LOCK_BLOCK && e->kind <= UPMU_TRACE_FUTEX_ALSO) || e->kind == UPMU_TRACE_CALL_BLOCK ||
           e->kind == UPMU_TRACE_CALL_RETURN;
}

static const struct {
    uint32_t flag;
    const char *name;
} flag_names[] = {
    {UPMU_TRACE_FLAG_SHARED, "reader"},
    {UPMU_TRACE_FLAG_HOLDER_SHARED, "held-by-reader"},
    {UPMU_TRACE_FLAG_TIMED, "timed"},
    {UPMU_TRACE_FLAG_TRIED, "tried"},
    {UPMU_TRACE_FLAG_SAMPLED, "sampled"},
    {UPMU_TRACE_FLAG_RECURSIVE, "recursive"},
    {UPMU_TRACE_FLAG_ERRORCHECK, "errorcheck"},
    {UPMU_TRACE_FLAG_ROBUST, "robust"},
    {UPMU_TRACE_FLAG_PI, "pi"},
    {UPMU_TRACE_FLAG_PSHARED, "process-shared"},
    {UPMU_TRACE_FLAG_FREED, "freed"},
    {UPMU_TRACE_FLAG_WRITERS_FIRST, "writers_first"},
    {UPMU_TRACE_FLAG_BEFORE, "before_recording"},
};
enum { FLAG_NAMES = sizeof flag_names / sizeof *flag_names };

static void dump_object_text(FILE *out, const struct upmu_trace_event *e)
{
    bool typed = e->object_type != UPMU_OBJECT_NONE;
    fprintf(out, " %s=0x%" PRIx64, typed ? upmu_object_type_name(e->object_type) : "object", e->object);
    if (e->result)
        fprintf(out, " result=%d", (int)e->result);
    if (e->stack)
        fprintf(out, " stack=%" PRIu32, e->stack);
    if (e->site)
        fprintf(out, " site=0x%" PRIx64, e->site);
    for (size_t i = 0; i < FLAG_NAMES; i++)
        if (e->flags & flag_names[i].flag)
            fprintf(out, " %s", flag_names[i].name);
}

static void dump_object_json(struct textbuf *j, const struct upmu_trace_event *e)
{
    json_string(j, "object_type", e->object_type != UPMU_OBJECT_NONE ? upmu_object_type_name(e->object_type) : NULL);
    json_uint(j, "object", e->object);
    json_int(j, "result", e->result);
    json_uint(j, "stack", e->stack);
    json_uint(j, "site", e->site);
    json_array(j, "flags");
    for (size_t i = 0; i < FLAG_NAMES; i++)
        if (e->flags & flag_names[i].flag)
            json_string(j, NULL, flag_names[i].name);
    json_array_end(j);
}

static const char *dump_counter_name(const struct dump *d, const struct upmu_trace_event *e, size_t i)
{
    const char *name = upmu_trace_counter_name(d->trace, e->process, i);
    return name ? name : "?";
}

static void dump_value_text(FILE *out, const char *name, const struct upmu_value *v)
{
    fputc(' ', out);
    output_clean(out, name);
    if (v->status == UPMU_EXACT)
        fprintf(out, "=%" PRIu64, v->value);
    else if (v->status == UPMU_SCALED)
        fprintf(out, "=%" PRIu64 "[scaled]", v->value);
    else if (v->cause != 0)
        fprintf(out, "=[%s: %s]", upmu_status_name(v->status), upmu_strerror(v->cause));
    else
        fprintf(out, "=[%s]", upmu_status_name(v->status));
}

static void dump_quoted(FILE *out, const char *text)
{
    struct textbuf b = {0};
    textbuf_json(&b, text);
    fputs(memory_or_exit(b.data), out);
    textbuf_free(&b);
}

static void dump_event_text(struct dump *d, const struct upmu_trace_event *e)
{
    FILE *out = d->out.file;

    fprintf(out, "%" PRIu64 ".%09" PRIu64 " %ld %ld %-5s ", e->time_ns / 1000000000u, e->time_ns % 1000000000u,
            (long)e->pid, (long)e->tid, upmu_trace_kind_name(e->kind));
    dump_quoted(out, e->name);
    if (dump_has_object(e))
        dump_object_text(out, e);
    else if (e->object) /* counters are read for one */
        fprintf(out, " object=0x%" PRIx64, e->object);
    dump_mpi_text(out, e);
    dump_omp_text(out, e);
    dump_fields_text(out, e);
    if (e->flags & UPMU_TRACE_FLAG_PREEMPTED)
        fputs(" preempted", out);
    if (e->kind == UPMU_TRACE_KERNEL_LOCK_DONE && e->result)
        fprintf(out, " result=%d", (int)e->result);
    for (size_t i = 0; i < e->n_values; i++)
        dump_value_text(out, dump_counter_name(d, e, i), &e->values[i]);
    fputc('\n', out);
}

static void dump_value_json(struct textbuf *j, const char *name, const struct upmu_value *v)
{
    json_object(j, NULL);
    json_string(j, "name", name);
    facts_value_members(j, v);
    json_object_end(j);
}

static void dump_event_json(struct dump *d, const struct upmu_trace_event *e)
{
    struct textbuf *j = d->json;

    json_object(j, NULL);
    json_uint(j, "time_ns", e->time_ns);
    json_int(j, "pid", e->pid);
    json_int(j, "tid", e->tid);
    json_string(j, "kind", upmu_trace_kind_name(e->kind));
    json_string(j, "name", e->name);
    if (dump_has_object(e))
        dump_object_json(j, e);
    else if (e->object)
        json_uint(j, "object", e->object);
    dump_mpi_json(j, e);
    dump_omp_json(j, e);
    dump_fields_json(j, e);
    if (e->kind == UPMU_TRACE_KERNEL_LOCK_DONE)
        json_int(j, "result", e->result);
    if (e->kind == UPMU_TRACE_SCHED_OUT)
        json_bool(j, "preempted", (e->flags & UPMU_TRACE_FLAG_PREEMPTED) != 0);
    json_array(j, "values");
    for (size_t i = 0; i < e->n_values; i++)
        dump_value_json(j, dump_counter_name(d, e, i), &e->values[i]);
    json_array_end(j);
    json_object_end(j);
    if (j->len > DUMP_BUFFER)
        json_flush(&d->doc);
}

static void dump_damage(struct dump *d)
{
    d->damages = memory_resize(d->damages, d->n_damages + 1, sizeof *d->damages);
    d->damages[d->n_damages++] = memory_copy(upmu_error());
}

static void dump_event(struct dump *d, const struct upmu_trace_event *e)
{
    if (strcmp(upmu_trace_kind_name(e->kind), "?") == 0)
        return; /* a kind of a later version */
    if (d->as_json)
        dump_event_json(d, e);
    else
        dump_event_text(d, e);
}

/* All events, as far as the destination takes them. */
static void dump_events(struct dump *d)
{
    enum { BATCH = 256 };
    const struct upmu_trace_event *events[BATCH];
    int n;

    while ((n = upmu_trace_read(d->trace, events, BATCH)) != 0 && !ferror(d->out.file)) {
        for (int i = 0; i < n; i++)
            dump_event(d, events[i]);
        if (n < 0)
            dump_damage(d);
        /* A damaged stream is left out; any other error would repeat. */
        if (n < 0 && n != UPMU_E_FORMAT)
            break;
    }
}

static void dump_process_json(struct textbuf *j, const struct upmu_trace_process *p)
{
    json_object(j, NULL);
    json_int(j, "pid", p->pid);
    json_string(j, "host", p->host);
    json_string(j, "command", p->command);
    json_string(j, "kernel", p->kernel);
    json_uint(j, "start_ns", p->start_ns);
    json_uint(j, "clock_hz", p->clock_hz);
    json_uint(j, "events", p->events);
    json_uint(j, "lost", p->lost);
    json_string(j, "lost_note", p->lost_note[0] ? p->lost_note : NULL);
    json_uint(j, "overwritten", p->overwritten);
    json_bool(j, "complete", p->complete != 0);
    json_bool(j, "execed", p->execed != 0);
    json_string(j, "snapshot", p->snapshot[0] ? p->snapshot : NULL);
    json_object_end(j);
}

static void dump_process_text(const struct upmu_trace_process *p)
{
    if (p->lost)
        complain("process %ld: %" PRIu64 " events were lost while recording%s%s", (long)p->pid, p->lost,
                 p->lost_note[0] ? ": " : "", p->lost_note);
    if (p->overwritten)
        complain("process %ld: %" PRIu64 " older events were overwritten (ring policy)", (long)p->pid, p->overwritten);
    if (!p->complete && !p->execed && !p->snapshot[0])
        complain("process %ld: the trace has no proper end (killed, or still running)", (long)p->pid);
}

static int dump_processes(struct dump *d)
{
    for (size_t i = 0; i < upmu_trace_process_count(d->trace); i++) {
        struct upmu_trace_process p = {.size = sizeof p};
        if (upmu_trace_process_at(d->trace, i, &p) < 0) {
            complain("%s", upmu_error());
            return -1;
        }
        if (d->as_json)
            dump_process_json(d->json, &p);
        dump_process_text(&p);
    }
    return 0;
}

static int dump_json(struct dump *d)
{
    d->json = json_begin(&d->doc, d->out.file, "upmu-dump");
    json_array(d->json, "events");
    dump_events(d);
    json_array_end(d->json);
    json_array(d->json, "processes");
    int rc = dump_processes(d);
    json_array_end(d->json);
    json_array(d->json, "damages");
    for (size_t i = 0; i < d->n_damages; i++)
        json_string(d->json, NULL, d->damages[i]);
    json_array_end(d->json);
    json_end(&d->doc);
    return rc;
}

static int dump_text(struct dump *d)
{
    dump_events(d);
    /* On a terminal the remarks come after the list; a failure is seen when the output is closed. */
    (void)fflush(d->out.file);
    return dump_processes(d);
}

static int dump_write(struct dump *d)
{
    if (output_standard(&d->out, OUTPUT_STDOUT) != 0)
        return -1;
    int rc = d->as_json ? dump_json(d) : dump_text(d);
    for (size_t i = 0; i < d->n_damages; i++) {
        complain("damaged: %s", d->damages[i]);
        free(d->damages[i]);
        rc = -1;
    }
    free(d->damages);
    return output_close(&d->out) == 0 ? rc : -1;
}

static int dump_run(const struct command *self, int argc, char **argv)
{
    struct dump d = {.self = self};
    int status = options_parse(self, argc, argv, dump_option, &d, NULL);

    if (status != OPTIONS_CONTINUE)
        return status;
    if (!d.dir)
        return options_usage(self, "DIR is missing: give the directory of a recording");
    if (upmu_trace_open(&d.trace, d.dir) < 0) {
        complain("%s", upmu_error());
        return EXIT_FAILED;
    }
    int rc = dump_write(&d);
    upmu_trace_close(d.trace);
    return rc == 0 ? EXIT_OK : EXIT_FAILED;
}

static const struct option_spec dump_options[] = {
    {DUMP_JSON, 'j', "json", NULL, "one JSON document instead of lines"},
    {0, 0, NULL, NULL, NULL},
};

const struct command command_dump = {
    .name = "dump",
    .summary = "show every event of a trace in time order",
    .usage = "[--json] DIR",
    .about = "Shows the events of the recording DIR (or of one process in it), one per line: time in seconds since\n"
             "1970, process, thread, kind (begin, lock-block, mark, ...), name, and the counters with their status.\n"
             "Lost events, traces without a proper end and damaged streams are reported on standard error.\n",
    .options = dump_options,
    .exits =
        "  0  everything recorded was shown\n"
        "  1  DIR cannot be read, a part of it is damaged (the rest is shown), or the output could not be written\n"
        "  2  the command line is invalid\n",
    .run = dump_run,
};
