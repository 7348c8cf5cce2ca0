/* SPDX-License-Identifier: MIT */
/* Conditions between two acquisitions, and the list of cycles found. */
#include <string.h>

#include "deadlock/graph/lock_order.h"

/* A lock held in both keeps them apart, unless shared in both. */
static bool class_gate_between(const struct wg_order *o, const struct wg_acquisition *a, const struct wg_acquisition *b)
{
    for (uint32_t i = 0; i < a->n_held; i++)
        for (uint32_t k = 0; k < b->n_held; k++) {
            const struct wg_order_held *x = &o->held[a->first_held + i], *y = &o->held[b->first_held + k];
            if (x->lock == y->lock && !(x->shared && y->shared))
                return true;
        }
    return false;
}

static uint32_t class_permits_held(const struct wg_order *o, uint32_t acquisition, uint32_t semaphore)
{
    const struct wg_acquisition *t = &o->acquisitions[acquisition];
    uint32_t n = 0;
    for (uint32_t i = 0; i < t->n_held; i++)
        n += o->held[t->first_held + i].lock == semaphore;
    return n;
}

bool wg_order_exceeds_permits(const struct wg_order *o, const uint32_t *acquisitions, uint32_t n)
{
    for (uint32_t i = 0; i < n; i++) {
        const struct wg_acquisition *t = &o->acquisitions[acquisitions[i]];
        for (uint32_t k = 0; k < t->n_held; k++) {
            const struct wg_order_held *semaphore = &o->held[t->first_held + k];
            uint32_t in = 0; /* permits held */
            for (uint32_t other = 0; semaphore->permits > 0 && other < n; other++)
                in += class_permits_held(o, acquisitions[other], semaphore->lock);
            if (in > semaphore->permits)
                return true;
        }
    }
    return false;
}

bool wg_order_fits(const struct wg_order *o, enum wg_order_class class, uint32_t a, uint32_t b)
{
    const struct wg_acquisition *x = &o->acquisitions[a], *y = &o->acquisitions[b];
    if (class < WG_ONE_THREAD && x->thread == y->thread)
        return false;
    if (class < WG_ORDERED && x->thread != y->thread && o->ordered && o->ordered(o->arg, a, b))
        return false;
    return class >= WG_GATED || !class_gate_between(o, x, y);
}

/* Independent of order: cycles over the same locks are reported once. */
static uint64_t class_signature(const struct wg_order *o, const uint32_t *acquisitions, uint32_t n)
{
    uint64_t sum = n;
    for (uint32_t i = 0; i < n; i++) {
        uint64_t h = (o->acquisitions[acquisitions[i]].lock + 1) * 0x9e3779b97f4a7c15u;
        sum += (h ^ h >> 29) * 0xbf58476d1ce4e5b9u;
    }
    return sum;
}

static bool class_wants(const struct wg_order *o, const uint32_t *acquisitions, uint32_t n, uint32_t lock)
{
    for (uint32_t i = 0; i < n; i++)
        if (o->acquisitions[acquisitions[i]].lock == lock)
            return true;
    return false;
}

/* Whether all locks of an earlier cycle are among these. */
static bool class_covers(const struct wg_order *o, const struct wg_order_cycle *found, const uint32_t *acquisitions,
                         uint32_t n)
{
    if (found->n > n)
        return false;
    for (uint32_t i = 0; i < found->n; i++)
        if (!class_wants(o, acquisitions, n, o->acquisitions[o->members[found->first + i]].lock))
            return false;
    return true;
}

bool wg_order_add(struct wg_order *o, enum wg_order_class class, const uint32_t *acquisitions, uint32_t n)
{
    uint64_t signature = class_signature(o, acquisitions, n);
    for (size_t i = 0; i < o->n_cycles; i++) {
        const struct wg_order_cycle *c = &o->cycles[i];
        if ((c->n == n ? c->signature == signature : true) && class_covers(o, c, acquisitions, n))
            return true;
    }
    if (o->n_cycles == o->max_cycles || o->n_members + n > o->max_members) {
        o->truncated = true;
        return false;
    }
    memcpy(&o->members[o->n_members], acquisitions, n * sizeof *acquisitions);
    o->cycles[o->n_cycles++] =
        (struct wg_order_cycle){.class = class, .first = (uint32_t)o->n_members, .n = n, .signature = signature};
    o->n_members += n;
    return true;
}
