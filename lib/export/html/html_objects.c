/* SPDX-License-Identifier: MIT */
/* Locks and other objects waited for, with their call sites and threads, as JSON. */
#include "export/html/html.h"

#include "facts/facts.h"

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
        facts_call_site(b, &s);
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
        facts_object_thread(b, &u);
        json_object_end(b);
    }
    json_array_end(b);
}

static int write_object(struct export_job *job, struct textbuf *b, size_t i, const struct upmu_overview_object *x)
{
    uint32_t init = html_site(job, x->process, x->init_site);
    if (init == MAP_NONE)
        return export_no_memory();
    json_object(b, NULL);
    json_uint(b, "process", x->process);
    json_string(b, "type", x->type == UPMU_OBJECT_NONE ? "object" : upmu_object_type_name(x->type));
    bool folds = x->named_by == UPMU_IDENTITY_CREATED || x->named_by == UPMU_IDENTITY_FIRST_USE;
    json_bool(b, "folds", folds);
    facts_object(b, x);
    json_uint(b, "peer", (uint64_t)(x->peer > 0 ? x->peer : 0));
    json_uint(b, "init", init);
    if (x->process == 0) /* the page shows the counters of the first process */
        facts_sections(b, job->facts, i, x->process);
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
