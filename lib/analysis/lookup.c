/* SPDX-License-Identifier: MIT */
/* Begin and end of lookups. */
#include <stdlib.h>

#include "analysis/identity.h"
#include "analysis/locations.h"
#include "analysis/public.h"
#include "trace/read/bare.h"

static uint64_t lookup_call_site(void *arg, uint32_t process, uint64_t site, uint32_t stack)
{
    return lookup_call(arg, process, site, stack);
}

static bool lookup_stack_shows_start(void *arg, uint32_t process, uint32_t stack)
{
    return identity_stack_shows_start(arg, process, stack);
}

static bool lookup_events_lost(void *arg, uint32_t process, pid_t tid)
{
    const struct upmu_overview *o = arg;
    return trace_thread_lost(o->trace, process, tid);
}

int lookup_open(struct upmu_overview *o, const char *debug_dir)
{
    o->lookup = calloc(1, sizeof *o->lookup);
    if (!o->lookup)
        return overview_no_memory();
    o->pass.call_site = lookup_call_site;
    o->pass.stack_shows_start = lookup_stack_shows_start;
    o->pass.events_lost = lookup_events_lost;
    o->pass.call_site_arg = o;
    return symbols_open(&o->lookup->symbols, debug_dir);
}

void lookup_close(struct lookup *lookup)
{
    if (!lookup)
        return;
    for (size_t i = 0; i < lookup->n_jit; i++)
        jit_map_free(&lookup->jit[i]);
    identity_free(lookup);
    for (size_t i = 0; i < lookup->n_constructs; i++)
        free(lookup->constructs[i]);
    free(lookup->constructs);
    map_free(&lookup->by_construct);
    free(lookup->frames.list.all);
    map_free(&lookup->wrappers);
    map_free(&lookup->calls);
    symbols_close(lookup->symbols);
    free(lookup->jit);
    free(lookup);
}
