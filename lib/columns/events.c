/* SPDX-License-Identifier: MIT */
/* upmu_trace_arrow(): events of a trace as columns. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/event_fields.h"
#include "base/error.h"
#include "base/opts.h"
#include "columns/columns.h"

enum { EVENT_ROWS = 16384, EVENT_ROWS_MAX = 1 << 24, EVENT_TEXT_MAX = 1 << 28, EVENT_KINDS = 127 };

/* The columns of every event, in this order; those of the counters follow, two for each. */
enum event_column {
    COLUMN_OF_TIME,
    COLUMN_OF_PROCESS,
    COLUMN_OF_PID,
    COLUMN_OF_TID,
    COLUMN_OF_KIND,
    COLUMN_OF_NAME,
    COLUMN_OF_OBJECT,
    COLUMN_OF_OBJECT_TYPE,
    COLUMN_OF_RESULT,
    COLUMN_OF_FLAGS,
    COLUMN_OF_SITE,
    COLUMN_OF_STACK,
    COLUMN_OF_PEER,
    COLUMN_OF_OTHER_OBJECT,
    COLUMN_OF_OTHER_SITE,
    COLUMN_OF_HOLDER_SINCE,
    COLUMN_OF_ACQUISITIONS,
    COLUMN_OF_CONTENDED,
    COLUMN_OF_COUNT,
    COLUMN_OF_CPU,
    EVENT_COLUMNS,
};

static const struct {
    const char *name;
    enum column_type type;
    bool sparse;
} event_columns[EVENT_COLUMNS] = {
    [COLUMN_OF_TIME] = {"time_ns", COLUMN_INT64, false},
    [COLUMN_OF_PROCESS] = {"process", COLUMN_UINT32, false},
    [COLUMN_OF_PID] = {"pid", COLUMN_INT32, false},
    [COLUMN_OF_TID] = {"tid", COLUMN_INT32, false},
    [COLUMN_OF_KIND] = {"kind", COLUMN_WORD, false},
    [COLUMN_OF_NAME] = {"name", COLUMN_NAME, true},
    [COLUMN_OF_OBJECT] = {"object", COLUMN_UINT64, false},
    [COLUMN_OF_OBJECT_TYPE] = {"object_type", COLUMN_WORD, false},
    [COLUMN_OF_RESULT] = {"result", COLUMN_INT32, false},
    [COLUMN_OF_FLAGS] = {"flags", COLUMN_UINT32, false},
    [COLUMN_OF_SITE] = {"site", COLUMN_UINT64, false},
    [COLUMN_OF_STACK] = {"stack", COLUMN_UINT32, false},
    [COLUMN_OF_PEER] = {"peer", COLUMN_INT32, true},
    [COLUMN_OF_OTHER_OBJECT] = {"other_object", COLUMN_UINT64, true},
    [COLUMN_OF_OTHER_SITE] = {"other_site", COLUMN_UINT64, true},
    [COLUMN_OF_HOLDER_SINCE] = {"holder_since_ns", COLUMN_INT64, true},
    [COLUMN_OF_ACQUISITIONS] = {"acquisitions", COLUMN_UINT64, true},
    [COLUMN_OF_CONTENDED] = {"contended", COLUMN_UINT64, true},
    [COLUMN_OF_COUNT] = {"count", COLUMN_UINT64, true},
    [COLUMN_OF_CPU] = {"cpu", COLUMN_UINT32, true},
};

struct event_stream {
    struct upmu_trace *trace;
    struct upmu_arrow_opts opts;
    struct columns columns;
    size_t **counters; /* for each process and counter column, the index of the counter there; SIZE_MAX: none */
    size_t n_processes;
    int pending; /* failure after the last array, returned by the next call; 0: none */
    bool ended;
    char message[ERROR_TEXT_MAX];
};

/* ------------------------------------------------------------------------------------------------------- rows */

static inline void row_set_uint64(const struct columns *cs, size_t column, uint64_t value)
{
    column_set(cs, column);
    column_uint64(cs, column, value);
}

/* Addresses and times that are 0 if they are unknown. */
static inline void row_set_known(const struct columns *cs, size_t column, uint64_t value)
{
    if (value != 0)
        row_set_uint64(cs, column, value);
}

/* Columns of single kinds. */
static inline void row_special(const struct columns *cs, const struct upmu_trace_event *e)
{
    switch (e->kind) {
    case UPMU_TRACE_LOCK_BLOCK:
        row_set_known(cs, COLUMN_OF_OTHER_SITE, e->lock_block.holder_site);
        row_set_known(cs, COLUMN_OF_HOLDER_SINCE, e->lock_block.holder_since);
        break;
    case UPMU_TRACE_LOCK_ORDER: /* a held lock */
        row_set_known(cs, COLUMN_OF_OTHER_OBJECT, e->lock_order.held);
        row_set_known(cs, COLUMN_OF_OTHER_SITE, e->lock_order.held_site);
        break;
    case UPMU_TRACE_COND_WAIT:
    case UPMU_TRACE_COND_WAKE: /* the mutex */
        row_set_known(cs, COLUMN_OF_OTHER_OBJECT, e->cond.mutex);
        break;
    case UPMU_TRACE_LOCK_COUNTS:
        row_set_uint64(cs, COLUMN_OF_ACQUISITIONS, e->lock_counts.acquisitions);
        row_set_uint64(cs, COLUMN_OF_CONTENDED, e->lock_counts.contended);
        break;
    case UPMU_TRACE_FUTEX_WAKE: /* the futex that waiters were moved to */
        row_set_known(cs, COLUMN_OF_OTHER_OBJECT, e->futex_wake.moved_to);
        row_set_uint64(cs, COLUMN_OF_COUNT, event_count(e));
        break;
    case UPMU_TRACE_SEM_VALUE:
        row_set_uint64(cs, COLUMN_OF_COUNT, event_count(e));
        break;
    case UPMU_TRACE_THREAD_EXIT:
        if (e->flags & UPMU_TRACE_FLAG_FINAL)
            row_set_uint64(cs, COLUMN_OF_COUNT, event_count(e));
        break;
    case UPMU_TRACE_SCHED_BEGIN:
    case UPMU_TRACE_SCHED_OUT:
    case UPMU_TRACE_SCHED_IN:
        column_set(cs, COLUMN_OF_CPU);
        column_uint32(cs, COLUMN_OF_CPU, e->sched.cpu);
        break;
    default:
        break;
    }
    if (event_peer(e) > 0) {
        column_set(cs, COLUMN_OF_PEER);
        column_int32(cs, COLUMN_OF_PEER, event_peer(e));
    }
}

/* Counters of the event's process, and the status of each; null in events that have none. */
static inline void row_counters(const struct event_stream *s, const struct columns *cs,
                                const struct upmu_trace_event *e)
{
    const size_t *index = e->process < s->n_processes ? s->counters[e->process] : NULL;
    for (size_t column = EVENT_COLUMNS, n = s->columns.n; index && column < n; column += 2, index++) {
        if (*index >= e->n_values)
            continue;
        const struct upmu_value *v = &e->values[*index];
        column_word(cs, column + 1, v->status);
        if (v->status == UPMU_EXACT || v->status == UPMU_SCALED)
            row_set_uint64(cs, column, v->value);
    }
}

static void row_event(struct event_stream *s, const struct upmu_trace_event *e)
{
    /* A copy: the compiler keeps it in registers, because values stored as bytes cannot be part of it. */
    const struct columns copy = {.column = s->columns.column, .rows = s->columns.rows, .max_rows = s->columns.max_rows},
                         *cs = &copy;
    column_int64(cs, COLUMN_OF_TIME, (int64_t)e->time_ns);
    column_uint32(cs, COLUMN_OF_PROCESS, e->process);
    column_int32(cs, COLUMN_OF_PID, e->pid);
    column_int32(cs, COLUMN_OF_TID, e->tid);
    column_word(cs, COLUMN_OF_KIND, e->kind);
    if (e->name[0])
        column_name(&s->columns, COLUMN_OF_NAME, e->name);
    column_uint64(cs, COLUMN_OF_OBJECT, e->object);
    column_word(cs, COLUMN_OF_OBJECT_TYPE, e->object_type == UPMU_OBJECT_NONE ? -1 : e->object_type);
    column_int32(cs, COLUMN_OF_RESULT, e->result);
    column_uint32(cs, COLUMN_OF_FLAGS, e->flags);
    column_uint64(cs, COLUMN_OF_SITE, e->site);
    column_uint32(cs, COLUMN_OF_STACK, e->stack);
    row_special(cs, e);
    if (e->n_values > 0)
        row_counters(s, cs, e);
    columns_end_row(&s->columns);
}

/* ------------------------------------------------------------------------------------------------------ stream */

static int stream_fail(struct event_stream *s, int code, const char *message)
{
    strncpy(s->message, message, sizeof s->message - 1);
    return code == UPMU_E_NOMEM ? ENOMEM : EIO;
}

static int stream_get_schema(struct ArrowArrayStream *stream, struct ArrowSchema *out)
{
    struct event_stream *s = stream->private_data;
    int rc = columns_to_schema(&s->columns, out);
    return rc == 0 ? 0 : stream_fail(s, UPMU_E_NOMEM, "out of memory for the columns");
}

/* Fills the batch. @return 0; the code of a failure before its first row. */
static int stream_fill(struct event_stream *s)
{
    struct columns *cs = &s->columns;
    const struct upmu_trace_event *e;
    size_t max = s->opts.rows ? s->opts.rows : EVENT_ROWS;
    int rc = s->pending;
    s->pending = 0;
    if (rc < 0)
        return rc;
    if (!columns_begin(cs, max))
        return stream_fail(s, UPMU_E_NOMEM, "out of memory for a batch of events"), UPMU_E_NOMEM;
    while (!s->ended && cs->rows < max && cs->column[COLUMN_OF_NAME].texts.bytes.len < EVENT_TEXT_MAX) {
        rc = upmu_trace_next(s->trace, &e);
        s->ended = rc == 0 || rc == UPMU_E_NOMEM;
        if (rc > 0)
            row_event(s, e);
        else if (rc < 0 && s->opts.damage && rc != UPMU_E_NOMEM)
            s->opts.damage(s->opts.arg, upmu_error());
        else if (rc < 0)
            break;
    }
    if (rc >= 0 || (s->opts.damage && rc != UPMU_E_NOMEM))
        return 0;
    (void)stream_fail(s, rc, upmu_error());
    s->pending = cs->rows > 0 ? rc : 0;
    return cs->rows > 0 ? 0 : rc;
}

static int stream_get_next(struct ArrowArrayStream *stream, struct ArrowArray *out)
{
    static const enum event_column unknown[] = {COLUMN_OF_OBJECT, COLUMN_OF_SITE, COLUMN_OF_STACK}; /* if they are 0 */
    struct event_stream *s = stream->private_data;
    int rc = stream_fill(s);
    *out = (struct ArrowArray){0}; /* the end */
    if (rc < 0)
        return rc == UPMU_E_NOMEM ? ENOMEM : EIO;
    if (s->columns.rows == 0)
        return 0;
    for (size_t i = 0; i < sizeof unknown / sizeof *unknown; i++)
        column_null_zeros(&s->columns, unknown[i]);
    rc = columns_to_array(&s->columns, out);
    return rc == 0 ? 0 : stream_fail(s, UPMU_E_NOMEM, "out of memory for a batch of events");
}

static const char *stream_get_last_error(struct ArrowArrayStream *stream)
{
    const struct event_stream *s = stream->private_data;
    return s->message[0] ? s->message : NULL;
}

static void stream_free(struct event_stream *s)
{
    for (size_t i = 0; s->counters && i < s->n_processes; i++)
        free(s->counters[i]);
    free(s->counters);
    columns_free(&s->columns);
    free(s);
}

static void stream_release(struct ArrowArrayStream *stream)
{
    struct event_stream *s = stream->private_data;
    upmu_trace_close(s->trace);
    stream_free(s);
    stream->release = NULL;
}

/* --------------------------------------------------------------------------------------------- columns, opening */

static void stream_add_words(struct columns *cs)
{
    for (int kind = 0; kind < EVENT_KINDS; kind++)
        columns_add_word(cs, COLUMN_OF_KIND, upmu_trace_kind_name(kind));
    for (int type = 0; strcmp(upmu_object_type_name(type), "?") != 0; type++)
        columns_add_word(cs, COLUMN_OF_OBJECT_TYPE, upmu_object_type_name(type));
}

/* The columns of a counter, the same for all processes that have it. */
static void stream_add_counter(struct columns *cs, const char *name)
{
    struct textbuf status = {0};
    for (size_t i = EVENT_COLUMNS; i < cs->n; i += 2)
        if (strcmp(cs->column[i].name, name) == 0)
            return;
    textbuf_printf(&status, "%s status", name);
    columns_add(cs, name, COLUMN_UINT64, true);
    size_t column = columns_add(cs, status.failed ? "" : status.data, COLUMN_WORD, true);
    cs->failed |= status.failed;
    for (int i = UPMU_NOT_COUNTED; i <= UPMU_UNSUPPORTED; i++)
        columns_add_word(cs, column, upmu_status_name(i));
    textbuf_free(&status);
}

/* The index of the counter of column `column` in process `p`. */
static size_t stream_counter_index(const struct event_stream *s, size_t p, size_t column)
{
    const char *name;
    for (size_t i = 0; (name = upmu_trace_counter_name(s->trace, p, i)) != NULL; i++)
        if (strcmp(name, s->columns.column[column].name) == 0)
            return i;
    return SIZE_MAX;
}

static bool stream_add_counters(struct event_stream *s)
{
    size_t processes = upmu_trace_process_count(s->trace);
    for (size_t p = 0; p < processes; p++)
        for (size_t i = 0; i < upmu_trace_counter_count(s->trace, p) && !s->columns.failed; i++)
            stream_add_counter(&s->columns, upmu_trace_counter_name(s->trace, p, i));
    s->counters = calloc(processes + 1, sizeof(size_t *));
    if (s->columns.failed || !s->counters)
        return false;
    s->n_processes = processes;
    for (size_t p = 0; p < processes; p++) {
        s->counters[p] = calloc(s->columns.n, sizeof(size_t));
        for (size_t column = EVENT_COLUMNS; s->counters[p] && column < s->columns.n; column += 2)
            s->counters[p][(column - EVENT_COLUMNS) / 2] = stream_counter_index(s, p, column);
        if (!s->counters[p])
            return false;
    }
    return true;
}

int upmu_trace_arrow(struct upmu_trace *trace, const struct upmu_arrow_opts *opts, struct ArrowArrayStream *out)
{
    struct upmu_arrow_opts given;
    if (!trace || !out)
        return ARGUMENT_NULL(trace, out);
    int rc = OPTS_TAKE(given, opts, UPMU_ARROW_OPTS_SIZE_V1);
    if (rc != 0)
        return rc;
    if (given.rows > EVENT_ROWS_MAX)
        return upmu_fail(UPMU_E_INVAL, "%s: opts->rows is %zu, at most %d is possible", __func__, given.rows,
                         EVENT_ROWS_MAX);
    struct event_stream *s = calloc(1, sizeof *s);
    if (!s)
        return upmu_fail(UPMU_E_NOMEM, "out of memory for a stream of events");
    s->trace = trace;
    s->opts = given;
    for (size_t i = 0; i < EVENT_COLUMNS; i++)
        columns_add(&s->columns, event_columns[i].name, event_columns[i].type, event_columns[i].sparse);
    if (!s->columns.failed)
        stream_add_words(&s->columns);
    if (s->columns.failed || !stream_add_counters(s)) {
        stream_free(s);
        return upmu_fail(UPMU_E_NOMEM, "out of memory for the columns of a stream of events");
    }
    *out = (struct ArrowArrayStream){.get_schema = stream_get_schema,
                                     .get_next = stream_get_next,
                                     .get_last_error = stream_get_last_error,
                                     .release = stream_release,
                                     .private_data = s};
    return 0;
}
