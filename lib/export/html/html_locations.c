/* SPDX-License-Identifier: MIT */
/* Call sites and call stacks, each written once and referred to by number; and sums by two keys. */
#include "export/html/html.h"

#include <stdlib.h>

#include "base/error.h"

static uint32_t html_key_number(struct html_keys *p, uint32_t process, uint64_t number)
{
    uint32_t found = map_find(&p->by_key, process, number);
    if (found != MAP_NONE)
        return found;
    struct html_key *all = array_reserve(p->all, p->n, &p->cap, sizeof *all);
    if (!all)
        return MAP_NONE;
    p->all = all;
    all[p->n++] = (struct html_key){process, number};
    return map_put(&p->by_key, process, number, (uint32_t)p->n) ? (uint32_t)p->n : MAP_NONE;
}

uint32_t html_site(struct export_job *job, uint32_t process, uint64_t address)
{
    return address == 0 ? 0 : html_key_number(&job->html->sites, process, address);
}

uint32_t html_stack(struct export_job *job, uint32_t process, uint32_t stack)
{
    struct upmu_trace_stack known = {.size = sizeof known};
    if (stack == 0)
        return 0;
    uint32_t found = map_find(&job->html->stack_ids.by_key, process, stack);
    if (found != MAP_NONE)
        return found;
    return upmu_overview_stack_find(job->facts, process, stack, &known) == 0
               ? html_key_number(&job->html->stack_ids, process, stack)
               : 0;
}

int html_sum(struct html_sums *s, uint64_t a, uint64_t b, uint64_t ns)
{
    uint32_t at = map_find(&s->by_key, a, b);
    if (at == MAP_NONE) {
        struct html_sum *all = array_reserve(s->all, s->n, &s->cap, sizeof *all);
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

/* Added to the address of a call whose function has left the stack. */
#define TAIL_CALL (UINT64_C(1) << 63)

/* How the stack ends, enum upmu_frame_kind, and its sites. */
static int locations_write_stack(struct export_job *job, struct textbuf *b, uint32_t process, uint32_t stack)
{
    struct upmu_symbol s = {.size = sizeof s};
    struct textbuf sites = {0};
    bool is_inside = false; /* of the functions at an address */
    int end = UPMU_FRAME_UNKNOWN, rc = 0;
    for (size_t i = 0; rc == 0 && upmu_overview_frame_at(job->facts, process, stack, i, &s) == 0; i++) {
        if (s.kind >= UPMU_FRAME_TRUNCATED) {
            end = s.kind;
            break;
        }
        uint64_t address = s.kind == UPMU_FRAME_TAIL_CALL ? s.address | TAIL_CALL : s.address;
        uint32_t site = is_inside ? 0 : html_site(job, process, address);
        if (site == MAP_NONE)
            rc = export_no_memory();
        else if (!is_inside)
            json_uint(&sites, NULL, site);
        is_inside = s.inlined != 0;
    }
    json_array(b, NULL);
    json_uint(b, NULL, (uint64_t)end);
    if (sites.len > 0) {
        textbuf_add(b, ",", 1);
        textbuf_add(b, sites.data, sites.len);
    }
    b->failed |= sites.failed;
    json_array_end(b);
    textbuf_free(&sites);
    return rc;
}

static int locations_write_stacks(struct export_job *job, struct textbuf *b)
{
    const struct html_keys *p = &job->html->stack_ids;
    json_array(b, "stacks");
    for (size_t i = 0; i < p->n; i++) {
        int rc = locations_write_stack(job, b, p->all[i].process, (uint32_t)p->all[i].number);
        if (rc != 0)
            return rc;
    }
    json_array_end(b);
    return 0;
}

/* Frames by number: (label, 0) is the number, (number, 1) the label; (number, 2) and (number, 3) the preceding
 * name and the offset from it, of a frame without a name; (number, 4) is there for a wrapper. */
struct frames {
    struct map known;
    uint32_t n;
};

static uint32_t locations_frame(struct export_job *job, struct frames *f, const struct upmu_symbol *s)
{
    uint32_t label = export_frame(job, s), frame = label == MAP_NONE ? MAP_NONE : map_find(&f->known, label, 0);
    if (label == MAP_NONE || frame != MAP_NONE)
        return frame;
    frame = f->n++;
    bool kept = map_put(&f->known, label, 0, frame) && map_put(&f->known, frame, 1, label);
    if (!s->function && s->previous && s->previous_offset < UINT32_MAX) {
        uint32_t before = tree_label(&job->tree, s->previous, NULL, NULL, 0);
        kept = kept && before != MAP_NONE && map_put(&f->known, frame, 2, before) &&
               map_put(&f->known, frame, 3, (uint32_t)s->previous_offset);
    }
    kept = kept && (!s->wrapper || map_put(&f->known, frame, 4, 1));
    return kept ? frame : MAP_NONE;
}

static int locations_symbol(const struct export_job *job, const struct html_key *p, size_t depth, struct upmu_symbol *s)
{
    if (!(p->number & TAIL_CALL))
        return upmu_overview_symbol_at(job->facts, p->process, p->number, depth, s);
    return depth > 0 ? UPMU_E_END : upmu_overview_tail_caller(job->facts, p->process, p->number & ~TAIL_CALL, s);
}

/* Kind of code at a site, then its functions as frame numbers: the innermost first, followed by those it was
 * inlined into. */
static int locations_write_site(struct export_job *job, struct textbuf *b, const struct html_key *p, struct frames *f)
{
    struct upmu_symbol s = {.size = sizeof s};
    json_array(b, NULL);
    for (size_t k = 0; locations_symbol(job, p, k, &s) == 0; k++) {
        uint32_t frame = locations_frame(job, f, &s);
        if (frame == MAP_NONE)
            return export_no_memory();
        if (k == 0)
            json_uint(b, NULL, s.kind > 0 ? (uint64_t)s.kind : 0);
        json_uint(b, NULL, frame);
    }
    json_array_end(b);
    return 0;
}

static void locations_write_frames(const struct export_job *job, struct textbuf *b, const struct frames *f)
{
    json_array(b, "frames");
    for (uint32_t i = 0; i < f->n; i++) {
        const struct tree_label *l = &job->tree.labels[map_find(&f->known, i, 1)];
        uint32_t before = map_find(&f->known, i, 2);
        json_array(b, NULL);
        json_string(b, NULL, l->name);
        json_string(b, NULL, l->file ? l->file : "");
        json_uint(b, NULL, l->line);
        json_string(b, NULL, l->module ? l->module : "");
        bool wrapper = map_find(&f->known, i, 4) != MAP_NONE;
        if (before != MAP_NONE || wrapper) {
            json_string(b, NULL, before != MAP_NONE ? job->tree.labels[before].name : "");
            json_uint(b, NULL, before != MAP_NONE ? map_find(&f->known, i, 3) : 0);
            json_uint(b, NULL, wrapper);
        }
        json_array_end(b);
    }
    json_array_end(b);
}

int html_sites_write(struct export_job *job, struct textbuf *b)
{
    const struct html_keys *p = &job->html->sites;
    struct frames frames = {0};
    int rc = locations_write_stacks(job, b);
    json_array(b, "sites");
    for (size_t i = 0; rc == 0 && i < p->n; i++)
        rc = locations_write_site(job, b, &p->all[i], &frames);
    json_array_end(b);
    locations_write_frames(job, b, &frames);
    map_free(&frames.known);
    return rc;
}
