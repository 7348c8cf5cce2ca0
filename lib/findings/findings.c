/* SPDX-License-Identifier: MIT */
/* The findings of a recording in order, and their public functions. */
#include <stdbool.h>
#include <stdlib.h>

#include "findings/findings_list.h"

#include "base/error.h"
#include "base/opts.h"

enum {
    MAX_DEFAULT = 5,
    PERCENT_DEFAULT = 5,
};

const char *upmu_finding_kind_name(int kind)
{
    static const char *const names[] = {"deadlock", "section", "hand-over", "imbalance", "no-cpu", "io", "herd"};
    return kind >= 0 && (size_t)kind < sizeof names / sizeof *names ? names[kind] : "?";
}

/* ------------------------------------------------------------------------------------------------------- order */

static int findings_compare(const void *a, const void *b)
{
    const struct upmu_finding *x = a, *y = b;
    bool x_locked = x->kind == UPMU_FINDING_DEADLOCK, y_locked = y->kind == UPMU_FINDING_DEADLOCK;
    bool x_known = x->gain_ns != UPMU_NO_VALUE, y_known = y->gain_ns != UPMU_NO_VALUE;
    if (x_locked != y_locked)
        return x_locked ? -1 : 1;
    if (x_known != y_known)
        return x_known ? -1 : 1;
    if (x->gain_ns != y->gain_ns)
        return x->gain_ns > y->gain_ns ? -1 : 1;
    if (x->process != y->process)
        return x->process < y->process ? -1 : 1;
    return x->object < y->object ? -1 : x->object > y->object;
}

static void findings_keep(struct upmu_findings *f, size_t max)
{
    if (f->n > 0)
        qsort(f->all, f->n, sizeof *f->all, findings_compare);
    while (f->n > max)
        free((char *)f->all[--f->n].text);
}

static int findings_in_process(struct upmu_findings *f, uint32_t process)
{
    struct upmu_overview_path path = {.size = sizeof path};
    int rc = upmu_overview_path_read(f->overview, process, &path);
    if (rc != 0 || path.n_segments == 0)
        return 0;
    rc = findings_in_locks(f, process, &path);
    if (rc == 0)
        rc = findings_in_barriers(f, process, &path);
    if (rc == 0)
        rc = findings_in_joins(f, process, &path);
    if (rc == 0)
        rc = findings_in_wakes(f, process, &path);
    return rc == 0 ? findings_in_scheduling(f, process, &path) : rc;
}

int upmu_findings_open(struct upmu_findings **findings, struct upmu_overview *overview,
                       const struct upmu_deadlocks *deadlocks, const struct upmu_findings_opts *opts)
{
    struct upmu_findings_opts o;
    if (!findings || !overview)
        return ARGUMENT_NULL(findings, overview);
    *findings = NULL;
    int rc = OPTS_TAKE(o, opts, UPMU_FINDINGS_OPTS_SIZE_V1);
    struct upmu_findings *f = rc == 0 ? calloc(1, sizeof *f) : NULL;
    if (!f)
        return rc == 0 ? findings_no_memory() : rc;
    *f = (struct upmu_findings){
        .overview = overview, .deadlocks = deadlocks, .percent = o.percent ? o.percent : PERCENT_DEFAULT};
    rc = findings_index(f);
    if (rc == 0)
        rc = findings_in_deadlocks(f);
    for (uint32_t i = 0; rc == 0 && i < upmu_overview_process_count(overview); i++)
        rc = findings_in_process(f, i);
    findings_index_free(f);
    f->deadlocks = NULL;
    if (rc != 0) {
        upmu_findings_close(f);
        return rc;
    }
    findings_keep(f, o.max ? o.max : MAX_DEFAULT);
    *findings = f;
    return 0;
}

void upmu_findings_close(struct upmu_findings *findings)
{
    if (!findings)
        return;
    findings_keep(findings, 0);
    free(findings->all);
    free(findings);
}

int upmu_findings_at(const struct upmu_findings *findings, size_t i, struct upmu_finding *out)
{
    if (!findings || !out)
        return ARGUMENT_NULL(findings, out);
    if (i >= findings->n)
        return UPMU_E_END;
    return OPTS_GIVE(out, findings->all[i], UPMU_FINDING_SIZE_V1);
}

size_t upmu_findings_count(const struct upmu_findings *findings)
{
    return findings ? findings->n : 0;
}
