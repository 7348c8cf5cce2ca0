/* SPDX-License-Identifier: MIT */
/*
 * Call stacks of OpenMP programs as they were written.
 *
 * The body of a construct is called by the runtime, in any thread: outside of it the stack continues where the construct was begun.
 * A body may be missing on the stack: compilers inline it, or it has left by a tail call. Which construct a body belongs to is
 * verified by the callers as far as they are on the stack; if they contradict, or nothing is known, the stack itself is all that
 * is used.
 */
#include "openmp_stacks/fold.h"

#include <string.h>

#include "base/error.h"
#include "openmp_stacks/names.h"

/* A body, and what called it. */
struct fold_body {
    size_t first, last;     /* of the functions that a compiler has made of it; none if first > last */
    size_t runtime, caller; /* the first frame of the runtime around it, and the first one outside of that; n: none */
    uint32_t kind;          /* enum omp_context_kind; 0: not known by the stack */
    bool is_base;           /* a thread of the runtime has called it */
};

struct fold {
    const struct omp_contexts *contexts;
    const struct omp_frame *frames;
    size_t n;
    bool with_runtime, is_whole;
    struct omp_steps *out;
};

static int fold_step(const struct fold *f, struct omp_step step)
{
    struct omp_step *all = array_reserve(f->out->all, f->out->n, &f->out->cap, sizeof *all);
    if (!all)
        return upmu_fail(UPMU_E_NOMEM, "out of memory while reading call stacks");
    f->out->all = all;
    all[f->out->n++] = step;
    return 0;
}

static bool fold_is_runtime(const struct fold *f, size_t i)
{
    const struct omp_frame *x = &f->frames[i];
    return !x->is_mark && omp_name_is_runtime(x->function, x->module);
}

static bool fold_is_outlined(const struct fold *f, size_t i)
{
    return i < f->n && !f->frames[i].is_mark && omp_name_is_outlined(f->frames[i].function);
}

/* Frames, those of the runtime only if they are wanted. Where it is called last, its outermost function is what the program calls. */
static int fold_frames(const struct fold *f, size_t from, size_t to)
{
    int rc = 0;
    for (size_t i = from; rc == 0 && i < to; i++) {
        bool leaf = f->is_whole && from == 0 && f->out->n == 0 && (i + 1 == f->n || !fold_is_runtime(f, i + 1));
        if (f->with_runtime || leaf || !fold_is_runtime(f, i))
            rc = fold_step(f, (struct omp_step){.kind = OMP_STEP_FRAME, .frame = (uint32_t)i});
    }
    return rc;
}

/* The frame that calls bodies, as far as it has a name. */
static uint32_t fold_kind(const char *function)
{
    if (!function)
        return 0;
    if (strcmp(function, "team_run") == 0 || strcmp(function, "__kmp_invoke_microtask") == 0)
        return OMP_CONTEXT_REGION;
    return strcmp(function, "task_run") == 0 ? OMP_CONTEXT_TASK : 0;
}

static bool fold_is_base(const struct fold *f, size_t i)
{
    bool any = false;
    for (; i < f->n; i++) {
        if (!f->frames[i].is_mark && !omp_name_is_start(f->frames[i].function, f->frames[i].module))
            return false;
        any |= !f->frames[i].is_mark;
    }
    return any;
}

/* What is around the body whose outermost function is before `at`. */
static void fold_surround(const struct fold *f, size_t at, struct fold_body *b)
{
    b->runtime = b->caller = at;
    while (b->caller < f->n && fold_is_runtime(f, b->caller))
        b->caller++;
    b->kind = b->caller > at ? fold_kind(f->frames[at].function) : 0;
    b->is_base = b->caller > at && fold_is_base(f, b->caller);
    if (b->caller < f->n && f->frames[b->caller].is_mark)
        b->caller = f->n;
}

/* The next body from frame `from` on. Code that the runtime calls is one if a compiler has made it, or the runtime calls bodies there;
 * its allocations may be functions of the program, too. */
static bool fold_find(const struct fold *f, size_t from, uint32_t context, struct fold_body *b)
{
    const struct omp_context *c = omp_contexts_at(f->contexts, context);
    for (size_t i = from; i < f->n; i++) {
        if (fold_is_outlined(f, i)) {
            b->first = b->last = i;
            while (fold_is_outlined(f, b->last + 1) &&
                   omp_name_is_same_body(f->frames[b->last].function, f->frames[b->last + 1].function))
                b->last++;
            fold_surround(f, b->last + 1, b);
            if (strstr(f->frames[b->last].function, ".omp_task"))
                b->kind = OMP_CONTEXT_TASK;
            return true;
        }
        if (i + 1 >= f->n || fold_is_runtime(f, i) || !fold_is_runtime(f, i + 1))
            continue;
        const char *function = f->frames[i + 1].function;
        if (fold_kind(function) || (!function && c && c->kind == OMP_CONTEXT_TASK)) {
            b->first = i + 1;
            b->last = i;
            fold_surround(f, i + 1, b);
            return true;
        }
    }
    return false;
}

/* Whether the region was begun where the body is called; between them may be a wrapper of libgomp's function. */
static bool fold_is_called(const struct fold *f, const struct fold_body *b, const struct omp_context *c)
{
    for (size_t i = b->runtime; i <= b->caller; i++)
        if (f->frames[i].address == c->call)
            return true;
    return b->caller == b->runtime; /* without the runtime */
}

/* The construct of a body that `context` is, or is within; 0: none that is certain. */
static uint32_t fold_match(const struct fold *f, const struct fold_body *b, uint32_t context)
{
    const struct omp_context *c;
    for (uint32_t at = context; (c = omp_contexts_at(f->contexts, at)) != NULL; at = c->parent) {
        if (b->kind && c->kind != b->kind)
            continue;
        if (c->kind == OMP_CONTEXT_TASK || (!b->is_base && b->caller == f->n))
            return at;
        /* The thread's outermost body: the parts of other regions that it still is in are within its function. */
        if (b->is_base ? !omp_contexts_at(f->contexts, c->parent) : fold_is_called(f, b, c))
            return at;
    }
    return 0;
}

/* Whether the runtime has run the task where it was created: then the callers are those of the task. */
static bool fold_is_at_once(const struct fold *f, const struct fold_body *b, const struct omp_context *c)
{
    bool creates = b->caller == b->runtime; /* called without the runtime */
    if (b->caller == f->n)
        return false;
    if (c && f->frames[b->caller].address == c->site)
        return true;
    for (size_t i = b->runtime; i < b->caller; i++) {
        const char *function = f->frames[i].function;
        bool creator = function && strcmp(function, "GOMP_task") == 0;
        if (!creator && !(function && strcmp(function, "task_run") == 0))
            return false;
        creates |= creator;
    }
    return creates;
}

static int fold_construct(const struct fold *f, const struct fold_body *b, uint32_t context)
{
    bool is_body = b->first <= b->last;
    return fold_step(f, (struct omp_step){.kind = OMP_STEP_CONSTRUCT,
                                          .is_body = is_body,
                                          .frame = (uint32_t)(is_body ? b->first : b->runtime),
                                          .context = context});
}

/* The rest of the stack: where the region was begun. */
static int fold_region(const struct fold *f, uint32_t context)
{
    const struct omp_context *c = omp_contexts_at(f->contexts, context);
    if (c->stack)
        return fold_step(f, (struct omp_step){.kind = OMP_STEP_STACK, .stack = c->stack});
    return fold_step(f, (struct omp_step){.kind = OMP_STEP_REGION_CALLERS});
}

/* The rest of the stack of a task that is run later: who created it, and the region that it belongs to. */
static int fold_task(const struct fold *f, uint32_t context)
{
    const struct omp_context *c = omp_contexts_at(f->contexts, context);
    int rc = fold_step(f, (struct omp_step){.kind = OMP_STEP_CREATOR, .context = context});
    if (rc == 0)
        rc = fold_step(f, (struct omp_step){.kind = OMP_STEP_TASK_CALLERS});
    uint32_t at = c->parent;
    while ((c = omp_contexts_at(f->contexts, at)) != NULL && c->kind != OMP_CONTEXT_REGION)
        at = c->parent;
    if (rc != 0 || !c)
        return rc;
    rc = fold_step(f, (struct omp_step){.kind = OMP_STEP_CONSTRUCT, .frame = UINT32_MAX, .context = at});
    return rc == 0 ? fold_region(f, at) : rc;
}

/* A body whose construct is not known. @return whether its callers are on the stack. */
static bool fold_has_callers(const struct fold *f, const struct fold_body *b)
{
    bool region = b->kind == OMP_CONTEXT_REGION || (b->kind == 0 && b->caller == b->runtime);
    return b->caller < f->n && !b->is_base && (region || fold_is_at_once(f, b, NULL));
}

int omp_fold(const struct omp_contexts *c, uint32_t context, unsigned how, const struct omp_frame *frames, size_t n,
             struct omp_steps *out)
{
    const bool with_runtime = how & OMP_FOLD_RUNTIME;
    const struct fold f = {c, frames, n, with_runtime, !(how & OMP_FOLD_REST), out};
    struct fold_body b;
    size_t at = 0;
    bool agrees = true;
    int rc = 0;
    out->n = 0;
    while (rc == 0 && fold_find(&f, at, context, &b)) {
        uint32_t found = fold_match(&f, &b, context);
        const struct omp_context *of = omp_contexts_at(c, found);
        bool callers = of ? of->kind == OMP_CONTEXT_TASK && fold_is_at_once(&f, &b, of) : fold_has_callers(&f, &b);
        rc = fold_frames(&f, at, b.first);
        if (rc == 0)
            rc = fold_construct(&f, &b, found);
        if (rc == 0 && with_runtime)
            rc = fold_frames(&f, b.runtime, b.caller);
        if (rc == 0 && of && !callers)
            return of->kind == OMP_CONTEXT_TASK ? fold_task(&f, found) : fold_region(&f, found);
        if (rc == 0 && !callers)
            return fold_step(&f, (struct omp_step){.kind = b.kind == OMP_CONTEXT_TASK ? OMP_STEP_TASK_CALLERS
                                                                                      : OMP_STEP_REGION_CALLERS});
        agrees &= of != NULL;
        context = of ? of->parent : context;
        at = b.caller;
    }
    rc = rc == 0 ? fold_frames(&f, at, n) : rc;
    /* Cut before the innermost body: what is missing is within the construct. */
    const struct omp_context *of = omp_contexts_at(c, context);
    if (rc != 0 || !of || !agrees || n == 0 || !frames[n - 1].is_cut)
        return rc;
    rc = fold_step(&f, (struct omp_step){.kind = OMP_STEP_CONSTRUCT, .frame = UINT32_MAX, .context = context});
    if (rc != 0)
        return rc;
    return of->kind == OMP_CONTEXT_TASK ? fold_task(&f, context) : fold_region(&f, context);
}
