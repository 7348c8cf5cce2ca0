/* SPDX-License-Identifier: MIT */
/* What the page says in tables, and of the recording as a whole, as JSON. Numbers of threads, objects and regions are
 * ranks: what matters most comes first. Room: export. Before it: html.c; after it: the page's data.js. */
#include "export/html/html.h"

#include <stdio.h>

#include "upmu/version.h"

/* Times beyond what a double holds exactly stay texts. */
static void pair_long(struct textbuf *b, const char *key, uint64_t n)
{
    char text[24];
    snprintf(text, sizeof text, "%llu", (unsigned long long)n);
    html_pair_string(b, key, text);
}

/* -------------------------------------------------------------------------------------------------- recording */

static int write_totals(const struct export_job *job, struct textbuf *b)
{
    struct upmu_overview_totals t = {.size = sizeof t};
    int rc = upmu_overview_totals_read(job->facts, &t);
    if (rc != 0)
        return rc;
    html_pair_string(b, "version", UPMU_VERSION_STRING);
    pair_long(b, "base", job->html->base_ns);
    html_pair(b, "length", html_since(job->html, t.end_ns));
    html_pair(b, "events", t.events);
    html_pair(b, "unknown", t.unknown);
    html_pair(b, "lost", t.lost);
    html_pair(b, "unmatched", t.unmatched);
    html_pair(b, "unfinished", t.unfinished);
    html_pair(b, "leftOut", job->left_out);
    html_pair_value(b, "ownCost", t.own_cost_ns);
    html_pair(b, "lifetime", t.lifetime_ns);
    html_key(b, "damages");
    html_open(b, '[');
    for (size_t i = 0; i < t.n_damages; i++)
        html_string(b, upmu_overview_damage_message(job->facts, i));
    html_close(b, ']');
    if (job->opts.from_ns != 0 || job->opts.to_ns != 0) {
        html_key(b, "window");
        html_open(b, '[');
        html_number(b, job->opts.from_ns);
        html_number(b, job->opts.to_ns);
        html_close(b, ']');
    }
    html_key(b, "merged");
    html_open(b, '{');
    html_pair(b, "regions", job->html->regions.gap_ns);
    html_pair(b, "waits", job->html->waits.gap_ns);
    html_pair(b, "holds", job->html->holds.gap_ns);
    html_pair(b, "switches", job->html->runs.gap_ns);
    html_pair(b, "counters", job->html->points_gap_ns);
    html_close(b, '}');
    return 0;
}

static void write_processes(const struct export_job *job, struct textbuf *b)
{
    struct upmu_trace_process p = {.size = sizeof p};
    html_key(b, "processes");
    html_open(b, '[');
    for (size_t i = 0; upmu_overview_process_at(job->facts, i, &p) == 0; i++) {
        html_open(b, '{');
        html_pair(b, "pid", (uint64_t)p.pid);
        html_pair_string(b, "host", p.host);
        html_pair_string(b, "command", p.command);
        html_pair_string(b, "kernel", p.kernel);
        pair_long(b, "start", p.start_ns);
        html_pair(b, "hz", p.clock_hz);
        html_pair(b, "complete", p.complete);
        html_pair(b, "execed", p.execed);
        html_pair(b, "records", p.events);
        html_pair(b, "lost", p.lost);
        html_pair(b, "overwritten", p.overwritten);
        html_pair_value(b, "clockError", p.clock_error_ns);
        html_close(b, '}');
    }
    html_close(b, ']');
}

static void write_counters(const struct export_job *job, struct textbuf *b)
{
    html_key(b, "counters");
    html_open(b, '[');
    for (size_t i = 0; i < job->html->n_counters; i++) {
        struct upmu_event_info info = {.size = sizeof info};
        const char *name = upmu_overview_counter_name(job->facts, 0, i);
        bool known = upmu_event_find(name, &info) == 0;
        html_open(b, '{');
        html_pair_string(b, "name", name);
        html_pair_string(b, "unit", known ? info.unit : "");
        html_pair_string(b, "summary", known ? info.summary : "");
        html_pair(b, "scaled", job->html->scaled >> i & 1);
        html_close(b, '}');
    }
    html_close(b, ']');
}

/* ------------------------------------------------------------------------------------------ threads */

/* How the kernel let it run; not there if it was not recorded. */
static void write_sched(const struct export_job *job, struct textbuf *b, size_t i)
{
    struct upmu_overview_sched s = {.size = sizeof s};
    if (upmu_overview_sched_at(job->facts, i, &s) != 0 || !s.recorded)
        return;
    html_key(b, "sched");
    html_open(b, '{');
    html_pair(b, "running", s.running_ns);
    html_pair(b, "preempted", s.preempted_ns);
    html_pair(b, "blocked", s.blocked_ns);
    html_pair(b, "unknown", s.unknown_ns);
    html_pair(b, "voluntary", s.voluntary);
    html_pair(b, "involuntary", s.involuntary);
    html_pair(b, "lost", s.lost);
    html_close(b, '}');
}

static void write_thread(const struct export_job *job, struct textbuf *b, const struct upmu_overview_thread *t,
                         size_t i)
{
    uint32_t index = job->facts->pass.thread_order[i];
    html_open(b, '{');
    html_pair(b, "process", t->process);
    html_pair(b, "pid", (uint64_t)t->pid);
    html_pair(b, "tid", (uint64_t)t->tid);
    html_pair_string(b, "name", t->name);
    html_pair_string(b, "label", export_thread_name(job, index));
    html_pair(b, "begin", html_since(job->html, t->begin_ns));
    html_pair(b, "end", html_since(job->html, t->end_ns));
    html_pair(b, "life", t->end_ns - t->begin_ns); /* it may have begun before the first event */
    html_pair(b, "started", t->started);
    html_pair(b, "ended", t->ended);
    html_pair(b, "blocked", t->blocked_ns);
    html_key(b, "switches");
    html_counted(b, &t->switches);
    write_sched(job, b, i);
    html_key(b, "waits");
    html_open(b, '{');
    for (int kind = 0; kind < UPMU_WAIT_KINDS; kind++)
        if (t->waits[kind].count + t->waits[kind].unfinished > 0)
            html_pair_wait(b, upmu_wait_kind_name(kind), &t->waits[kind]);
    html_close(b, '}');
    html_pair_counts(b, "counts", t->counts, t->process == 0 ? t->n_counts : 0);
    html_close(b, '}');
}

static void write_threads(const struct export_job *job, struct textbuf *b)
{
    struct upmu_overview_thread t = {.size = sizeof t};
    html_key(b, "threads");
    html_open(b, '[');
    for (size_t i = 0; upmu_overview_thread_at(job->facts, i, &t) == 0; i++)
        write_thread(job, b, &t, i);
    html_close(b, ']');
}

/* --------------------------------------------------------------------------------------- regions, sums and marks */

static void write_regions(const struct export_job *job, struct textbuf *b)
{
    struct upmu_overview_region r = {.size = sizeof r};
    html_key(b, "regions");
    html_open(b, '[');
    for (size_t i = 0; upmu_overview_region_at(job->facts, i, &r) == 0; i++) {
        html_open(b, '{');
        html_pair(b, "process", r.process);
        html_pair_string(b, "name", r.name);
        html_pair(b, "count", r.count);
        html_pair(b, "ns", r.wall_ns);
        html_pair(b, "max", r.max_ns);
        html_pair_value(b, "min", r.min_ns);
        html_pair(b, "unfinished", r.unfinished);
        html_pair_counts(b, "counts", r.counts, r.process == 0 ? r.n_counts : 0);
        html_close(b, '}');
    }
    html_close(b, ']');
}

/* Nodes of regions and the waits in them: parent, label, whether it is a wait, instances, own time, counters. */
static void write_tree(const struct export_job *job, struct textbuf *b)
{
    const struct tree *t = &job->tree;
    html_key(b, "tree");
    html_open(b, '[');
    for (size_t i = 0; i < t->n_nodes; i++) {
        html_open(b, '[');
        html_number(b, t->nodes[i].parent);
        html_string(b, i == 0 ? "" : t->labels[t->nodes[i].label].name);
        html_number(b, map_find(&job->html->wait_labels, i, 0) != MAP_NONE);
        html_number(b, t->nodes[i].count);
        html_number(b, t->nodes[i].ns);
        for (size_t c = 0; c < t->n_counts; c++)
            html_number(b, t->nodes[i].counts ? t->nodes[i].counts[c] : 0);
        html_close(b, ']');
    }
    html_close(b, ']');
}

/* Blocked time by thread, stack (or, where there is none, site) and object. */
static void write_blocked(const struct export_job *job, struct textbuf *b)
{
    const struct html_sums *s = &job->html->stacks;
    html_key(b, "blocked");
    html_open(b, '[');
    for (size_t i = 0; i < s->n; i++) {
        uint64_t place = s->all[i].a >> 31, thread = s->all[i].a & 0x7fffffff;
        html_open(b, '[');
        html_number(b, job->html->thread_rank[thread]);
        html_number(b, place & 1 ? 0 : place >> 1);
        html_number(b, place & 1 ? place >> 1 : 0);
        html_number(b, job->html->object_rank[s->all[i].b]);
        html_number(b, s->all[i].count);
        html_number(b, s->all[i].ns);
        html_close(b, ']');
    }
    html_close(b, ']');
}

/* Who waited for whom: waiter, the other one plus one (0: not known), waits, their time. */
static void write_pairs(const struct export_job *job, struct textbuf *b)
{
    struct upmu_overview_pair p = {.size = sizeof p};
    html_key(b, "pairs");
    html_open(b, '[');
    for (size_t i = 0; upmu_overview_pair_at(job->facts, i, &p) == 0; i++) {
        html_open(b, '[');
        html_number(b, p.waiter);
        html_number(b, p.other == UINT32_MAX ? 0 : (uint64_t)p.other + 1);
        html_number(b, p.waits.count + p.waits.unfinished);
        html_number(b, p.waits.total_ns + p.waits.unfinished_ns);
        html_close(b, ']');
    }
    html_close(b, ']');
}

static void write_marks(const struct export_job *job, struct textbuf *b)
{
    const struct html *h = job->html;
    html_key(b, "marks");
    html_open(b, '[');
    for (size_t i = 0; i < h->n_marks; i++) {
        html_open(b, '[');
        html_number(b, html_since(job->html, h->marks[i].ns));
        html_number(b, h->thread_rank[h->marks[i].thread]);
        html_string(b, h->marks[i].text);
        html_close(b, ']');
    }
    html_close(b, ']');
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
