/* SPDX-License-Identifier: MIT */
/*
 * A recording watched while it is written. Room: analysis. Before it: the trace reader, which goes on where it had come to,
 * and the pass, which never ends here; after it: tools, through include/upmu/monitor.h.
 *
 * What was waited in an interval is the difference of two sums: of the waits that are over, and of what those that go on
 * have lasted so far. So a wait counts while it lasts, and is not counted again when it ends.
 */
#include "upmu/monitor.h"

#include <stdlib.h>
#include <string.h>

#include "analysis/public.h"
#include "base/error.h"
#include "base/opts.h"

/* What one thread or object came to, at this look and at the one before. */
struct live_sum {
    uint64_t ns, ns_before;
    uint64_t waits, waits_before;
};

struct live_object {
    struct live_sum sum;
    uint32_t waiters;
    uint32_t holder; /* thread, MAP_NONE if not known */
    uint64_t oldest_ns;
};

struct upmu_monitor {
    struct upmu_overview all;
    bool begun;
    uint64_t now_ns, before_ns, events_before;
    size_t damages;
    struct live_sum *threads;
    size_t n_threads, cap_threads;
    struct live_object *objects;
    size_t n_objects, cap_objects;
    uint32_t *order; /* objects that were ever waited for */
    size_t n_order;
};

static int no_memory(void)
{
    return upmu_fail(UPMU_E_NOMEM, "no memory for watching a recording");
}

static int no_place(void)
{
    return upmu_fail(UPMU_E_INVAL, "no recording that is watched, or no place for what it says");
}

int upmu_monitor_open(struct upmu_monitor **live, const char *dir)
{
    if (!live || !dir)
        return upmu_fail(UPMU_E_INVAL, "no directory, or no place for the recording");
    *live = NULL;
    struct upmu_monitor *l = calloc(1, sizeof *l);
    if (!l)
        return no_memory();
    l->all.pass.chain.off = true;
    int rc = upmu_trace_open(&l->all.trace, dir);
    if (rc == 0)
        rc = symbols_open(&l->all.symbols, SYMBOLS_DEBUG_DIR);
    if (rc == 0)
        *live = l;
    else
        upmu_monitor_close(l);
    return rc;
}

void upmu_monitor_close(struct upmu_monitor *live)
{
    if (!live)
        return;
    overview_free(&live->all.pass);
    symbols_close(live->all.symbols);
    upmu_trace_close(live->all.trace);
    free(live->threads);
    free(live->objects);
    free(live->order);
    free(live);
}

/* ------------------------------------------------------------------------------------------------------ reading */

static int add_processes(struct upmu_monitor *l)
{
    int rc = 0;
    for (size_t i = l->all.pass.n_processes; rc == 0 && i < upmu_trace_process_count(l->all.trace); i++) {
        struct upmu_trace_process p = {.size = sizeof p};
        rc = upmu_trace_process_at(l->all.trace, i, &p);
        const struct ov_process ours = {.start_ns = p.start_ns, .switches = SIZE_MAX};
        if (rc == 0)
            rc = overview_process(&l->all.pass, &ours);
    }
    return rc;
}

static int add_events(struct upmu_monitor *l)
{
    const struct upmu_trace_event *e;
    int rc = 0, more = 1;
    while (rc == 0 && more != 0) {
        more = upmu_trace_next(l->all.trace, &e);
        if (more > 0)
            rc = overview_add(&l->all.pass, e);
        /* A damaged stream is left, and the others go on. */
        else if (more == UPMU_E_FORMAT)
            l->damages++;
        else
            rc = more;
    }
    return rc;
}

/* The look's moment is the same for all processes: they share the machine's clock, and its line. */
static uint64_t present(const struct upmu_monitor *l)
{
    uint64_t now = 0;
    int rc = upmu_trace_process_count(l->all.trace) > 0 ? upmu_trace_now(l->all.trace, 0, &now) : UPMU_E_INVAL;
    /* Events that are newer than the clock's line says are now. */
    return rc == 0 && now > l->all.pass.end_ns ? now : l->all.pass.end_ns;
}

/* --------------------------------------------------------------------------------------------------------- sums */

/* Places for threads and objects that have come since. */
static int make_room(struct upmu_monitor *l)
{
    const struct overview *o = &l->all.pass;
    while (l->n_threads < o->n_threads) {
        struct live_sum *all = array_room(l->threads, l->n_threads, &l->cap_threads, sizeof *all);
        if (!all)
            return no_memory();
        l->threads = all;
        all[l->n_threads++] = (struct live_sum){0};
    }
    while (l->n_objects < o->n_objects) {
        struct live_object *all = array_room(l->objects, l->n_objects, &l->cap_objects, sizeof *all);
        if (!all)
            return no_memory();
        l->objects = all;
        all[l->n_objects++] = (struct live_object){0};
    }
    return 0;
}

static void next_sum(struct live_sum *s, uint64_t ns, uint64_t waits)
{
    s->ns_before = s->ns;
    s->waits_before = s->waits;
    s->ns = ns > s->ns ? ns : s->ns;
    s->waits = waits;
}

static uint64_t lasted(const struct upmu_monitor *l, const struct pending *p)
{
    return l->now_ns > p->begin_ns ? l->now_ns - p->begin_ns : 0;
}

/* What waits that go on have come to, added to their objects; of the thread the outermost counts. */
static uint64_t going_on(struct upmu_monitor *l, const struct ov_thread *t, uint64_t *of_objects)
{
    uint64_t ns = 0;
    for (size_t i = 0; i < t->n_pending; i++) {
        const struct pending *p = &t->pending[i];
        struct live_object *x = &l->objects[p->object];
        uint64_t so_far = lasted(l, p);
        of_objects[p->object] += so_far;
        if (i == 0)
            ns = so_far > p->inner_ns ? so_far - p->inner_ns : 0;
        if (x->waiters++ == 0 || p->begin_ns < x->oldest_ns) {
            x->holder = p->holder;
            x->oldest_ns = p->begin_ns;
        }
    }
    return ns;
}

static uint64_t count_waits(const struct ov_thread *t)
{
    uint64_t n = 0;
    for (int kind = 0; kind < UPMU_WAIT_KINDS; kind++)
        n += t->waits[kind].count;
    return n;
}

static int add_up(struct upmu_monitor *l)
{
    const struct overview *o = &l->all.pass;
    uint64_t *of_objects = calloc(o->n_objects + 1, sizeof *of_objects);
    if (!of_objects)
        return no_memory();
    for (size_t i = 0; i < o->n_objects; i++) {
        l->objects[i].waiters = 0;
        l->objects[i].holder = MAP_NONE;
    }
    for (size_t i = 0; i < o->n_threads; i++) {
        uint64_t ns = going_on(l, &o->threads[i], of_objects);
        next_sum(&l->threads[i], o->threads[i].blocked_ns + ns, count_waits(&o->threads[i]));
    }
    for (size_t i = 0; i < o->n_objects; i++) {
        const struct upmu_wait_sum *w = &o->objects[i].waits;
        next_sum(&l->objects[i].sum, w->total_ns + w->unfinished_ns + of_objects[i], w->count);
    }
    free(of_objects);
    return 0;
}

static int descending(uint64_t a, uint64_t b)
{
    return a > b ? -1 : a < b;
}

static int compare_objects(const void *a, const void *b, void *arg)
{
    const struct upmu_monitor *l = arg;
    uint32_t i = *(const uint32_t *)a, k = *(const uint32_t *)b;
    const struct live_sum *x = &l->objects[i].sum, *y = &l->objects[k].sum;
    int order = descending(x->ns - x->ns_before, y->ns - y->ns_before);
    if (order == 0)
        order = descending(x->ns, y->ns);
    return order ? order : i < k ? -1 : 1;
}

static int rank(struct upmu_monitor *l)
{
    uint32_t *order = reallocarray(l->order, l->n_objects + 1, sizeof *order);
    if (!order)
        return no_memory();
    l->order = order;
    l->n_order = 0;
    for (size_t i = 0; i < l->n_objects; i++)
        if (l->objects[i].sum.ns > 0 || l->objects[i].sum.waits > 0 || l->objects[i].waiters > 0)
            order[l->n_order++] = (uint32_t)i;
    qsort_r(order, l->n_order, sizeof *order, compare_objects, l);
    return 0;
}

int upmu_monitor_update(struct upmu_monitor *live)
{
    if (!live)
        return no_place();
    struct upmu_monitor *l = live;
    int rc = l->begun ? upmu_trace_update(l->all.trace) : 0;
    l->events_before = l->all.pass.events;
    if (rc == 0)
        rc = add_processes(l);
    if (rc == 0)
        rc = add_events(l);
    if (rc != 0)
        return rc;
    uint64_t now = present(l);
    l->before_ns = l->begun ? l->now_ns : l->all.pass.events > 0 ? l->all.pass.begin_ns : now;
    l->now_ns = now > l->before_ns ? now : l->before_ns;
    l->begun = true;
    rc = make_room(l);
    if (rc == 0)
        rc = add_up(l);
    return rc == 0 ? rank(l) : rc;
}

/* ------------------------------------------------------------------------------------------------------- facts */

static int give(void *out, size_t size, const void *ours, size_t known)
{
    if (!opts_give(out, size, known, ours, known))
        return upmu_fail(UPMU_E_INVAL, "this struct has at least %zu bytes, not %zu: set its size", known, size);
    return 0;
}

int upmu_monitor_totals_read(const struct upmu_monitor *live, struct upmu_monitor_totals *out)
{
    if (!live || !out)
        return no_place();
    const struct upmu_monitor_totals ours = {
        .now_ns = live->now_ns,
        .interval_ns = live->now_ns - live->before_ns,
        .events = live->all.pass.events - live->events_before,
        .all_events = live->all.pass.events,
        .n_processes = live->all.pass.n_processes,
        .n_threads = live->n_threads,
        .n_locks = live->n_order,
        .n_damages = live->damages,
        .missed = upmu_trace_missed_packets(live->all.trace),
    };
    return give(out, out->size, &ours, sizeof ours);
}

static const char *text_of(const char *text)
{
    return text ? text : "";
}

/* Whom a thread waits for: the holder, or the thread that it joins. */
static uint32_t waits_for(const struct overview *o, const struct pending *p)
{
    if (p->kind != UPMU_WAIT_JOIN)
        return p->holder;
    return map_find(&o->by_handle, o->objects[p->object].process, o->objects[p->object].address);
}

int upmu_monitor_thread_at(const struct upmu_monitor *live, size_t i, struct upmu_monitor_thread *out)
{
    if (!live || !out)
        return no_place();
    if (i >= live->n_threads)
        return UPMU_E_NAME;
    const struct overview *o = &live->all.pass;
    const struct ov_thread *t = &o->threads[i];
    const struct live_sum *s = &live->threads[i];
    struct upmu_monitor_thread ours = {
        .pid = t->pid,
        .tid = t->tid,
        .name = text_of(t->name),
        .ended = t->ended,
        .wait_kind = -1,
        .object_name = "",
        .holder_name = "",
        .waits = s->waits - s->waits_before,
        .waited_ns = s->ns - s->ns_before,
        .process = t->process,
    };
    if (t->n_pending > 0) {
        const struct pending *p = &t->pending[0];
        const struct ov_object *x = &o->objects[p->object];
        uint32_t other = waits_for(o, p);
        ours.wait_kind = p->kind;
        ours.object_type = x->type;
        ours.object = x->address;
        ours.object_name = text_of(x->name);
        ours.holder = other == MAP_NONE ? 0 : o->threads[other].tid;
        ours.holder_name = other == MAP_NONE ? "" : text_of(o->threads[other].name);
        ours.since_ns = p->begin_ns;
        ours.site = p->site;
    }
    return give(out, out->size, &ours, sizeof ours);
}

int upmu_monitor_lock_at(const struct upmu_monitor *live, size_t i, struct upmu_monitor_lock *out)
{
    if (!live || !out)
        return no_place();
    if (i >= live->n_order)
        return UPMU_E_NAME;
    const struct overview *o = &live->all.pass;
    const struct ov_object *x = &o->objects[live->order[i]];
    const struct live_object *s = &live->objects[live->order[i]];
    const struct upmu_monitor_lock ours = {
        .pid = x->pid,
        .type = x->type,
        .address = x->address,
        .generation = x->generation,
        .name = text_of(x->name),
        .waiters = s->waiters,
        .holder = s->holder == MAP_NONE ? 0 : o->threads[s->holder].tid,
        .waits = s->sum.waits - s->sum.waits_before,
        .waited_ns = s->sum.ns - s->sum.ns_before,
        .total_ns = s->sum.ns,
    };
    return give(out, out->size, &ours, sizeof ours);
}

int upmu_monitor_symbol_at(struct upmu_monitor *live, size_t process, uint64_t address, size_t depth,
                           struct upmu_symbol *out)
{
    return live ? upmu_overview_symbol_at(&live->all, process, address, depth, out) : no_place();
}
