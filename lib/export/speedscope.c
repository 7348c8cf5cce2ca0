/* SPDX-License-Identifier: MIT */
/* Speedscope's format: a sampled profile per thread, weights in nanoseconds. */
#include "base/text/json.h"
#include "export/export.h"

#include <string.h>

static void speedscope_frames(struct export_job *job)
{
    const struct tree *t = &job->tree;
    struct textbuf *b = &job->out;
    for (size_t i = 0; i < t->n_labels; i++) {
        const struct tree_label *l = &t->labels[i];
        json_line(b);
        json_object(b, NULL);
        json_string(b, "name", l->name);
        if (l->file)
            json_string(b, "file", l->file);
        if (l->line)
            json_uint(b, "line", l->line);
        json_object_end(b);
    }
}

/* Labels from the outermost, without the thread, which is the name of the profile. */
static void speedscope_stack(struct export_job *job, uint32_t node)
{
    const struct tree *t = &job->tree;
    uint32_t path[2 * EXPORT_DEPTH_MAX];
    size_t n = 0;
    for (; t->nodes[node].parent != 0 && n < sizeof path / sizeof *path; node = t->nodes[node].parent)
        path[n++] = t->nodes[node].label;
    json_array(&job->out, NULL);
    while (n > 0)
        json_uint(&job->out, NULL, path[--n]);
    json_array_end(&job->out);
}

/* Preorder successor within the thread's part of the tree; 0 at the end. */
static uint32_t speedscope_next_node(const struct tree *t, uint32_t node, uint32_t top)
{
    if (t->nodes[node].child)
        return t->nodes[node].child;
    for (; node != top; node = t->nodes[node].parent)
        if (t->nodes[node].sibling)
            return t->nodes[node].sibling;
    return 0;
}

static void speedscope_samples(struct export_job *job, uint32_t top, bool weights)
{
    const struct tree *t = &job->tree;
    for (uint32_t i = top; i != 0; i = speedscope_next_node(t, i, top)) {
        if (t->nodes[i].ns == 0 || i == top)
            continue;
        if (weights)
            json_uint(&job->out, NULL, t->nodes[i].ns);
        else
            speedscope_stack(job, i);
    }
}

static uint64_t speedscope_total(const struct tree *t, uint32_t top)
{
    uint64_t ns = 0;
    for (uint32_t i = top; i != 0; i = speedscope_next_node(t, i, top))
        ns += i == top ? 0 : t->nodes[i].ns;
    return ns;
}

static int speedscope_finish(struct export_job *job)
{
    const struct tree *t = &job->tree;
    struct textbuf *b = &job->out;
    int rc = 0;
    bool any = false;
    export_text(b, "{\"$schema\":\"https://www.speedscope.app/file-format-schema.json\",\"exporter\":\"libupmu\","
                   "\"name\":\"libupmu\",\"shared\":{\"frames\":[");
    speedscope_frames(job);
    export_text(b, "]},\n\"profiles\":[");
    for (uint32_t top = t->nodes[0].child; rc == 0 && top != 0; top = t->nodes[top].sibling) {
        uint64_t all = speedscope_total(t, top);
        if (all == 0)
            continue;
        export_text(b, any ? ",\n{" : "\n{"); /* the buffer may have been flushed before it */
        any = true;
        json_string(b, "type", "sampled");
        json_string(b, "name", t->labels[t->nodes[top].label].name);
        json_string(b, "unit", "nanoseconds");
        json_uint(b, "startValue", 0);
        json_uint(b, "endValue", all);
        json_array(b, "samples");
        speedscope_samples(job, top, false);
        json_array_end(b);
        json_array(b, "weights");
        speedscope_samples(job, top, true);
        export_text(b, "]}");
        rc = export_flush(job);
    }
    export_text(b, "]}\n");
    return rc;
}

const struct export_format export_speedscope = {
    .name = "speedscope",
    .suffix = "speedscope.json",
    .summary = "profile per thread for speedscope",
    .wants_tree = true,
    .by_thread = true,
    .finish = speedscope_finish,
};
