/* SPDX-License-Identifier: MIT */
/* Call stacks of OpenMP programs in terms of their source, without frames of the runtime and outlined functions. */
#include "analysis/openmp_frames.h"

#include <stdlib.h>
#include <string.h>

#include "analysis/public.h"
#include "analysis/stack_frames.h"
#include "openmp_stacks/constructs.h"
#include "openmp_stacks/fold.h"
#include "openmp_stacks/names.h"

enum { NESTED_MAX = 64 };
enum { OF_CONTEXT, OF_BODY }; /* construct_keep(): and the process */

/* ------------------------------------------------------------------------------------------------------- names */

static bool construct_code(void *arg, uint32_t process, uint64_t site, size_t depth, struct omp_code *out)
{
    struct location l;
    if (location_find(arg, process, site, &l) != 0 || depth >= l.n_frames)
        return false;
    *out = (struct omp_code){l.frames[depth].function, l.symbol.module, l.frames[depth].line};
    return true;
}

/* Texts live as long as the overview. */
static const char *construct_keep(struct lookup *l, uint64_t key, uint64_t kind, const char *text)
{
    char **all = array_reserve(l->constructs, l->n_constructs, &l->cap_constructs, sizeof *all);
    if (!all)
        return NULL;
    l->constructs = all;
    all[l->n_constructs] = strdup(text);
    if (!all[l->n_constructs])
        return NULL;
    uint32_t index = (uint32_t)l->n_constructs++;
    return map_put(&l->by_construct, key, kind, index) ? all[index] : NULL;
}

static const char *construct_known(const struct lookup *l, uint64_t key, uint64_t kind)
{
    uint32_t known = map_find(&l->by_construct, key, kind);
    return known == MAP_NONE ? NULL : l->constructs[known];
}

/* The name of a construct that a thread has executed; contexts are kept by index. */
static const char *construct_name(struct upmu_overview *o, uint32_t context)
{
    const char *known = construct_known(o->lookup, context, OF_CONTEXT);
    char text[OMP_NAME_MAX];
    if (known)
        return known;
    omp_construct_name(&o->omp, context, construct_code, o, text);
    return construct_keep(o->lookup, context, OF_CONTEXT, text);
}

/* The name of a construct by the function that a compiler has made of its body: it begins at the line of the construct. */
static const char *construct_name_of_body(const struct upmu_overview *o, size_t process, const struct upmu_symbol *body)
{
    struct upmu_trace_module m;
    struct symbol_code code;
    struct location l;
    uint32_t index, line = 0;
    uint64_t call = body->address - 1;
    char text[OMP_NAME_MAX];
    const char *known = construct_known(o->lookup, body->address, OF_BODY + process);
    if (known)
        return known;
    if (location_module(o, process, call, &m) && symbols_module(o->lookup->symbols, m.path, m.build_id, &index) == 0 &&
        symbols_code(o->lookup->symbols, index, call - m.base, &code) == 0 &&
        location_find(o, process, m.base + code.begin + 1, &l) == 0 && l.n_frames > 0)
        line = l.frames[l.n_frames - 1].line;
    omp_construct_name_of_body(body->function, line, text);
    return construct_keep(o->lookup, body->address, OF_BODY + process, text);
}

/* ------------------------------------------------------------------------------------------------------ frames */

struct openmp_frames {
    struct upmu_overview *o;
    size_t process;
    const struct frame_list *raw;
    struct frame_list *out;
};

static int frames_construct(const struct openmp_frames *f, const struct omp_step *step)
{
    const struct omp_context *c = omp_contexts_at(&f->o->omp, step->context);
    struct upmu_symbol s = {.kind = UPMU_FRAME_CODE, .problem = ""};
    struct location l;
    if (step->is_body) /* the line that is executed in it */
        s = f->raw->all[step->frame];
    else if (c && location_find(f->o, f->process, c->site, &l) == 0)
        s = location_symbol_at(f->o, &l, 0);
    s.kind = UPMU_FRAME_CODE;
    s.inlined = 0;
    s.wrapper = 0;
    s.previous = NULL;
    if (c)
        s.function = construct_name(f->o, step->context);
    else
        s.function = step->is_body ? construct_name_of_body(f->o, f->process, &s) : "OMP construct";
    return s.function ? frame_list_add(f->out, &s) : overview_no_memory();
}

/* LLVM's runtime gives where the task was created, libgomp only its function. */
static int frames_creator(const struct openmp_frames *f, const struct omp_step *step)
{
    const struct omp_context *c = omp_contexts_at(&f->o->omp, step->context);
    struct location l;
    if (location_find(f->o, f->process, c->site, &l) != 0 || l.n_frames == 0)
        return 0;
    for (size_t i = 0; i < l.n_frames; i++)
        if (omp_name_is_outlined(l.frames[i].function) || omp_name_is_runtime(l.frames[i].function, l.symbol.module))
            return 0; /* named by the construct */
    return frame_list_add_address(f->o, f->process, c->site, f->out);
}

static int frames_mark(const struct openmp_frames *f, int kind)
{
    const struct upmu_symbol s = {.kind = kind, .problem = ""};
    return frame_list_add(f->out, &s);
}

static int frames_step(const struct openmp_frames *f, const struct omp_step *step)
{
    switch (step->kind) {
    case OMP_STEP_FRAME:
        return frame_list_add(f->out, &f->raw->all[step->frame]);
    case OMP_STEP_CONSTRUCT:
        return frames_construct(f, step);
    case OMP_STEP_CREATOR:
        return frames_creator(f, step);
    case OMP_STEP_TASK_CALLERS:
        return frames_mark(f, UPMU_FRAME_TASK_CALLERS);
    case OMP_STEP_REGION_CALLERS:
        return frames_mark(f, UPMU_FRAME_REGION_CALLERS);
    default: /* OMP_STEP_STACK: the caller continues with that stack */
        return 0;
    }
}

static int frames_fold(struct upmu_overview *o, const struct frame_list *raw, uint32_t context, unsigned how,
                       struct omp_steps *out)
{
    struct omp_frame *frames = calloc(raw->n + 1, sizeof *frames);
    if (!frames)
        return overview_no_memory();
    for (size_t i = 0; i < raw->n; i++) {
        const struct upmu_symbol *s = &raw->all[i];
        frames[i] = (struct omp_frame){.function = s->function,
                                       .module = s->module,
                                       .address = s->address,
                                       .is_mark = s->kind >= UPMU_FRAME_TRUNCATED,
                                       .is_cut = s->kind >= UPMU_FRAME_TRUNCATED && s->kind <= UPMU_FRAME_ONLY_SITE};
    }
    int rc = omp_fold(&o->omp, context, how, frames, raw->n, out);
    free(frames);
    return rc;
}

/* Add a stack up to where it continues as another one, `*next`; 0: it ends. */
static int frames_add_part(struct upmu_overview *o, size_t process, uint32_t id, struct frame_list *out, uint32_t *next)
{
    struct upmu_trace_stack found = {.size = sizeof found};
    struct frame_list raw = {0};
    struct omp_steps steps = {0};
    uint32_t context;
    const struct openmp_frames f = {o, process, &raw, out};
    uint32_t recorded = omp_contexts_stack(&o->omp, process, id, &context);
    const unsigned how = (o->stacks == UPMU_STACKS_EXPERT ? OMP_FOLD_RUNTIME : 0u) | (out->n ? OMP_FOLD_REST : 0u);
    *next = 0;
    if (upmu_trace_stack_find(o->trace, process, recorded, &found) != 0)
        return UPMU_E_END;
    if (!omp_contexts_has(&o->omp, process))
        return frame_list_add_stack(o, process, &found, out);
    int rc = frame_list_add_stack(o, process, &found, &raw);
    if (rc == 0)
        rc = frames_fold(o, &raw, context, how, &steps);
    for (size_t i = 0; rc == 0 && i < steps.n; i++) {
        rc = frames_step(&f, &steps.all[i]);
        if (steps.all[i].kind == OMP_STEP_STACK)
            *next = steps.all[i].stack;
    }
    free(raw.all);
    free(steps.all);
    return rc;
}

int openmp_frames_add(struct upmu_overview *o, size_t process, uint32_t stack, struct frame_list *out)
{
    const struct openmp_frames f = {o, process, NULL, out};
    uint32_t next;
    int rc = frames_add_part(o, process, stack, out, &next);
    for (int i = 0; rc == 0 && next != 0; i++) {
        rc = i < NESTED_MAX ? frames_add_part(o, process, next, out, &next) : UPMU_E_END;
        if (rc == UPMU_E_END) /* it is lost, or too deep */
            return frames_mark(&f, i < NESTED_MAX ? UPMU_FRAME_REGION_CALLERS : UPMU_FRAME_TRUNCATED);
    }
    return rc;
}

int openmp_frame_name(struct upmu_overview *o, size_t process, uint32_t stack, struct upmu_symbol *s)
{
    struct frame_list list = {0};
    if (!omp_contexts_has(&o->omp, process) || !omp_name_is_outlined(s->function))
        return 0;
    int rc = stack ? openmp_frames_add(o, process, stack, &list) : UPMU_E_END;
    const char *name = NULL;
    /* The construct is at the same address, in place of the function. */
    for (size_t i = 0; rc == 0 && !name && i < list.n; i++)
        if (list.all[i].address == s->address && list.all[i].kind == UPMU_FRAME_CODE && list.all[i].function &&
            strstr(list.all[i].function, "OMP "))
            name = list.all[i].function;
    free(list.all);
    if (rc != 0 && rc != UPMU_E_END)
        return rc;
    s->function = name ? name : construct_name_of_body(o, process, s);
    return s->function ? 0 : overview_no_memory();
}
