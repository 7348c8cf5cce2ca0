/* SPDX-License-Identifier: MIT */
/* Remapped modules: loaded one after the other at the same addresses. */
#include "trace/read/remapped.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "trace/read/context.h"

enum {
    TAG_SHIFT = 56,
    TAG_UNKNOWN = 255, /* shared by all modules beyond the last number, which have no path */
};

static bool modules_overlap(const struct context_module *a, const struct context_module *b)
{
    return a->start < b->end && b->start < a->end;
}

static bool module_has_extent(const struct context_module *m, uint64_t base, uint64_t start, uint64_t end)
{
    return m->base == base && m->start == start && m->end == end;
}

/* A return address may be just past the module's last call. */
static bool module_covers(const struct context_module *m, uint64_t address)
{
    return address > m->start && address <= m->end;
}

/* Add a module with its number. Without a free number it gets no path rather than a wrong one. */
static int modules_add(struct context *c, const struct context_module *module)
{
    const uint64_t one = (uint64_t)1 << TAG_SHIFT, last = one * TAG_UNKNOWN;
    struct context_module m = *module;
    for (size_t i = 0; i < c->n_modules; i++) {
        struct context_module *known = &c->modules[i];
        if (!modules_overlap(known, &m))
            continue;
        known->disputed = m.disputed = c->disputed = true;
        if (known->tag >= m.tag && m.tag < last)
            m.tag = known->tag < last ? known->tag + one : last;
    }
    if (m.tag == last)
        m.path = m.build_id = "";
    return context_add_module(c, &m);
}

/* Insert in tick order; a new one is mostly the last. */
static int mappings_add(struct context *c, struct context_mapping mapping)
{
    struct context_mapping *all = context_grow(c->mappings, c->n_mappings, &c->cap_mappings, sizeof *all);
    if (!all)
        return -ENOMEM;
    c->mappings = all;
    size_t at = c->n_mappings++;
    for (; at > 0 && c->mappings[at - 1].tick > mapping.tick; at--)
        c->mappings[at] = c->mappings[at - 1];
    c->mappings[at] = mapping;
    return 0;
}

int remapped_loaded(struct context *c, const struct context_module *module, uint64_t tick)
{
    size_t i = 0;
    while (i < c->n_modules &&
           (!module_has_extent(&c->modules[i], module->base, module->start, module->end) ||
            strcmp(c->modules[i].path, module->path) != 0 || strcmp(c->modules[i].build_id, module->build_id) != 0))
        i++;
    int rc = i < c->n_modules ? 0 : modules_add(c, module);
    return rc == 0 ? mappings_add(c, (struct context_mapping){.tick = tick, .module = i, .there = true}) : rc;
}

/* The number of mappings and unmappings up to `tick`. */
static size_t mappings_until(const struct context *c, uint64_t tick)
{
    size_t low = 0, high = c->n_mappings;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (c->mappings[middle].tick <= tick)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

int remapped_unloaded(struct context *c, uint64_t base, uint64_t start, uint64_t end, uint64_t tick)
{
    for (size_t i = mappings_until(c, tick); i-- > 0;) {
        const struct context_mapping *t = &c->mappings[i];
        if (module_has_extent(&c->modules[t->module], base, start, end))
            return mappings_add(c, (struct context_mapping){.tick = tick, .module = t->module});
    }
    return 0;
}

static bool module_is_disputed(const struct context *c, uint64_t address)
{
    for (size_t i = 0; i < c->n_modules; i++)
        if (c->modules[i].disputed && module_covers(&c->modules[i], address))
            return true;
    return false;
}

static const struct context_module *mapping_covers(const struct context *c, size_t mapping, uint64_t address)
{
    const struct context_module *m = &c->modules[c->mappings[mapping].module];
    return module_covers(m, address) ? m : NULL;
}

/* Use the module mapped last; if it was unmapped, or there was none, the next one, which was recorded late. */
uint64_t remapped_address(const struct context *c, uint64_t address, uint64_t tick)
{
    const struct context_module *before = NULL, *next = NULL;
    size_t now = mappings_until(c, tick), i = now;
    if (!c->disputed || address == 0 || !module_is_disputed(c, address))
        return address;
    while (!before && i > 0)
        before = mapping_covers(c, --i, address);
    if (!before || !c->mappings[i].there)
        for (i = now; !next && i < c->n_mappings; i++)
            next = c->mappings[i].there ? mapping_covers(c, i, address) : NULL;
    const struct context_module *m = next ? next : before;
    return m ? address + m->tag : address;
}

const struct context_stack *remapped_stack(const struct context *c, uint32_t id)
{
    struct context_stack *s = context_stack(c, id);
    if (s && c->disputed && s->mappings != c->n_mappings) {
        for (uint32_t i = 0; i < s->n_frames; i++)
            s->frames[i] = remapped_address(c, s->frames[i] & REMAPPED_ADDRESS, s->tick);
        s->mappings = (uint32_t)c->n_mappings;
    }
    return s;
}
