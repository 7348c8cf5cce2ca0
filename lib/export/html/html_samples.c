/* SPDX-License-Identifier: MIT */
/* Samples by thread, for the strips in the lanes of threads and for what a holder executed. */
#include <stdlib.h>

#include "base/error.h"
#include "export/html/html.h"
#include "export/samples.h"

static int samples_open(struct export_job *job)
{
    const struct upmu_samples_opts opts = {
        .size = sizeof opts, .debug_dir = job->opts.debug_dir, .stacks = job->opts.stacks};
    int rc = job->samples ? 0 : upmu_samples_open(&job->samples, job->dir, &opts);
    return rc == UPMU_E_STATE ? 0 : rc; /* none were recorded */
}

/** Threads of the pass by pid and tid: the last one of these, and the one before each. */
struct samples_threads {
    struct map last;
    uint32_t *before;
};

static int samples_index(const struct overview *o, struct samples_threads *threads)
{
    threads->before = calloc(o->n_threads + 1, sizeof *threads->before);
    if (!threads->before)
        return export_no_memory();
    for (uint32_t i = 0; i < o->n_threads; i++) {
        uint64_t pid = (uint64_t)o->threads[i].pid, tid = (uint64_t)o->threads[i].tid;
        threads->before[i] = map_find(&threads->last, pid, tid);
        if (!map_put(&threads->last, pid, tid, i))
            return export_no_memory();
    }
    return 0;
}

/* The kernel gives a tid to several threads, one after the other: the one that lived at the time. */
static uint32_t samples_thread(const struct export_job *job, const struct samples_threads *threads,
                               const struct upmu_sample *s, uint64_t *time_ns)
{
    const struct overview *o = &job->facts->pass;
    struct upmu_sample_thread t = {.size = sizeof t};
    if (upmu_samples_thread_at(job->samples, s->thread, &t) != 0)
        return MAP_NONE;
    uint32_t i = map_find(&threads->last, (uint64_t)t.pid, (uint64_t)t.tid);
    for (; i != MAP_NONE; i = threads->before[i]) {
        *time_ns = s->raw_ns ? timeline_of_raw(job->facts, o->threads[i].process, s->raw_ns) : s->time_ns;
        if (*time_ns >= o->threads[i].begin_ns || threads->before[i] == MAP_NONE)
            return i;
    }
    return MAP_NONE;
}

static int samples_by_thread(const void *a, const void *b)
{
    const struct html_sample *x = a, *y = b;
    if (x->thread_rank != y->thread_rank)
        return x->thread_rank < y->thread_rank ? -1 : 1;
    return x->ns < y->ns ? -1 : x->ns > y->ns;
}

/* The page begins with the recording: samples of the loader may be before it. */
static bool samples_is_shown(const struct export_job *job, uint64_t time_ns)
{
    return time_ns >= job->html->base_ns && time_ns >= job->window.from_ns && time_ns <= job->window.to_ns;
}

static int samples_collect(struct export_job *job, const struct samples_threads *threads)
{
    struct html *h = job->html;
    struct upmu_sample s = {.size = sizeof s};
    size_t n = upmu_samples_count(job->samples);
    h->samples_every = n / HTML_SAMPLES_MAX + 1;
    h->samples = calloc(n / h->samples_every + 1, sizeof *h->samples);
    if (!h->samples)
        return export_no_memory();
    for (size_t i = 0; i < n && upmu_samples_at(job->samples, i, &s) == 0; i += h->samples_every) {
        uint64_t time_ns = 0;
        uint32_t thread = samples_thread(job, threads, &s, &time_ns);
        if (thread != MAP_NONE && samples_is_shown(job, time_ns))
            h->samples[h->n_samples++] = (struct html_sample){time_ns, s.weight, h->thread_rank[thread], s.path};
    }
    qsort(h->samples, h->n_samples, sizeof *h->samples, samples_by_thread);
    return 0;
}

int html_samples_finish(struct export_job *job)
{
    struct samples_threads threads = {0};
    int rc = samples_open(job);
    if (rc == 0 && job->samples)
        rc = samples_index(&job->facts->pass, &threads);
    if (rc == 0 && job->samples)
        rc = samples_collect(job, &threads);
    map_free(&threads.last);
    free(threads.before);
    return rc;
}

/* ------------------------------------------------------------------------------------------------------ writing */

/** Numbers on the page of the functions and paths of these samples, plus one; 0: of none. */
struct samples_used {
    uint32_t *paths, *functions;
    uint32_t n_paths, n_functions;
};

static int samples_use(const struct export_job *job, struct samples_used *used)
{
    const struct html *h = job->html;
    struct upmu_sample_path p = {.size = sizeof p};
    size_t n = upmu_samples_path_count(job->samples);
    used->paths = calloc(n + 1, sizeof *used->paths);
    used->functions = calloc(upmu_samples_function_count(job->samples) + 1, sizeof *used->functions);
    if (!used->paths || !used->functions)
        return export_no_memory();
    for (size_t i = 0; i < h->n_samples; i++)
        used->paths[h->samples[i].path] = 1;
    for (size_t i = n; i-- > 1;) /* a parent is lower than its children */
        if (used->paths[i] && upmu_samples_path_at(job->samples, i, &p) == 0)
            used->paths[p.parent] = 1;
    for (size_t i = 1; i < n; i++)
        if (used->paths[i])
            used->paths[i] = ++used->n_paths;
    used->paths[0] = 0; /* no function */
    return 0;
}

/* [parent, function]: the number of a path of one function less, or 0. */
static void samples_write_paths(const struct export_job *job, struct samples_used *used, struct textbuf *b)
{
    struct upmu_sample_path p = {.size = sizeof p};
    json_array(b, "paths");
    for (size_t i = 1; upmu_samples_path_at(job->samples, i, &p) == 0; i++) {
        if (!used->paths[i])
            continue;
        uint32_t *function = &used->functions[p.function];
        *function = *function ? *function : ++used->n_functions;
        json_array(b, NULL);
        json_uint(b, NULL, used->paths[p.parent]);
        json_uint(b, NULL, *function - 1);
        json_array_end(b);
    }
    json_array_end(b);
}

static void samples_write_function(struct export_job *job, size_t i, struct textbuf *b)
{
    struct upmu_sample_function f = {.size = sizeof f};
    char text[SAMPLES_NAME_MAX];
    json_array(b, NULL);
    if (upmu_samples_function_at(job->samples, i, &f) == 0) {
        json_string(b, NULL, export_sampled_name(&f, text));
        json_string(b, NULL, f.file ? f.file : "");
        json_string(b, NULL, f.module ? f.module : "");
    }
    json_array_end(b);
}

/* By their numbers: those are in the order in which paths have them. */
static int samples_write_functions(struct export_job *job, const struct samples_used *used, struct textbuf *b)
{
    size_t n = upmu_samples_function_count(job->samples);
    size_t *order = calloc(used->n_functions + 1, sizeof *order);
    if (!order)
        return export_no_memory();
    for (size_t i = 0; i < n; i++)
        if (used->functions[i])
            order[used->functions[i] - 1] = i;
    json_array(b, "functions");
    for (uint32_t i = 0; i < used->n_functions; i++)
        samples_write_function(job, order[i], b);
    json_array_end(b);
    free(order);
    return 0;
}

static int samples_write_column(struct export_job *job, const char *name, const struct samples_used *used,
                                uint64_t (*number)(const struct html *h, const struct samples_used *used, size_t i))
{
    struct textbuf b = {0};
    for (size_t i = 0; i < job->html->n_samples; i++)
        html_varint(&b, number(job->html, used, i));
    int rc = html_pack_section(job, name, job->html->n_samples, &b);
    textbuf_free(&b);
    return rc;
}

static uint64_t samples_ns(const struct html *h, const struct samples_used *used, size_t i)
{
    (void)used;
    bool first = i == 0 || h->samples[i].thread_rank != h->samples[i - 1].thread_rank;
    return h->samples[i].ns - (first ? h->base_ns : h->samples[i - 1].ns);
}

static uint64_t samples_weight(const struct html *h, const struct samples_used *used, size_t i)
{
    (void)used;
    return h->samples[i].weight;
}

static uint64_t samples_path(const struct html *h, const struct samples_used *used, size_t i)
{
    return used->paths[h->samples[i].path];
}

/* Rows: thread, number of samples. */
static int samples_write_rows(struct export_job *job)
{
    const struct html *h = job->html;
    struct textbuf b = {0};
    size_t rows = 0;
    for (size_t i = 0, next; i < h->n_samples; i = next, rows++) {
        for (next = i + 1; next < h->n_samples && h->samples[next].thread_rank == h->samples[i].thread_rank; next++)
            ;
        html_varint(&b, h->samples[i].thread_rank);
        html_varint(&b, next - i);
    }
    int rc = html_pack_section(job, "samples.rows", 2 * rows, &b);
    textbuf_free(&b);
    return rc;
}

static int samples_write_facts(struct export_job *job, struct samples_used *used, struct textbuf *b)
{
    struct upmu_samples_totals totals = {.size = sizeof totals};
    int rc = upmu_samples_totals_read(job->samples, &totals);
    if (rc != 0)
        return rc;
    json_object(b, "samples");
    json_string(b, "event", totals.event);
    json_uint(b, "isTime", totals.is_time && !totals.is_calls);
    json_uint(b, "frequency", totals.frequency);
    json_uint(b, "every", job->html->samples_every);
    samples_write_paths(job, used, b);
    rc = samples_write_functions(job, used, b);
    json_object_end(b);
    return rc;
}

int html_samples_write(struct export_job *job, struct textbuf *b)
{
    struct samples_used used = {0};
    if (!job->samples || job->html->n_samples == 0)
        return 0;
    int rc = samples_use(job, &used);
    if (rc == 0)
        rc = samples_write_facts(job, &used, b);
    if (rc == 0)
        rc = samples_write_rows(job);
    if (rc == 0)
        rc = samples_write_column(job, "samples.ns", &used, samples_ns);
    if (rc == 0)
        rc = samples_write_column(job, "samples.weight", &used, samples_weight);
    if (rc == 0)
        rc = samples_write_column(job, "samples.path", &used, samples_path);
    free(used.paths);
    free(used.functions);
    return rc;
}
