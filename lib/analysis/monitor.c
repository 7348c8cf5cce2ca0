/* SPDX-License-Identifier: MIT */
/*
 * Monitoring of a recording while it is written.
 *
 * The time waited in an interval is the difference of two sums over finished waits and the time so far of pending ones: a
 * wait counts while it lasts, and is not counted again when it ends.
 */
#include "analysis/identity.h"
#include "analysis/locations.h"
#include "upmu/monitor.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "analysis/pass/handlers.h"
#include "analysis/pass/tables.h"
#include "analysis/public.h"
#include "analysis/wait_state_file.h"
#include "base/error.h"
#include "base/opts.h"
#include "trace/read/bare.h"

/* Wait time of a thread or object at this update and at the preceding one. */
struct monitor_sum {
    uint64_t ns, ns_before;
    uint64_t waits, waits_before;
};

/* What the wait-state file has of a thread at this update. */
struct monitor_state {
    struct pending_wait call; /* the call it is in, which has no event yet; `begin_ns` 0: none */
    bool known, blocked;
    uint64_t object; /* the innermost one it is blocked at */
};

struct monitor_object {
    struct monitor_sum sum;
    uint32_t waiters;
    uint32_t holder; /* thread, MAP_NONE if not known */
    uint64_t oldest_ns;
};

struct upmu_monitor {
    struct upmu_overview all;
    bool begun;
    uint64_t now_ns, before_ns, events_before;
    size_t damages;
    struct monitor_sum *threads;
    size_t n_threads, cap_threads;
    struct monitor_state *states; /**< by thread */
    size_t cap_states;
    struct monitor_object *objects;
    size_t n_objects, cap_objects;
    uint32_t *order; /* objects that were ever waited for */
    size_t n_order;
};

static int monitor_no_memory(void)
{
    return upmu_fail(UPMU_E_NOMEM, "out of memory while monitoring a recording");
}

int upmu_monitor_open(struct upmu_monitor **monitor, const char *dir)
{
    if (!monitor || !dir)
        return ARGUMENT_NULL(monitor, dir);
    *monitor = NULL;
    struct upmu_monitor *m = calloc(1, sizeof *m);
    if (!m)
        return monitor_no_memory();
    m->all.pass.graph.disabled = true;
    int rc = upmu_trace_open(&m->all.trace, dir);
    if (rc == 0)
        rc = lookup_open(&m->all, NULL);
    if (rc == 0)
        *monitor = m;
    else
        upmu_monitor_close(m);
    return rc;
}

void upmu_monitor_close(struct upmu_monitor *monitor)
{
    if (!monitor)
        return;
    overview_free(&monitor->all.pass);
    lookup_close(monitor->all.lookup);
    upmu_trace_close(monitor->all.trace);
    free(monitor->threads);
    free(monitor->states);
    free(monitor->objects);
    free(monitor->order);
    free(monitor);
}

/* ------------------------------------------------------------------------------------------------------ reading */

static int monitor_add_processes(struct upmu_monitor *m)
{
    int rc = 0;
    for (size_t i = m->all.pass.n_processes; rc == 0 && i < upmu_trace_process_count(m->all.trace); i++) {
        struct upmu_trace_process p = {.size = sizeof p};
        rc = upmu_trace_process_at(m->all.trace, i, &p);
        const struct ov_process ours = {.start_ns = p.start_ns, .switches = SIZE_MAX};
        if (rc == 0)
            rc = overview_process(&m->all.pass, &ours);
    }
    return rc;
}

/* Recording may be stopped and started at any time. @return 0; UPMU_E_NOMEM. */
static int monitor_read_pauses(struct upmu_monitor *m)
{
    int rc = 0;
    for (size_t i = 0; rc == 0 && i < m->all.pass.n_processes; i++)
        rc = overview_read_pauses(m->all.trace, i, &m->all.pass.processes[i]);
    return rc;
}

static int monitor_add_events(struct upmu_monitor *m)
{
    const struct upmu_trace_event *e;
    int rc = 0, more = 1;
    while (rc == 0 && more != 0) {
        more = upmu_trace_next(m->all.trace, &e);
        if (more > 0)
            rc = overview_add(&m->all.pass, e);
        /* The reader continues with the other streams after damage. */
        else if (more == UPMU_E_FORMAT)
            m->damages++;
        else
            rc = more;
    }
    return rc;
}

static uint64_t monitor_raw_ns(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC_RAW, &now); /* cannot fail: the recorder uses the same clock */
    return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

/* The time at which reading began, `read_ns` before now: each stream was read to a later event, so a wait that is pending had not ended
 * by then. The processes share the machine's clock, so that of the first one is used. */
static uint64_t monitor_time(const struct upmu_monitor *m, uint64_t read_ns)
{
    uint64_t now = 0;
    int rc = upmu_trace_process_count(m->all.trace) > 0 ? upmu_trace_now(m->all.trace, 0, &now) : UPMU_E_INVAL;
    /* The clock conversion may be behind the newest event. */
    now = rc == 0 && now > m->all.pass.end_ns ? now : m->all.pass.end_ns;
    return now > read_ns ? now - read_ns : now;
}

/* --------------------------------------------------------------------------------------------------------- sums */

/* Makes elements for new threads and objects. */
static int monitor_reserve(struct upmu_monitor *m)
{
    const struct overview *o = &m->all.pass;
    while (m->n_threads < o->n_threads) {
        struct monitor_sum *all = array_reserve(m->threads, m->n_threads, &m->cap_threads, sizeof *all);
        if (!all)
            return monitor_no_memory();
        m->threads = all;
        struct monitor_state *states = array_reserve(m->states, m->n_threads, &m->cap_states, sizeof *states);
        if (!states)
            return monitor_no_memory();
        m->states = states;
        states[m->n_threads] = (struct monitor_state){0};
        all[m->n_threads++] = (struct monitor_sum){0};
    }
    while (m->n_objects < o->n_objects) {
        struct monitor_object *all = array_reserve(m->objects, m->n_objects, &m->cap_objects, sizeof *all);
        if (!all)
            return monitor_no_memory();
        m->objects = all;
        all[m->n_objects++] = (struct monitor_object){0};
    }
    return 0;
}

/* The sum is less than before where a wait was left by a jump: its end is unknown, and its time in no sum of the report. */
static void monitor_sum_next(struct monitor_sum *s, uint64_t ns, uint64_t waits)
{
    s->ns_before = ns < s->ns ? ns : s->ns;
    s->waits_before = s->waits;
    s->ns = ns;
    s->waits = waits;
}

static uint64_t monitor_wait_ns(const struct upmu_monitor *m, size_t thread, const struct pending_wait *p)
{
    uint32_t process = m->all.pass.threads[thread].process;
    return m->now_ns > p->begin_ns ? recorded_ns(&m->all.pass, process, p->begin_ns, m->now_ns) : 0;
}

/* Objects whose waits do not consist of other recorded waits: only a signal handler can wait within one. */
static bool monitor_is_simple(const struct ov_object *x)
{
    return x->type == UPMU_OBJECT_MUTEX || x->type == UPMU_OBJECT_RWLOCK || x->type == UPMU_OBJECT_SEM ||
           x->type == UPMU_OBJECT_BARRIER || x->type == UPMU_OBJECT_FUTEX || x->type == UPMU_OBJECT_THREAD;
}

/* Whether a wait without a recorded end is in progress. A thread that has recorded another event since has left it by a jump, unless
 * its slot has the wait, or one within it. The end is not recorded either where recording was stopped meanwhile: then the slot
 * counts. */
static bool monitor_lasts(const struct upmu_monitor *m, size_t thread, const struct pending_wait *p)
{
    const struct ov_thread *t = &m->all.pass.threads[thread];
    const struct ov_object *x = &m->all.pass.objects[p->object];
    const struct monitor_state *s = &m->states[thread];
    bool in_slot = s->blocked && (s->object == x->address || !monitor_is_simple(x));
    bool stopped = m->now_ns > p->begin_ns && monitor_wait_ns(m, thread, p) < m->now_ns - p->begin_ns;
    return in_slot || (p->at_event == t->actions && !(stopped && s->known));
}

/* The next wait of a thread, from the outermost to the innermost: recorded ones, or one in progress without an event. `*at`: 0 at
 * first. @return NULL after the last one. */
static const struct pending_wait *monitor_next_wait(const struct upmu_monitor *m, size_t thread, size_t *at)
{
    const struct ov_thread *t = &m->all.pass.threads[thread];
    while (*at < t->n_pending) {
        const struct pending_wait *p = &t->pending[(*at)++];
        if (monitor_lasts(m, thread, p))
            return p;
    }
    bool call = *at == 0 && m->states[thread].call.begin_ns != 0;
    *at += call;
    return call ? &m->states[thread].call : NULL;
}

static const struct pending_wait *monitor_wait_of(const struct upmu_monitor *m, size_t thread)
{
    size_t at = 0;
    return monitor_next_wait(m, thread, &at);
}

/* Adds the time so far of pending waits to their objects. @return that of the thread, of its outermost wait. */
static uint64_t monitor_pending(struct upmu_monitor *m, size_t thread, uint64_t *of_objects)
{
    uint64_t ns = 0;
    size_t at = 0, n = 0;
    for (const struct pending_wait *p; (p = monitor_next_wait(m, thread, &at)) != NULL; n++) {
        struct monitor_object *x = &m->objects[p->object];
        uint64_t so_far = monitor_wait_ns(m, thread, p);
        of_objects[p->object] += so_far;
        if (n == 0)
            ns = so_far > p->inner_ns ? so_far - p->inner_ns : 0;
        if (x->waiters++ == 0 || p->begin_ns < x->oldest_ns) {
            x->holder = p->holder;
            x->oldest_ns = p->begin_ns;
        }
    }
    return ns;
}

static uint64_t monitor_count_waits(const struct ov_thread *t)
{
    uint64_t n = 0;
    for (int kind = 0; kind < WAIT_KINDS; kind++)
        n += t->waits[kind].count;
    return n;
}

/* What threads of a process wait for, from its wait-state file. @return 0; UPMU_E_NOMEM. */
static int monitor_read_states(struct upmu_monitor *m, uint32_t process)
{
    struct wait_state_file f;
    int rc = wait_state_file_read(&f, trace_process_dir(m->all.trace, process));
    for (size_t i = 0; rc > 0 && i < f.n_threads; i++) {
        const struct wait_file_slot *h = &f.threads[i].head;
        uint32_t thread = map_find(&m->all.pass.by_tid, process, (uint32_t)h->tid);
        struct upmu_trace_event e;
        if (thread == MAP_NONE || thread >= m->n_threads)
            continue;
        struct monitor_state *s = &m->states[thread];
        s->known = true;
        s->blocked = h->state == WAIT_FILE_BLOCKED;
        s->object = h->object;
        if (!wait_state_is_call(h))
            continue;
        wait_state_call_event(h, process, &e);
        e.pid = m->all.pass.threads[thread].pid;
        uint32_t object = call_object(&m->all.pass, &e);
        if (object == MAP_NONE)
            rc = monitor_no_memory();
        else
            s->call = (struct pending_wait){
                .kind = wait_kind(&e), .object = object, .holder = MAP_NONE, .begin_ns = h->since_ns, .site = h->site};
    }
    wait_state_file_free(&f);
    return rc == UPMU_E_NOMEM ? rc : 0; /* without a readable file such waits are shown when they have ended */
}

static int monitor_read_all_states(struct upmu_monitor *m)
{
    int rc = 0;
    for (size_t i = 0; i < m->n_threads; i++)
        m->states[i] = (struct monitor_state){0};
    for (size_t i = 0; rc == 0 && i < m->all.pass.n_processes; i++)
        rc = monitor_read_states(m, (uint32_t)i);
    return rc == 0 ? monitor_reserve(m) : rc;
}

static int monitor_add_up(struct upmu_monitor *m)
{
    const struct overview *o = &m->all.pass;
    uint64_t *of_objects = calloc(o->n_objects + 1, sizeof *of_objects);
    if (!of_objects)
        return monitor_no_memory();
    for (size_t i = 0; i < o->n_objects; i++) {
        m->objects[i].waiters = 0;
        m->objects[i].holder = MAP_NONE;
    }
    for (size_t i = 0; i < o->n_threads; i++) {
        uint64_t ns = monitor_pending(m, i, of_objects);
        monitor_sum_next(&m->threads[i], o->threads[i].blocked_ns + ns, monitor_count_waits(&o->threads[i]));
    }
    for (size_t i = 0; i < o->n_objects; i++) {
        const struct upmu_wait_sum *w = &o->objects[i].waits;
        monitor_sum_next(&m->objects[i].sum, w->total_ns + w->unfinished_ns + of_objects[i], w->count);
    }
    free(of_objects);
    return 0;
}

static int monitor_descending(uint64_t a, uint64_t b)
{
    return a > b ? -1 : a < b;
}

static int monitor_compare_objects(const void *a, const void *b, void *arg)
{
    const struct upmu_monitor *m = arg;
    uint32_t i = *(const uint32_t *)a, k = *(const uint32_t *)b;
    const struct monitor_sum *x = &m->objects[i].sum, *y = &m->objects[k].sum;
    int order = monitor_descending(x->ns - x->ns_before, y->ns - y->ns_before);
    if (order == 0)
        order = monitor_descending(x->ns, y->ns);
    return order ? order : i < k ? -1 : 1;
}

static int monitor_sort(struct upmu_monitor *m)
{
    uint32_t *order = reallocarray(m->order, m->n_objects + 1, sizeof *order);
    if (!order)
        return monitor_no_memory();
    m->order = order;
    m->n_order = 0;
    for (size_t i = 0; i < m->n_objects; i++)
        if (m->objects[i].sum.ns > 0 || m->objects[i].sum.waits > 0 || m->objects[i].waiters > 0)
            order[m->n_order++] = (uint32_t)i;
    qsort_r(order, m->n_order, sizeof *order, monitor_compare_objects, m);
    return 0;
}

int upmu_monitor_update(struct upmu_monitor *monitor)
{
    if (!monitor)
        return argument_null(__func__, "monitor");
    struct upmu_monitor *m = monitor;
    uint64_t begun_raw_ns = monitor_raw_ns();
    int rc = m->begun ? upmu_trace_update(m->all.trace) : 0;
    m->events_before = m->all.pass.events;
    if (rc == 0)
        rc = monitor_add_processes(m);
    if (rc == 0)
        rc = monitor_read_pauses(m);
    if (rc == 0)
        rc = monitor_add_events(m);
    if (rc != 0)
        return rc;
    uint64_t now = monitor_time(m, monitor_raw_ns() - begun_raw_ns);
    m->before_ns = m->begun ? m->now_ns : m->all.pass.events > 0 ? m->all.pass.begin_ns : now;
    m->now_ns = now > m->before_ns ? now : m->before_ns;
    m->begun = true;
    rc = monitor_reserve(m);
    if (rc == 0)
        rc = monitor_read_all_states(m);
    if (rc == 0)
        rc = monitor_add_up(m);
    return rc == 0 ? monitor_sort(m) : rc;
}

/* ------------------------------------------------------------------------------------------------------- facts */

static size_t monitor_count_stopped(const struct upmu_monitor *m)
{
    size_t n = 0;
    for (size_t i = 0; i < m->all.pass.n_processes; i++) {
        const struct ov_process *p = &m->all.pass.processes[i];
        const struct ov_pause *last = p->n_pauses > 0 ? &p->pauses[p->n_pauses - 1] : NULL;
        n += last && last->end_ns == UPMU_NO_VALUE && !last->counted;
    }
    return n;
}

int upmu_monitor_totals_read(const struct upmu_monitor *monitor, struct upmu_monitor_totals *out)
{
    if (!monitor || !out)
        return ARGUMENT_NULL(monitor, out);
    const struct upmu_monitor_totals ours = {
        .now_ns = monitor->now_ns,
        .interval_ns = monitor->now_ns - monitor->before_ns,
        .events = monitor->all.pass.events - monitor->events_before,
        .all_events = monitor->all.pass.events,
        .n_processes = monitor->all.pass.n_processes,
        .n_threads = monitor->n_threads,
        .n_locks = monitor->n_order,
        .n_damages = monitor->damages,
        .missed = upmu_trace_missed_packets(monitor->all.trace),
        .n_stopped = monitor_count_stopped(monitor),
    };
    return OPTS_GIVE(out, ours, UPMU_MONITOR_TOTALS_SIZE_V1);
}

/* The thread that an object is; the first event of a thread may come after the begin of the wait for its end. */
static uint32_t monitor_joined(const struct overview *o, const struct ov_object *x)
{
    if (x->type != UPMU_OBJECT_THREAD)
        return MAP_NONE;
    return x->peer ? map_find(&o->by_tid, x->process, (uint32_t)x->peer) : thread_of_handle(o, x->process, x->address);
}

/* The thread waited for: the holder, or the thread to be joined. */
static uint32_t monitor_waits_for(const struct overview *o, const struct pending_wait *p)
{
    return p->kind == UPMU_WAIT_JOIN ? monitor_joined(o, &o->objects[p->object]) : p->holder;
}

/* The name of an object; of a thread that others join its own. */
static const char *monitor_object_name(const struct upmu_monitor *m, uint32_t object)
{
    uint32_t joined = monitor_joined(&m->all.pass, &m->all.pass.objects[object]);
    return joined == MAP_NONE ? identity_object(&m->all, object).name : identity_thread(&m->all, joined);
}

int upmu_monitor_thread_at(const struct upmu_monitor *monitor, size_t i, struct upmu_monitor_thread *out)
{
    if (!monitor || !out)
        return ARGUMENT_NULL(monitor, out);
    if (i >= monitor->n_threads)
        return UPMU_E_END;
    const struct overview *o = &monitor->all.pass;
    const struct ov_thread *t = &o->threads[i];
    const struct monitor_sum *s = &monitor->threads[i];
    struct upmu_monitor_thread ours = {
        .pid = t->pid,
        .tid = t->tid,
        .name = identity_thread(&monitor->all, (uint32_t)i),
        .ended = t->ended,
        .wait_kind = -1,
        .object_name = "",
        .holder_name = "",
        .waits = s->waits - s->waits_before,
        .waited_ns = s->ns - s->ns_before,
        .process = t->process,
        .stopped_ns =
            monitor->now_ns - monitor->before_ns - recorded_ns(o, t->process, monitor->before_ns, monitor->now_ns),
    };
    const struct pending_wait *p = monitor_wait_of(monitor, i);
    if (p) {
        const struct ov_object *x = &o->objects[p->object];
        uint32_t other = monitor_waits_for(o, p);
        ours.wait_kind = p->kind;
        ours.object_type = x->type;
        ours.object = x->address;
        ours.object_name = monitor_object_name(monitor, p->object);
        ours.holder = other == MAP_NONE ? 0 : o->threads[other].tid;
        ours.holder_name = other == MAP_NONE ? "" : identity_thread(&monitor->all, other);
        ours.since_ns = p->begin_ns < monitor->now_ns ? p->begin_ns : monitor->now_ns;
        ours.site = p->site;
    }
    return OPTS_GIVE(out, ours, UPMU_MONITOR_THREAD_SIZE_V1);
}

int upmu_monitor_lock_at(const struct upmu_monitor *monitor, size_t i, struct upmu_monitor_lock *out)
{
    if (!monitor || !out)
        return ARGUMENT_NULL(monitor, out);
    if (i >= monitor->n_order)
        return UPMU_E_END;
    const struct overview *o = &monitor->all.pass;
    const struct ov_object *x = &o->objects[monitor->order[i]];
    const struct monitor_object *s = &monitor->objects[monitor->order[i]];
    const struct identity identity = identity_object(&monitor->all, monitor->order[i]);
    uint32_t holder = x->type == UPMU_OBJECT_THREAD ? monitor_joined(o, x) : s->holder;
    bool folds = identity.kind == UPMU_IDENTITY_CREATED || identity.kind == UPMU_IDENTITY_FIRST_USE;
    const struct upmu_monitor_lock ours = {
        .pid = x->pid,
        .type = x->type,
        .address = x->address,
        .generation = x->generation,
        .name = monitor_object_name(monitor, monitor->order[i]),
        .waiters = s->waiters,
        .holder = holder == MAP_NONE ? 0 : o->threads[holder].tid,
        .waits = s->sum.waits - s->sum.waits_before,
        .waited_ns = s->sum.ns - s->sum.ns_before,
        .total_ns = s->sum.ns,
        .group = folds ? identity.group : "",
    };
    return OPTS_GIVE(out, ours, UPMU_MONITOR_LOCK_SIZE_V1);
}

int upmu_monitor_symbol_at(struct upmu_monitor *monitor, size_t process, uint64_t address, size_t depth,
                           struct upmu_symbol *out)
{
    return monitor ? upmu_overview_symbol_at(&monitor->all, process, address, depth, out)
                   : argument_null(__func__, "monitor");
}

int upmu_monitor_line_at(struct upmu_monitor *monitor, size_t process, uint64_t address, uint32_t stack,
                         struct upmu_symbol *out)
{
    return monitor ? upmu_overview_line_at(&monitor->all, process, address, stack, out)
                   : argument_null(__func__, "monitor");
}

size_t upmu_monitor_thread_count(const struct upmu_monitor *monitor)
{
    return monitor ? monitor->n_threads : 0;
}

size_t upmu_monitor_lock_count(const struct upmu_monitor *monitor)
{
    return monitor ? monitor->n_order : 0;
}
