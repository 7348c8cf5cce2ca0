/* SPDX-License-Identifier: MIT */
/*
 * Samples within constructs of OpenMP: call stacks as the program was written.
 *
 * The events of regions and tasks are read first, into what each thread executes from when on; samples are in the order of another
 * file.
 */
#include "samples/openmp.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "openmp_stacks/constructs.h"
#include "openmp_stacks/fold.h"
#include "openmp_stacks/names.h"
#include "trace/read/bare.h"
#include "upmu/analysis.h"
#include "upmu/trace.h"

enum { NESTED_MAX = 64, TASKS_MAX = 32 };

/* Waits of a thread that have no construct, beside enum upmu_omp_construct. */
enum {
    WAIT_START = 0x100, /* it began a region, and its own part has not begun */
    WAIT_JOIN,          /* its part of a region has ended, and others have not */
    WAIT_IDLE,          /* of a pool, between two regions */
};

/* From `time_ns` on. */
struct openmp_moment {
    uint64_t time_ns;
    uint32_t context, wait;
};

struct openmp_thread {
    uint32_t process;
    pid_t tid;
    uint32_t wait;
    uint32_t outer[TASKS_MAX]; /* waits in which it runs a task */
    size_t tasks;
    struct openmp_moment *all;
    size_t n, cap;
};

struct samples_openmp {
    struct upmu_trace *trace; /* for stacks and the clock */
    struct omp_contexts contexts;
    bool with_runtime;
    struct openmp_thread *threads;
    size_t n_threads, cap_threads;
    struct map by_thread, by_pid; /* by_pid: index of the process in the trace */
    struct omp_steps steps;
    struct omp_frame *frames;
    size_t cap_frames;
    uint32_t *functions; /* of the frames */
    size_t cap_functions;
    char **texts; /* names of constructs and marks */
    size_t n_texts, cap_texts;
    struct map by_text;
};

/* ------------------------------------------------------------------------------------------------------ reading */

static struct openmp_thread *openmp_thread(struct samples_openmp *o, const struct upmu_trace_event *e)
{
    uint32_t found = map_find(&o->by_thread, (uint64_t)e->pid, (uint64_t)e->tid);
    if (found != MAP_NONE && o->threads[found].process == e->process)
        return &o->threads[found];
    if (found == MAP_NONE) {
        struct openmp_thread *all = array_reserve(o->threads, o->n_threads, &o->cap_threads, sizeof *all);
        if (!all)
            return NULL;
        o->threads = all;
        found = (uint32_t)o->n_threads;
        if (!map_put(&o->by_thread, (uint64_t)e->pid, (uint64_t)e->tid, found))
            return NULL;
        all[o->n_threads++] = (struct openmp_thread){.tid = e->tid};
    }
    struct openmp_thread *t = &o->threads[found];
    t->process = e->process; /* after exec() it is another one */
    t->wait = 0;
    t->tasks = 0;
    return map_put(&o->by_pid, (uint64_t)e->pid, 0, e->process) ? t : NULL;
}

static bool openmp_note(struct samples_openmp *o, struct openmp_thread *t, uint64_t now)
{
    uint32_t context = omp_contexts_of(&o->contexts, t->process, t->tid);
    const struct openmp_moment *last = t->n ? &t->all[t->n - 1] : NULL;
    if (context == UINT32_MAX)
        return false;
    if (last ? last->context == context && last->wait == t->wait : context == 0 && t->wait == 0)
        return true;
    struct openmp_moment *all = array_reserve(t->all, t->n, &t->cap, sizeof *all);
    if (!all)
        return false;
    t->all = all;
    all[t->n++] = (struct openmp_moment){now, context, t->wait};
    return true;
}

/* What the thread waits for after its event; `inside`: it is in a region. */
static void openmp_wait(struct openmp_thread *t, const struct upmu_trace_event *e, bool inside)
{
    if (e->kind != UPMU_TRACE_OMP) {
        t->wait = e->kind == UPMU_TRACE_OMP_PARALLEL && e->omp_parallel.threads != 1 ? WAIT_START : 0;
        return;
    }
    switch (e->omp.event) {
    case UPMU_OMP_WAIT:
        t->wait = e->omp.construct;
        break;
    case UPMU_OMP_TASK:
        t->outer[t->tasks < TASKS_MAX ? t->tasks : TASKS_MAX - 1] = t->wait;
        t->tasks++;
        t->wait = 0;
        break;
    case UPMU_OMP_TASK_END:
        t->tasks -= t->tasks > 0;
        t->wait = t->tasks < TASKS_MAX ? t->outer[t->tasks] : 0;
        break;
    case UPMU_OMP_MEMBER_END:
        t->wait = inside ? WAIT_JOIN : WAIT_IDLE;
        break;
    case UPMU_OMP_WAITED:
    case UPMU_OMP_MEMBER:
    case UPMU_OMP_PARALLEL_END:
        t->wait = 0;
        break;
    default:
        break;
    }
}

/* The region that `of` began has ended: its other members are idle. */
static bool openmp_leave(struct samples_openmp *o, struct openmp_thread *t, const struct openmp_thread *of,
                         uint64_t now)
{
    bool inside = t->n && t->all[t->n - 1].context != 0;
    if (t != of && inside && omp_contexts_of(&o->contexts, t->process, t->tid) == 0)
        t->wait = WAIT_IDLE;
    return openmp_note(o, t, now);
}

static bool openmp_event(struct samples_openmp *o, const struct upmu_trace_event *e)
{
    struct upmu_trace_event changed;
    const struct upmu_trace_event *out;
    struct openmp_thread *t = openmp_thread(o, e);
    if (!t || omp_contexts_event(&o->contexts, o->trace, e, &changed, &out) != 0)
        return false;
    openmp_wait(t, e, omp_contexts_of(&o->contexts, t->process, t->tid) != 0);
    bool ends = e->kind == UPMU_TRACE_OMP && e->omp.event == UPMU_OMP_PARALLEL_END;
    for (size_t i = 0; ends && i < o->n_threads; i++) /* all members leave the region */
        if (o->threads[i].process == e->process && !openmp_leave(o, &o->threads[i], t, e->time_ns))
            return false;
    return openmp_note(o, t, e->time_ns);
}

static int openmp_read(struct samples_openmp *o)
{
    static const int kinds[] = {UPMU_TRACE_OMP, UPMU_TRACE_OMP_PARALLEL, UPMU_TRACE_THREAD_EXIT};
    const struct upmu_trace_filter_opts only = {
        .size = sizeof only, .kinds = kinds, .n_kinds = sizeof kinds / sizeof *kinds};
    const struct upmu_trace_event *e;
    int more = 0, rc = upmu_trace_filter(o->trace, &only);
    while (rc == 0 && (more = upmu_trace_next(o->trace, &e)) != 0)
        if (more < 0 && more != UPMU_E_FORMAT) /* the other streams continue after damage */
            rc = more;
        else if (more > 0 && !openmp_event(o, e))
            rc = samples_no_memory();
    return rc;
}

int samples_openmp_open(struct upmu_samples *s, const char *dir, int32_t stacks)
{
    if (stacks == UPMU_STACKS_MACHINE)
        return 0;
    struct samples_openmp *o = calloc(1, sizeof *o);
    if (!o)
        return samples_no_memory();
    o->with_runtime = stacks == UPMU_STACKS_EXPERT;
    s->openmp = o;
    int rc = upmu_trace_open(&o->trace, dir);
    if (rc == UPMU_E_NOMEM)
        return rc;
    return rc == 0 ? openmp_read(o) : 0; /* samples of another process have no trace beside them */
}

void samples_openmp_close(struct samples_openmp *o)
{
    if (!o)
        return;
    for (size_t i = 0; i < o->n_threads; i++)
        free(o->threads[i].all);
    for (size_t i = 0; i < o->n_texts; i++)
        free(o->texts[i]);
    free(o->threads);
    free(o->steps.all);
    free(o->frames);
    free(o->functions);
    free(o->texts);
    map_free(&o->by_thread);
    map_free(&o->by_pid);
    map_free(&o->by_text);
    omp_contexts_free(&o->contexts);
    upmu_trace_close(o->trace);
    free(o);
}

bool samples_openmp_has(const struct upmu_samples *s, uint32_t pid)
{
    uint32_t process = s->openmp ? map_find(&s->openmp->by_pid, pid, 0) : MAP_NONE;
    return process != MAP_NONE && omp_contexts_has(&s->openmp->contexts, process);
}

/* What the thread of a sample did; all zero: nothing, or unknown. */
static struct openmp_moment openmp_at(const struct upmu_samples *s, const struct samples_row *row)
{
    const struct samples_openmp *o = s->openmp;
    const struct samples_thread *of = &s->threads[row->thread];
    uint32_t found = map_find(&o->by_thread, of->pid, of->tid);
    if (found == MAP_NONE)
        return (struct openmp_moment){0};
    const struct openmp_thread *t = &o->threads[found];
    uint64_t time =
        s->header.source == SAMPLING_TIMER ? row->raw_ns : trace_time_of_raw(o->trace, t->process, row->raw_ns);
    size_t low = 0, high = t->n;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (t->all[middle].time_ns <= time)
            low = middle + 1;
        else
            high = middle;
    }
    return low ? t->all[low - 1] : (struct openmp_moment){0};
}

/* ------------------------------------------------------------------------------------------------------ folding */

struct openmp_fold {
    struct upmu_samples *s;
    struct samples_openmp *o;
    const struct space *space;
    struct openmp_moment at;
    int end; /* enum upmu_frame_kind: how a stack without its start ends */
    struct openmp_functions *out;
};

static bool fold_add(const struct openmp_fold *f, uint32_t function)
{
    uint32_t *all = array_reserve(f->out->all, f->out->n, &f->out->cap, sizeof *all);
    if (!all || function == MAP_NONE)
        return false;
    f->out->all = all;
    all[f->out->n++] = function;
    return true;
}

/* A function of this name, which is kept: one for each text. */
static bool fold_add_text(const struct openmp_fold *f, const char *text)
{
    const struct samples_function named = {.name = text, .module_file = MAP_NONE};
    size_t before = f->s->n_functions;
    uint32_t function = samples_function(f->s, &named);
    if (function == MAP_NONE || f->s->n_functions == before)
        return fold_add(f, function);
    char **all = array_reserve(f->o->texts, f->o->n_texts, &f->o->cap_texts, sizeof *all);
    char *copy = all ? strdup(text) : NULL;
    if (all)
        f->o->texts = all;
    if (!copy)
        return false;
    f->s->functions[function].name = all[f->o->n_texts++] = copy;
    return fold_add(f, function);
}

static bool fold_add_mark(const struct openmp_fold *f, int kind)
{
    char text[160];
    snprintf(text, sizeof text, "[%s]", upmu_frame_label(&(struct upmu_symbol){.kind = kind}));
    return fold_add_text(f, text);
}

static bool fold_code(void *arg, uint32_t process, uint64_t site, size_t depth, struct omp_code *out)
{
    const struct openmp_fold *f = arg;
    const struct samples_location *l = samples_locate(f->s, f->space, site, true);
    (void)process;
    if (!l || depth >= l->n)
        return false;
    const struct samples_inlined *i = &f->s->inlined[l->first + depth];
    const struct samples_function *function = &f->s->functions[i->function];
    const char *module = l->file == MAP_NONE ? NULL : f->s->spaces.files[l->file].path;
    *out = (struct omp_code){function->name, module, i->line};
    return true;
}

static bool fold_construct(struct openmp_fold *f, const struct omp_step *step)
{
    char text[OMP_NAME_MAX];
    if (step->context)
        omp_construct_name(&f->o->contexts, step->context, fold_code, f, text);
    else if (step->is_body)
        omp_construct_name_of_body(f->o->frames[step->frame].function, 0, text);
    else
        snprintf(text, sizeof text, "OMP construct");
    return fold_add_text(f, text);
}

/* The function that created a task, unless it is named by the construct. */
static bool fold_creator(const struct openmp_fold *f, uint32_t context)
{
    const struct samples_location *l =
        samples_locate(f->s, f->space, omp_contexts_at(&f->o->contexts, context)->site, true);
    const char *module = l && l->file != MAP_NONE ? f->s->spaces.files[l->file].path : NULL;
    bool ok = l != NULL;
    struct samples_location at = ok ? *l : (struct samples_location){.n = 0};
    for (uint32_t i = 0; i < at.n; i++) {
        const char *name = f->s->functions[f->s->inlined[at.first + i].function].name;
        if (!name || omp_name_is_outlined(name) || omp_name_is_runtime(name, module))
            return true;
    }
    for (uint32_t i = 0; ok && i < at.n; i++)
        ok = fold_add(f, f->s->inlined[at.first + i].function);
    return ok;
}

/* Where the runtime was called last, what it did. */
static bool fold_frame(const struct openmp_fold *f, uint32_t frame)
{
    const struct omp_frame *x = &f->o->frames[frame];
    char text[96];
    if (x->is_mark) {
        f->out->has_gap = true;
        return fold_add_mark(f, f->end);
    }
    if (f->out->n > 0 || f->o->with_runtime || !omp_name_is_runtime(x->function, x->module))
        return fold_add(f, f->o->functions[frame]);
    if (!f->at.wait)
        return fold_add_text(f, "[OMP runtime]");
    static const char *const others[] = {"start", "join", "idle"};
    bool other = f->at.wait >= WAIT_START;
    snprintf(text, sizeof text, "[OMP wait: %s]",
             other ? others[f->at.wait - WAIT_START] : upmu_trace_omp_construct_name(f->at.wait));
    return fold_add_text(f, text);
}

static bool fold_step(struct openmp_fold *f, const struct omp_step *step)
{
    switch (step->kind) {
    case OMP_STEP_FRAME:
        return fold_frame(f, step->frame);
    case OMP_STEP_CONSTRUCT:
        return fold_construct(f, step);
    case OMP_STEP_CREATOR:
        return fold_creator(f, step->context);
    case OMP_STEP_TASK_CALLERS:
        return fold_add_mark(f, UPMU_FRAME_TASK_CALLERS);
    case OMP_STEP_REGION_CALLERS:
        return fold_add_mark(f, UPMU_FRAME_REGION_CALLERS);
    default:
        return true;
    }
}

/* The functions at the addresses as frames, and a mark if callers are missing. @return their number; SIZE_MAX without memory. */
static size_t fold_frames(struct openmp_fold *f, const uint64_t *address, size_t n, bool is_sample, bool whole)
{
    struct samples_openmp *o = f->o;
    size_t k = 0;
    bool is_root = false;
    for (size_t i = 0; i < n; i++) {
        const struct samples_location *l = samples_locate(f->s, f->space, address[i], i > 0 || !is_sample);
        for (uint32_t d = 0; l && d < l->n + 1u; d++) { /* and space for the mark */
            struct omp_frame *frames = array_reserve(o->frames, k + d, &o->cap_frames, sizeof *frames);
            uint32_t *functions = array_reserve(o->functions, k + d, &o->cap_functions, sizeof *functions);
            o->frames = frames ? frames : o->frames;
            o->functions = functions ? functions : o->functions;
            if (!frames || !functions)
                return SIZE_MAX;
        }
        if (!l)
            return SIZE_MAX;
        const char *module = l->file == MAP_NONE ? NULL : f->s->spaces.files[l->file].path;
        for (uint32_t d = 0; d < l->n; d++, k++) {
            o->functions[k] = f->s->inlined[l->first + d].function;
            o->frames[k] = (struct omp_frame){
                .function = f->s->functions[o->functions[k]].name, .module = module, .address = address[i]};
        }
        is_root = l->is_root;
    }
    if (!whole && !is_root && k > 0)
        o->frames[k++] = (struct omp_frame){.is_mark = true, .is_cut = true};
    return k;
}

/* Add the steps of a stack up to where it continues as another one, `*next`; 0: it ends. */
static bool fold_part(struct openmp_fold *f, uint32_t context, size_t n, uint32_t *next)
{
    struct samples_openmp *o = f->o;
    const unsigned how = (o->with_runtime ? OMP_FOLD_RUNTIME : 0u) | (f->out->n ? OMP_FOLD_REST : 0u);
    bool ok = n != SIZE_MAX && omp_fold(&o->contexts, context, how, o->frames, n, &o->steps) == 0;
    *next = 0;
    for (size_t i = 0; ok && i < o->steps.n; i++) {
        const struct omp_step *step = &o->steps.all[i];
        bool is_end = i + 1 == o->steps.n && step->kind == OMP_STEP_FRAME && o->frames[step->frame].is_mark;
        ok = is_end || fold_step(f, step); /* how it ends is a state of the sample */
        *next = step->kind == OMP_STEP_STACK ? step->stack : 0;
    }
    return ok;
}

bool samples_openmp_fold(struct upmu_samples *s, const struct space *space, const struct samples_stack *in, size_t n,
                         const struct samples_row *row, struct openmp_functions *out)
{
    const int end = in->cut ? UPMU_FRAME_TRUNCATED : UPMU_FRAME_LOST;
    struct openmp_fold f = {s, s->openmp, space, openmp_at(s, row), end, out};
    uint32_t next, context, process = map_find(&s->openmp->by_pid, s->threads[row->thread].pid, 0);
    out->n = 0;
    out->is_joined = out->is_whole = out->has_gap = false;
    bool ok = fold_part(&f, f.at.context, fold_frames(&f, in->address, n, true, in->is_whole && n == in->n), &next);
    for (int i = 0; ok && next != 0 && i < NESTED_MAX; i++) {
        struct upmu_trace_stack found = {.size = sizeof found};
        uint32_t recorded = omp_contexts_stack(&f.o->contexts, process, next, &context);
        if (upmu_trace_stack_find(f.o->trace, process, recorded, &found) != 0)
            return fold_add_mark(&f, UPMU_FRAME_REGION_CALLERS);
        f.end = UPMU_FRAME_TRUNCATED;
        out->is_joined = true;
        out->is_whole = !found.truncated;
        ok = fold_part(&f, context, fold_frames(&f, found.frames, found.n_frames, false, !found.truncated), &next);
    }
    return ok;
}
