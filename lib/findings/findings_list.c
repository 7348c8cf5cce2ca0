/* SPDX-License-Identifier: MIT */
/* The list of findings while it is made. */
#include "findings/findings_list.h"

#include <stdlib.h>
#include <string.h>

#include "base/error.h"

enum { LEAST_NS = 1000 * 1000 }; /* shorter gains are within what the scheduler does by chance */

int findings_no_memory(void)
{
    return upmu_fail(UPMU_E_NOMEM, "out of memory for the findings of a recording");
}

const uint32_t *findings_objects(const struct upmu_findings *f, uint32_t process, size_t *n)
{
    *n = f->first_object[process + 1] - f->first_object[process];
    return f->objects + f->first_object[process];
}

/* Numbers per process become the place behind each one's last. */
static void findings_sum(uint32_t *first, size_t n_processes)
{
    for (size_t i = 0; i < n_processes; i++)
        first[i + 1] += first[i];
}

int findings_index(struct upmu_findings *f)
{
    struct upmu_overview_object o = {.size = sizeof o};
    struct upmu_overview_thread t = {.size = sizeof t};
    size_t n = upmu_overview_process_count(f->overview), n_objects = upmu_overview_object_count(f->overview);
    f->objects = calloc(n_objects + 1, sizeof *f->objects);
    f->first_object = calloc(n + 1, sizeof *f->first_object);
    f->first_thread = calloc(n + 1, sizeof *f->first_thread);
    uint32_t *next = calloc(n + 1, sizeof *next);
    if (!f->objects || !f->first_object || !f->first_thread || !next) {
        free(next);
        return findings_no_memory();
    }
    for (size_t i = 0; upmu_overview_thread_at(f->overview, i, &t) == 0; i++)
        f->first_thread[t.process + 1]++;
    for (size_t i = 0; i < n_objects && upmu_overview_object_at(f->overview, i, &o) == 0; i++)
        f->first_object[o.process + 1]++;
    findings_sum(f->first_thread, n);
    findings_sum(f->first_object, n);
    memcpy(next, f->first_object, n * sizeof *next);
    for (uint32_t i = 0; i < n_objects && upmu_overview_object_at(f->overview, i, &o) == 0; i++)
        f->objects[next[o.process]++] = i;
    free(next);
    return 0;
}

void findings_index_free(struct upmu_findings *f)
{
    free(f->objects);
    free(f->first_object);
    free(f->first_thread);
    f->objects = f->first_object = f->first_thread = NULL;
}

uint64_t findings_run_ns(const struct upmu_overview_path *path)
{
    return path->end_ns - path->begin_ns - path->stopped_ns;
}

struct upmu_finding finding_of(const struct upmu_overview_path *path, uint32_t process, int kind)
{
    return (struct upmu_finding){.size = sizeof(struct upmu_finding),
                                 .kind = kind,
                                 .process = process,
                                 .object = UPMU_NO_INDEX,
                                 .thread = UPMU_NO_INDEX,
                                 .deadlock = UPMU_NO_INDEX,
                                 .run_ns = findings_run_ns(path),
                                 .gain_ns = UPMU_NO_VALUE};
}

int finding_counts(const struct upmu_findings *f, const struct upmu_overview_path *path, uint64_t gain_ns)
{
    uint64_t run = findings_run_ns(path);
    return gain_ns != UPMU_NO_VALUE && gain_ns >= LEAST_NS && (double)gain_ns * 100 >= (double)run * (double)f->percent;
}

int findings_add(struct upmu_findings *f, struct upmu_finding finding, struct textbuf *sentence)
{
    if (f->n == f->cap && !sentence->failed) {
        size_t cap = f->cap ? 2 * f->cap : 16;
        struct upmu_finding *all = reallocarray(f->all, cap, sizeof *all);
        sentence->failed = !all;
        f->all = all ? all : f->all;
        f->cap = all ? cap : f->cap;
    }
    if (sentence->failed) {
        textbuf_free(sentence);
        return findings_no_memory();
    }
    finding.text = sentence->data;
    f->all[f->n++] = finding;
    *sentence = (struct textbuf){0};
    return 0;
}
