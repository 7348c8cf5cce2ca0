/* SPDX-License-Identifier: MIT */
/* Call paths folded by the place of the program that allocates: outside of wrappers such as operator new. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "heap.h"
#include "ui/memory.h"
#include "ui/output.h"

/* The innermost frame that is not a wrapper's, else the innermost one. */
static void rows_symbol(const struct heap_report *r, const struct upmu_heap_path *p, struct upmu_symbol *out)
{
    struct upmu_symbol s = UPMU_INIT(struct upmu_symbol);
    *out = s;
    if (upmu_overview_symbol_at(r->overview, p->process, p->site, 0, out) == 0 && !out->wrapper && out->function)
        return;
    for (size_t i = 0; p->stack && upmu_overview_frame_at(r->overview, p->process, p->stack, i, &s) == 0; i++)
        if (s.function && !s.wrapper) {
            *out = s;
            return;
        }
}

static char *rows_name(const struct upmu_symbol *s, uint64_t site)
{
    const char *module = s->module ? strrchr(s->module, '/') : NULL, *file = s->file ? strrchr(s->file, '/') : NULL;
    module = module ? module + 1 : s->module;
    file = file ? file + 1 : s->file;
    if (!s->function)
        return module ? memory_format("%s+0x%" PRIx64, module, s->offset) : memory_format("0x%" PRIx64, site);
    if (file && s->line)
        return memory_format("%s %s:%" PRIu32, s->function, file, s->line);
    return module ? memory_format("%s (%s)", s->function, module) : memory_copy(s->function);
}

static void rows_add(struct heap_row *to, const struct upmu_heap_path *p)
{
    if (to->paths++ == 0) {
        to->sum.stack = p->stack;
        to->sum.site = p->site;
    }
    to->sum.samples += p->samples;
    to->sum.allocated_bytes += p->allocated_bytes;
    to->sum.allocated_blocks += p->allocated_blocks;
    to->sum.live_bytes += p->live_bytes;
    to->sum.live_blocks += p->live_blocks;
    to->sum.peak_bytes += p->peak_bytes;
}

static int rows_compare(const void *x, const void *y)
{
    const struct heap_row *a = x, *b = y;
    if (a->sum.peak_bytes != b->sum.peak_bytes)
        return a->sum.peak_bytes > b->sum.peak_bytes ? -1 : 1;
    if (a->sum.allocated_bytes != b->sum.allocated_bytes)
        return a->sum.allocated_bytes > b->sum.allocated_bytes ? -1 : 1;
    return strcmp(a->name, b->name);
}

/* Paths come by falling bytes at the peak, so the first of a row is its largest. */
void heap_rows_make(struct heap_report *r)
{
    struct upmu_heap_path p = UPMU_INIT(struct upmu_heap_path);
    for (size_t i = 0; upmu_heap_path_at(r->heap, i, &p) == 0; i++) {
        struct upmu_symbol s;
        rows_symbol(r, &p, &s);
        char *name = rows_name(&s, p.site);
        size_t at = 0;
        while (at < r->n_rows && (r->rows[at].sum.process != p.process || strcmp(r->rows[at].name, name) != 0))
            at++;
        if (at == r->n_rows) {
            r->rows = memory_resize(r->rows, r->n_rows + 1, sizeof *r->rows);
            r->rows[r->n_rows++] = (struct heap_row){.name = name,
                                                     .function = s.function ? memory_copy(s.function) : NULL,
                                                     .file = s.file ? memory_copy(s.file) : NULL,
                                                     .line = s.line,
                                                     .sum = {.size = sizeof p, .process = p.process}};
        } else {
            free(name);
        }
        rows_add(&r->rows[at], &p);
    }
    if (r->n_rows)
        qsort(r->rows, r->n_rows, sizeof *r->rows, rows_compare);
}

void heap_rows_free(struct heap_report *r)
{
    for (size_t i = 0; i < r->n_rows; i++) {
        free(r->rows[i].name);
        free(r->rows[i].function);
        free(r->rows[i].file);
    }
    free(r->rows);
}
