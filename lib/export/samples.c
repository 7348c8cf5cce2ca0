/* SPDX-License-Identifier: MIT */
/*
 * Profiles of samples, alone or with the waits of the threads as one graph of wall time.
 *
 * In the graph of wall time a thread's time is in waits, which are exact, in samples outside of them, and the rest of its life:
 * it was preempted, or waited in a way that is not recorded.
 */
#include <stdio.h>
#include <stdlib.h>

#include "export/export.h"
#include "export/samples.h"

struct interval {
    uint64_t begin_ns, end_ns;
};

/** Waits of a thread, in the order of their ends. */
struct thread_waits {
    struct interval *all;
    size_t n, cap;
    uint64_t reach; /**< latest end */
    uint64_t wait_ns, sampled_ns;
    uint64_t stopped_sampled_ns; /**< of `sampled_ns`, while recording was stopped */
};

/** What a graph of wall time collects, by index of the thread in the pass. */
struct export_wall {
    struct thread_waits *threads;
    size_t n_threads;
    struct map by_id;  /**< index of the last thread with a pid and tid */
    uint32_t *earlier; /**< by index, the thread before it with the same ids; MAP_NONE: there is none */
    struct map by_pid; /**< index of the first process with a pid: the others have replaced it by exec() */
};

bool export_with_waits(const struct export_job *job)
{
    return job->opts.what == UPMU_EXPORT_WAITS || job->opts.what == UPMU_EXPORT_WALL;
}

/* Stacks of samples and of waits begin differently, by how they were unwound: both are shown from main(), or the function of
 * the thread, on. Without debug information the code of libc before it has no name. */
bool export_is_start(const char *name)
{
    static const char *const names[] = {"_start", "__libc_start_", "start_thread", "clone", "__clone"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (strncmp(name, names[i], strlen(names[i])) == 0)
            return true;
    return strncmp(name, "libc", 4) == 0 && strstr(name, "+0x") != NULL;
}

/* --------------------------------------------------------------------------------------------------------- waits */

/* Waits and regions have no time in which recording was stopped; samples are taken then, too. */
static uint64_t wall_recorded(const struct export_job *job, uint32_t thread, uint64_t begin_ns, uint64_t end_ns)
{
    return recorded_ns(&job->facts->pass, job->facts->pass.threads[thread].process, begin_ns, end_ns);
}

int export_wall_wait(struct export_job *job, const struct span *span)
{
    struct export_wall *w = job->wall;
    if (!w || span->kind != SPAN_WAIT || span->thread >= w->n_threads)
        return 0;
    struct thread_waits *t = &w->threads[span->thread];
    struct interval *all = array_reserve(t->all, t->n, &t->cap, sizeof *all);
    if (!all)
        return export_no_memory();
    t->all = all;
    all[t->n++] = (struct interval){span->begin_ns, span->end_ns};
    uint64_t from = span->begin_ns > t->reach ? span->begin_ns : t->reach; /* of nested waits one counts */
    t->wait_ns += span->end_ns > from ? wall_recorded(job, span->thread, from, span->end_ns) : 0;
    t->reach = span->end_ns > t->reach ? span->end_ns : t->reach;
    return 0;
}

/* Ends are in order; of those after the moment the first one begins first, unless waits are nested in it. */
static bool wall_is_waiting(const struct export_wall *w, uint32_t thread, uint64_t time_ns)
{
    if (!w || thread >= w->n_threads)
        return false;
    const struct thread_waits *t = &w->threads[thread];
    size_t low = 0, high = t->n;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (t->all[middle].end_ns < time_ns)
            low = middle + 1;
        else
            high = middle;
    }
    enum { NESTED_MAX = 4 };
    for (size_t i = low; i < t->n && i < low + NESTED_MAX; i++)
        if (t->all[i].begin_ns <= time_ns)
            return true;
    return false;
}

/* ------------------------------------------------------------------------------------------------------- samples */

static uint32_t samples_root(struct export_job *job, const char *thread, pid_t tid, uint32_t pass_thread)
{
    char name[64];
    snprintf(name, sizeof name, "%s %ld", thread, (long)tid);
    const char *text = pass_thread == MAP_NONE ? name : export_thread_name(job, pass_thread);
    return tree_child(&job->tree, 0, tree_label_of(&job->tree, TREE_THREAD, text));
}

const char *export_sampled_name(const struct upmu_sample_function *f, char text[SAMPLES_NAME_MAX])
{
    const char *module = f->module ? f->module : "", *slash = strrchr(module, '/');
    snprintf(text, SAMPLES_NAME_MAX, "%.250s%s0x%llx", slash ? slash + 1 : module, f->module ? "+" : "",
             (unsigned long long)f->offset);
    return f->name ? f->name : text;
}

static uint32_t samples_label(struct export_job *job, uint32_t function)
{
    struct upmu_sample_function f = {.size = sizeof f};
    char text[SAMPLES_NAME_MAX];
    if (upmu_samples_function_at(job->samples, function, &f) != 0)
        return MAP_NONE;
    return tree_label(&job->tree, export_sampled_name(&f, text), f.file, f.module, 0);
}

/* The node of a path below a root. Frames below the deepest level that viewers support are left out. */
static uint32_t samples_node(struct export_job *job, uint32_t root, uint32_t path)
{
    uint32_t functions[EXPORT_DEPTH_MAX], node = root;
    struct upmu_sample_path p = {.size = sizeof p};
    size_t n = 0;
    uint32_t known = map_find(&job->by_sample, root, path);
    if (known != MAP_NONE)
        return known;
    for (uint32_t at = path; at != 0 && upmu_samples_path_at(job->samples, at, &p) == 0; at = p.parent)
        if (p.depth <= EXPORT_DEPTH_MAX)
            functions[n++] = p.function;
    while (n > 0 && node != MAP_NONE) {
        uint32_t label = samples_label(job, functions[--n]);
        bool hidden =
            job->wall && node == root && n > 0 && label != MAP_NONE && export_is_start(job->tree.labels[label].name);
        node = hidden ? node : tree_child(&job->tree, node, label);
    }
    return node != MAP_NONE && map_put(&job->by_sample, root, path, node) ? node : MAP_NONE;
}

/* Time of a sample as of the events of a process. */
static uint64_t samples_time(const struct export_job *job, uint32_t process, const struct upmu_sample *s)
{
    return s->raw_ns ? timeline_of_raw(job->facts, process, s->raw_ns) : s->time_ns;
}

/* Samples of one machine share its clock: a thread without events is on that of the first process. */
static int samples_weigh(struct export_job *job, const struct upmu_sample *s, uint32_t node, uint32_t pass_thread)
{
    struct upmu_sample_thread t = {.size = sizeof t};
    const struct overview *o = &job->facts->pass;
    uint32_t process = pass_thread == MAP_NONE ? 0 : o->threads[pass_thread].process;
    if (!job->format->weigh)
        return 0;
    int rc = upmu_samples_thread_at(job->samples, s->thread, &t);
    uint64_t time_ns = o->n_processes > 0 ? timeline_of_raw(job->facts, process, s->raw_ns) : s->raw_ns;
    const struct export_weight weight = {pass_thread == MAP_NONE ? t.pid : export_pid(job, process), t.tid, node,
                                         time_ns, s->weight};
    return rc == 0 ? job->format->weigh(job, &weight) : rc;
}

static int samples_add(struct export_job *job, const struct upmu_sample *s, uint32_t root, uint32_t pass_thread)
{
    if (job->wall && pass_thread != MAP_NONE) {
        uint64_t time_ns = samples_time(job, job->facts->pass.threads[pass_thread].process, s);
        if (wall_is_waiting(job->wall, pass_thread, time_ns))
            return 0;
        if (pass_thread < job->wall->n_threads) {
            struct thread_waits *t = &job->wall->threads[pass_thread];
            t->sampled_ns += s->weight;
            t->stopped_sampled_ns += wall_recorded(job, pass_thread, time_ns, time_ns + 1) == 0 ? s->weight : 0;
        }
    }
    uint32_t node = samples_node(job, root, s->path);
    if (node == MAP_NONE)
        return export_no_memory();
    job->tree.nodes[node].count++;
    job->tree.nodes[node].ns += s->weight;
    job->done++;
    return samples_weigh(job, s, node, pass_thread);
}

/* The thread of the trace that the sample is of: the last one with these ids that had begun. MAP_NONE: there is none, or the
 * sample is of a program without events, before exec(). */
static uint32_t wall_thread(const struct export_job *job, uint32_t newest, pid_t pid, const struct upmu_sample *s)
{
    const struct export_wall *w = job->wall;
    const struct ov_thread *all = job->facts->pass.threads;
    uint32_t thread = newest;
    if (!w || thread == MAP_NONE)
        return MAP_NONE;
    while (w->earlier[thread] != MAP_NONE && samples_time(job, all[thread].process, s) < all[thread].begin_ns)
        thread = w->earlier[thread];
    uint32_t process = all[thread].process;
    bool replaced = map_find(&w->by_pid, (uint64_t)pid, 0) != process &&
                    samples_time(job, process, s) < job->facts->pass.processes[process].start_ns;
    return replaced ? MAP_NONE : thread;
}

/** A thread of the samples: the last one of the trace with its ids, the one of its sample before, and that one's node. */
struct sampled_thread {
    uint32_t newest, pass_thread, root;
    pid_t pid;
};

static int samples_add_of(struct export_job *job, struct sampled_thread *t, const struct upmu_sample *s)
{
    struct upmu_sample_thread shown = {.size = sizeof shown};
    uint32_t thread = wall_thread(job, t->newest, t->pid, s);
    int rc = 0;
    if (t->root == MAP_NONE || t->pass_thread != thread) {
        rc = upmu_samples_thread_at(job->samples, s->thread, &shown);
        t->pass_thread = thread;
        const char *name = t->newest != MAP_NONE ? "before exec()" : shown.name[0] ? shown.name : "thread";
        t->root = rc == 0 ? samples_root(job, name, shown.tid, thread) : MAP_NONE;
        rc = rc == 0 && t->root == MAP_NONE ? export_no_memory() : rc;
    }
    return rc == 0 ? samples_add(job, s, t->root, thread) : rc;
}

static int samples_add_all(struct export_job *job, struct sampled_thread *threads)
{
    struct upmu_sample s = {.size = sizeof s};
    struct upmu_sample_thread t = {.size = sizeof t};
    int rc = 0;
    for (size_t i = 0; upmu_samples_thread_at(job->samples, i, &t) == 0; i++) {
        uint32_t newest = job->wall ? map_find(&job->wall->by_id, (uint64_t)t.pid, (uint64_t)t.tid) : MAP_NONE;
        threads[i] = (struct sampled_thread){newest, MAP_NONE, MAP_NONE, t.pid};
    }
    for (size_t i = 0; rc == 0 && upmu_samples_at(job->samples, i, &s) == 0; i++)
        rc = samples_add_of(job, &threads[s.thread], &s);
    return rc;
}

int export_samples(struct export_job *job)
{
    struct upmu_sample_thread t = {.size = sizeof t};
    size_t n = 0;
    while (upmu_samples_thread_at(job->samples, n, &t) == 0)
        n++;
    struct sampled_thread *threads = calloc(n + 1, sizeof *threads);
    int rc = threads ? samples_add_all(job, threads) : export_no_memory();
    free(threads);
    return rc;
}

/* -------------------------------------------------------------------------------------------------- wall time */

/* Processes are in no order of time. */
static bool wall_add_processes(struct export_job *job)
{
    const struct ov_process *all = job->facts->pass.processes;
    struct map *by_pid = &job->wall->by_pid;
    struct upmu_trace_process p = {.size = sizeof p};
    bool ok = true;
    for (uint32_t i = 0; ok && upmu_overview_process_at(job->facts, i, &p) == 0; i++) {
        uint32_t first = map_find(by_pid, (uint64_t)p.pid, 0);
        if (first == MAP_NONE || all[i].start_ns < all[first].start_ns)
            ok = map_put(by_pid, (uint64_t)p.pid, 0, i);
    }
    return ok;
}

int export_wall_start(struct export_job *job)
{
    const struct overview *o = &job->facts->pass;
    struct export_wall *w = job->wall = calloc(1, sizeof *job->wall);
    if (!w)
        return export_no_memory();
    w->threads = calloc(o->n_threads + 1, sizeof *w->threads);
    w->earlier = calloc(o->n_threads + 1, sizeof *w->earlier);
    if (!w->threads || !w->earlier || !wall_add_processes(job))
        return export_no_memory();
    w->n_threads = o->n_threads;
    for (uint32_t i = 0; i < o->n_threads; i++) { /* in the order of their first events */
        const struct ov_thread *t = &o->threads[i];
        w->earlier[i] = map_find(&w->by_id, (uint64_t)t->pid, (uint64_t)t->tid);
        if (!map_put(&w->by_id, (uint64_t)t->pid, (uint64_t)t->tid, i))
            return export_no_memory();
    }
    return 0;
}

/* Add `ns` of wall time of a thread to the frame `name` directly below the thread. */
static int wall_add(struct export_job *job, uint32_t thread, const char *name, uint64_t ns)
{
    if (ns == 0)
        return 0;
    uint32_t root = tree_child(&job->tree, 0, tree_label_of(&job->tree, TREE_THREAD, export_thread_name(job, thread)));
    uint32_t node = tree_child(&job->tree, root, tree_label(&job->tree, name, NULL, NULL, 0));
    if (node == MAP_NONE)
        return export_no_memory();
    job->tree.nodes[node].ns += ns;
    job->tree.nodes[node].count++;
    return 0;
}

int export_wall_rest(struct export_job *job)
{
    const struct overview *o = &job->facts->pass;
    int rc = 0;
    for (uint32_t i = 0; rc == 0 && i < job->wall->n_threads; i++) {
        const struct thread_waits *w = &job->wall->threads[i];
        const struct ov_thread *t = &o->threads[i];
        uint64_t end = t->end_ns ? t->end_ns : t->last_ns, begin = t->begin_ns;
        if (job->opts.from_ns != 0) /* else a thread may have begun before the first event */
            begin = begin > job->window.from_ns ? begin : job->window.from_ns;
        end = end < job->window.to_ns ? end : job->window.to_ns;
        uint64_t life = end > begin ? end - begin : 0;
        uint64_t known = w->wait_ns + w->sampled_ns, rest = life > known ? life - known : 0;
        uint64_t stopped = life > 0 ? life - wall_recorded(job, i, begin, end) : 0;
        stopped = stopped > w->stopped_sampled_ns ? stopped - w->stopped_sampled_ns : 0;
        stopped = stopped < rest ? stopped : rest;
        rest -= stopped;
        uint64_t preempted = t->sched.recorded ? t->sched.ns[UPMU_SCHED_PREEMPTED] : 0;
        preempted = preempted < rest ? preempted : rest;
        rc = wall_add(job, i, "[while recording was stopped]", stopped);
        if (rc == 0)
            rc = wall_add(job, i, "[preempted]", preempted);
        if (rc == 0)
            rc = wall_add(job, i,
                          t->sched.recorded ? "[in a wait that is not recorded]"
                                            : "[preempted, or in a wait that is not recorded]",
                          rest - preempted);
    }
    return rc;
}

void export_wall_free(struct export_job *job)
{
    for (size_t i = 0; job->wall && i < job->wall->n_threads; i++)
        free(job->wall->threads[i].all);
    if (job->wall) {
        free(job->wall->threads);
        free(job->wall->earlier);
        map_free(&job->wall->by_id);
        map_free(&job->wall->by_pid);
    }
    free(job->wall);
    job->wall = NULL;
}
