/* SPDX-License-Identifier: MIT */
/* What the page says in tables, and of the recording as a whole, as JSON. Numbers of threads, objects and regions are
 * ranks: what matters most comes first. Room: export. Before it: html.c; after it: the page's data.js. */
#include "export/html.h"

#include <stdio.h>

#include "upmu/version.h"

static void pair_number(struct textbuf *b, const char *key, uint64_t n)
{
    html_key(b, key);
    html_number(b, n);
}

static void pair_value(struct textbuf *b, const char *key, uint64_t n)
{
    html_key(b, key);
    html_value(b, n);
}

static void pair_string(struct textbuf *b, const char *key, const char *text)
{
    html_key(b, key);
    html_string(b, text);
}

/* Times beyond what a double holds exactly stay texts. */
static void pair_long(struct textbuf *b, const char *key, uint64_t n)
{
    char text[24];
    snprintf(text, sizeof text, "%llu", (unsigned long long)n);
    pair_string(b, key, text);
}

/* Nanoseconds of the page: since its base. */
static uint64_t since_base(const struct export_job *job, uint64_t ns)
{
    return ns > job->html->base_ns ? ns - job->html->base_ns : 0;
}

static void pair_wait(struct textbuf *b, const char *key, const struct upmu_wait_sum *w)
{
    html_key(b, key);
    html_open(b, '[');
    html_number(b, w->count);
    html_number(b, w->total_ns);
    html_number(b, w->max_ns);
    html_number(b, w->unfinished);
    html_number(b, w->unfinished_ns);
    html_close(b, ']');
}

static void counted(struct textbuf *b, const struct upmu_value *v)
{
    html_open(b, '[');
    html_value(b, export_has_number(v) ? v->value : UPMU_NO_VALUE);
    html_string(b, upmu_standing_name(v->standing));
    html_close(b, ']');
}

/* Counters have the first process's titles: those of a process with another list are left out. */
static void pair_counts(struct textbuf *b, const struct upmu_overview_count *counts, size_t n)
{
    html_key(b, "counts");
    html_open(b, '[');
    for (size_t i = 0; i < n; i++)
        counted(b, &counts[i].sum);
    html_close(b, ']');
}

/* -------------------------------------------------------------------------------------------------- recording */

static int write_totals(const struct export_job *job, struct textbuf *b)
{
    struct upmu_overview_totals t = {.size = sizeof t};
    int rc = upmu_overview_totals(job->facts, &t);
    if (rc != 0)
        return rc;
    pair_string(b, "version", UPMU_VERSION_STRING);
    pair_long(b, "base", job->html->base_ns);
    pair_number(b, "length", since_base(job, t.end_ns));
    pair_number(b, "events", t.events);
    pair_number(b, "unknown", t.unknown);
    pair_number(b, "lost", t.lost);
    pair_number(b, "unmatched", t.unmatched);
    pair_number(b, "unfinished", t.unfinished);
    pair_number(b, "leftOut", job->too_deep);
    pair_value(b, "ownCost", t.own_cost_ns);
    pair_number(b, "lifetime", t.lifetime_ns);
    html_key(b, "damages");
    html_open(b, '[');
    for (size_t i = 0; i < t.n_damages; i++)
        html_string(b, upmu_overview_damage(job->facts, i));
    html_close(b, ']');
    html_key(b, "merged");
    html_open(b, '{');
    pair_number(b, "regions", job->html->regions.gap_ns);
    pair_number(b, "waits", job->html->waits.gap_ns);
    pair_number(b, "holds", job->html->holds.gap_ns);
    pair_number(b, "points", job->html->points_gap_ns);
    html_close(b, '}');
    return 0;
}

static void write_processes(const struct export_job *job, struct textbuf *b)
{
    struct upmu_trace_process p = {.size = sizeof p};
    html_key(b, "processes");
    html_open(b, '[');
    for (size_t i = 0; upmu_overview_process(job->facts, i, &p) == 0; i++) {
        html_open(b, '{');
        pair_number(b, "pid", (uint64_t)p.pid);
        pair_string(b, "host", p.host);
        pair_string(b, "command", p.command);
        pair_string(b, "kernel", p.kernel);
        pair_long(b, "start", p.start_ns);
        pair_number(b, "hz", p.clock_hz);
        pair_number(b, "complete", p.complete);
        pair_number(b, "records", p.events);
        pair_number(b, "lost", p.lost);
        pair_number(b, "overwritten", p.overwritten);
        pair_value(b, "clockError", p.clock_error_ns);
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
        const char *name = upmu_overview_counter(job->facts, 0, i);
        bool known = upmu_event_info(name, &info) == 0;
        html_open(b, '{');
        pair_string(b, "name", name);
        pair_string(b, "unit", known ? info.unit : "");
        pair_string(b, "summary", known ? info.summary : "");
        pair_number(b, "scaled", job->html->scaled >> i & 1);
        html_close(b, '}');
    }
    html_close(b, ']');
}

/* ------------------------------------------------------------------------------------------ threads and objects */

static void write_thread(const struct export_job *job, struct textbuf *b, const struct upmu_overview_thread *t,
                         uint32_t index)
{
    html_open(b, '{');
    pair_number(b, "process", t->process);
    pair_number(b, "pid", (uint64_t)t->pid);
    pair_number(b, "tid", (uint64_t)t->tid);
    pair_string(b, "name", t->name);
    pair_string(b, "label", export_thread_name(job, index));
    pair_number(b, "begin", since_base(job, t->begin_ns));
    pair_number(b, "end", since_base(job, t->end_ns));
    pair_number(b, "started", t->started);
    pair_number(b, "ended", t->ended);
    pair_number(b, "blocked", t->blocked_ns);
    html_key(b, "switches");
    counted(b, &t->switches);
    html_key(b, "waits");
    html_open(b, '{');
    for (int kind = 0; kind < UPMU_WAIT_KINDS; kind++)
        if (t->waits[kind].count + t->waits[kind].unfinished > 0)
            pair_wait(b, upmu_wait_kind_name(kind), &t->waits[kind]);
    html_close(b, '}');
    pair_counts(b, t->counts, t->process == 0 ? t->n_counts : 0);
    html_close(b, '}');
}

static void write_threads(const struct export_job *job, struct textbuf *b)
{
    struct upmu_overview_thread t = {.size = sizeof t};
    html_key(b, "threads");
    html_open(b, '[');
    for (size_t i = 0; upmu_overview_thread(job->facts, i, &t) == 0; i++)
        write_thread(job, b, &t, job->facts->pass.thread_order[i]);
    html_close(b, ']');
}

static int write_sites(struct export_job *job, struct textbuf *b, size_t i, uint32_t process)
{
    struct upmu_overview_site s = {.size = sizeof s};
    html_key(b, "sites");
    html_open(b, '[');
    for (size_t k = 0; upmu_overview_site(job->facts, i, k, &s) == 0; k++) {
        uint32_t site = html_site(job, process, s.address), stack = html_stack(job, process, s.stack);
        if (site == MAP_NONE || stack == MAP_NONE)
            return export_no_memory();
        html_open(b, '{');
        pair_number(b, "site", site);
        pair_number(b, "stack", stack);
        pair_number(b, "taken", s.taken);
        pair_wait(b, "waits", &s.waits);
        pair_number(b, "blocked", s.blocked);
        pair_number(b, "blockedNs", s.blocked_ns);
        html_close(b, '}');
    }
    html_close(b, ']');
    return 0;
}

static void write_uses(const struct export_job *job, struct textbuf *b, size_t i)
{
    const struct overview *o = &job->facts->pass;
    const struct ov_object *object = &o->objects[o->object_order[i]];
    struct upmu_overview_use u = {.size = sizeof u};
    html_key(b, "uses");
    html_open(b, '[');
    for (size_t k = 0; upmu_overview_use(job->facts, i, k, &u) == 0; k++) {
        html_open(b, '{');
        pair_number(b, "thread", job->html->thread_rank[o->uses[object->first_use + k].thread]);
        pair_number(b, "acquisitions", u.acquisitions);
        pair_number(b, "contended", u.contended);
        pair_wait(b, "waits", &u.waits);
        pair_number(b, "holds", u.holds);
        pair_number(b, "holdNs", u.hold_ns);
        pair_number(b, "holdMax", u.hold_max_ns);
        pair_number(b, "blocked", u.blocked);
        pair_number(b, "blockedNs", u.blocked_ns);
        html_close(b, '}');
    }
    html_close(b, ']');
}

static int write_object(struct export_job *job, struct textbuf *b, size_t i, const struct upmu_overview_object *x)
{
    const char *type = upmu_trace_object_name(x->type);
    char address[24];
    uint32_t init = html_site(job, x->process, x->init_site);
    if (init == MAP_NONE)
        return export_no_memory();
    snprintf(address, sizeof address, "0x%llx", (unsigned long long)x->address);
    html_open(b, '{');
    pair_number(b, "process", x->process);
    pair_string(b, "type", type ? type : "object");
    pair_string(b, "name", x->name);
    pair_string(b, "address", address);
    pair_number(b, "generation", x->generation);
    pair_number(b, "peer", (uint64_t)(x->peer > 0 ? x->peer : 0));
    pair_number(b, "init", init);
    pair_number(b, "acquisitions", x->acquisitions);
    pair_number(b, "contended", x->contended);
    pair_number(b, "countsExact", x->counts_exact);
    pair_number(b, "holdsComplete", x->holds_complete);
    pair_wait(b, "waits", &x->waits);
    pair_number(b, "failed", x->failed);
    pair_number(b, "holds", x->holds);
    pair_number(b, "holdNs", x->hold_ns);
    pair_number(b, "holdMax", x->hold_max_ns);
    pair_number(b, "samples", x->samples);
    pair_number(b, "sampleNs", x->sample_ns);
    pair_number(b, "signals", x->signals);
    pair_number(b, "broadcasts", x->broadcasts);
    pair_number(b, "misuses", x->misuses);
    pair_number(b, "rounds", x->rounds);
    pair_number(b, "shared", x->shared);
    int rc = write_sites(job, b, i, x->process);
    write_uses(job, b, i);
    html_close(b, '}');
    return rc;
}

static int write_objects(struct export_job *job, struct textbuf *b)
{
    struct upmu_overview_object x = {.size = sizeof x};
    int rc = 0;
    html_key(b, "objects");
    html_open(b, '[');
    for (size_t i = 0; rc == 0 && upmu_overview_object(job->facts, i, &x) == 0; i++)
        rc = write_object(job, b, i, &x);
    html_close(b, ']');
    return rc;
}

/* --------------------------------------------------------------------------------------- regions, sums and marks */

static void write_regions(const struct export_job *job, struct textbuf *b)
{
    struct upmu_overview_region r = {.size = sizeof r};
    html_key(b, "regions");
    html_open(b, '[');
    for (size_t i = 0; upmu_overview_region(job->facts, i, &r) == 0; i++) {
        html_open(b, '{');
        pair_number(b, "process", r.process);
        pair_string(b, "name", r.name);
        pair_number(b, "count", r.count);
        pair_number(b, "ns", r.wall_ns);
        pair_number(b, "max", r.max_ns);
        pair_value(b, "min", r.min_ns);
        pair_number(b, "unfinished", r.unfinished);
        pair_counts(b, r.counts, r.process == 0 ? r.n_counts : 0);
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

static void write_pairs(const struct export_job *job, struct textbuf *b)
{
    const struct html_sums *s = &job->html->pairs;
    html_key(b, "pairs");
    html_open(b, '[');
    for (size_t i = 0; i < s->n; i++) {
        html_open(b, '[');
        html_number(b, job->html->thread_rank[s->all[i].a]);
        html_number(b, job->html->thread_rank[s->all[i].b]);
        html_number(b, s->all[i].count);
        html_number(b, s->all[i].ns);
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
        html_number(b, since_base(job, h->marks[i].ns));
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
        rc = write_objects(job, b);
    write_regions(job, b);
    write_tree(job, b);
    write_blocked(job, b);
    write_pairs(job, b);
    write_marks(job, b);
    return rc;
}
