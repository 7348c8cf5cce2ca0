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

static bool mapping_covers(const struct context_mapping *m, uint64_t address)
{
    return address > m->start && address <= m->end;
}

static bool mappings_are_equal(const struct context_mapping *a, const struct context_mapping *b)
{
    return a->tick == b->tick && a->there == b->there && a->module == b->module && a->base == b->base &&
           a->start == b->start && a->end == b->end;
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

/* Insert in tick order; a new one is mostly the last. One that is known was read ahead. */
static int mappings_add(struct context *c, struct context_mapping mapping)
{
    size_t at = c->n_mappings;
    while (at > 0 && c->mappings[at - 1].tick > mapping.tick)
        at--;
    for (size_t i = at; i > 0 && c->mappings[i - 1].tick == mapping.tick; i--)
        if (mappings_are_equal(&c->mappings[i - 1], &mapping))
            return 0;
    struct context_mapping *all = context_grow(c->mappings, c->n_mappings, &c->cap_mappings, sizeof *all);
    if (!all)
        return -ENOMEM;
    c->mappings = all;
    memmove(&all[at + 1], &all[at], (c->n_mappings - at) * sizeof *all);
    all[at] = mapping;
    c->n_mappings++;
    return 0;
}

/* Mark the modules that were unmapped at some time. */
static void modules_mark_unmapped(struct context *c, const struct context_mapping *unmapping)
{
    for (size_t i = 0; i < c->n_modules; i++)
        if (module_has_extent(&c->modules[i], unmapping->base, unmapping->start, unmapping->end))
            c->modules[i].unmapped = c->unmapped = true;
}

int remapped_loaded(struct context *c, const struct context_module *module, uint64_t tick)
{
    size_t i = 0;
    while (i < c->n_modules &&
           (!module_has_extent(&c->modules[i], module->base, module->start, module->end) ||
            strcmp(c->modules[i].path, module->path) != 0 || strcmp(c->modules[i].build_id, module->build_id) != 0))
        i++;
    int rc = 0;
    if (i == c->n_modules) {
        rc = modules_add(c, module);
        for (size_t k = 0; rc == 0 && k < c->n_mappings; k++)
            if (!c->mappings[k].there)
                modules_mark_unmapped(c, &c->mappings[k]);
    }
    const struct context_mapping mapping = {
        .tick = tick, .base = module->base, .start = module->start, .end = module->end, .module = i, .there = true};
    return rc == 0 ? mappings_add(c, mapping) : rc;
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
    const struct context_mapping unmapping = {.tick = tick, .base = base, .start = start, .end = end};
    modules_mark_unmapped(c, &unmapping);
    return mappings_add(c, unmapping);
}

static bool module_is_disputed(const struct context *c, uint64_t address)
{
    for (size_t i = 0; i < c->n_modules; i++)
        if (c->modules[i].disputed && module_covers(&c->modules[i], address))
            return true;
    return false;
}

/* The last mapping or unmapping before number `i` at an address; NULL: none. */
static const struct context_mapping *mapping_before(const struct context *c, size_t i, uint64_t address)
{
    while (i-- > 0)
        if (mapping_covers(&c->mappings[i], address))
            return &c->mappings[i];
    return NULL;
}

/* The first mapping at an address from number `i` on; NULL: none. */
static const struct context_mapping *mapping_next(const struct context *c, size_t i, uint64_t address)
{
    for (; i < c->n_mappings; i++)
        if (c->mappings[i].there && mapping_covers(&c->mappings[i], address))
            return &c->mappings[i];
    return NULL;
}

/* Use the module mapped last; if it was unmapped, or there was none, the next one, which was recorded late. */
uint64_t remapped_address(const struct context *c, uint64_t address, uint64_t tick)
{
    if (!c->disputed || address == 0 || !module_is_disputed(c, address))
        return address;
    size_t now = mappings_until(c, tick);
    const struct context_mapping *m = mapping_before(c, now, address), *next = NULL;
    if (!m || !m->there)
        next = mapping_next(c, now, address);
    if (next)
        m = next;
    while (m && !m->there) /* none follows: use the one unmapped */
        m = mapping_before(c, (size_t)(m - c->mappings), address);
    return m ? address + c->modules[m->module].tag : address;
}

static bool module_was_unmapped(const struct context *c, uint64_t address)
{
    for (size_t i = 0; i < c->n_modules; i++)
        if (c->modules[i].unmapped && module_covers(&c->modules[i], address))
            return true;
    return false;
}

bool remapped_is_late(const struct context *c, uint64_t address, uint64_t tick)
{
    if (!c->unmapped || c->mappings_ahead == c->n_mappings || address == 0 || !module_was_unmapped(c, address))
        return false;
    size_t now = mappings_until(c, tick);
    const struct context_mapping *m = mapping_before(c, now, address);
    return m && !m->there && !mapping_next(c, now, address);
}

bool remapped_stack_is_late(const struct context *c, uint32_t id)
{
    const struct context_stack *s = c->unmapped ? context_stack(c, id) : NULL;
    for (uint32_t i = 0; s && s->mappings != c->n_mappings && i < s->n_frames; i++)
        if (remapped_is_late(c, s->frames[i] & REMAPPED_ADDRESS, s->tick))
            return true;
    return false;
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
