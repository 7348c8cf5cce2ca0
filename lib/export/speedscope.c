/* SPDX-License-Identifier: MIT */
/* Speedscope's own format: a sampled profile per thread, weights in nanoseconds. Room: export. Before it: the tree; after
 * it: a file. */
#include "export/export.h"

#include <string.h>

static void frames(struct export_job *job)
{
    const struct tree *t = &job->tree;
    for (size_t i = 0; i < t->n_labels; i++) {
        const struct tree_label *l = &t->labels[i];
        export_text(&job->out, i == 0 ? "\n{\"name\":" : ",\n{\"name\":");
        textbuf_json(&job->out, l->name);
        if (l->file) {
            export_text(&job->out, ",\"file\":");
            textbuf_json(&job->out, l->file);
        }
        if (l->line)
            textbuf_printf(&job->out, ",\"line\":%u", (unsigned)l->line);
        export_text(&job->out, "}");
    }
}

/* Labels from the outermost on, without the thread, which is the profile's name. */
static void stack(struct export_job *job, uint32_t node)
{
    const struct tree *t = &job->tree;
    uint32_t way[2 * EXPORT_DEPTH_MAX];
    size_t n = 0;
    for (; t->nodes[node].parent != 0 && n < sizeof way / sizeof *way; node = t->nodes[node].parent)
        way[n++] = t->nodes[node].label;
    export_text(&job->out, "[");
    while (n > 0) {
        export_number(&job->out, way[--n]);
        if (n > 0)
            export_text(&job->out, ",");
    }
    export_text(&job->out, "]");
}

/* The next node of the thread's part of the tree, in an order that visits each once; 0 at the end. */
static uint32_t next_node(const struct tree *t, uint32_t node, uint32_t top)
{
    if (t->nodes[node].child)
        return t->nodes[node].child;
    for (; node != top; node = t->nodes[node].parent)
        if (t->nodes[node].sibling)
            return t->nodes[node].sibling;
    return 0;
}

static void samples(struct export_job *job, uint32_t top, bool weights)
{
    const struct tree *t = &job->tree;
    bool any = false;
    for (uint32_t i = top; i != 0; i = next_node(t, i, top)) {
        if (t->nodes[i].ns == 0 || i == top)
            continue;
        export_text(&job->out, any ? "," : "");
        any = true;
        if (weights)
            export_number(&job->out, t->nodes[i].ns);
        else
            stack(job, i);
    }
}

static uint64_t total(const struct tree *t, uint32_t top)
{
    uint64_t ns = 0;
    for (uint32_t i = top; i != 0; i = next_node(t, i, top))
        ns += i == top ? 0 : t->nodes[i].ns;
    return ns;
}

static int speedscope_finish(struct export_job *job)
{
    const struct tree *t = &job->tree;
    int rc = 0;
    bool any = false;
    export_text(&job->out,
                "{\"$schema\":\"https://www.speedscope.app/file-format-schema.json\",\"exporter\":\"libupmu\","
                "\"name\":\"libupmu\",\"shared\":{\"frames\":[");
    frames(job);
    export_text(&job->out, "]},\n\"profiles\":[");
    for (uint32_t top = t->nodes[0].child; rc == 0 && top != 0; top = t->nodes[top].sibling) {
        uint64_t all = total(t, top);
        if (all == 0)
            continue;
        export_text(&job->out, any ? ",\n{\"type\":\"sampled\",\"name\":" : "\n{\"type\":\"sampled\",\"name\":");
        any = true;
        textbuf_json(&job->out, t->labels[t->nodes[top].label].name);
        textbuf_printf(&job->out, ",\"unit\":\"nanoseconds\",\"startValue\":0,\"endValue\":%llu,\"samples\":[",
                       (unsigned long long)all);
        samples(job, top, false);
        export_text(&job->out, "],\"weights\":[");
        samples(job, top, true);
        export_text(&job->out, "]}");
        rc = export_flush(job);
    }
    export_text(&job->out, "]}\n");
    return rc;
}

const struct export_format export_speedscope = {
    .name = "speedscope",
    .suffix = "speedscope.json",
    .summary = "profile per thread for speedscope",
    .wants_tree = true,
    .finish = speedscope_finish,
};
