/* SPDX-License-Identifier: MIT */
/* What two takings are to each other, and the list of cycles found. Room: waitgraph; before it order.c; after it a
 * report. */
#include <string.h>

#include "deadlock/graph/lock_order.h"

/* A lock that both hold keeps them apart, unless both are its readers. */
static bool gate_between(const struct wg_order *o, const struct wg_taking *a, const struct wg_taking *b)
{
    for (uint32_t i = 0; i < a->n_held; i++)
        for (uint32_t k = 0; k < b->n_held; k++) {
            const struct wg_order_held *x = &o->held[a->first_held + i], *y = &o->held[b->first_held + k];
            if (x->lock == y->lock && !(x->shared && y->shared))
                return true;
        }
    return false;
}

static uint32_t places_in(const struct wg_order *o, uint32_t taking, uint32_t room)
{
    const struct wg_taking *t = &o->takings[taking];
    uint32_t n = 0;
    for (uint32_t i = 0; i < t->n_held; i++)
        n += o->held[t->first_held + i].lock == room;
    return n;
}

bool wg_order_crowded(const struct wg_order *o, const uint32_t *takings, uint32_t n)
{
    for (uint32_t i = 0; i < n; i++) {
        const struct wg_taking *t = &o->takings[takings[i]];
        for (uint32_t k = 0; k < t->n_held; k++) {
            const struct wg_order_held *room = &o->held[t->first_held + k];
            uint32_t in = 0; /* places taken */
            for (uint32_t other = 0; room->places > 0 && other < n; other++)
                in += places_in(o, takings[other], room->lock);
            if (in > room->places)
                return true;
        }
    }
    return false;
}

bool wg_order_fits(const struct wg_order *o, enum wg_order_class class, uint32_t a, uint32_t b)
{
    const struct wg_taking *x = &o->takings[a], *y = &o->takings[b];
    if (class < WG_ONE_THREAD && x->thread == y->thread)
        return false;
    if (class < WG_ORDERED && x->thread != y->thread && o->ordered && o->ordered(o->arg, a, b))
        return false;
    return class >= WG_GATED || !gate_between(o, x, y);
}

/* Order does not matter: cycles over the same locks are one to whoever reads of them. */
static uint64_t signature_of(const struct wg_order *o, const uint32_t *takings, uint32_t n)
{
    uint64_t sum = n;
    for (uint32_t i = 0; i < n; i++) {
        uint64_t h = (o->takings[takings[i]].lock + 1) * 0x9e3779b97f4a7c15u;
        sum += (h ^ h >> 29) * 0xbf58476d1ce4e5b9u;
    }
    return sum;
}

static bool wants(const struct wg_order *o, const uint32_t *takings, uint32_t n, uint32_t lock)
{
    for (uint32_t i = 0; i < n; i++)
        if (o->takings[takings[i]].lock == lock)
            return true;
    return false;
}

/* Whether all locks of a cycle found before are among these. */
static bool covers(const struct wg_order *o, const struct wg_order_cycle *found, const uint32_t *takings, uint32_t n)
{
    if (found->n > n)
        return false;
    for (uint32_t i = 0; i < found->n; i++)
        if (!wants(o, takings, n, o->takings[o->members[found->first + i]].lock))
            return false;
    return true;
}

bool wg_order_add(struct wg_order *o, enum wg_order_class class, const uint32_t *takings, uint32_t n)
{
    uint64_t signature = signature_of(o, takings, n);
    for (size_t i = 0; i < o->n_cycles; i++) {
        const struct wg_order_cycle *c = &o->cycles[i];
        if ((c->n == n ? c->signature == signature : true) && covers(o, c, takings, n))
            return true;
    }
    if (o->n_cycles == o->max_cycles || o->n_members + n > o->max_members) {
        o->cut = true;
        return false;
    }
    memcpy(&o->members[o->n_members], takings, n * sizeof *takings);
    o->cycles[o->n_cycles++] =
        (struct wg_order_cycle){.class = class, .first = (uint32_t)o->n_members, .n = n, .signature = signature};
    o->n_members += n;
    return true;
}
