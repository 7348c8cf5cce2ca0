/* SPDX-License-Identifier: MIT */
/*
 * Callgrind's profile format, for callgrind_annotate and KCachegrind; cost columns are time, count and counters.
 *
 * Each node of the tree is a block of its own; readers sum up the blocks of a function.
 */
#include "export/export.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"

static void callgrind_column_names(struct export_job *job)
{
    const char *name;
    textbuf_printf(&job->out, "events: %s %s", export_columns(job)->ns, export_columns(job)->count);
    for (size_t i = 0; i < job->tree.n_counts && (name = export_counter_name(job, i)) != NULL; i++) {
        export_text(&job->out, " ");
        export_plain(&job->out, name, " :,/=");
    }
}

static void callgrind_costs(struct export_job *job, uint32_t line, const uint64_t *columns)
{
    textbuf_uint(&job->out, line);
    for (size_t i = 0; i < tree_columns(&job->tree); i++) {
        export_text(&job->out, " ");
        textbuf_uint(&job->out, columns[i]);
    }
    export_text(&job->out, "\n");
}

/* "fn=(3) name": a name is written once, and referred to by its number. */
static void callgrind_name(struct export_job *job, const char *key, uint32_t id, const char *name, unsigned char *known,
                           unsigned char bit)
{
    textbuf_printf(&job->out, "%s=(%u)", key, (unsigned)id + 1);
    if (!(known[id] & bit)) {
        export_text(&job->out, " ");
        export_plain(&job->out, name, "");
        known[id] |= bit;
    }
    export_text(&job->out, "\n");
}

enum { KNOWN_FILE = 1, KNOWN_FUNCTION = 2, KNOWN_OBJECT = 4 };

static void callgrind_function(struct export_job *job, const char *prefix, uint32_t label, unsigned char *known)
{
    const struct tree_label *l = &job->tree.labels[label];
    char key[8];
    snprintf(key, sizeof key, "%sob", prefix);
    callgrind_name(job, key, label, l->module ? l->module : "???", known, KNOWN_OBJECT);
    snprintf(key, sizeof key, "%s", prefix[0] ? "cfi" : "fl");
    callgrind_name(job, key, label, l->file ? l->file : "???", known, KNOWN_FILE);
    snprintf(key, sizeof key, "%sfn", prefix);
    callgrind_name(job, key, label, l->name, known, KNOWN_FUNCTION);
}

static void callgrind_node(struct export_job *job, uint32_t index, const uint64_t *sums, unsigned char *known,
                           uint64_t *own)
{
    const struct tree *t = &job->tree;
    const struct tree_node *n = &t->nodes[index];
    const struct tree_label *l = &t->labels[n->label];
    export_text(&job->out, "\n");
    callgrind_function(job, "", l->function_label, known);
    tree_own(t, index, own);
    callgrind_costs(job, l->line, own);
    for (uint32_t c = n->child; c != 0; c = t->nodes[c].sibling) {
        const uint64_t *sum = sums + c * tree_columns(t);
        const struct tree_label *callee = &t->labels[t->nodes[c].label];
        callgrind_function(job, "c", callee->function_label, known);
        textbuf_printf(&job->out, "calls=%llu %u\n", (unsigned long long)export_node_calls(job, c, sums),
                       (unsigned)callee->line);
        callgrind_costs(job, l->line, sum);
    }
}

static void callgrind_header(struct export_job *job, const uint64_t *totals)
{
    struct upmu_trace_process p = {.size = sizeof p};
    export_text(&job->out, "# callgrind format\nversion: 1\ncreator: libupmu\n");
    if (upmu_overview_process_at(job->facts, 0, &p) == 0) {
        textbuf_printf(&job->out, "pid: %ld\ncmd: ", (long)p.pid);
        export_plain(&job->out, p.command, "");
        export_text(&job->out, "\n");
    }
    export_text(&job->out, "positions: line\n");
    callgrind_column_names(job);
    export_text(&job->out, "\nsummary:");
    for (size_t i = 0; i < tree_columns(&job->tree); i++)
        textbuf_printf(&job->out, " %llu", (unsigned long long)totals[i]);
    export_text(&job->out, "\n");
}

static int callgrind_profile(struct export_job *job, const uint64_t *sums, unsigned char *known, uint64_t *own)
{
    int rc = 0;
    callgrind_header(job, sums);
    for (uint32_t i = 0; rc == 0 && i < job->tree.n_nodes; i++) {
        callgrind_node(job, i, sums, known, own);
        rc = export_flush(job);
    }
    return rc;
}

static int callgrind_finish(struct export_job *job)
{
    uint64_t *sums = tree_sums(&job->tree), *own = calloc(tree_columns(&job->tree), sizeof *own);
    unsigned char *known = calloc(job->tree.n_labels, 1);
    int rc = sums && own && known ? callgrind_profile(job, sums, known, own) : export_no_memory();
    free(sums);
    free(own);
    free(known);
    return rc;
}

const struct export_format export_callgrind = {
    .name = "callgrind",
    .suffix = "callgrind",
    .summary = "profile for callgrind_annotate and KCachegrind; counters are cost columns",
    .wants_tree = true,
    .finish = callgrind_finish,
};
