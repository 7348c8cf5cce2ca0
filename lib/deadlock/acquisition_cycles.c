/* SPDX-License-Identifier: MIT */
/* From a recording's takings to cycles: the waitgraph with the memory it wants. Room: analysis. Before it: order_book.c;
 * after it: deadlocks.c. */
#include <stdlib.h>
#include <string.h>

#include "deadlock/acquisitions.h"
#include "base/error.h"

enum { CYCLES_MAX = 4096, MEMBERS_MAX = 1 << 16 };

/* Whichever comes first. What was found once stays known: the same threads meet in many cycles. */
static bool ordered(void *arg, uint32_t x, uint32_t y)
{
    struct order_book *b = arg;
    uint32_t a = b->facts[x].moment, z = b->facts[y].moment;
    uint32_t known = map_find(&b->by_pair, a, z);
    if (known == MAP_NONE) {
        known = order_book_before(b, a, z) || order_book_before(b, z, a);
        (void)map_put(&b->by_pair, a, z, known); /* without memory it is found again */
    }
    return known != 0;
}

int order_book_cycles(struct order_book *b, struct wg_order *o)
{
    *o = (struct wg_order){0};
    int rc = order_book_take_back(b);
    if (rc != 0)
        return rc;
    *o = (struct wg_order){
        .takings = b->takings,
        .n_acquisitions = b->n_acquisitions,
        .held = b->held,
        .n_locks = b->n_locks,
        .ordered = ordered,
        .arg = b,
        .max_cycles = CYCLES_MAX,
        .max_members = MEMBERS_MAX,
    };
    o->edges = calloc(b->n_held + 1, sizeof *o->edges);
    o->locks = calloc(7 * b->n_locks + 1, sizeof *o->locks);
    o->paths = calloc(2 * b->n_acquisitions + 1, sizeof *o->paths);
    o->cycles = calloc(CYCLES_MAX, sizeof *o->cycles);
    o->members = calloc(MEMBERS_MAX, sizeof *o->members);
    b->branches = calloc(b->n_moments + 1, sizeof *b->branches);
    if (!o->edges || !o->locks || !o->paths || !o->cycles || !o->members || !b->branches)
        return upmu_fail(UPMU_E_NOMEM, "no memory for the orders of locks");
    if (b->n_acquisitions > 0)
        wg_order_find(o);
    return 0;
}

void order_book_cycles_free(struct wg_order *o)
{
    free(o->edges);
    free(o->locks);
    free(o->paths);
    free(o->cycles);
    free(o->members);
    memset(o, 0, sizeof *o);
}
