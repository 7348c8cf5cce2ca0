/* SPDX-License-Identifier: MIT */
/* The list of findings while it is made. */
#include "findings/findings_list.h"

#include <stdlib.h>

#include "base/error.h"

enum { LEAST_NS = 1000 * 1000 }; /* shorter gains are within what the scheduler does by chance */

int findings_no_memory(void)
{
    return upmu_fail(UPMU_E_NOMEM, "out of memory for the findings of a recording");
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
