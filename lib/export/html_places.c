/* SPDX-License-Identifier: MIT */
/* Sites and call stacks, each written once and known by its number; and sums by two keys. Room: export. Before it:
 * html.c; after it: the page's facts. */
#include "export/html.h"

#include <stdlib.h>

#include "base/error.h"

static uint32_t place(struct html_places *p, uint32_t process, uint64_t number)
{
    uint32_t found = map_find(&p->by_key, process, number);
    if (found != MAP_NONE)
        return found;
    struct html_place *all = array_room(p->all, p->n, &p->cap, sizeof *all);
    if (!all)
        return MAP_NONE;
    p->all = all;
    all[p->n++] = (struct html_place){process, number};
    return map_put(&p->by_key, process, number, (uint32_t)p->n) ? (uint32_t)p->n : MAP_NONE;
}

uint32_t html_site(struct export_job *job, uint32_t process, uint64_t address)
{
    return address == 0 ? 0 : place(&job->html->sites, process, address);
}

uint32_t html_stack(struct export_job *job, uint32_t process, uint32_t stack)
{
    struct upmu_trace_stack known = {.size = sizeof known};
    if (stack == 0)
        return 0;
    uint32_t found = map_find(&job->html->stack_ids.by_key, process, stack);
    if (found != MAP_NONE)
        return found;
    return upmu_overview_stack(job->facts, process, stack, &known) == 0 ? place(&job->html->stack_ids, process, stack)
                                                                        : 0;
}

int html_sum(struct html_sums *s, uint64_t a, uint64_t b, uint64_t ns)
{
    uint32_t at = map_find(&s->by_key, a, b);
    if (at == MAP_NONE) {
        struct html_sum *all = array_room(s->all, s->n, &s->cap, sizeof *all);
        if (!all)
            return export_no_memory();
        s->all = all;
        at = (uint32_t)s->n;
        if (!map_put(&s->by_key, a, b, at))
            return export_no_memory();
        all[s->n++] = (struct html_sum){.a = a, .b = b};
    }
    s->all[at].count++;
    s->all[at].ns += ns;
    return 0;
}

/* ------------------------------------------------------------------------------------------------------ writing */

static int write_stacks(struct export_job *job, struct textbuf *b)
{
    const struct html_places *p = &job->html->stack_ids;
    html_key(b, "stacks");
    html_open(b, '[');
    for (size_t i = 0; i < p->n; i++) {
        struct upmu_trace_stack stack = {.size = sizeof stack};
        if (upmu_overview_stack(job->facts, p->all[i].process, (uint32_t)p->all[i].number, &stack) != 0)
            return UPMU_E_INVAL;
        html_open(b, '[');
        html_number(b, stack.truncated);
        for (uint32_t k = 0; k < stack.n_frames; k++) {
            uint32_t site = html_site(job, p->all[i].process, stack.frames[k]);
            if (site == MAP_NONE)
                return export_no_memory();
            html_number(b, site);
        }
        html_close(b, ']');
    }
    html_close(b, ']');
    return 0;
}

/* The functions at a site, as numbers of frames: the innermost first, the ones it was inlined into after it. */
static int write_site(struct export_job *job, struct textbuf *b, const struct html_place *p, struct map *frames,
                      uint32_t *n_frames)
{
    struct upmu_symbol s = {.size = sizeof s};
    html_open(b, '[');
    for (size_t k = 0; upmu_overview_symbol(job->facts, p->process, p->number, k, &s) == 0; k++) {
        uint32_t label = export_frame(job, &s);
        if (label == MAP_NONE)
            return export_no_memory();
        uint32_t frame = map_find(frames, label, 0);
        if (frame == MAP_NONE) {
            frame = (*n_frames)++;
            if (!map_put(frames, label, 0, frame) || !map_put(frames, frame, 1, label))
                return export_no_memory();
        }
        html_number(b, frame);
    }
    html_close(b, ']');
    return 0;
}

static void write_frames(const struct export_job *job, struct textbuf *b, const struct map *frames, uint32_t n)
{
    html_key(b, "frames");
    html_open(b, '[');
    for (uint32_t i = 0; i < n; i++) {
        const struct tree_label *l = &job->tree.labels[map_find(frames, i, 1)];
        html_open(b, '[');
        html_string(b, l->name);
        html_string(b, l->file);
        html_number(b, l->line);
        html_string(b, l->module);
        html_close(b, ']');
    }
    html_close(b, ']');
}

int html_places_write(struct export_job *job, struct textbuf *b)
{
    const struct html_places *p = &job->html->sites;
    struct map frames = {0};
    uint32_t n_frames = 0;
    int rc = write_stacks(job, b);
    html_key(b, "sites");
    html_open(b, '[');
    for (size_t i = 0; rc == 0 && i < p->n; i++)
        rc = write_site(job, b, &p->all[i], &frames, &n_frames);
    html_close(b, ']');
    write_frames(job, b, &frames, n_frames);
    map_free(&frames);
    return rc;
}
