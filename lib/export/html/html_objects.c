/* SPDX-License-Identifier: MIT */
/* Locks and other objects waited for, with their call sites and threads, as JSON. */
#include "export/html/html.h"

#include <stdio.h>

static int objects_write_sites(struct export_job *job, struct textbuf *b, size_t i, uint32_t process)
{
    struct upmu_overview_call_site s = {.size = sizeof s};
    json_array(b, "sites");
    for (size_t k = 0; upmu_overview_call_site_at(job->facts, i, k, &s) == 0; k++) {
        uint32_t site = html_site(job, process, s.address), stack = html_stack(job, process, s.stack);
        if (site == MAP_NONE || stack == MAP_NONE)
            return export_no_memory();
        json_object(b, NULL);
        json_uint(b, "site", site);
        json_uint(b, "stack", stack);
        json_uint(b, "acquisitions", s.acquisitions);
        html_wait_sum(b, "waits", &s.waits);
        json_uint(b, "blocked", s.blocked);
        json_uint(b, "blockedNs", s.blocked_ns);
        json_object_end(b);
    }
    json_array_end(b);
    return 0;
}

static void objects_write_threads(const struct export_job *job, struct textbuf *b, size_t i)
{
    const struct overview *o = &job->facts->pass;
    const struct ov_object *object = &o->objects[o->object_order[i]];
    struct upmu_overview_object_thread u = {.size = sizeof u};
    json_array(b, "threads");
    for (size_t k = 0; upmu_overview_object_thread_at(job->facts, i, k, &u) == 0; k++) {
        json_object(b, NULL);
        json_uint(b, "thread", job->html->thread_rank[o->thread_stats[object->first_thread_stats + k].thread]);
        json_uint(b, "acquisitions", u.acquisitions);
        json_uint(b, "contended", u.contended);
        html_wait_sum(b, "waits", &u.waits);
        json_uint(b, "holds", u.holds);
        json_uint(b, "holdNs", u.hold_ns);
        json_uint(b, "partialHolds", u.partial_holds);
        json_uint(b, "partialNs", u.partial_ns);
        json_uint(b, "holdMax", u.hold_max_ns);
        json_uint(b, "blocked", u.blocked);
        json_uint(b, "blockedNs", u.blocked_ns);
        json_object_end(b);
    }
    json_array_end(b);
}

/* Counters of waits and of holds, if they were read at both ends. */
static void objects_write_sections(const struct export_job *job, struct textbuf *b, size_t i, uint32_t process)
{
    static const char *const names[] = {[UPMU_SECTION_HELD] = "heldCounts", [UPMU_SECTION_WAITED] = "waitedCounts"};
    for (int kind = UPMU_SECTION_HELD; kind <= UPMU_SECTION_WAITED && process == 0; kind++) {
        struct upmu_overview_section s = {.size = sizeof s};
        if (upmu_overview_section_read(job->facts, i, kind, &s) != 0 || s.sections == 0)
            continue;
        json_object(b, names[kind]);
        json_uint(b, "sections", s.sections);
        json_uint(b, "ns", s.ns);
        html_counts(b, "counts", s.counts, s.n_counts);
        json_object_end(b);
    }
}

static int write_object(struct export_job *job, struct textbuf *b, size_t i, const struct upmu_overview_object *x)
{
    char address[24];
    uint32_t init = html_site(job, x->process, x->init_site);
    if (init == MAP_NONE)
        return export_no_memory();
    snprintf(address, sizeof address, "0x%llx", (unsigned long long)x->address);
    json_object(b, NULL);
    json_uint(b, "process", x->process);
    html_string(b, "type", x->type == UPMU_OBJECT_NONE ? "object" : upmu_object_type_name(x->type));
    html_string(b, "name", x->name);
    bool folds = x->named_by == UPMU_IDENTITY_CREATED || x->named_by == UPMU_IDENTITY_FIRST_USE;
    html_string(b, "group", folds ? x->group : "");
    html_string(b, "address", address);
    json_uint(b, "generation", x->generation);
    json_uint(b, "peer", (uint64_t)(x->peer > 0 ? x->peer : 0));
    json_uint(b, "init", init);
    json_uint(b, "acquisitions", x->acquisitions);
    json_uint(b, "contended", x->contended);
    json_uint(b, "countsExact", x->counts_exact);
    json_uint(b, "holdsComplete", x->holds_complete);
    html_wait_sum(b, "waits", &x->waits);
    json_uint(b, "failed", x->failed);
    json_uint(b, "holds", x->holds);
    json_uint(b, "holdNs", x->hold_ns);
    json_uint(b, "partialHolds", x->partial_holds);
    json_uint(b, "partialNs", x->partial_ns);
    json_uint(b, "holdMax", x->hold_max_ns);
    json_uint(b, "samples", x->samples);
    json_uint(b, "sampleNs", x->sample_ns);
    json_uint(b, "signals", x->signals);
    json_uint(b, "broadcasts", x->broadcasts);
    json_uint(b, "misuses", x->misuses);
    json_uint(b, "rounds", x->rounds);
    json_uint(b, "shared", x->shared);
    objects_write_sections(job, b, i, x->process);
    int rc = objects_write_sites(job, b, i, x->process);
    objects_write_threads(job, b, i);
    json_object_end(b);
    return rc;
}

int html_objects_write(struct export_job *job, struct textbuf *b)
{
    struct upmu_overview_object x = {.size = sizeof x};
    int rc = 0;
    json_array(b, "objects");
    for (size_t i = 0; rc == 0 && upmu_overview_object_at(job->facts, i, &x) == 0; i++)
        rc = write_object(job, b, i, &x);
    json_array_end(b);
    return rc;
}
