/* SPDX-License-Identifier: MIT */
/*
 * Order of importance of threads, objects, call sites and regions.
 *
 * Per-thread statistics and call sites are sorted in place, by object, so that those of one object are adjacent. Threads,
 * objects and regions keep their indices, which other structs refer to.
 */
#include <stdlib.h>

#include "analysis/pass/handlers.h"
#include "analysis/pass/holds.h"

static int sort_descending(uint64_t a, uint64_t b)
{
    return a > b ? -1 : a < b;
}

static uint64_t sort_waited(const struct upmu_wait_sum *w)
{
    return w->total_ns + w->unfinished_ns;
}

static int sort_compare_threads(const void *a, const void *b, void *arg)
{
    const struct overview *o = arg;
    uint32_t i = *(const uint32_t *)a, k = *(const uint32_t *)b;
    const struct ov_thread *x = &o->threads[i], *y = &o->threads[k];
    if (x->process != y->process)
        return x->process < y->process ? -1 : 1;
    int order = sort_descending(x->blocked_ns, y->blocked_ns);
    return order ? order : i < k ? -1 : 1;
}

static int sort_compare_objects(const void *a, const void *b, void *arg)
{
    const struct overview *o = arg;
    uint32_t i = *(const uint32_t *)a, k = *(const uint32_t *)b;
    const struct ov_object *x = &o->objects[i], *y = &o->objects[k];
    bool call = x->type == UPMU_OBJECT_CALL, other_call = y->type == UPMU_OBJECT_CALL;
    if (call != other_call) /* what calls wait for comes after all locks */
        return call ? 1 : -1;
    int order = sort_descending(sort_waited(&x->waits), sort_waited(&y->waits));
    if (order == 0)
        order = sort_descending(x->waits.count, y->waits.count);
    return order ? order : i < k ? -1 : 1;
}

static int sort_compare_regions(const void *a, const void *b, void *arg)
{
    const struct overview *o = arg;
    uint32_t i = *(const uint32_t *)a, k = *(const uint32_t *)b;
    int order = sort_descending(o->regions[i].wall_ns, o->regions[k].wall_ns);
    return order ? order : i < k ? -1 : 1;
}

static int sort_compare_thread_stats(const void *a, const void *b)
{
    const struct ov_thread_stats *x = a, *y = b;
    if (x->object != y->object)
        return x->object < y->object ? -1 : 1;
    int order = sort_descending(sort_waited(&x->waits) + x->blocked_ns, sort_waited(&y->waits) + y->blocked_ns);
    if (order == 0)
        order = sort_descending(stats_acquisitions(x), stats_acquisitions(y));
    return order ? order : x->thread < y->thread ? -1 : x->thread > y->thread;
}

static int sort_compare_sites(const void *a, const void *b)
{
    const struct ov_call_site *x = a, *y = b;
    if (x->object != y->object)
        return x->object < y->object ? -1 : 1;
    int order = sort_descending(sort_waited(&x->waits) + x->blocked_ns, sort_waited(&y->waits) + y->blocked_ns);
    if (order == 0)
        order = sort_descending(x->taken, y->taken);
    return order ? order : x->address < y->address ? -1 : x->address > y->address;
}

static int sort_compare_kernel_locks(const void *a, const void *b)
{
    const struct ov_kernel_lock *x = a, *y = b;
    int order = sort_descending(x->waits.total_ns, y->waits.total_ns);
    return order ? order : x->address < y->address ? -1 : x->address > y->address;
}

/* Those of `n` that have a part in the window; their number goes to `kept`. */
static uint32_t *sorted(struct overview *o, size_t n, bool (*keep)(const struct overview *, uint32_t),
                        int (*compare)(const void *, const void *, void *), size_t *kept)
{
    uint32_t *order = calloc(n + 1, sizeof *order);
    if (!order)
        return NULL;
    for (uint32_t i = 0; i < n; i++)
        if (keep(o, i))
            order[(*kept)++] = i;
    qsort_r(order, *kept, sizeof *order, compare, o);
    return order;
}

static void sort_by_object(struct overview *o)
{
    if (o->n_thread_stats > 0)
        qsort(o->thread_stats, o->n_thread_stats, sizeof *o->thread_stats, sort_compare_thread_stats);
    if (o->n_sites > 0)
        qsort(o->sites, o->n_sites, sizeof *o->sites, sort_compare_sites);
    for (size_t i = o->n_thread_stats; i-- > 0;) {
        o->objects[o->thread_stats[i].object].first_thread_stats = (uint32_t)i;
        o->objects[o->thread_stats[i].object].n_thread_stats++;
    }
    for (size_t i = o->n_sites; i-- > 0;) {
        o->objects[o->sites[i].object].first_site = (uint32_t)i;
        o->objects[o->sites[i].object].n_sites++;
    }
}

/* The inverse of `order` for numbers below `all`; MAP_NONE: not in it. */
static uint32_t *sort_ranks(const uint32_t *order, size_t n, size_t all)
{
    uint32_t *rank = order ? malloc((all + 1) * sizeof *rank) : NULL;
    for (size_t i = 0; rank && i < all; i++)
        rank[i] = MAP_NONE;
    for (size_t i = 0; rank && i < n; i++)
        rank[order[i]] = (uint32_t)i;
    return rank;
}

int overview_sort(struct overview *o)
{
    sort_by_object(o);
    /* Sorting invalidates the indices in these maps. */
    map_free(&o->by_thread_object);
    map_free(&o->by_site);
    map_free(&o->by_kernel_lock);
    if (o->n_kernel_locks > 0)
        qsort(o->kernel_locks, o->n_kernel_locks, sizeof *o->kernel_locks, sort_compare_kernel_locks);
    o->thread_order = sorted(o, o->n_threads, window_has_thread, sort_compare_threads, &o->n_thread_order);
    o->object_order = sorted(o, o->n_objects, window_has_object, sort_compare_objects, &o->n_object_order);
    o->region_order = sorted(o, o->n_regions, window_has_region, sort_compare_regions, &o->n_region_order);
    o->thread_rank = sort_ranks(o->thread_order, o->n_thread_order, o->n_threads);
    o->object_rank = sort_ranks(o->object_order, o->n_object_order, o->n_objects);
    return o->thread_rank && o->object_rank && o->region_order ? 0 : overview_no_memory();
}
