/* SPDX-License-Identifier: MIT */
/*
 * Call sites of one construct of the source, as one: a compiler copies a construct into each function that it inlines, and into each
 * round of a loop that it unrolls.
 */
#include "openmp_regions/sites.h"

#include <stdlib.h>
#include <string.h>

static bool sites_same_text(const char *a, const char *b)
{
    return a && b && strcmp(a, b) == 0;
}

/* The module of an address, opened. MAP_NONE: none, or it cannot be read. */
static uint32_t sites_module(struct omp_sites *s, const struct upmu_trace *trace, uint32_t process, uint64_t address,
                             uint64_t *in_file)
{
    struct upmu_trace_module m = {.size = sizeof m};
    uint32_t module;
    for (size_t i = 0; upmu_trace_module_at(trace, process, i, &m) == 0; i++)
        if (address >= m.start && address < m.end) {
            *in_file = address - m.base;
            return symbols_module(s->symbols, m.path, m.build_id, &module) == 0 ? module : MAP_NONE;
        }
    return MAP_NONE;
}

/* The innermost function of a call site and the line in it; without a line it is no copy of another one. */
static struct omp_site sites_locate(struct omp_sites *s, const struct upmu_trace *trace, uint32_t process,
                                    uint64_t site)
{
    struct omp_site out = {.process = process, .site = site};
    struct symbol_frame frame;
    uint64_t in_file = 0;
    out.module = s->symbols ? sites_module(s, trace, process, site - 1, &in_file) : MAP_NONE;
    if (out.module != MAP_NONE && symbols_find(s->symbols, out.module, in_file, &frame, 1) > 0 && frame.line > 0)
        out.place = frame;
    return out;
}

static bool sites_are_copies(const struct omp_site *a, const struct omp_site *b)
{
    return a->process == b->process && a->module == b->module && a->place.line == b->place.line &&
           a->place.column == b->place.column && sites_same_text(a->place.function, b->place.function) &&
           sites_same_text(a->place.file, b->place.file);
}

uint64_t omp_site(struct omp_sites *s, const struct upmu_trace *trace, uint32_t process, uint64_t site)
{
    uint32_t found = map_find(&s->by_site, process, site);
    if (site == 0 || found != MAP_NONE)
        return site == 0 ? 0 : s->all[found].site;
    if (!s->symbols && symbols_open(&s->symbols, NULL) != 0)
        s->symbols = NULL; /* then each call site has a row of its own */
    const struct omp_site one = sites_locate(s, trace, process, site);
    size_t i = 0;
    while (i < s->n && !sites_are_copies(&s->all[i], &one))
        i++;
    struct omp_site *all = i < s->n ? s->all : array_reserve(s->all, s->n, &s->cap, sizeof *all);
    if (!all)
        return site;
    s->all = all;
    if (i == s->n)
        all[s->n++] = one;
    (void)map_put(&s->by_site, process, site, (uint32_t)i); /* else it is looked up again */
    return all[i].site;
}

void omp_sites_free(struct omp_sites *s)
{
    symbols_close(s->symbols);
    free(s->all);
    map_free(&s->by_site);
}
