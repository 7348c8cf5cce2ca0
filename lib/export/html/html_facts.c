/* SPDX-License-Identifier: MIT */
/* Tables and general properties of the recording as JSON. Numbers of threads, objects and regions are ranks. */
#include "export/html/html.h"

#include "facts/facts.h"
#include "upmu/version.h"

/* -------------------------------------------------------------------------------------------------- recording */

static int write_totals(const struct export_job *job, struct textbuf *b)
{
    struct upmu_overview_totals t = {.size = sizeof t};
    int rc = upmu_overview_totals_read(job->facts, &t);
    if (rc != 0)
        return rc;
    json_string(b, "version", UPMU_VERSION_STRING);
    json_uint(b, "length", html_since(job->html, t.end_ns));
    json_uint(b, "leftOut", job->left_out);
    json_object(b, "totals");
    facts_totals(b, &t);
    json_object_end(b);
    facts_damages(b, job->facts, &t);
    if (job->opts.from_ns != 0 || job->opts.to_ns != 0) {
        json_array(b, "window");
        json_uint(b, NULL, job->opts.from_ns);
        json_uint(b, NULL, job->opts.to_ns);
        json_array_end(b);
    }
    json_object(b, "merged");
    json_uint(b, "regions", job->html->regions.gap_ns);
    json_uint(b, "waits", job->html->waits.gap_ns);
    json_uint(b, "holds", job->html->holds.gap_ns);
    json_uint(b, "switches", job->html->runs.gap_ns);
    json_uint(b, "MPI calls", job->html->calls.gap_ns);
    json_uint(b, "counters", job->html->points_gap_ns);
    json_object_end(b);
    return 0;
}

/* How long recording was stopped, and when: [begin, nanoseconds]. Nothing if it was not. */
static void write_stops(const struct export_job *job, struct textbuf *b, size_t process)
{
    struct upmu_overview_recorded of = {.size = sizeof of};
    struct upmu_trace_pause pause = {.size = sizeof pause};
    if (upmu_overview_recorded_at(job->facts, process, &of) != 0)
        return;
    json_uint(b, "run_ns", of.end_ns - of.begin_ns);
    json_uint(b, "stopped_ns", of.stopped_ns - of.counted_ns);
    json_uint_if(b, "counted_ns", of.counted > 0, of.counted_ns);
    json_array(b, "stops");
    for (size_t i = 0; upmu_overview_pause_at(job->facts, process, i, &pause) == 0; i++) {
        uint64_t begin = html_since(job->html, pause.begin_ns);
        json_array(b, NULL);
        json_uint(b, NULL, begin);
        json_uint(b, NULL, html_since(job->html, pause.end_ns) - begin);
        json_array_end(b);
    }
    json_array_end(b);
}

static void write_processes(const struct export_job *job, struct textbuf *b)
{
    struct upmu_trace_process p = {.size = sizeof p};
    json_array(b, "processes");
    for (size_t i = 0; upmu_overview_process_at(job->facts, i, &p) == 0; i++) {
        json_object(b, NULL);
        facts_process(b, &p);
        if (p.pauses > 0)
            write_stops(job, b, i);
        json_object_end(b);
    }
    json_array_end(b);
}

static void write_counters(const struct export_job *job, struct textbuf *b)
{
    json_array(b, "counters");
    for (size_t i = 0; i < job->html->n_counters; i++) {
        struct upmu_event_info info = {.size = sizeof info};
        const char *name = upmu_overview_counter_name(job->facts, 0, i);
        bool known = upmu_event_find(name, &info) == 0;
        json_object(b, NULL);
        json_string(b, "name", name);
        json_string(b, "unit", known ? info.unit : "");
        json_string(b, "summary", known ? info.summary : "");
        json_uint(b, "scaled", job->html->scaled >> i & 1);
        json_object_end(b);
    }
    json_array_end(b);
}

/* ------------------------------------------------------------------------------------------ threads */

static void write_thread(const struct export_job *job, struct textbuf *b, const struct upmu_overview_thread *t,
                         size_t i)
{
    uint32_t index = job->facts->pass.thread_order[i];
    json_object(b, NULL);
    facts_thread(b, job->facts, i, t);
    json_string(b, "label", export_thread_name(job, index));
    json_uint(b, "begin", html_since(job->html, t->begin_ns));
    json_uint(b, "end", html_since(job->html, t->end_ns));
    json_uint(b, "life", t->end_ns - t->begin_ns - t->stopped_ns); /* it may have begun before the first event */
    facts_counters(b, job->facts, 0, t->counts, t->process == 0 ? t->n_counts : 0);
    json_object_end(b);
}

static void write_threads(const struct export_job *job, struct textbuf *b)
{
    struct upmu_overview_thread t = {.size = sizeof t};
    json_array(b, "threads");
    for (size_t i = 0; upmu_overview_thread_at(job->facts, i, &t) == 0; i++)
        write_thread(job, b, &t, i);
    json_array_end(b);
}

/* --------------------------------------------------------------------------------------- regions, sums and marks */

static void write_regions(const struct export_job *job, struct textbuf *b)
{
    struct upmu_overview_region r = {.size = sizeof r};
    json_array(b, "regions");
    for (size_t i = 0; upmu_overview_region_at(job->facts, i, &r) == 0; i++) {
        json_object(b, NULL);
        facts_region(b, &r);
        facts_counters(b, job->facts, 0, r.counts, r.process == 0 ? r.n_counts : 0);
        json_object_end(b);
    }
    json_array_end(b);
}

/* Nodes of regions and the waits in them: parent, label, whether it is a wait, instances, own time, counters. */
static void write_tree(const struct export_job *job, struct textbuf *b)
{
    const struct tree *t = &job->tree;
    json_array(b, "tree");
    for (size_t i = 0; i < t->n_nodes; i++) {
        json_array(b, NULL);
        json_uint(b, NULL, t->nodes[i].parent);
        json_string(b, NULL, i == 0 ? "" : t->labels[t->nodes[i].label].name);
        json_uint(b, NULL, map_find(&job->html->wait_labels, i, 0) != MAP_NONE);
        json_uint(b, NULL, t->nodes[i].count);
        json_uint(b, NULL, t->nodes[i].ns);
        for (size_t c = 0; c < t->n_counts; c++)
            json_uint(b, NULL, t->nodes[i].counts ? t->nodes[i].counts[c] : 0);
        json_array_end(b);
    }
    json_array_end(b);
}

/* Blocked time by thread, stack (or site, if there is no stack) and object. */
static void write_blocked(const struct export_job *job, struct textbuf *b)
{
    const struct html_sums *s = &job->html->stacks;
    json_array(b, "blocked");
    for (size_t i = 0; i < s->n; i++) {
        uint64_t origin = s->all[i].a >> 31, thread = s->all[i].a & 0x7fffffff;
        json_array(b, NULL);
        json_uint(b, NULL, job->html->thread_rank[thread]);
        json_uint(b, NULL, origin & 1 ? 0 : origin >> 1);
        json_uint(b, NULL, origin & 1 ? origin >> 1 : 0);
        json_uint(b, NULL, job->html->object_rank[s->all[i].b]);
        json_uint(b, NULL, s->all[i].count);
        json_uint(b, NULL, s->all[i].ns);
        json_array_end(b);
    }
    json_array_end(b);
}

/* Waiting pairs: waiter, other thread plus one (0: not known), waits, their time. */
static void write_pairs(const struct export_job *job, struct textbuf *b)
{
    struct upmu_overview_pair p = {.size = sizeof p};
    json_array(b, "pairs");
    for (size_t i = 0; upmu_overview_pair_at(job->facts, i, &p) == 0; i++) {
        json_array(b, NULL);
        json_uint(b, NULL, p.waiter);
        json_uint(b, NULL, p.other == UINT32_MAX ? 0 : (uint64_t)p.other + 1);
        json_uint(b, NULL, p.waits.count + p.waits.unfinished);
        json_uint(b, NULL, p.waits.total_ns + p.waits.unfinished_ns);
        json_array_end(b);
    }
    json_array_end(b);
}

static void write_marks(const struct export_job *job, struct textbuf *b)
{
    const struct html *h = job->html;
    json_array(b, "marks");
    for (size_t i = 0; i < h->n_marks; i++) {
        json_array(b, NULL);
        json_uint(b, NULL, html_since(job->html, h->marks[i].ns));
        json_uint(b, NULL, h->thread_rank[h->marks[i].thread]);
        json_string(b, NULL, h->marks[i].text);
        json_array_end(b);
    }
    json_array_end(b);
}

int html_facts_write(struct export_job *job, struct textbuf *b)
{
    int rc = write_totals(job, b);
    write_processes(job, b);
    write_counters(job, b);
    write_threads(job, b);
    if (rc == 0)
        rc = html_objects_write(job, b);
    if (rc == 0)
        rc = html_paths_write(job, b);
    write_regions(job, b);
    write_tree(job, b);
    write_blocked(job, b);
    write_pairs(job, b);
    write_marks(job, b);
    return rc;
}
