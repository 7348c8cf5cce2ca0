/* SPDX-License-Identifier: MIT */
/* Lifetime of the pass's state. */
#include "analysis/pass/wakeup_graph.h"
#include "analysis/pass/path.h"
#include "analysis/pass/state.h"

#include <stdlib.h>

int overview_process(struct overview *o, const struct ov_process *process)
{
    struct ov_process *all = array_reserve(o->processes, o->n_processes, &o->cap_processes, sizeof *all);
    if (!all)
        return overview_no_memory();
    o->processes = all;
    all[o->n_processes++] = *process;
    return 0;
}

static void state_free_elements(struct overview *o)
{
    for (size_t i = 0; i < o->n_processes; i++)
        free(o->processes[i].pauses);
    for (size_t i = 0; i < o->n_threads; i++) {
        free(o->threads[i].name);
        free(o->threads[i].open);
        free(o->threads[i].also);
        free(o->threads[i].calls);
        free(o->threads[i].open_values);
        free(o->threads[i].counts);
        free(o->threads[i].snapshot.values);
        for (size_t k = 0; k < o->threads[i].n_pending; k++)
            free(o->threads[i].pending[k].section.before);
    }
    for (size_t i = 0; i < o->n_objects; i++) {
        free(o->objects[i].name);
        free(o->objects[i].held.counts);
        free(o->objects[i].waited.counts);
    }
    for (size_t i = 0; i < o->n_thread_stats; i++)
        free(o->thread_stats[i].section.before);
    for (size_t i = 0; i < o->n_regions; i++) {
        free(o->regions[i].name);
        free(o->regions[i].counts);
    }
    for (size_t i = 0; i < o->n_early; i++)
        free(o->early[i].name);
}

void overview_free(struct overview *o)
{
    state_free_elements(o);
    wakeup_free(&o->graph);
    paths_free(&o->paths);
    struct map *maps[] = {&o->by_tid,     &o->by_handle,        &o->by_early,      &o->by_baseline,
                          &o->by_address, &o->by_thread_object, &o->by_site,       &o->by_bare_site,
                          &o->by_region,  &o->by_waker,         &o->by_kernel_lock};
    for (size_t i = 0; i < sizeof maps / sizeof *maps; i++)
        map_free(maps[i]);
    void *arrays[] = {o->processes,   o->threads,    o->objects,      o->thread_stats, o->sites,        o->regions,
                      o->early,       o->baselines,  o->thread_order, o->object_order, o->region_order, o->thread_rank,
                      o->object_rank, o->bare_sites, o->wakers,       o->kernel_locks};
    for (size_t i = 0; i < sizeof arrays / sizeof *arrays; i++)
        free(arrays[i]);
    *o = (struct overview){0};
}
