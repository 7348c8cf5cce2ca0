/* SPDX-License-Identifier: MIT */
/*
 * Public functions of the trace reader; merge of streams by time.
 *
 * Each stream is sorted; a heap over their current events merges them.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/opts.h"
#include "trace/read/bare.h"
#include "trace/read/reader.h"
#include "trace/read/remapped.h"

/* ------------------------------------------------------------------------------------------------------- heap */

static bool source_is_earlier(const struct source *a, const struct source *b)
{
    uint64_t x = a->now.event.time_ns, y = b->now.event.time_ns;
    return x != y ? x < y : a->order < b->order;
}

static void heap_down(struct upmu_trace *t, size_t i)
{
    struct source **heap = t->heap;
    for (;;) {
        size_t first = i, left = 2 * i + 1, right = left + 1;
        if (left < t->n_heap && source_is_earlier(heap[left], heap[first]))
            first = left;
        if (right < t->n_heap && source_is_earlier(heap[right], heap[first]))
            first = right;
        if (first == i)
            return;
        struct source *moved = heap[i];
        heap[i] = heap[first];
        heap[first] = moved;
        i = first;
    }
}

static void heap_add(struct upmu_trace *t, struct source *s)
{
    size_t i = t->n_heap++;
    for (; i > 0 && source_is_earlier(s, t->heap[(i - 1) / 2]); i = (i - 1) / 2)
        t->heap[i] = t->heap[(i - 1) / 2];
    t->heap[i] = s;
}

static __attribute__((noinline, cold)) void heap_drop_first(struct upmu_trace *t)
{
    t->heap[0] = t->heap[--t->n_heap];
    heap_down(t, 0);
}

/* ------------------------------------------------------------------------------------------------------- open */

int reader_open_process(struct process *p, const char *dir)
{
    p->dir = strdup(dir);
    int rc = p->dir ? recording_metadata(dir, &p->meta, NULL, NULL) : packets_io_failed(dir, ENOMEM);
    if (rc == 0)
        rc = recording_streams(dir, &p->streams);
    if (rc == 0)
        rc = recording_totals(dir, &p->streams, &p->meta, &p->totals);
    if (rc == 0)
        recording_refit(&p->meta, &p->totals);
    return rc;
}

static int reader_process_by_start(const void *a, const void *b)
{
    const struct meta *x = &((const struct process *)a)->meta, *y = &((const struct process *)b)->meta;
    if (x->start_ns != y->start_ns)
        return x->start_ns < y->start_ns ? -1 : 1;
    return x->pid < y->pid ? -1 : x->pid > y->pid;
}

/* Leave the process in `dir` out, with upmu_error() as the reason. @return 0, or UPMU_E_NOMEM. */
static int reader_note_problem(struct upmu_trace *t, const char *dir)
{
    char **all = reallocarray(t->problems, t->n_problems + 1, sizeof *all);
    char *text = NULL;
    if (all)
        t->problems = all;
    if (!all || asprintf(&text, "the process in \"%s\" is left out: %s", dir, upmu_error()) < 0)
        return upmu_fail(UPMU_E_NOMEM, "out of memory for the problems of \"%s\"", dir);
    all[t->n_problems++] = text;
    return 0;
}

/* Processes that cannot be opened are left out. @return 0, or the first error if there are no others. */
static int reader_open_processes(struct upmu_trace *t, const struct path_list *dirs)
{
    int first = 0;
    t->processes = calloc(dirs->n, sizeof *t->processes);
    if (!t->processes)
        return upmu_fail(UPMU_E_NOMEM, "out of memory for %zu processes", dirs->n);
    for (size_t i = 0; i < dirs->n; i++) {
        struct process *p = &t->processes[t->n_processes];
        int rc = reader_open_process(p, dirs->paths[i]);
        if (rc == 0) {
            t->n_processes++;
            continue;
        }
        reader_free_process(p);
        *p = (struct process){0};
        first = first != 0 ? first : rc;
        if (rc != UPMU_E_NOMEM && dirs->n > 1)
            rc = reader_note_problem(t, dirs->paths[i]);
        if (rc != 0 && (rc == UPMU_E_NOMEM || dirs->n == 1))
            return rc;
    }
    qsort(t->processes, t->n_processes, sizeof *t->processes, reader_process_by_start);
    return t->n_processes > 0 ? 0 : upmu_fail(first, "%s", t->problems ? t->problems[0] : upmu_strerror(first));
}

/* Report processes that ended during start-up, which have nothing to read. */
static int reader_open_interrupted(struct upmu_trace *t)
{
    struct path_list dirs;
    int rc = recording_interrupted(t->dir, &dirs);
    for (size_t i = 0; rc == 0 && i < dirs.n; i++) {
        (void)upmu_fail(UPMU_E_FORMAT, RECORDING_INTERRUPTED);
        rc = reader_note_problem(t, dirs.paths[i]);
    }
    path_list_free(&dirs);
    return rc;
}

static int reader_open_sources(struct upmu_trace *t)
{
    size_t n = 0;
    for (size_t i = 0; i < t->n_processes; i++)
        n += t->processes[i].streams.n;
    t->sources = calloc(n + 1, sizeof *t->sources);
    t->heap = calloc(n + 1, sizeof *t->heap);
    if (!t->sources || !t->heap)
        return upmu_fail(UPMU_E_NOMEM, "out of memory for %zu streams", n);
    int rc = 0;
    for (size_t i = 0; i < t->n_processes; i++) {
        struct process *p = &t->processes[i];
        for (size_t k = 0; rc == 0 && k < p->streams.n; k++) {
            uint32_t order = (uint32_t)t->n_sources;
            rc = source_init(&t->sources[t->n_sources++], &p->meta, &p->context, p->streams.paths[k], (uint32_t)i,
                             order);
        }
    }
    return rc;
}

int upmu_trace_open(struct upmu_trace **trace, const char *dir)
{
    struct path_list dirs;
    if (!trace || !dir)
        return ARGUMENT_NULL(trace, dir);
    *trace = NULL;
    int rc = recording_processes(dir, &dirs);
    if (rc != 0)
        return rc;
    struct upmu_trace *t = calloc(1, sizeof *t);
    if (!t) {
        path_list_free(&dirs);
        return upmu_fail(UPMU_E_NOMEM, "out of memory for the trace");
    }
    t->dir = strdup(dir);
    rc = t->dir ? reader_open_processes(t, &dirs) : packets_io_failed(dir, ENOMEM);
    if (rc == 0)
        rc = reader_open_interrupted(t);
    if (rc == 0)
        rc = reader_open_sources(t);
    path_list_free(&dirs);
    if (rc == 0)
        *trace = t;
    else
        upmu_trace_close(t);
    return rc;
}

void reader_free_process(struct process *p)
{
    meta_free(&p->meta);
    context_free(&p->context);
    path_list_free(&p->streams);
    free(p->dir);
}

void upmu_trace_close(struct upmu_trace *trace)
{
    if (!trace)
        return;
    for (size_t i = 0; i < trace->n_sources; i++)
        source_free(&trace->sources[i]);
    for (size_t i = 0; i < trace->n_processes; i++)
        reader_free_process(&trace->processes[i]);
    for (size_t i = 0; i < trace->n_problems; i++)
        free(trace->problems[i]);
    free(trace->problems);
    batch_free(&trace->batch);
    free(trace->dir);
    free(trace->sources);
    free(trace->heap);
    free(trace->processes);
    free(trace);
}

/* ----------------------------------------------------------------------------------------------------- events */

/* Read the first event of each source. @return 0, or the code of one that failed; call again for the rest. */
static __attribute__((noinline, cold)) int reader_begin_sources(struct upmu_trace *t)
{
    while (t->n_begun < t->n_sources) {
        struct source *s = &t->sources[t->n_begun++];
        int rc = source_next(s);
        s->broken = rc < 0;
        if (rc < 0)
            return rc;
        if (rc > 0)
            heap_add(t, s);
    }
    return 0;
}

/* Replace the event of the source at the top of the heap, which the caller had, by its next one. */
static int reader_replace_returned(struct upmu_trace *t)
{
    struct source *s = t->given;
    t->given = NULL;
    if (!s)
        return 0;
    int rc = source_next(s);
    s->broken = rc < 0;
    if (rc <= 0)
        heap_drop_first(t);
    else if (t->n_heap > 1)
        heap_down(t, 0);
    return rc < 0 ? rc : 0;
}

/* After the last event: report packets that are missing between others, or with a whole file. @return 0, or UPMU_E_FORMAT;
 * call again for the rest. */
static __attribute__((noinline, cold)) int reader_check_processes(struct upmu_trace *t)
{
    if (t->n_reported < t->n_problems)
        return upmu_fail(UPMU_E_FORMAT, "%s", t->problems[t->n_reported++]);
    while (!t->damaged && t->n_checked < t->n_processes) {
        const struct process *p = &t->processes[t->n_checked++];
        if (p->meta.packets > p->totals.packets)
            return upmu_fail(UPMU_E_FORMAT,
                             "process %d: of %" PRIu64 " packets of events %" PRIu64
                             " are missing: a stream file is truncated, empty or missing",
                             (int)p->meta.pid, p->meta.packets, p->meta.packets - p->totals.packets);
    }
    return 0;
}

/* Search the streams of a process for modules recorded up to a second after `tick`. The thread that records a module may be
 * descheduled before, but its other events of that time are few. */
static void reader_read_ahead(const struct upmu_trace *t, uint32_t process, uint64_t tick)
{
    struct process *p = &t->processes[process];
    for (size_t i = 0; i < t->n_sources; i++)
        if (t->sources[i].process == process)
            source_read_ahead(&t->sources[i], tick + p->meta.clock.hz);
    p->context.mappings_ahead = p->context.n_mappings;
}

/* An event's address with the number of its module at `tick`, which other streams may record later: they are read ahead. */
static uint64_t reader_remap(const struct upmu_trace *t, const struct source *s, uint64_t address, uint64_t tick)
{
    if (remapped_is_late(s->context, address, tick))
        reader_read_ahead(t, s->process, tick);
    return remapped_address(s->context, address, tick);
}

/* Number the event's addresses by module. Done when the event is returned: other streams may record its modules. */
static __attribute__((noinline)) void reader_remap_event(const struct upmu_trace *t, struct source *s)
{
    struct upmu_trace_event *e = &s->now.event;
    e->site = reader_remap(t, s, e->site, e->tick);
    if (e->kind == UPMU_TRACE_LOCK_BLOCK)
        e->lock_block.holder_site = reader_remap(t, s, e->lock_block.holder_site, e->tick);
    else if (e->kind == UPMU_TRACE_LOCK_ORDER)
        e->lock_order.held_site = reader_remap(t, s, e->lock_order.held_site, e->tick);
}

/* What a batch left to the next call: an error, or the event that did not fit. */
static __attribute__((noinline, cold)) int reader_next_left(struct upmu_trace *t, struct source **source)
{
    int rc = t->pending;
    t->pending = 0;
    if (rc != 0)
        return upmu_fail(rc, "%s", t->pending_text);
    t->unread = false;
    *source = t->given;
    return 1;
}

/* Read the next event, whether it matches or not, into the source `*source`. @return as upmu_trace_next(). */
static inline int reader_next_any(struct upmu_trace *t, struct source **source)
{
    if (t->pending || t->unread)
        return reader_next_left(t, source);
    int rc = reader_replace_returned(t);
    if (rc == 0 && t->n_begun < t->n_sources)
        rc = reader_begin_sources(t);
    if (rc != 0) {
        t->damaged = true;
        return rc;
    }
    if (t->n_heap == 0)
        return reader_check_processes(t);
    *source = t->given = t->heap[0];
    if (t->given->context->disputed || t->given->context->unmapped)
        reader_remap_event(t, t->given);
    return 1;
}

static inline __attribute__((always_inline)) int reader_next(struct upmu_trace *t, struct source **source)
{
    int rc;
    do
        rc = reader_next_any(t, source);
    while (rc > 0 && *source && t->filter.set && !filter_matches(&t->filter, &(*source)->now.event));
    return rc;
}

int upmu_trace_next(struct upmu_trace *trace, const struct upmu_trace_event **event)
{
    if (!trace || !event)
        return ARGUMENT_NULL(trace, event);
    struct source *source = NULL;
    int rc = reader_next(trace, &source);
    *event = rc > 0 ? &source->now.event : NULL;
    return rc;
}

int upmu_trace_read(struct upmu_trace *trace, const struct upmu_trace_event **events, size_t n)
{
    if (!trace || !events)
        return ARGUMENT_NULL(trace, events);
    if (n == 0)
        return upmu_fail(UPMU_E_INVAL, "%s: `n` is 0, at least 1 is needed", __func__);
    struct source *source = NULL;
    int read = 0, rc = batch_begin(&trace->batch, n);
    if (rc != 0)
        return rc;
    while (read < (int)trace->batch.n_events && (rc = reader_next(trace, &source)) > 0) {
        rc = batch_add(&trace->batch, &source->now.event, &events[read]);
        trace->unread = rc <= 0;
        if (rc <= 0)
            break;
        read++;
    }
    if (read == 0 || rc >= 0)
        return read ? read : rc;
    trace->pending = rc;
    snprintf(trace->pending_text, sizeof trace->pending_text, "%s", upmu_error());
    return read;
}

/* -------------------------------------------------------------------------------------------------- processes */

size_t upmu_trace_process_count(const struct upmu_trace *trace)
{
    return trace ? trace->n_processes : 0;
}

size_t trace_process_next_image(const struct upmu_trace *t, size_t index)
{
    const struct process *p = &t->processes[index];
    size_t next = SIZE_MAX;
    for (size_t i = 0; !p->meta.complete && p->totals.start_ticks != 0 && i < t->n_processes; i++) {
        const struct process *q = &t->processes[i];
        if (q->meta.pid == p->meta.pid && q->totals.start_ticks == p->totals.start_ticks &&
            q->meta.start_ns > p->meta.start_ns && strcmp(q->meta.host, p->meta.host) == 0 &&
            (next == SIZE_MAX || q->meta.start_ns < t->processes[next].meta.start_ns))
            next = i;
    }
    return next;
}

/* Whether process `q` may be a recorded child of `p`. A program and the one that it executed are one process. */
static bool reader_may_be_child(const struct upmu_trace *t, size_t p, size_t q)
{
    const struct process *parent = &t->processes[p], *child = &t->processes[q];
    uint32_t of = child->totals.parent;
    if (p == q || strcmp(child->meta.host, parent->meta.host) != 0 || (of != 0 && of != (uint32_t)parent->meta.pid))
        return false;
    size_t next = trace_process_next_image(t, q);
    return next == SIZE_MAX || t->processes[next].totals.parent != of;
}

/* At least so many forked children have no recording. Those of vfork() and posix_spawn() are not counted, but may be recorded. */
static uint32_t reader_children_unrecorded(const struct upmu_trace *t, size_t index)
{
    const struct recording_totals *of = &t->processes[index].totals;
    if (of->children_forked == 0 || strcmp(t->processes[index].dir, t->dir) == 0) /* opened by itself */
        return 0;
    uint64_t known = (uint64_t)of->children_filtered + of->children_failed + t->n_problems;
    for (size_t i = 0; of->children_forked > known && i < t->n_processes; i++)
        known += reader_may_be_child(t, index, i);
    return of->children_forked > known ? (uint32_t)(of->children_forked - known) : 0;
}

/* Computed on request, and kept: it reads the heads of all packets. */
static int reader_clock_error(struct process *p, uint64_t *error_ns)
{
    if (!__atomic_load_n(&p->clock_error_known, __ATOMIC_ACQUIRE)) {
        int rc = recording_clock_error(&p->streams, &p->meta, error_ns);
        if (rc != 0)
            return rc;
        __atomic_store_n(&p->clock_error_ns, *error_ns, __ATOMIC_RELAXED);
        __atomic_store_n(&p->clock_error_known, true, __ATOMIC_RELEASE);
    }
    *error_ns = __atomic_load_n(&p->clock_error_ns, __ATOMIC_RELAXED);
    return 0;
}

int upmu_trace_process_at(const struct upmu_trace *trace, size_t index, struct upmu_trace_process *out)
{
    if (!trace || !out)
        return ARGUMENT_NULL(trace, out);
    if (index >= trace->n_processes)
        return UPMU_E_END;
    int rc = OPTS_CHECK(out, UPMU_TRACE_PROCESS_SIZE_V1);
    if (rc != 0)
        return rc;
    struct process *p = &trace->processes[index];
    const struct meta *m = &p->meta;
    uint64_t clock_error_ns;
    rc = reader_clock_error(p, &clock_error_ns);
    if (rc != 0)
        return rc;
    const struct upmu_trace_process ours = {
        .pid = m->pid,
        .host = m->host,
        .command = m->command,
        .kernel = m->kernel,
        .start_ns = m->start_ns,
        .clock_hz = m->clock.hz,
        .n_counters = (uint32_t)m->n_counters,
        .complete = m->complete,
        .events = p->totals.events,
        .lost = p->totals.lost,
        .overwritten = p->totals.overwritten,
        .clock_error_ns = clock_error_ns,
        .event_cost_ps = p->context.cost.full,
        .compact_cost_ps = p->context.cost.compact,
        .stack_cost_ps = p->context.cost.stack,
        .sched_note = m->sched_note,
        .stopped = m->stopped ? m->stopped : p->totals.stopped,
        .futex_note = m->futex_note,
        .lost_note = p->totals.lost_note,
        .lost_any = p->totals.lost_any,
        .execed = trace_process_next_image(trace, index) != SIZE_MAX,
        .snapshot = m->snapshot,
        .memory_bytes = p->totals.memory,
        .memory_threads = p->totals.blocks,
        .children_filtered = p->totals.children_filtered,
        .children_failed = p->totals.children_failed,
        .pauses = p->totals.pauses,
        .paused_more_ns = p->totals.paused_more_ns,
        .children_unrecorded = reader_children_unrecorded(trace, index),
    };
    return OPTS_GIVE(out, ours, UPMU_TRACE_PROCESS_SIZE_V1);
}

const char *trace_process_dir(const struct upmu_trace *trace, size_t index)
{
    return trace->processes[index].dir;
}

bool trace_process_counted(const struct upmu_trace *trace, size_t index)
{
    return trace->processes[index].totals.counted;
}

bool trace_thread_lost(const struct upmu_trace *trace, size_t index, pid_t tid)
{
    const struct process *p = &trace->processes[index];
    for (size_t i = 0; p->totals.lost_any > 0 && i < trace->n_sources; i++) {
        const struct source *s = &trace->sources[i];
        const struct ctf_packet *h = &s->packet.head;
        if (s->process == index && s->has_packet && s->ring_bytes == 0 && h->tid == tid && h->events_discarded > 0)
            return true;
    }
    return false;
}

uint64_t upmu_trace_begin_ns(const struct upmu_trace *trace)
{
    uint64_t begin_ns = UINT64_MAX;
    for (size_t i = 0; trace && i < trace->n_processes; i++) {
        const struct process *p = &trace->processes[i];
        if (p->totals.overwritten == 0 && p->meta.start_ns < begin_ns)
            begin_ns = p->meta.start_ns;
    }
    return begin_ns == UINT64_MAX ? 0 : begin_ns;
}

uint64_t upmu_trace_time_of_raw(const struct upmu_trace *trace, size_t index, uint64_t raw_ns)
{
    return trace && index < trace->n_processes ? trace_time_of_raw(trace, index, raw_ns) : 0;
}

uint64_t trace_time_of_raw(const struct upmu_trace *trace, size_t index, uint64_t raw_ns)
{
    const struct clock_triple *origin = &trace->processes[index].meta.origin;
    return origin->realtime_ns + (raw_ns - origin->raw_ns);
}

/* Event time, not before the recording's begin: a program may have recorded regions before its locks. */
static uint64_t reader_pause_time(const struct upmu_trace *trace, size_t index, uint64_t raw_ns)
{
    const struct meta *m = &trace->processes[index].meta;
    if (raw_ns == UINT64_MAX)
        return UPMU_NO_VALUE;
    uint64_t since = raw_ns < m->origin.raw_ns ? 0 : upmu_trace_time_of_raw(trace, index, raw_ns);
    return since < m->start_ns ? m->start_ns : since;
}

/* @return the number of pauses. */
static size_t reader_pauses(const struct upmu_trace *trace, size_t index, struct recording_pause pauses[CONTROL_PAUSES])
{
    return trace && index < trace->n_processes ? recording_pauses(trace->processes[index].dir, pauses) : 0;
}

int upmu_trace_pause_at(const struct upmu_trace *trace, size_t index, size_t i, struct upmu_trace_pause *out)
{
    struct recording_pause pauses[CONTROL_PAUSES];
    if (!trace || !out)
        return ARGUMENT_NULL(trace, out);
    if (i >= reader_pauses(trace, index, pauses))
        return UPMU_E_END;
    const struct upmu_trace_pause ours = {.begin_ns = reader_pause_time(trace, index, pauses[i].begin_raw_ns),
                                          .end_ns = reader_pause_time(trace, index, pauses[i].end_raw_ns),
                                          .counted = pauses[i].counted};
    return OPTS_GIVE(out, ours, UPMU_TRACE_PAUSE_SIZE_V1);
}

size_t upmu_trace_pause_count(const struct upmu_trace *trace, size_t index)
{
    struct recording_pause pauses[CONTROL_PAUSES];
    return reader_pauses(trace, index, pauses);
}

const char *upmu_trace_counter_name(const struct upmu_trace *trace, size_t index, size_t i)
{
    if (!trace || index >= trace->n_processes || i >= trace->processes[index].meta.n_counters)
        return NULL;
    return trace->processes[index].meta.counters[i];
}

size_t upmu_trace_counter_count(const struct upmu_trace *trace, size_t index)
{
    return trace && index < trace->n_processes ? trace->processes[index].meta.n_counters : 0;
}

/* ------------------------------------------------------------------------------------------ stacks and modules */

size_t upmu_trace_module_count(const struct upmu_trace *trace, size_t index)
{
    return trace && index < trace->n_processes ? trace->processes[index].context.n_modules : 0;
}

int upmu_trace_stack_find(const struct upmu_trace *trace, size_t index, uint32_t id, struct upmu_trace_stack *out)
{
    if (!trace || !out)
        return ARGUMENT_NULL(trace, out);
    if (index >= trace->n_processes)
        return UPMU_E_END;
    const struct context *c = &trace->processes[index].context;
    const struct context_stack *s = id ? context_stack(c, id) : NULL;
    if (s && remapped_stack_is_late(c, id))
        reader_read_ahead(trace, (uint32_t)index, s->tick);
    s = s ? remapped_stack(c, id) : NULL;
    if (!s)
        return upmu_fail(UPMU_E_NAME, "no stack %u in the process of index %zu: the id is wrong, or the stack was lost",
                         (unsigned)id, index);
    const struct upmu_trace_stack ours = {
        .frames = s->frames, .n_frames = s->n_frames, .method = s->method, .truncated = s->truncated};
    return OPTS_GIVE(out, ours, UPMU_TRACE_STACK_SIZE_V1);
}

int upmu_trace_module_at(const struct upmu_trace *trace, size_t index, size_t i, struct upmu_trace_module *out)
{
    if (!trace || !out)
        return ARGUMENT_NULL(trace, out);
    if (index >= trace->n_processes)
        return UPMU_E_END;
    const struct context *c = &trace->processes[index].context;
    if (i >= c->n_modules)
        return UPMU_E_END;
    const struct context_module *m = &c->modules[i];
    const struct upmu_trace_module ours = {.base = m->base + m->tag,
                                           .start = m->start + m->tag,
                                           .end = m->end + m->tag,
                                           .path = m->path,
                                           .build_id = m->build_id};
    return OPTS_GIVE(out, ours, UPMU_TRACE_MODULE_SIZE_V1);
}
