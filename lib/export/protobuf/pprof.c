/* SPDX-License-Identifier: MIT */
/* pprof's profile.proto, not compressed (its readers support both). */
#include "export/export.h"
#include "export/protobuf/protobuf.h"

#include <stdlib.h>
#include <string.h>

#include "base/error.h"

/* Field numbers of profile.proto. */
enum {
    PROFILE_SAMPLE_TYPE = 1,
    PROFILE_SAMPLE = 2,
    PROFILE_LOCATION = 4,
    PROFILE_FUNCTION = 5,
    PROFILE_STRING = 6,
    PROFILE_TIME = 9,
    PROFILE_DURATION = 10,
    VALUE_TYPE = 1,
    VALUE_UNIT = 2,
    SAMPLE_LOCATION = 1,
    SAMPLE_VALUE = 2,
    SAMPLE_LABEL = 3,
    LABEL_KEY = 1,
    LABEL_TEXT = 2,
    LOCATION_ID = 1,
    LOCATION_LINE = 4,
    LINE_FUNCTION = 1,
    LINE_LINE = 2,
    FUNCTION_ID = 1,
    FUNCTION_NAME = 2,
    FUNCTION_SYSTEM_NAME = 3,
    FUNCTION_FILE = 4,
};

/* Strings are numbered in the order of writing; number 0 is "". */
static uint64_t pprof_string(struct export_job *job, const char *text)
{
    struct textbuf clean = {0};
    export_plain(&clean, text, ""); /* a string field must be UTF-8 */
    proto_bytes(&job->out, PROFILE_STRING, clean.data ? clean.data : "", clean.len);
    job->out.failed |= clean.failed;
    textbuf_free(&clean);
    return job->ids++;
}

static void pprof_sample_type(struct export_job *job, struct textbuf *m, const char *type, const char *unit)
{
    uint64_t a = pprof_string(job, type), b = pprof_string(job, unit);
    proto_uint(m, VALUE_TYPE, a);
    proto_uint(m, VALUE_UNIT, b);
    proto_message(&job->out, PROFILE_SAMPLE_TYPE, m);
}

static void pprof_sample_types(struct export_job *job, struct textbuf *m)
{
    const char *name;
    const struct export_columns *columns = export_columns(job);
    pprof_sample_type(job, m, columns->count, "count");
    for (size_t i = 0; i < job->tree.n_counts && (name = export_counter_name(job, i)) != NULL; i++)
        pprof_sample_type(job, m, name, "count");
    pprof_sample_type(job, m, columns->time, "nanoseconds"); /* the last one is the default */
}

/* Labels without a line are functions, too; each label is a location. */
static void pprof_labels(struct export_job *job, struct textbuf *m)
{
    struct textbuf line = {0};
    for (uint32_t i = 0; i < job->tree.n_labels; i++) {
        const struct tree_label *l = &job->tree.labels[i];
        if (l->function_label == i) {
            uint64_t name = pprof_string(job, l->name), file = l->file ? pprof_string(job, l->file) : 0;
            proto_uint(m, FUNCTION_ID, i + 1);
            proto_uint(m, FUNCTION_NAME, name);
            proto_uint(m, FUNCTION_SYSTEM_NAME, name);
            proto_uint(m, FUNCTION_FILE, file);
            proto_message(&job->out, PROFILE_FUNCTION, m);
        }
        proto_uint(m, LOCATION_ID, i + 1);
        proto_uint(&line, LINE_FUNCTION, l->function_label + 1);
        proto_uint(&line, LINE_LINE, l->line);
        proto_message(m, LOCATION_LINE, &line);
        proto_message(&job->out, PROFILE_LOCATION, m);
    }
    textbuf_free(&line);
}

/** Strings of a profile's labels, by the number of the string. */
struct pprof_names {
    uint64_t keys[TREE_REGION + 1]; /**< by enum tree_kind */
    uint64_t *values;               /**< by label of the tree, 0: not written yet */
    struct textbuf message;
};

/* What a sample belongs to, for -tagfocus and -tagroot: its thread, the wait, the innermost region. */
static void pprof_sample_labels(struct export_job *job, uint32_t node, struct textbuf *m, struct pprof_names *names)
{
    for (int kind = TREE_THREAD; kind <= TREE_REGION; kind++) {
        uint32_t of = tree_nearest(&job->tree, node, (enum tree_kind)kind);
        if (of == 0)
            continue;
        uint32_t label = job->tree.nodes[of].label;
        if (names->values[label] == 0)
            names->values[label] = pprof_string(job, job->tree.labels[label].name);
        proto_uint(&names->message, LABEL_KEY, names->keys[kind]);
        proto_uint(&names->message, LABEL_TEXT, names->values[label]);
        proto_message(m, SAMPLE_LABEL, &names->message);
    }
}

static void pprof_sample(struct export_job *job, uint32_t node, struct textbuf *m, const uint64_t *own,
                         struct pprof_names *names)
{
    const struct tree *t = &job->tree;
    for (uint32_t n = node; n != 0; n = t->nodes[n].parent)
        proto_uint(m, SAMPLE_LOCATION, t->nodes[n].label + 1);
    for (size_t i = 1; i < tree_columns(t); i++)
        proto_uint(m, SAMPLE_VALUE, own[i]);
    proto_uint(m, SAMPLE_VALUE, own[0]);
    pprof_sample_labels(job, node, m, names);
    proto_message(&job->out, PROFILE_SAMPLE, m);
}

static int pprof_profile(struct export_job *job, uint64_t *own, struct pprof_names *names)
{
    const struct overview *o = &job->facts->pass;
    struct textbuf m = {0};
    int rc = 0;
    (void)pprof_string(job, "");
    pprof_sample_types(job, &m);
    names->keys[TREE_THREAD] = pprof_string(job, "thread");
    names->keys[TREE_WAIT] = pprof_string(job, "wait");
    names->keys[TREE_REGION] = pprof_string(job, "region");
    pprof_labels(job, &m);
    for (uint32_t i = 1; rc == 0 && i < job->tree.n_nodes; i++) {
        tree_own(&job->tree, i, own);
        if (own[0] == 0 && own[1] == 0)
            continue;
        pprof_sample(job, i, &m, own, names);
        rc = export_flush(job);
    }
    proto_uint(&job->out, PROFILE_TIME, o->begin_ns);
    proto_uint(&job->out, PROFILE_DURATION, o->end_ns - o->begin_ns);
    textbuf_free(&m);
    return rc;
}

static int pprof_finish(struct export_job *job)
{
    struct pprof_names names = {.values = calloc(job->tree.n_labels + 1, sizeof *names.values)};
    uint64_t *own = calloc(tree_columns(&job->tree), sizeof *own);
    int rc = own && names.values ? pprof_profile(job, own, &names) : export_no_memory();
    textbuf_free(&names.message);
    free(names.values);
    free(own);
    return rc;
}

const struct export_format export_pprof = {
    .name = "pprof",
    .suffix = "pb",
    .summary = "profile for pprof, with all counters as sample types",
    .wants_tree = true,
    .finish = pprof_finish,
};
