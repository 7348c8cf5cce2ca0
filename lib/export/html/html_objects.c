/* SPDX-License-Identifier: MIT */
/* Locks and what else is waited for, with their places and threads, as JSON. Room: export. Before it: html_facts.c; after
 * it: the page's data.js. */
#include "export/html/html.h"

#include <stdio.h>

static int write_sites(struct export_job *job, struct textbuf *b, size_t i, uint32_t process)
{
    struct upmu_overview_call_site s = {.size = sizeof s};
    html_key(b, "sites");
    html_open(b, '[');
    for (size_t k = 0; upmu_overview_call_site_at(job->facts, i, k, &s) == 0; k++) {
        uint32_t site = html_site(job, process, s.address), stack = html_stack(job, process, s.stack);
        if (site == MAP_NONE || stack == MAP_NONE)
            return export_no_memory();
        html_open(b, '{');
        html_pair(b, "site", site);
        html_pair(b, "stack", stack);
        html_pair(b, "taken", s.acquisitions);
        html_pair_wait(b, "waits", &s.waits);
        html_pair(b, "blocked", s.blocked);
        html_pair(b, "blockedNs", s.blocked_ns);
        html_close(b, '}');
    }
    html_close(b, ']');
    return 0;
}

static void write_thread_stats(const struct export_job *job, struct textbuf *b, size_t i)
{
    const struct overview *o = &job->facts->pass;
    const struct ov_object *object = &o->objects[o->object_order[i]];
    struct upmu_overview_object_thread u = {.size = sizeof u};
    html_key(b, "uses");
    html_open(b, '[');
    for (size_t k = 0; upmu_overview_object_thread_at(job->facts, i, k, &u) == 0; k++) {
        html_open(b, '{');
        html_pair(b, "thread", job->html->thread_rank[o->thread_stats[object->first_thread_stats + k].thread]);
        html_pair(b, "acquisitions", u.acquisitions);
        html_pair(b, "contended", u.contended);
        html_pair_wait(b, "waits", &u.waits);
        html_pair(b, "holds", u.holds);
        html_pair(b, "holdNs", u.hold_ns);
        html_pair(b, "holdMax", u.hold_max_ns);
        html_pair(b, "blocked", u.blocked);
        html_pair(b, "blockedNs", u.blocked_ns);
        html_close(b, '}');
    }
    html_close(b, ']');
}

/* Counters of waits and of holds, where they were read at both ends. */
static void write_sections(const struct export_job *job, struct textbuf *b, size_t i, uint32_t process)
{
    static const char *const names[] = {[UPMU_SECTION_HELD] = "heldCounts", [UPMU_SECTION_WAITED] = "waitedCounts"};
    for (int kind = UPMU_SECTION_HELD; kind <= UPMU_SECTION_WAITED && process == 0; kind++) {
        struct upmu_overview_section s = {.size = sizeof s};
        if (upmu_overview_section_read(job->facts, i, kind, &s) != 0 || s.sections == 0)
            continue;
        html_key(b, names[kind]);
        html_open(b, '{');
        html_pair(b, "sections", s.sections);
        html_pair(b, "ns", s.ns);
        html_pair_counts(b, "counts", s.counts, s.n_counts);
        html_close(b, '}');
    }
}

static int write_object(struct export_job *job, struct textbuf *b, size_t i, const struct upmu_overview_object *x)
{
    const char *type = upmu_object_type_name(x->type);
    char address[24];
    uint32_t init = html_site(job, x->process, x->init_site);
    if (init == MAP_NONE)
        return export_no_memory();
    snprintf(address, sizeof address, "0x%llx", (unsigned long long)x->address);
    html_open(b, '{');
    html_pair(b, "process", x->process);
    html_pair_string(b, "type", type ? type : "object");
    html_pair_string(b, "name", x->name);
    html_pair_string(b, "address", address);
    html_pair(b, "generation", x->generation);
    html_pair(b, "peer", (uint64_t)(x->peer > 0 ? x->peer : 0));
    html_pair(b, "init", init);
    html_pair(b, "acquisitions", x->acquisitions);
    html_pair(b, "contended", x->contended);
    html_pair(b, "countsExact", x->counts_exact);
    html_pair(b, "holdsComplete", x->holds_complete);
    html_pair_wait(b, "waits", &x->waits);
    html_pair(b, "failed", x->failed);
    html_pair(b, "holds", x->holds);
    html_pair(b, "holdNs", x->hold_ns);
    html_pair(b, "holdMax", x->hold_max_ns);
    html_pair(b, "samples", x->samples);
    html_pair(b, "sampleNs", x->sample_ns);
    html_pair(b, "signals", x->signals);
    html_pair(b, "broadcasts", x->broadcasts);
    html_pair(b, "misuses", x->misuses);
    html_pair(b, "rounds", x->rounds);
    html_pair(b, "shared", x->shared);
    write_sections(job, b, i, x->process);
    int rc = write_sites(job, b, i, x->process);
    write_thread_stats(job, b, i);
    html_close(b, '}');
    return rc;
}

int html_objects_write(struct export_job *job, struct textbuf *b)
{
    struct upmu_overview_object x = {.size = sizeof x};
    int rc = 0;
    html_key(b, "objects");
    html_open(b, '[');
    for (size_t i = 0; rc == 0 && upmu_overview_object_at(job->facts, i, &x) == 0; i++)
        rc = write_object(job, b, i, &x);
    html_close(b, ']');
    return rc;
}
