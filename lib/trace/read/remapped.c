/* SPDX-License-Identifier: MIT */
/* Modules loaded at the same addresses one after the other. */
#include "trace/read/remapped.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "trace/read/context.h"

enum {
    TAG_SHIFT = 56,
    TAG_UNKNOWN = 255, /* there were more than there are numbers: of the others nothing is known */
};

static bool overlap(const struct context_module *a, const struct context_module *b)
{
    return a->start < b->end && b->start < a->end;
}

static bool has_place(const struct context_module *m, uint64_t base, uint64_t start, uint64_t end)
{
    return m->base == base && m->start == start && m->end == end;
}

/* A return address may lie right behind the module's last call. */
static bool covers(const struct context_module *m, uint64_t address)
{
    return address > m->start && address <= m->end;
}

/* With its number. Where there is none left, nothing is said of the file rather than the wrong thing. */
static int add(struct context *c, const struct context_module *module)
{
    const uint64_t one = (uint64_t)1 << TAG_SHIFT, last = one * TAG_UNKNOWN;
    struct context_module m = *module;
    for (size_t i = 0; i < c->n_modules; i++) {
        struct context_module *known = &c->modules[i];
        if (!overlap(known, &m))
            continue;
        known->disputed = m.disputed = c->disputed = true;
        if (known->tag >= m.tag && m.tag < last)
            m.tag = known->tag < last ? known->tag + one : last;
    }
    if (m.tag == last)
        m.path = m.build_id = "";
    return context_add_module(c, &m);
}

/* Turns are in the order of their ticks; mostly a new one is the last. */
static int add_turn(struct context *c, struct context_turn turn)
{
    struct context_turn *all = context_room(c->turns, c->n_turns, &c->cap_turns, sizeof *all);
    if (!all)
        return -ENOMEM;
    c->turns = all;
    size_t at = c->n_turns++;
    for (; at > 0 && c->turns[at - 1].tick > turn.tick; at--)
        c->turns[at] = c->turns[at - 1];
    c->turns[at] = turn;
    return 0;
}

int turns_there(struct context *c, const struct context_module *module, uint64_t tick)
{
    size_t i = 0;
    while (i < c->n_modules &&
           (!has_place(&c->modules[i], module->base, module->start, module->end) ||
            strcmp(c->modules[i].path, module->path) != 0 || strcmp(c->modules[i].build_id, module->build_id) != 0))
        i++;
    int rc = i < c->n_modules ? 0 : add(c, module);
    return rc == 0 ? add_turn(c, (struct context_turn){.tick = tick, .module = i, .there = true}) : rc;
}

/* The number of turns that had begun at `tick`. */
static size_t turns_until(const struct context *c, uint64_t tick)
{
    size_t low = 0, high = c->n_turns;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (c->turns[middle].tick <= tick)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

int turns_gone(struct context *c, uint64_t base, uint64_t start, uint64_t end, uint64_t tick)
{
    for (size_t i = turns_until(c, tick); i-- > 0;) {
        const struct context_turn *t = &c->turns[i];
        if (has_place(&c->modules[t->module], base, start, end))
            return add_turn(c, (struct context_turn){.tick = tick, .module = t->module});
    }
    return 0;
}

static bool is_disputed(const struct context *c, uint64_t address)
{
    for (size_t i = 0; i < c->n_modules; i++)
        if (c->modules[i].disputed && covers(&c->modules[i], address))
            return true;
    return false;
}

static const struct context_module *turn_covers(const struct context *c, size_t turn, uint64_t address)
{
    const struct context_module *m = &c->modules[c->turns[turn].module];
    return covers(m, address) ? m : NULL;
}

/* The one that was there last; if it is known to have gone, or there was none, the next one, which was told of late. */
uint64_t turns_address(const struct context *c, uint64_t address, uint64_t tick)
{
    const struct context_module *before = NULL, *next = NULL;
    size_t now = turns_until(c, tick), i = now;
    if (!c->disputed || address == 0 || !is_disputed(c, address))
        return address;
    while (!before && i > 0)
        before = turn_covers(c, --i, address);
    if (!before || !c->turns[i].there)
        for (i = now; !next && i < c->n_turns; i++)
            next = c->turns[i].there ? turn_covers(c, i, address) : NULL;
    const struct context_module *m = next ? next : before;
    return m ? address + m->tag : address;
}
