/* SPDX-License-Identifier: MIT */
/* Search for cycles in the acquisition log. */
#include <stdlib.h>
#include <string.h>

#include "deadlock/acquisitions.h"
#include "base/error.h"

enum { CYCLES_MAX = 4096, MEMBERS_MAX = 1 << 16 };

/* Whether x happens before y or y before x. Results are cached: the same threads meet in many cycles. */
static bool acquisitions_are_ordered(void *arg, uint32_t x, uint32_t y)
{
    struct acquisition_log *l = arg;
    uint32_t a = l->details[x].segment, z = l->details[y].segment;
    uint32_t known = map_find(&l->by_pair, a, z);
    if (known == MAP_NONE) {
        known = acquisition_log_happens_before(l, a, z) || acquisition_log_happens_before(l, z, a);
        (void)map_put(&l->by_pair, a, z, known); /* without memory it is computed again */
    }
    return known != 0;
}

int acquisition_log_find_cycles(struct acquisition_log *l, struct wg_order *o)
{
    *o = (struct wg_order){0};
    int rc = acquisition_log_drop_non_locks(l);
    acquisition_log_set_writers(l);
    if (rc != 0)
        return rc;
    *o = (struct wg_order){
        .acquisitions = l->acquisitions,
        .n_acquisitions = l->n_acquisitions,
        .held = l->held,
        .n_locks = l->n_locks,
        .ordered = acquisitions_are_ordered,
        .arg = l,
        .max_cycles = CYCLES_MAX,
        .max_members = MEMBERS_MAX,
    };
    o->edges = calloc(l->n_held + 1, sizeof *o->edges);
    o->locks = calloc(7 * l->n_locks + 1, sizeof *o->locks);
    o->paths = calloc(2 * l->n_acquisitions + 1, sizeof *o->paths);
    o->cycles = calloc(CYCLES_MAX, sizeof *o->cycles);
    o->members = calloc(MEMBERS_MAX, sizeof *o->members);
    l->branches = calloc(l->n_segments + 1, sizeof *l->branches);
    if (!o->edges || !o->locks || !o->paths || !o->cycles || !o->members || !l->branches)
        return upmu_fail(UPMU_E_NOMEM, "out of memory while searching for lock-order cycles");
    if (l->n_acquisitions > 0)
        wg_order_find(o);
    return 0;
}

void acquisition_log_cycles_free(struct wg_order *o)
{
    free(o->edges);
    free(o->locks);
    free(o->paths);
    free(o->cycles);
    free(o->members);
    memset(o, 0, sizeof *o);
}
