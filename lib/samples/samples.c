/* SPDX-License-Identifier: MIT */
/* Recorded samples: the public functions. */
#include "samples/openmp.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/opts.h"
#include "upmu/analysis.h"

/* With the root path. */
static int samples_start(struct upmu_samples *s, const struct upmu_samples_opts *opts)
{
    int rc = symbols_open(&s->symbols, opts->debug_dir);
    if (rc != 0)
        return rc;
    s->with_code = opts->with_code != 0;
    s->asked_from_ns = opts->from_ns;
    s->asked_to_ns = opts->to_ns;
    s->to_ns = UINT64_MAX;
    if (s->with_code) {
        s->codes = array_reserve(NULL, 0, &s->cap_codes, sizeof *s->codes);
        if (!s->codes)
            return samples_no_memory();
        s->codes[s->n_codes++] = (struct samples_code){.location = MAP_NONE};
    }
    s->paths = array_reserve(NULL, 0, &s->cap_paths, sizeof *s->paths);
    if (!s->paths)
        return samples_no_memory();
    s->paths[s->n_paths++] = (struct samples_path){.function = MAP_NONE};
    return 0;
}

static void samples_total(struct upmu_samples *s)
{
    struct upmu_samples_totals *t = &s->totals;
    const struct sampling_header *h = &s->header;
    struct map processes = {0};
    t->event = h->event;
    t->samples = s->n_rows;
    t->weight = s->paths[0].weight;
    t->count = s->asked_from_ns == 0 && s->asked_to_ns == 0 ? h->count : 0;
    t->unwritten = h->unwritten;
    t->frequency = h->frequency;
    t->period = h->period;
    t->source = (int32_t)h->source;
    t->stacks = (int32_t)h->stacks;
    t->is_calls = (h->flags & SAMPLING_CALLS) != 0;
    t->is_time = (h->flags & SAMPLING_NS) != 0 || t->is_calls;
    t->call_cost_ns = h->call_inner_ns;
    t->with_kernel = (h->flags & SAMPLING_KERNEL) != 0;
    t->ended = (h->flags & SAMPLING_ENDED) != 0;
    /* The kernel reports a loss with the next record that has space: not that of a process's last calls. */
    if (t->is_calls && t->count > t->samples + t->lost && t->unwritten == 0 && t->damages == 0)
        t->lost = t->count - t->samples;
    for (size_t i = 0; i < s->n_rows; i++) {
        t->kernel += s->rows[i].kernel;
        t->whole += s->rows[i].stack == UPMU_SAMPLE_WHOLE;
        t->cut += s->rows[i].stack == UPMU_SAMPLE_CUT;
        t->broken += s->rows[i].stack == UPMU_SAMPLE_BROKEN;
    }
    for (size_t i = 0; i < s->n_threads; i++) {
        t->threads += s->threads[i].samples > 0;
        if (s->threads[i].samples > 0)
            (void)map_put(&processes, s->threads[i].pid, 0, 0);
    }
    t->processes = processes.n;
    map_free(&processes);
}

int upmu_samples_open(struct upmu_samples **samples, const char *dir, const struct upmu_samples_opts *opts)
{
    struct upmu_samples_opts ours;
    char path[PATH_MAX];
    if (!samples || !dir)
        return ARGUMENT_NULL(samples, dir);
    *samples = NULL;
    int rc = OPTS_TAKE(ours, opts, UPMU_SAMPLES_OPTS_SIZE_V1);
    if (rc != 0)
        return rc;
    struct upmu_samples *s = calloc(1, sizeof *s);
    if (!s)
        return samples_no_memory();
    snprintf(path, sizeof path, "%s/" SAMPLING_VDSO_FILE, dir);
    s->spaces.vdso = realpath(path, NULL); /* symbols are read from absolute paths; NULL: its functions have no names */
    snprintf(path, sizeof path, "%s/" SAMPLING_FILE, dir);
    rc = samples_start(s, &ours);
    if (rc == 0)
        rc = samples_jit_open(s, dir);
    if (rc == 0 && !s->with_code) /* which is about the functions that a compiler has made */
        rc = samples_openmp_open(s, dir, ours.stacks);
    s->is_written = ours.stacks == UPMU_STACKS_USER && !s->with_code;
    if (rc == 0 && (ours.from_ns | ours.to_ns) != 0)
        rc = samples_find_stretch(s, dir);
    if (rc == 0)
        rc = samples_read(s, path);
    if (rc == UPMU_E_STATE)
        rc = samples_read_trace(s, dir);
    if (rc == UPMU_E_STATE)
        rc = upmu_fail(UPMU_E_STATE,
                       "\"%s\" has no samples. Record with 'upmu record -F 999'; a snapshot contains none", dir);
    if (rc == 0)
        rc = samples_sum(s);
    if (rc == 0) {
        samples_total(s);
        *samples = s;
    } else {
        upmu_samples_close(s);
    }
    return rc;
}

void upmu_samples_close(struct upmu_samples *s)
{
    if (!s)
        return;
    for (size_t i = 0; i < s->spaces.n; i++)
        samples_unwind_free(&s->spaces.all[i]);
    spaces_free(&s->spaces);
    symbols_close(s->symbols);
    samples_openmp_close(s->openmp);
    samples_jit_close(s->jit);
    free(s->functions);
    free(s->inlined);
    free(s->locations);
    free(s->paths);
    free(s->codes);
    free(s->threads);
    free(s->rows);
    free(s->order);
    free(s->place);
    map_free(&s->by_function);
    map_free(&s->by_address);
    map_free(&s->by_child);
    map_free(&s->by_code);
    map_free(&s->by_thread);
    free(s);
}

/* ------------------------------------------------------------------------------------------------------- results */

int upmu_samples_totals_read(const struct upmu_samples *samples, struct upmu_samples_totals *out)
{
    if (!samples || !out)
        return ARGUMENT_NULL(samples, out);
    return OPTS_GIVE(out, samples->totals, UPMU_SAMPLES_TOTALS_SIZE_V1);
}

size_t upmu_samples_count(const struct upmu_samples *samples)
{
    return samples ? samples->n_rows : 0;
}

int upmu_samples_at(const struct upmu_samples *samples, size_t i, struct upmu_sample *out)
{
    if (!samples || !out)
        return ARGUMENT_NULL(samples, out);
    if (i >= samples->n_rows)
        return UPMU_E_END;
    const struct samples_row *r = &samples->rows[i];
    const struct upmu_sample ours = {
        .raw_ns = samples->header.source == SAMPLING_TIMER ? 0 : r->raw_ns,
        .time_ns = samples_time(samples, r->raw_ns),
        .weight = r->weight,
        .thread = r->thread,
        .cpu = r->cpu,
        .path = r->path,
        .kernel = r->kernel,
        .stack = r->stack,
    };
    return OPTS_GIVE(out, ours, UPMU_SAMPLE_SIZE_V1);
}

int upmu_samples_thread_at(const struct upmu_samples *samples, size_t i, struct upmu_sample_thread *out)
{
    if (!samples || !out)
        return ARGUMENT_NULL(samples, out);
    if (i >= samples->n_threads)
        return UPMU_E_END;
    const struct samples_thread *t = &samples->threads[i];
    const struct upmu_sample_thread ours = {
        .name = t->name, .pid = (pid_t)t->pid, .tid = (pid_t)t->tid, .samples = t->samples, .weight = t->weight};
    return OPTS_GIVE(out, ours, UPMU_SAMPLE_THREAD_SIZE_V1);
}

size_t upmu_samples_function_count(const struct upmu_samples *samples)
{
    return samples ? samples->n_used : 0;
}

int upmu_samples_function_at(const struct upmu_samples *samples, size_t i, struct upmu_sample_function *out)
{
    if (!samples || !out)
        return ARGUMENT_NULL(samples, out);
    if (i >= samples->n_used)
        return UPMU_E_END;
    const struct samples_function *f = &samples->functions[samples->order[i]];
    const struct spaces_file *file = f->module_file == MAP_NONE ? NULL : &samples->spaces.files[f->module_file];
    const struct upmu_sample_function ours = {
        .name = f->name,
        .file = f->file,
        .module = file ? file->path : NULL,
        .problem = file && file->module != MAP_NONE ? symbols_problem(samples->symbols, file->module) : "",
        .offset = f->offset,
        .self_samples = f->self_samples,
        .samples = f->samples,
        .self_weight = f->self_weight,
        .weight = f->weight,
        .line = f->line,
    };
    return OPTS_GIVE(out, ours, UPMU_SAMPLE_FUNCTION_SIZE_V1);
}

size_t upmu_samples_path_count(const struct upmu_samples *samples)
{
    return samples ? samples->n_paths : 0;
}

int upmu_samples_path_at(const struct upmu_samples *samples, size_t i, struct upmu_sample_path *out)
{
    if (!samples || !out)
        return ARGUMENT_NULL(samples, out);
    if (i >= samples->n_paths)
        return UPMU_E_END;
    const struct samples_path *p = &samples->paths[i];
    const struct upmu_sample_path ours = {
        .function = p->function == MAP_NONE ? UPMU_NO_INDEX : samples->place[p->function],
        .parent = p->parent,
        .child = p->child,
        .next = p->next,
        .depth = p->depth,
        .self_samples = p->self_samples,
        .samples = p->samples,
        .self_weight = p->self_weight,
        .weight = p->weight,
    };
    return OPTS_GIVE(out, ours, UPMU_SAMPLE_PATH_SIZE_V1);
}
