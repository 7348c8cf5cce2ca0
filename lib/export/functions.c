/* SPDX-License-Identifier: MIT */
/* Profiles of recorded functions, and what the columns of a profile are. */
#include "export/export.h"

#include <stdio.h>
#include <stdlib.h>

static uint32_t functions_label(struct export_job *job, uint32_t function)
{
    struct upmu_function f = {.size = sizeof f};
    char offset[320];
    if (upmu_functions_at(job->functions, function, &f) != 0)
        return MAP_NONE;
    const char *slash = f.module ? strrchr(f.module, '/') : NULL;
    snprintf(offset, sizeof offset, "%.250s+0x%llx", slash ? slash + 1 : "", (unsigned long long)f.offset);
    return tree_label(&job->tree, f.name ? f.name : offset, f.file, f.module, f.line);
}

static bool functions_has_number(const struct upmu_value *v)
{
    return v->status == UPMU_EXACT || v->status == UPMU_SCALED;
}

/* Formats with sums have no place for a path whose count is not known. */
static bool functions_counter_is_whole(const struct export_job *job, size_t counter)
{
    struct upmu_function_counts c = {.size = sizeof c};
    size_t n = upmu_functions_path_count(job->functions), i = 1;
    while (i < n && upmu_functions_counts_read(job->functions, UPMU_FUNCTION_PATH_ROWS, i, counter, &c) == 0 &&
           functions_has_number(&c.exclusive))
        i++;
    return i >= n;
}

/* The event that is counter `i` of the profile. @return false: there is none. */
static bool functions_counter(const struct export_job *job, size_t i, size_t *counter)
{
    size_t n = upmu_functions_counter_count(job->functions);
    for (size_t k = 0; k < n; k++)
        if (functions_counter_is_whole(job, k) && i-- == 0) {
            *counter = k;
            return true;
        }
    return false;
}

const char *export_counter_name(const struct export_job *job, size_t i)
{
    struct upmu_function_counter c = {.size = sizeof c};
    size_t counter;
    if (!job->functions)
        return upmu_overview_counter_name(job->facts, 0, i);
    if (!functions_counter(job, i, &counter) || upmu_functions_counter_at(job->functions, counter, &c) != 0)
        return NULL;
    return c.name;
}

/* The counters of all nodes, after their paths. */
static int functions_add_counts(struct export_job *job, const uint32_t *nodes)
{
    struct upmu_function_counts c = {.size = sizeof c};
    size_t n = upmu_functions_path_count(job->functions), counter;
    for (size_t k = 0; k < job->tree.n_counts && functions_counter(job, k, &counter); k++)
        for (size_t i = 1; i < n; i++) {
            uint64_t *counts = nodes[i] ? tree_counts(&job->tree, nodes[i]) : NULL;
            if (nodes[i] && !counts)
                return export_no_memory();
            if (counts && upmu_functions_counts_read(job->functions, UPMU_FUNCTION_PATH_ROWS, i, counter, &c) == 0)
                counts[k] += c.exclusive.value;
        }
    return 0;
}

/* Parents have lower indices. Paths deeper than viewers support are left out, and their time with them. */
int export_functions(struct export_job *job)
{
    struct upmu_function_path p = {.size = sizeof p};
    size_t n = upmu_functions_path_count(job->functions);
    uint32_t *nodes = calloc(n + 1, sizeof *nodes);
    int rc = 0;
    if (!nodes)
        return export_no_memory();
    if (job->format->by_thread)
        nodes[0] = tree_child(&job->tree, 0, tree_label(&job->tree, "all threads", NULL, NULL, 0));
    if (nodes[0] == MAP_NONE)
        rc = export_no_memory();
    for (size_t i = 1; rc == 0 && i < n && upmu_functions_path_at(job->functions, i, &p) == 0; i++) {
        if (p.depth > EXPORT_DEPTH_MAX) {
            job->left_out++;
            continue;
        }
        nodes[i] = tree_child(&job->tree, nodes[p.parent], functions_label(job, p.function));
        if (nodes[i] == MAP_NONE) {
            rc = export_no_memory();
            break;
        }
        job->tree.nodes[nodes[i]].count += p.calls;
        job->tree.nodes[nodes[i]].ns += p.exclusive_ns;
        job->done += p.calls;
    }
    if (rc == 0)
        rc = functions_add_counts(job, nodes);
    free(nodes);
    return rc;
}

const struct export_columns *export_columns(const struct export_job *job)
{
    static const struct export_columns all[] = {
        [UPMU_EXPORT_WAITS] = {"Time blocked, by call stack", "wait_ns", "waits", "wait"},
        [UPMU_EXPORT_REGIONS] = {"Wall time, by region", "wall_ns", "instances", "wall"},
        [UPMU_EXPORT_FUNCTIONS] = {"Time in functions, by call path", "time_ns", "calls", "time"},
        [UPMU_EXPORT_SAMPLES] = {"CPU time, by samples", "cpu_ns", "samples", "cpu"},
        [UPMU_EXPORT_WALL] = {"Wall time: samples and waits, by call stack", "wall_ns", "samples", "wall"},
    };
    static const struct export_columns events = {"Samples of an event, by call stack", "events", "samples", "events"};
    if (job->samples && !job->samples_are_time)
        return &events;
    return &all[job->opts.what];
}

uint64_t export_node_calls(const struct export_job *job, uint32_t node, const uint64_t *sums)
{
    return job->functions ? job->tree.nodes[node].count : sums[node * tree_columns(&job->tree) + 1];
}
