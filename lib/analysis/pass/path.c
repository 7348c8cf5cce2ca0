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

static void path_add_holds(const struct wakeup_graph *g, const struct wakeup_node *s, struct path_lock *locks)
{
    for (uint32_t i = s->hold; i != MAP_NONE; i = g->holds[i].next)
        locks[g->holds[i].object].held_ns += g->holds[i].ns;
}

/* The step that ends with node `s`. @return the node it begins with. */
static uint32_t path_step(const struct overview *o, const struct wakeup_node *s, struct path *path,
                          struct path_step *step, struct path_lock *locks)
{
    const struct wakeup_graph *g = &o->graph;
    bool woken = s->cause != MAP_NONE;
    uint32_t before = woken ? s->cause : s->prev;
    uint64_t ns = recorded_ns(o, o->threads[s->thread].process, g->nodes[before].time_ns, s->time_ns);
    *step = (struct path_step){.begin_ns = g->nodes[before].time_ns,
                               .end_ns = s->time_ns,
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
            path_add_holds(g, s, locks);
    } else {
        step->kind = UPMU_PATH_RUNNING;
        step->object = MAP_NONE;
        path->run_ns += ns;
        path_add_holds(g, s, locks);
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

static bool path_walk(struct overview *o, struct path *path, struct path_lock *locks)
{
    const struct wakeup_graph *g = &o->graph;
    struct paths *p = &o->paths;
    uint32_t at = path->last;
    path->first_step = p->n_segments;
    if (at == MAP_NONE)
        return true;
    path->begin_ns = path->end_ns = g->nodes[at].time_ns;
    /* Before a window no time passes. */
    while (g->nodes[at].time_ns > o->window.from_ns &&
           (g->nodes[at].cause != MAP_NONE || g->nodes[at].prev != MAP_NONE)) {
        struct path_step step;
        at = path_step(o, &g->nodes[at], path, &step, locks);
        if (!path_add_parts(o, path, step))
            return false;
    }
    path->begin_ns = g->nodes[at].time_ns;
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
