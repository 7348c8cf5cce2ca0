/* SPDX-License-Identifier: MIT */
/*
 * Arrow IPC stream: waits, regions and other events as rows, with names.
 *
 * A wait or region is one row, written when it ends; events that begin or end one have no row of their own. Every row has the
 * host, program and build, so that files of many recordings can be queried together.
 */
#include <stdlib.h>
#include <string.h>

#include "analysis/event_fields.h"
#include "analysis/identity.h"
#include "columns/ipc.h"
#include "export/export.h"

enum { ARROW_ROWS = 16384, ARROW_TEXT_MAX = 64 << 20 };

enum arrow_column {
    ROW_HOST,
    ROW_COMMAND,
    ROW_BUILD,
    ROW_PID,
    ROW_TID,
    ROW_THREAD,
    ROW_KIND,
    ROW_NAME,
    ROW_OBJECT,
    ROW_OBJECT_GROUP,
    ROW_OBJECT_TYPE,
    ROW_ADDRESS,
    ROW_BEGIN,
    ROW_DURATION,
    ROW_FINISHED,
    ROW_HOLDER,
    ROW_HOLDER_THREAD,
    ROW_FUNCTION,
    ROW_FILE,
    ROW_LINE,
    ROW_HOLDER_SITE,
    ROW_RESULT,
    ROW_PEER,
    ROW_PROCESS,
    ROW_COLUMNS,
};

static const struct {
    const char *name;
    enum column_type type;
} arrow_columns[ROW_COLUMNS] = {
    [ROW_HOST] = {"host", COLUMN_TEXT},
    [ROW_COMMAND] = {"command", COLUMN_TEXT},
    [ROW_BUILD] = {"build", COLUMN_TEXT},
    [ROW_PID] = {"pid", COLUMN_INT32},
    [ROW_TID] = {"tid", COLUMN_INT32},
    [ROW_THREAD] = {"thread", COLUMN_TEXT},
    [ROW_KIND] = {"kind", COLUMN_TEXT},
    [ROW_NAME] = {"name", COLUMN_TEXT},
    [ROW_OBJECT] = {"object", COLUMN_TEXT},
    [ROW_OBJECT_GROUP] = {"object_group", COLUMN_TEXT},
    [ROW_OBJECT_TYPE] = {"object_type", COLUMN_TEXT},
    [ROW_ADDRESS] = {"address", COLUMN_UINT64},
    [ROW_BEGIN] = {"begin_ns", COLUMN_INT64},
    [ROW_DURATION] = {"duration_ns", COLUMN_INT64},
    [ROW_FINISHED] = {"finished", COLUMN_INT32},
    [ROW_HOLDER] = {"holder", COLUMN_INT32},
    [ROW_HOLDER_THREAD] = {"holder_thread", COLUMN_TEXT},
    [ROW_FUNCTION] = {"function", COLUMN_TEXT},
    [ROW_FILE] = {"file", COLUMN_TEXT},
    [ROW_LINE] = {"line", COLUMN_UINT32},
    [ROW_HOLDER_SITE] = {"holder_site", COLUMN_TEXT},
    [ROW_RESULT] = {"result", COLUMN_INT32},
    [ROW_PEER] = {"peer", COLUMN_INT32},
    [ROW_PROCESS] = {"process", COLUMN_UINT32},
};

/* What the rows of a process have in common. */
struct arrow_process {
    char *host, *command, *build;
};

struct arrow {
    struct columns columns;
    struct arrow_process *processes;
    size_t n_processes;
};

static const char *text_or_null(const char *text)
{
    return text && text[0] ? text : NULL;
}

/* ------------------------------------------------------------------------------------------------- beginning, end */

/* A counter of the first process, as in the other tables; a region without a number has null and its status. */
static void arrow_add_counters(struct export_job *job, struct columns *cs)
{
    const char *name;
    for (size_t i = 0; (name = upmu_overview_counter_name(job->facts, 0, i)) != NULL; i++) {
        struct textbuf status = {0};
        textbuf_printf(&status, "%s status", name);
        columns_add(cs, name, COLUMN_UINT64, false);
        columns_add(cs, status.failed ? "" : status.data, COLUMN_TEXT, false);
        cs->failed |= status.failed;
        textbuf_free(&status);
    }
}

static bool arrow_add_process(struct export_job *job, struct arrow *a, size_t i, const struct upmu_trace_process *p)
{
    struct upmu_trace_module program = {.size = sizeof program};
    bool known = upmu_trace_module_at(job->facts->trace, i, 0, &program) == 0;
    struct arrow_process *to = &a->processes[i];
    to->host = strdup(p->host);
    to->command = strdup(p->command);
    to->build = strdup(known ? program.build_id : "");
    return to->host && to->command && to->build;
}

static int arrow_start(struct export_job *job)
{
    struct arrow *a = job->arrow = calloc(1, sizeof *a);
    struct upmu_trace_process p = {.size = sizeof p};
    if (!a)
        return export_no_memory();
    a->processes = calloc(upmu_overview_process_count(job->facts) + 1, sizeof *a->processes);
    if (!a->processes)
        return export_no_memory();
    for (; upmu_overview_process_at(job->facts, a->n_processes, &p) == 0; a->n_processes++)
        if (!arrow_add_process(job, a, a->n_processes, &p))
            return export_no_memory();
    for (size_t i = 0; i < ROW_COLUMNS; i++)
        columns_add(&a->columns, arrow_columns[i].name, arrow_columns[i].type, false);
    arrow_add_counters(job, &a->columns);
    if (a->columns.failed)
        return export_no_memory();
    ipc_schema(&a->columns, &job->out);
    return columns_begin(&a->columns, ARROW_ROWS) ? 0 : export_no_memory();
}

static int arrow_write_batch(struct export_job *job)
{
    struct columns *cs = &job->arrow->columns;
    if (cs->failed)
        return export_no_memory();
    if (cs->rows > 0)
        ipc_batch(cs, &job->out);
    int rc = export_write(job);
    return rc == 0 && !columns_begin(cs, ARROW_ROWS) ? export_no_memory() : rc;
}

static int arrow_finish(struct export_job *job)
{
    int rc = arrow_write_batch(job);
    ipc_end(&job->out);
    return rc;
}

static void arrow_free(struct export_job *job)
{
    struct arrow *a = job->arrow;
    for (size_t i = 0; a && a->processes && i <= a->n_processes; i++) {
        free(a->processes[i].host);
        free(a->processes[i].command);
        free(a->processes[i].build);
    }
    if (a) {
        free(a->processes);
        columns_free(&a->columns);
    }
    free(a);
}

/* -------------------------------------------------------------------------------------------------------- cells */

static void cell_int32(struct columns *cs, size_t column, int32_t value, bool known)
{
    column_int32(cs, column, value);
    if (!known)
        column_null(cs, column);
}

static void cell_int64(struct columns *cs, size_t column, uint64_t value, bool known)
{
    column_uint64(cs, column, value);
    if (!known)
        column_null(cs, column);
}

/* Process and thread. */
static void cells_thread(struct export_job *job, uint32_t thread)
{
    struct arrow *a = job->arrow;
    struct columns *cs = &a->columns;
    const struct ov_thread *t = export_thread(job, thread);
    const struct arrow_process *p = t->process < a->n_processes ? &a->processes[t->process] : NULL;
    column_text(cs, ROW_HOST, p ? text_or_null(p->host) : NULL);
    column_text(cs, ROW_COMMAND, p ? text_or_null(p->command) : NULL);
    column_text(cs, ROW_BUILD, p ? text_or_null(p->build) : NULL);
    column_int32(cs, ROW_PID, t->pid);
    column_uint32(cs, ROW_PROCESS, t->process);
    column_int32(cs, ROW_TID, t->tid);
    column_text(cs, ROW_THREAD, text_or_null(identity_thread(job->facts, thread)));
}

static void cells_object(struct export_job *job, uint32_t object)
{
    struct columns *cs = &job->arrow->columns;
    const struct overview *o = &job->facts->pass;
    bool known = object < o->n_objects;
    struct identity identity = known ? identity_object(job->facts, object) : (struct identity){0};
    column_text(cs, ROW_OBJECT, text_or_null(identity.name));
    column_text(cs, ROW_OBJECT_GROUP, text_or_null(identity.group));
    column_text(cs, ROW_OBJECT_TYPE, known ? upmu_object_type_name(o->objects[object].type) : NULL);
    bool address = known && o->objects[object].type != UPMU_OBJECT_CALL;
    cell_int64(cs, ROW_ADDRESS, address ? o->objects[object].address : 0, address);
}

/* The label of the relevant call of a call site, looked up once; MAP_NONE if nothing is known of it. */
static uint32_t arrow_site(struct export_job *job, uint32_t process, uint64_t site, uint32_t stack)
{
    struct upmu_symbol s = {.size = sizeof s};
    uint64_t key = (uint64_t)(process + 1) << 32 | stack;
    uint32_t label = map_find(&job->by_site, key, site);
    if (label != MAP_NONE || site == 0 || upmu_overview_line_at(job->facts, process, site, stack, &s) != 0)
        return label;
    label = tree_label(&job->tree, s.function ? s.function : "", s.file, s.module, s.line);
    return label != MAP_NONE && map_put(&job->by_site, key, site, label) ? label : MAP_NONE;
}

static void cells_site(struct export_job *job, uint32_t process, uint64_t site, uint32_t stack)
{
    struct columns *cs = &job->arrow->columns;
    uint32_t index = arrow_site(job, process, site, stack);
    const struct tree_label *label = index == MAP_NONE ? NULL : &job->tree.labels[index];
    column_text(cs, ROW_FUNCTION, label ? text_or_null(label->name) : NULL);
    column_text(cs, ROW_FILE, label ? text_or_null(label->file) : NULL);
    column_uint32(cs, ROW_LINE, label ? label->line : 0);
    if (!label || label->line == 0)
        column_null(cs, ROW_LINE);
}

static void cells_holder(struct export_job *job, uint32_t process, uint32_t holder, uint64_t site)
{
    struct columns *cs = &job->arrow->columns;
    bool known = holder != MAP_NONE && holder < job->facts->pass.n_threads;
    cell_int32(cs, ROW_HOLDER, known ? export_thread(job, holder)->tid : 0, known);
    column_text(cs, ROW_HOLDER_THREAD, known ? text_or_null(identity_thread(job->facts, holder)) : NULL);
    column_text(cs, ROW_HOLDER_SITE, text_or_null(export_site_label(job, process, site)));
}

/* The counts of a region that ended; `s` NULL: none. */
static void cells_counters(struct export_job *job, const struct span *s, uint32_t process)
{
    struct columns *cs = &job->arrow->columns;
    for (size_t column = ROW_COLUMNS; column < cs->n; column += 2) {
        size_t i = (column - ROW_COLUMNS) / 2;
        const char *own = upmu_overview_counter_name(job->facts, process, i);
        bool known = s && s->after && i < s->n_values && own && strcmp(own, cs->column[column].name) == 0;
        struct upmu_value v = known ? value_difference(&s->before[i], &s->after[i]) : (struct upmu_value){0};
        cell_int64(cs, column, v.value, known && export_has_number(&v));
        column_text(cs, column + 1, known ? upmu_status_name(v.status) : NULL);
    }
}

/* --------------------------------------------------------------------------------------------------------- rows */

static int arrow_end_row(struct export_job *job)
{
    struct columns *cs = &job->arrow->columns;
    columns_end_row(cs);
    return cs->rows == ARROW_ROWS || columns_text_bytes(cs) >= ARROW_TEXT_MAX ? arrow_write_batch(job) : 0;
}

static int arrow_span(struct export_job *job, const struct span *s)
{
    struct columns *cs = &job->arrow->columns;
    uint32_t process = export_thread(job, s->thread)->process;
    bool region = s->kind == SPAN_REGION;
    if (s->passed) /* its end is an event */
        return 0;
    cells_thread(job, s->thread);
    column_text(cs, ROW_KIND, region ? "region" : "wait");
    column_text(cs, ROW_NAME, region ? export_span_name(job, s) : NULL);
    cells_object(job, region ? MAP_NONE : s->what);
    column_int64(cs, ROW_BEGIN, (int64_t)s->begin_ns);
    column_int64(cs, ROW_DURATION, (int64_t)(s->end_ns - s->begin_ns));
    column_int32(cs, ROW_FINISHED, s->finished);
    cells_site(job, process, s->site, s->stack);
    cells_holder(job, process, s->holder, s->holder_site);
    cell_int32(cs, ROW_RESULT, 0, false);
    cell_int32(cs, ROW_PEER, 0, false);
    cells_counters(job, region ? s : NULL, process);
    return arrow_end_row(job);
}

/* Whether the event begins or ends a wait or a region. */
static bool is_part_of_span(const struct upmu_trace_event *e)
{
    switch (e->kind) {
    case UPMU_TRACE_REGION_BEGIN:
    case UPMU_TRACE_REGION_END:
    case UPMU_TRACE_REGIONS_DISCARDED:
    case UPMU_TRACE_LOCK_BLOCK:
    case UPMU_TRACE_LOCK_ACQUIRED:
    case UPMU_TRACE_COND_WAIT:
    case UPMU_TRACE_COND_WAKE:
    case UPMU_TRACE_THREAD_JOIN:
    case UPMU_TRACE_THREAD_JOINED:
    case UPMU_TRACE_BARRIER_ARRIVE:
    case UPMU_TRACE_FUTEX_WAIT:
    case UPMU_TRACE_CALL_BLOCK:
    case UPMU_TRACE_CALL_RETURN:
        return true;
    case UPMU_TRACE_BARRIER_LEAVE:
    case UPMU_TRACE_FUTEX_WOKEN:
        return !event_did_not_wait(e);
    default:
        return false;
    }
}

static int arrow_event(struct export_job *job, const struct overview *pass, uint32_t thread,
                       const struct upmu_trace_event *e)
{
    struct columns *cs = &job->arrow->columns;
    if (is_part_of_span(e))
        return 0;
    cells_thread(job, thread);
    column_text(cs, ROW_KIND, upmu_trace_kind_name(e->kind));
    column_text(cs, ROW_NAME, text_or_null(e->name));
    cells_object(job, e->object ? object_known(pass, e->process, e->object) : MAP_NONE);
    column_int64(cs, ROW_BEGIN, (int64_t)e->time_ns);
    cell_int64(cs, ROW_DURATION, 0, false);
    cell_int32(cs, ROW_FINISHED, 0, false);
    cells_site(job, e->process, e->site, e->stack);
    cells_holder(job, e->process, MAP_NONE, 0);
    column_int32(cs, ROW_RESULT, e->result);
    cell_int32(cs, ROW_PEER, event_peer(e), event_peer(e) > 0);
    cells_counters(job, NULL, e->process);
    return arrow_end_row(job);
}

const struct export_format export_arrow = {
    .name = "arrow",
    .suffix = "arrows",
    .summary = "waits, regions and events as columns: an Arrow IPC stream for pandas, Polars, DuckDB",
    .start = arrow_start,
    .end = arrow_span,
    .event = arrow_event,
    .finish = arrow_finish,
    .free = arrow_free,
};
