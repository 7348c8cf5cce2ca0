/* SPDX-License-Identifier: MIT */
/* Critical path of each process: backwards from the end of its last thread, from each wait to the thread that
 * ended it. */
#include "analysis/pass/path.h"

#include <stdlib.h>

#include "analysis/pass/state.h"

/* Last node of the thread that ended last; among several, of the one with the latest event. */
static uint32_t path_last_node(const struct overview *o, uint32_t process)
{
    const struct ov_thread *best = NULL;
    uint32_t node = MAP_NONE;
    for (size_t i = 0; i < o->n_threads; i++) {
        const struct ov_thread *t = &o->threads[i];
        bool later = best && (t->end_ns > best->end_ns || (t->end_ns == best->end_ns && t->last_ns > best->last_ns));
        if (t->process != process || (best && !later))
            continue;
        best = t;
        node = o->graph.threads[i].last;
    }
    return node;
}

/* Steps are added backwards: adjacent running steps of one thread are merged. */
static bool path_add_step(struct paths *p, const struct path *path, struct path_step step)
{
    struct path_step *last = p->n_segments > path->first_step ? &p->steps[p->n_segments - 1] : NULL;
    bool same = last && last->kind == step.kind &&
                (step.kind == UPMU_PATH_STOPPED || (step.kind == UPMU_PATH_RUNNING && last->thread == step.thread));
    if (same) {
        last->begin_ns = step.begin_ns;
        return true;
    }
    struct path_step *all = array_reserve(p->steps, p->n_segments, &p->cap_steps, sizeof *all);
    if (!all)
        return false;
    p->steps = all;
    all[p->n_segments++] = step;
    return true;
}

/* Adds the step in parts: what is in a stretch without recording is not known, and a part of its own. */
static bool path_add_parts(struct overview *o, struct path *path, struct path_step step)
{
    const struct ov_process *of = &o->processes[o->threads[step.thread].process];
    for (size_t i = of->n_pauses; i-- > 0;) {
        uint64_t from = of->pauses[i].begin_ns > step.begin_ns ? of->pauses[i].begin_ns : step.begin_ns;
        uint64_t to = of->pauses[i].end_ns < step.end_ns ? of->pauses[i].end_ns : step.end_ns;
        struct path_step after = step, stopped = {from, to, step.thread, MAP_NONE, MAP_NONE, UPMU_PATH_STOPPED};
        if (from >= to)
            continue;
        after.begin_ns = to;
        path->stopped_ns += to - from;
        if ((step.end_ns > to && !path_add_step(&o->paths, path, after)) || !path_add_step(&o->paths, path, stopped))
            return false;
        step.end_ns = from;
    }
    return step.end_ns == step.begin_ns || path_add_step(&o->paths, path, step);
}

/* The holds up to node `s`, of which a part of `ns` out of `all_ns` is on the path. */
static void path_add_holds(const struct wakeup_graph *g, const struct wakeup_node *s, struct path_lock *locks,
                           uint64_t ns, uint64_t all_ns)
{
    for (uint32_t i = s->hold; i != MAP_NONE; i = g->holds[i].next) {
        uint64_t held = g->holds[i].ns;
        locks[g->holds[i].object].held_ns +=
            ns == all_ns ? held : (uint64_t)((double)held * (double)ns / (double)all_ns);
    }
}

/* Whether another thread's action at `end_ns` at the latest led to the node. */
static bool path_is_woken(const struct wakeup_graph *g, uint32_t at, uint64_t end_ns)
{
    uint32_t cause = g->nodes[at].cause;
    return cause != MAP_NONE && g->nodes[cause].time_ns <= end_ns;
}

/* The node that the path has before `at`, where it is followed up to `end_ns`; MAP_NONE if that is not known. */
static uint32_t path_before(const struct wakeup_graph *g, uint32_t at, uint64_t end_ns)
{
    return path_is_woken(g, at, end_ns) ? g->nodes[at].cause : g->nodes[at].prev;
}

/* The end of a thread whose last events were lost: what it did since the one before is not known. */
static bool path_is_lost(const struct overview *o, const struct wakeup_node *s)
{
    const struct ov_thread *t = &o->threads[s->thread];
    bool ends = s->kind == NODE_END && !window_is_outlasted(o, s->thread);
    return ends && o->events_lost && o->events_lost(o->call_site_arg, t->process, t->tid);
}

/* The step that ends with node `at`, or at `end_ns` if that is earlier. @return the node it begins with. */
static uint32_t path_step(const struct overview *o, uint32_t at, uint64_t end_ns, struct path *path,
                          struct path_step *step, struct path_lock *locks)
{
    const struct wakeup_graph *g = &o->graph;
    const struct wakeup_node *s = &g->nodes[at];
    bool woken = path_is_woken(g, at, end_ns);
    uint32_t before = path_before(g, at, end_ns), process = o->threads[s->thread].process;
    uint64_t all_ns = recorded_ns(o, process, g->nodes[before].time_ns, s->time_ns);
    uint64_t ns = end_ns < s->time_ns ? recorded_ns(o, process, g->nodes[before].time_ns, end_ns) : all_ns;
    *step = (struct path_step){.begin_ns = g->nodes[before].time_ns,
                               .end_ns = end_ns < s->time_ns ? end_ns : s->time_ns,
                               .thread = s->thread,
                               .from = woken ? g->nodes[before].thread : MAP_NONE,
                               .object = s->object};
    struct path_lock *lock = s->object != MAP_NONE ? &locks[s->object] : NULL;
    if (woken) {
        step->kind = UPMU_PATH_WAKEUP;
        path->handoffs++;
        path->wake_ns += ns;
        if (lock) {
            lock->wakes++;
            lock->wake_ns += ns;
        }
    } else if (s->kind == NODE_RESUME && lock) {
        step->kind = UPMU_PATH_WAITING;
        path->unknown_ns += ns;
        lock->unknown_ns += ns;
        if (o->objects[s->object].type == UPMU_OBJECT_CALL) /* locks are held meanwhile, as by a running thread */
            path_add_holds(g, s, locks, ns, all_ns);
    } else if (path_is_lost(o, s)) {
        step->kind = UPMU_PATH_STOPPED;
        step->object = MAP_NONE;
        path->stopped_ns += ns;
    } else {
        step->kind = UPMU_PATH_RUNNING;
        step->object = MAP_NONE;
        path->run_ns += ns;
        path_add_holds(g, s, locks, ns, all_ns);
    }
    return before;
}

static void path_reverse(struct path_step *steps, size_t n)
{
    for (size_t i = 0; i + 1 < n - i; i++) {
        struct path_step t = steps[i];
        steps[i] = steps[n - 1 - i];
        steps[n - 1 - i] = t;
    }
}

/* -------------------------------------------------------------------- threads created while recording was stopped */

/* The thread that at `ns` was known longest among those of the process, the main thread if that had not ended; MAP_NONE: none. */
static uint32_t path_thread_at(const struct overview *o, uint32_t process, uint64_t ns)
{
    uint32_t best = MAP_NONE;
    for (uint32_t i = 0; i < o->n_threads; i++) {
        const struct ov_thread *t = &o->threads[i];
        if (t->process != process || t->begin_ns >= ns || t->end_ns < ns)
            continue;
        if (t->tid == t->pid)
            return i;
        best = best == MAP_NONE || t->begin_ns < o->threads[best].begin_ns ? i : best;
    }
    return best;
}

/* What thread `thread` depended on at `ns`: the node that ends the step which contains `ns` on the path to its next node. */
static uint32_t path_node_at(const struct wakeup_graph *g, uint32_t thread, uint64_t ns)
{
    uint32_t own = g->threads[thread].last;
    while (g->nodes[own].prev != MAP_NONE && g->nodes[g->nodes[own].prev].time_ns >= ns)
        own = g->nodes[own].prev;
    for (uint32_t at = own, before; (before = path_before(g, at, UINT64_MAX)) != MAP_NONE; at = before)
        if (g->nodes[before].time_ns < ns)
            return at;
    return own; /* a thread that it waited for was not known yet */
}

/* The first node of a thread whose creation was not recorded: it ran since the last stop, and the path continues where that began.
 * @return 1; 0 if nothing is known before; -1 without memory. */
static int path_continue(struct overview *o, struct path *path, uint32_t *at, uint64_t *end_ns)
{
    const struct wakeup_graph *g = &o->graph;
    const struct wakeup_node *first = &g->nodes[*at];
    uint32_t process = o->threads[first->thread].process;
    const struct ov_process *p = &o->processes[process];
    size_t i = p->n_pauses;
    while (i > 0 && p->pauses[i - 1].begin_ns >= *end_ns)
        i--;
    if (i == 0)
        return 0;
    uint64_t begin = p->pauses[i - 1].begin_ns;
    begin = begin < o->window.from_ns ? o->window.from_ns : begin < p->start_ns ? p->start_ns : begin;
    if (begin >= *end_ns)
        return 0;
    path->run_ns += recorded_ns(o, process, begin, *end_ns);
    struct path_step step = {begin, *end_ns, first->thread, MAP_NONE, MAP_NONE, UPMU_PATH_RUNNING};
    if (!path_add_parts(o, path, step))
        return -1;
    *end_ns = begin;
    uint32_t thread = begin > o->window.from_ns ? path_thread_at(o, process, begin) : MAP_NONE;
    if (thread == MAP_NONE)
        return 0;
    *at = path_node_at(g, thread, begin);
    return 1;
}

static bool path_walk(struct overview *o, struct path *path, struct path_lock *locks)
{
    const struct wakeup_graph *g = &o->graph;
    struct paths *p = &o->paths;
    uint32_t at = path->last;
    path->first_step = p->n_segments;
    if (at == MAP_NONE)
        return true;
    int more = 1;
    uint64_t end_ns = path->end_ns = g->nodes[at].time_ns;
    /* Before a window no time passes. */
    while (more > 0 && end_ns > o->window.from_ns) {
        struct path_step step;
        if (path_before(g, at, end_ns) == MAP_NONE) {
            more = path_continue(o, path, &at, &end_ns);
            continue;
        }
        at = path_step(o, at, end_ns, path, &step, locks);
        end_ns = step.begin_ns;
        more = path_add_parts(o, path, step) ? 1 : -1;
    }
    if (more < 0)
        return false;
    path->begin_ns = end_ns;
    path->n_segments = p->n_segments - path->first_step;
    if (path->n_segments > 0)
        path_reverse(&p->steps[path->first_step], path->n_segments);
    return true;
}

/* ------------------------------------------------------------------------------------------------------- locks */

static int path_compare_locks(const void *a, const void *b)
{
    const struct path_lock *x = a, *y = b;
    if (x->process != y->process)
        return x->process < y->process ? -1 : 1;
    if (x->held_ns != y->held_ns)
        return x->held_ns > y->held_ns ? -1 : 1;
    uint64_t p = x->wake_ns + x->unknown_ns, q = y->wake_ns + y->unknown_ns;
    if (p != q)
        return p > q ? -1 : 1;
    return x->object < y->object ? -1 : x->object > y->object;
}

/* Keeps the locks that were held or waited for on a path, process by process. */
static void path_keep_locks(struct overview *o, struct path_lock *locks)
{
    struct paths *p = &o->paths;
    size_t n = 0;
    for (uint32_t i = 0; i < o->n_objects; i++) {
        if (locks[i].held_ns + locks[i].wakes + locks[i].unknown_ns == 0)
            continue;
        locks[n] = locks[i];
        locks[n].object = i;
        locks[n].process = o->objects[i].process;
        locks[n].gain_ns = locks[n].gain_half_ns = UPMU_NO_VALUE;
        n++;
    }
    if (n > 0)
        qsort(locks, n, sizeof *locks, path_compare_locks);
    p->locks = locks;
    p->n_locks = n;
    for (size_t i = n; i-- > 0;) {
        p->of[locks[i].process].first_lock = i;
        p->of[locks[i].process].n_locks++;
    }
}

int paths_find(struct overview *o)
{
    struct paths *p = &o->paths;
    struct path_lock *locks = calloc(o->n_objects + 1, sizeof *locks);
    p->of = calloc(o->n_processes + 1, sizeof *p->of);
    bool done = locks && p->of;
    for (uint32_t i = 0; done && i < o->n_processes; i++) {
        p->of[i].last = path_last_node(o, i);
        done = path_walk(o, &p->of[i], locks);
        p->n++;
    }
    if (!done) {
        free(locks);
        return overview_no_memory();
    }
    path_keep_locks(o, locks);
    return paths_gain(o);
}

void paths_free(struct paths *p)
{
    free(p->of);
    free(p->steps);
    free(p->locks);
    *p = (struct paths){0};
}
