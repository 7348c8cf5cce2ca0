/* SPDX-License-Identifier: MIT */
/* Folded stacks for flame graphs: one line per path with its own nanoseconds. */
#include "export/export.h"

#include <string.h>

/* Write the labels from below the root to `node`, separated by ";". */
static void folded_stack(struct export_job *job, uint32_t node)
{
    const struct tree *t = &job->tree;
    uint32_t path[2 * EXPORT_DEPTH_MAX];
    size_t n = 0;
    for (; node != 0 && n < sizeof path / sizeof *path; node = t->nodes[node].parent)
        path[n++] = node;
    while (n > 0) {
        export_plain(&job->out, t->labels[t->nodes[path[--n]].label].name, ";");
        if (n > 0)
            export_text(&job->out, ";");
    }
}

static int folded_finish(struct export_job *job)
{
    int rc = 0;
    for (uint32_t i = 1; rc == 0 && i < job->tree.n_nodes; i++) {
        if (job->tree.nodes[i].ns == 0)
            continue;
        folded_stack(job, i);
        export_text(&job->out, " ");
        textbuf_uint(&job->out, job->tree.nodes[i].ns);
        export_text(&job->out, "\n");
        rc = export_flush(job);
    }
    return rc;
}

const struct export_format export_folded = {
    .name = "folded",
    .suffix = "folded",
    .summary = "one line per stack with its nanoseconds, for flame graphs",
    .wants_tree = true,
    .finish = folded_finish,
};
