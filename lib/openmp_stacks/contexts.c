/* SPDX-License-Identifier: MIT */
/*
 * The constructs of OpenMP that each thread executes.
 *
 * A thread has a frame for each region and task that it is in. It keeps that of a region until the region ends, also after its own
 * part of it: until then it may run tasks of the region. LLVM's runtime reports the end of a pool thread's part when it begins the
 * next one.
 */
#include "openmp_stacks/contexts.h"

#include <stdlib.h>
#include <string.h>

#include "base/error.h"

enum { NONE = UINT32_MAX };

struct context_frame {
    uint32_t kind, stack, context; /**< NONE: not looked up yet */
    uint64_t region, site, call;
};

struct omp_context_thread {
    uint32_t process;
    struct context_frame *frames;
    size_t n, cap;
    uint64_t since_ns; /**< of the last change */
};

/** A region that runs. */
struct omp_context_region {
    uint64_t id, site, call;
    uint32_t process, stack;
    uint32_t *members; /**< threads */
    size_t n, cap;
};

static int contexts_no_memory(void)
{
    return upmu_fail(UPMU_E_NOMEM, "out of memory while reading OpenMP events");
}

static uint64_t contexts_mix(uint64_t h, uint64_t value)
{
    h = (h ^ value) * UINT64_C(0x9e3779b97f4a7c15);
    return h ^ h >> 29;
}

/* The context with these contents; NONE without memory. Equal hashes use consecutive keys. */
static uint32_t context_intern(struct omp_contexts *c, struct omp_context of)
{
    const struct omp_context *parent = omp_contexts_at(c, of.parent);
    of.hash = contexts_mix(contexts_mix(contexts_mix(parent ? parent->hash : of.process, of.kind), of.site), of.stack);
    for (uint64_t key = of.hash;; key++) {
        uint32_t found = map_find(&c->by_hash, key, of.process);
        if (found == MAP_NONE) {
            struct omp_context *all = array_reserve(c->all, c->n, &c->cap, sizeof *all);
            if (!all)
                return NONE;
            c->all = all;
            if (!map_put(&c->by_hash, key, of.process, (uint32_t)c->n + 1))
                return NONE;
            all[c->n++] = of;
            return (uint32_t)c->n;
        }
        const struct omp_context *x = omp_contexts_at(c, found);
        if (x && x->parent == of.parent && x->kind == of.kind && x->site == of.site && x->stack == of.stack)
            return found;
    }
}

/* What a thread executes; looked up when a stack is in it. */
static uint32_t thread_context(struct omp_contexts *c, const struct omp_context_thread *t)
{
    uint32_t context = 0;
    for (size_t i = 0; i < t->n; i++) {
        struct context_frame *f = &t->frames[i];
        if (f->context == NONE)
            f->context = context_intern(c, (struct omp_context){.process = t->process,
                                                                .kind = f->kind,
                                                                .parent = context,
                                                                .stack = f->stack,
                                                                .site = f->site,
                                                                .call = f->call});
        if (f->context == NONE)
            return NONE;
        context = f->context;
    }
    return context;
}

static struct omp_context_thread *contexts_thread(struct omp_contexts *c, uint32_t process, pid_t tid, bool make)
{
    uint32_t found = map_find(&c->by_thread, process, (uint64_t)tid);
    if (found != MAP_NONE)
        return &c->threads[found];
    struct omp_context_thread *all =
        make ? array_reserve(c->threads, c->n_threads, &c->cap_threads, sizeof *all) : NULL;
    if (!all)
        return NULL;
    c->threads = all;
    if (!map_put(&c->by_thread, process, (uint64_t)tid, (uint32_t)c->n_threads))
        return NULL;
    all[c->n_threads] = (struct omp_context_thread){.process = process};
    return &all[c->n_threads++];
}

/* ------------------------------------------------------------------------------------------------------- stacks */

/* The id of a stack within a context, in the upper half of the numbers: those of the recorder are small. */
static uint32_t stack_intern(struct omp_contexts *c, uint32_t process, uint32_t stack, uint32_t context)
{
    uint64_t hash = contexts_mix(omp_contexts_at(c, context)->hash, stack);
    for (uint32_t id = (uint32_t)(hash >> 32) | 0x80000000u;; id = (id + 1) | 0x80000000u) {
        uint32_t found = map_find(&c->by_id, process, id);
        if (found == MAP_NONE) {
            struct omp_stack *all = array_reserve(c->stacks, c->n_stacks, &c->cap_stacks, sizeof *all);
            if (!all)
                return 0;
            c->stacks = all;
            if (!map_put(&c->by_id, process, id, (uint32_t)c->n_stacks))
                return 0;
            all[c->n_stacks++] = (struct omp_stack){process, id, stack, context};
            return id;
        }
        if (c->stacks[found].stack == stack && c->stacks[found].context == context)
            return id;
    }
}

uint32_t omp_contexts_stack(const struct omp_contexts *c, size_t process, uint32_t id, uint32_t *context)
{
    uint32_t found = map_find(&c->by_id, process, id);
    *context = found == MAP_NONE ? 0 : c->stacks[found].context;
    return found == MAP_NONE ? id : c->stacks[found].stack;
}

/* Replace `*stack` by the id of it within what the thread executes. */
static int stack_place(struct omp_contexts *c, const struct omp_context_thread *t, uint32_t *stack)
{
    uint32_t context = *stack != 0 ? thread_context(c, t) : 0;
    if (context == 0)
        return 0;
    uint32_t id = context == NONE ? 0 : stack_intern(c, t->process, *stack, context);
    if (id == 0)
        return contexts_no_memory();
    *stack = id;
    return 0;
}

/* ------------------------------------------------------------------------------------------------- regions, tasks */

/* Few regions run at once. */
static struct omp_context_region *contexts_region(const struct omp_contexts *c, uint32_t process, uint64_t id)
{
    for (size_t i = c->n_regions; i > 0; i--)
        if (c->regions[i - 1].id == id && c->regions[i - 1].process == process)
            return &c->regions[i - 1];
    return NULL;
}

static int frame_push(struct omp_context_thread *t, const struct context_frame *f, uint64_t now)
{
    struct context_frame *all = array_reserve(t->frames, t->n, &t->cap, sizeof *all);
    if (!all)
        return contexts_no_memory();
    t->frames = all;
    all[t->n++] = *f;
    t->since_ns = now;
    return 0;
}

static int member_begin(struct omp_contexts *c, struct omp_context_thread *t, uint64_t id, uint64_t now)
{
    struct omp_context_region *r = contexts_region(c, t->process, id);
    uint32_t *members = r ? array_reserve(r->members, r->n, &r->cap, sizeof *members) : NULL;
    if (!r) /* its begin is lost: nothing is known of it */
        return 0;
    if (!members)
        return contexts_no_memory();
    r->members = members;
    members[r->n++] = (uint32_t)(t - c->threads);
    return frame_push(t,
                      &(struct context_frame){.kind = OMP_CONTEXT_REGION,
                                              .stack = r->stack,
                                              .context = NONE,
                                              .region = id,
                                              .site = r->site,
                                              .call = r->call},
                      now);
}

static int region_begin(struct omp_contexts *c, const struct upmu_trace *trace, const struct upmu_trace_event *e)
{
    struct upmu_trace_stack found = {.size = sizeof found};
    struct omp_context_thread *t = contexts_thread(c, e->process, e->tid, true);
    uint32_t stack = e->stack;
    bool known = t && stack && upmu_trace_stack_find(trace, e->process, stack, &found) == 0 && found.n_frames > 0;
    struct omp_context_region *all = array_reserve(c->regions, c->n_regions, &c->cap_regions, sizeof *all);
    if (!t || !all || stack_place(c, t, &stack) != 0 || !map_put(&c->by_process, e->process, 0, 1))
        return contexts_no_memory();
    c->regions = all;
    all[c->n_regions++] = (struct omp_context_region){.id = e->omp_parallel.region,
                                                      .site = e->site,
                                                      .call = known ? found.frames[0] : 0,
                                                      .process = e->process,
                                                      .stack = stack};
    return e->omp_parallel.threads == 1 ? member_begin(c, t, e->omp_parallel.region, e->time_ns) : 0;
}

static void region_end(struct omp_contexts *c, uint32_t process, uint64_t id, uint64_t now)
{
    struct omp_context_region *r = contexts_region(c, process, id);
    for (size_t i = 0; r && i < r->n; i++) {
        struct omp_context_thread *t = &c->threads[r->members[i]];
        size_t n = t->n;
        while (n > 0 && t->frames[n - 1].region != id)
            n--;
        if (n == 0)
            continue;
        t->n = n - 1;
        t->since_ns = now;
    }
    if (!r)
        return;
    free(r->members);
    *r = c->regions[--c->n_regions];
}

static void task_end(struct omp_context_thread *t, uint64_t now)
{
    size_t n = t->n;
    while (n > 0 && t->frames[n - 1].kind != OMP_CONTEXT_TASK)
        n--;
    if (n == 0)
        return;
    t->n = n - 1;
    t->since_ns = now;
}

static int contexts_omp(struct omp_contexts *c, const struct upmu_trace_event *e)
{
    struct omp_context_thread *t;
    switch (e->omp.event) {
    case UPMU_OMP_PARALLEL_END:
        region_end(c, e->process, e->omp.value, e->time_ns);
        return 0;
    case UPMU_OMP_MEMBER:
        t = contexts_thread(c, e->process, e->tid, true);
        return t ? member_begin(c, t, e->omp.value, e->time_ns) : contexts_no_memory();
    case UPMU_OMP_TASK:
        t = contexts_thread(c, e->process, e->tid, true);
        return t ? frame_push(t,
                              &(struct context_frame){.kind = OMP_CONTEXT_TASK, .context = NONE, .site = e->omp.value},
                              e->time_ns)
                 : contexts_no_memory();
    case UPMU_OMP_TASK_END:
        t = contexts_thread(c, e->process, e->tid, false);
        if (t)
            task_end(t, e->time_ns);
        return 0;
    default:
        return 0;
    }
}

/* ------------------------------------------------------------------------------------------------------- events */

int omp_contexts_event(struct omp_contexts *c, const struct upmu_trace *trace, const struct upmu_trace_event *e,
                       struct upmu_trace_event *changed, const struct upmu_trace_event **out)
{
    *out = e;
    if (e->kind == UPMU_TRACE_OMP_PARALLEL)
        return region_begin(c, trace, e);
    if (e->kind == UPMU_TRACE_OMP)
        return contexts_omp(c, e);
    if (c->n_threads == 0)
        return 0;
    struct omp_context_thread *t = contexts_thread(c, e->process, e->tid, false);
    if (t && e->kind == UPMU_TRACE_THREAD_EXIT)
        t->n = 0;
    /* The holder acquired the lock within what it executes now, if it has not begun or ended anything since. */
    const struct omp_context_thread *holder =
        e->kind == UPMU_TRACE_LOCK_BLOCK && e->lock_block.holder_stack && e->lock_block.holder_since
            ? contexts_thread(c, e->process, e->lock_block.holder, false)
            : NULL;
    bool of_holder = holder && holder->n > 0 && holder->since_ns <= e->lock_block.holder_since;
    bool of_thread = t && t->n > 0 && e->stack != 0;
    if (!of_holder && !of_thread)
        return 0;
    *changed = *e;
    *out = changed;
    int rc = of_thread ? stack_place(c, t, &changed->stack) : 0;
    return rc == 0 && of_holder ? stack_place(c, holder, &changed->lock_block.holder_stack) : rc;
}

bool omp_contexts_has(const struct omp_contexts *c, size_t process)
{
    return map_find(&c->by_process, process, 0) != MAP_NONE;
}

uint32_t omp_contexts_of(struct omp_contexts *c, uint32_t process, pid_t tid)
{
    const struct omp_context_thread *t = contexts_thread(c, process, tid, false);
    return t ? thread_context(c, t) : 0;
}

void omp_contexts_free(struct omp_contexts *c)
{
    for (size_t i = 0; i < c->n_threads; i++)
        free(c->threads[i].frames);
    for (size_t i = 0; i < c->n_regions; i++)
        free(c->regions[i].members);
    free(c->all);
    free(c->stacks);
    free(c->threads);
    free(c->regions);
    map_free(&c->by_hash);
    map_free(&c->by_id);
    map_free(&c->by_thread);
    map_free(&c->by_process);
    *c = (struct omp_contexts){0};
}
