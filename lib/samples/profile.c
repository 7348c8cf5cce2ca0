/* SPDX-License-Identifier: MIT */
/* Call paths and functions of samples, summed up. */
#include <stdlib.h>

#include "samples/openmp.h"

/* One function for all of the kernel. */
static const struct samples_function profile_kernel = {.name = "[kernel]", .module_file = MAP_NONE};
/* What the virtual machine does for a method. */
static const struct samples_function profile_java_runtime = {.name = "[Java runtime]", .module_file = MAP_NONE};

static uint32_t profile_child(struct upmu_samples *s, uint32_t parent, uint32_t function)
{
    uint32_t i = map_find(&s->by_child, parent, function);
    if (i != MAP_NONE)
        return i;
    struct samples_path *all = array_reserve(s->paths, s->n_paths, &s->cap_paths, sizeof *all);
    if (!all)
        return MAP_NONE;
    s->paths = all;
    i = (uint32_t)s->n_paths;
    if (!map_put(&s->by_child, parent, function, i))
        return MAP_NONE;
    all[i] = (struct samples_path){
        .function = function, .parent = parent, .next = all[parent].child, .depth = all[parent].depth + 1};
    all[parent].child = i;
    s->n_paths++;
    return i;
}

/* Code without frame pointers uses that register for data: a caller that is no code ends the stack. @return frames up to it. */
static size_t profile_frames(struct upmu_samples *s, const struct space *space, const struct samples_stack *in)
{
    size_t n = in->n ? 1 : 0;
    while (n < in->n && spaces_find(&s->spaces, space, in->address[n] - 1).file != MAP_NONE)
        n++;
    return n;
}

/* Of a code path, which only annotations need; `location` is MAP_NONE in the kernel. */
static uint32_t profile_code(struct upmu_samples *s, uint32_t parent, uint32_t location)
{
    if (!s->with_code)
        return 0;
    uint32_t i = map_find(&s->by_code, parent, location);
    if (i != MAP_NONE)
        return i;
    struct samples_code *all = array_reserve(s->codes, s->n_codes, &s->cap_codes, sizeof *all);
    if (!all)
        return MAP_NONE;
    s->codes = all;
    i = (uint32_t)s->n_codes;
    if (!map_put(&s->by_code, parent, location, i))
        return MAP_NONE;
    all[s->n_codes++] = (struct samples_code){.location = location, .parent = parent};
    return i;
}

static bool profile_step(struct upmu_samples *s, struct samples_row *row, const struct samples_location *l)
{
    for (uint32_t k = l->n; k-- > 0 && row->path != MAP_NONE;)
        row->path = profile_child(s, row->path, s->inlined[l->first + k].function);
    row->code = profile_code(s, row->code, (uint32_t)(l - s->locations));
    return row->path != MAP_NONE && row->code != MAP_NONE;
}

static bool profile_add(struct upmu_samples *s, struct samples_row *row, const struct samples_function *f)
{
    uint32_t function = samples_function(s, f);
    row->path = function != MAP_NONE ? profile_child(s, row->path, function) : function;
    return row->path != MAP_NONE;
}

static bool profile_enter_kernel(struct upmu_samples *s, struct samples_row *row)
{
    row->code = profile_code(s, row->code, MAP_NONE);
    return profile_add(s, row, &profile_kernel) && row->code != MAP_NONE;
}

static bool profile_java(struct upmu_samples *s, const uint32_t *at, size_t n, struct samples_row *row)
{
    struct samples_java_stack j = {0};
    bool ok = true;
    for (size_t i = n; ok && i-- > 0;) {
        unsigned how = samples_java_frame(&j, s->locations[at[i]].java);
        if (how & JAVA_RUNTIME_BEFORE)
            ok = profile_add(s, row, &profile_java_runtime);
        if (how & JAVA_SHOWN)
            ok = ok && profile_step(s, row, &s->locations[at[i]]);
    }
    return ok && (!j.is_hidden || !j.in_code || profile_add(s, row, &profile_java_runtime));
}

/* The path of a stack as the program was written. A stack that is continued by the one of the region's begin is as whole as that. */
static bool profile_fold(struct upmu_samples *s, const struct space *space, const struct samples_stack *in, size_t n,
                         struct samples_row *row, bool *whole)
{
    struct openmp_functions f = {0};
    bool ok = samples_openmp_fold(s, space, in, n, row, &f);
    row->path = 0;
    for (size_t i = f.n; ok && i-- > 0 && row->path != MAP_NONE;)
        row->path = profile_child(s, row->path, f.all[i]);
    *whole = f.is_joined ? f.is_whole && !f.has_gap : *whole;
    free(f.all);
    return ok && row->path != MAP_NONE;
}

static bool profile_steps(struct upmu_samples *s, const uint32_t *at, size_t n, struct samples_row *row)
{
    bool ok = true;
    for (size_t i = n; ok && i-- > 0;)
        ok = profile_step(s, row, &s->locations[at[i]]);
    return ok;
}

/* Locate the frames, of which the leaf is an exact address and the others are return addresses. @return bits of enum samples_java;
 * 0: no memory. */
static unsigned profile_locate(struct upmu_samples *s, const struct space *space, const struct samples_stack *in,
                               size_t n, uint64_t weight, uint32_t *at)
{
    unsigned kinds = 1u << JAVA_NONE;
    for (size_t i = n; i-- > 0;) {
        const struct samples_location *found = samples_locate(s, space, in->address[i], i > 0);
        if (!found)
            return 0;
        at[i] = (uint32_t)(found - s->locations);
        struct samples_location *l = &s->locations[at[i]];
        kinds |= 1u << l->java;
        l->weight += weight;
        l->self_weight += i == 0 && !in->kernel ? weight : 0;
    }
    return kinds;
}

bool samples_path(struct upmu_samples *s, const struct space *space, const struct samples_stack *in,
                  struct samples_row *row)
{
    const unsigned machine = 1u << JAVA_MACHINE, code = 1u << JAVA_METHOD | 1u << JAVA_INTERPRETER;
    size_t n = profile_frames(s, space, in);
    bool whole = in->is_whole && n == in->n, cut = in->cut && n == in->n, ok;
    uint32_t at[SAMPLES_FRAMES_MAX];
    row->path = row->code = 0;
    unsigned kinds = profile_locate(s, space, in, n, row->weight, at);
    if (kinds == 0)
        return false;
    whole |= n > 0 && s->locations[at[n - 1]].is_root;
    if (samples_openmp_has(s, s->threads[row->thread].pid))
        ok = profile_fold(s, space, in, n, row, &whole);
    else if (s->is_written && (kinds & machine) && (kinds & code))
        ok = profile_java(s, at, n, row);
    else
        ok = profile_steps(s, at, n, row);
    row->kernel = in->kernel;
    row->stack = whole ? UPMU_SAMPLE_WHOLE : cut ? UPMU_SAMPLE_CUT : UPMU_SAMPLE_BROKEN;
    return ok && (!in->kernel || profile_enter_kernel(s, row));
}

/* Of nested calls of a function the outermost one counts. */
static bool profile_is_outermost(const struct upmu_samples *s, uint32_t path)
{
    uint32_t function = s->paths[path].function;
    for (uint32_t at = s->paths[path].parent; at != 0; at = s->paths[at].parent)
        if (s->paths[at].function == function)
            return false;
    return true;
}

static void profile_sum_functions(struct upmu_samples *s)
{
    for (uint32_t i = 1; i < s->n_paths; i++) {
        const struct samples_path *p = &s->paths[i];
        struct samples_function *f = &s->functions[p->function];
        /* a stub is a part of the call, which the caller makes */
        struct samples_function *own = f->is_stub && p->parent != 0 ? &s->functions[s->paths[p->parent].function] : f;
        own->self_samples += p->self_samples;
        own->self_weight += p->self_weight;
        if (profile_is_outermost(s, i)) {
            f->samples += p->samples;
            f->weight += p->weight;
        }
    }
}

/* A line of a function. */
struct profile_line {
    uint32_t function, line;
    uint64_t self_weight, weight;
};

static int profile_compare_lines(const void *a, const void *b)
{
    const struct profile_line *x = a, *y = b;
    if (x->function != y->function)
        return x->function < y->function ? -1 : 1;
    return x->line < y->line ? -1 : x->line > y->line;
}

/* The heaviest line of each function, of lines sorted by function; a line can have several addresses. */
static void profile_choose_lines(struct upmu_samples *s, struct profile_line *all, size_t n)
{
    struct profile_line best = {0};
    for (size_t i = 0; i < n; i++) {
        struct profile_line *l = &all[i];
        if (i == 0 || l->function != l[-1].function)
            best = (struct profile_line){0};
        else if (l->line == l[-1].line) {
            l->self_weight += l[-1].self_weight;
            l->weight += l[-1].weight;
        }
        if (l->self_weight > best.self_weight || (l->self_weight == best.self_weight && l->weight > best.weight)) {
            best = *l;
            s->functions[l->function].line = l->line;
        }
    }
}

static bool profile_lines(struct upmu_samples *s)
{
    struct profile_line *all = calloc(s->n_inlined + 1, sizeof *all);
    size_t n = 0;
    if (!all)
        return false;
    for (size_t i = 0; i < s->n_locations; i++) {
        const struct samples_location *l = &s->locations[i];
        for (uint32_t k = 0; k < l->n; k++) {
            const struct samples_inlined *f = &s->inlined[l->first + k];
            if (f->line > 0)
                all[n++] = (struct profile_line){f->function, f->line, k == 0 ? l->self_weight : 0, l->weight};
        }
    }
    qsort(all, n, sizeof *all, profile_compare_lines);
    profile_choose_lines(s, all, n);
    free(all);
    return true;
}

struct profile_rank {
    uint64_t self_weight, weight;
    uint32_t function;
    bool is_used; /* a construct stands in place of others */
};

static int profile_compare(const void *a, const void *b)
{
    const struct profile_rank *x = a, *y = b;
    if (x->is_used != y->is_used)
        return x->is_used ? -1 : 1;
    if (x->self_weight != y->self_weight)
        return x->self_weight < y->self_weight ? 1 : -1;
    if (x->weight != y->weight)
        return x->weight < y->weight ? 1 : -1;
    return x->function < y->function ? -1 : x->function > y->function;
}

static int profile_sort(struct upmu_samples *s)
{
    size_t n = s->n_functions;
    struct profile_rank *ranks = calloc(n + 1, sizeof *ranks);
    s->order = calloc(n + 1, sizeof *s->order);
    s->place = calloc(n + 1, sizeof *s->place);
    if (!ranks || !s->order || !s->place) {
        free(ranks);
        return samples_no_memory();
    }
    for (uint32_t i = 0; i < n; i++)
        ranks[i] =
            (struct profile_rank){s->functions[i].self_weight, s->functions[i].weight, i, s->functions[i].samples > 0};
    qsort(ranks, n, sizeof *ranks, profile_compare);
    for (uint32_t i = 0; i < n; i++) {
        s->order[i] = ranks[i].function;
        s->place[ranks[i].function] = i;
        s->n_used += ranks[i].is_used;
    }
    free(ranks);
    return 0;
}

uint32_t samples_thread(struct upmu_samples *s, uint32_t pid, uint32_t tid)
{
    uint32_t i = map_find(&s->by_thread, pid, tid);
    if (i != MAP_NONE)
        return i;
    struct samples_thread *all = array_reserve(s->threads, s->n_threads, &s->cap_threads, sizeof *all);
    if (!all)
        return MAP_NONE;
    s->threads = all;
    i = (uint32_t)s->n_threads;
    if (!map_put(&s->by_thread, pid, tid, i))
        return MAP_NONE;
    all[i] = (struct samples_thread){.pid = pid, .tid = tid};
    s->n_threads++;
    return i;
}

int samples_set_stretch(struct upmu_samples *s, uint64_t begin_ns, uint64_t end_ns)
{
    if (s->asked_to_ns != 0 && s->asked_to_ns < s->asked_from_ns)
        return upmu_fail(UPMU_E_INVAL, "the time window ends before its begin");
    if (s->asked_from_ns > end_ns - begin_ns)
        return upmu_fail(UPMU_E_INVAL,
                         "the time window begins at %.9f s, after the end of the recording, which lasts %.9f s",
                         (double)s->asked_from_ns / 1e9, (double)(end_ns - begin_ns) / 1e9);
    s->from_ns = s->asked_from_ns ? begin_ns + s->asked_from_ns : 0; /* samples may precede the first event */
    s->to_ns = s->asked_to_ns ? begin_ns + s->asked_to_ns : UINT64_MAX;
    return 0;
}

bool samples_add(struct upmu_samples *s, const struct samples_row *row)
{
    struct samples_row *all = array_reserve(s->rows, s->n_rows, &s->cap_rows, sizeof *all);
    if (!all)
        return false;
    s->rows = all;
    all[s->n_rows++] = *row;
    s->paths[row->path].self_samples++;
    s->paths[row->path].self_weight += row->weight;
    if (s->with_code) {
        s->codes[row->code].self_samples++;
        s->codes[row->code].self_weight += row->weight;
    }
    s->threads[row->thread].samples++;
    s->threads[row->thread].weight += row->weight;
    return true;
}

int samples_sum(struct upmu_samples *s)
{
    for (size_t i = s->n_paths; i-- > 0;) { /* a path comes after its parent */
        struct samples_path *p = &s->paths[i];
        p->samples += p->self_samples;
        p->weight += p->self_weight;
        if (i > 0) {
            s->paths[p->parent].samples += p->samples;
            s->paths[p->parent].weight += p->weight;
        }
    }
    for (size_t i = s->n_codes; i-- > 0;) {
        struct samples_code *c = &s->codes[i];
        c->samples += c->self_samples;
        c->weight += c->self_weight;
        if (i > 0) {
            s->codes[c->parent].samples += c->samples;
            s->codes[c->parent].weight += c->weight;
        }
    }
    profile_sum_functions(s);
    return profile_lines(s) ? profile_sort(s) : samples_no_memory();
}
