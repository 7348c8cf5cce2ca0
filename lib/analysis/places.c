/* SPDX-License-Identifier: MIT */
/* Addresses of a recording as functions and lines. Room: analysis. Before it: the trace's modules and symbols.c; after
 * it: tools, through include/upmu/analysis.h. */
#include <string.h>

#include "analysis/public.h"
#include "base/error.h"
#include "base/opts.h"

/* The module at an address. Where one was unloaded and another came, the later one is taken. */
static bool module_at(const struct upmu_overview *o, size_t process, uint64_t address, struct upmu_trace_module *out)
{
    bool found = false;
    struct upmu_trace_module m = {.size = sizeof m};
    for (size_t i = 0; upmu_trace_module(o->trace, process, i, &m) == 0; i++) {
        if (address < m.start || address >= m.end)
            continue;
        *out = m;
        found = true;
    }
    return found;
}

/* Sites and frames are return addresses: the call is before them, and may be the last thing of its line or function. */
static int look_up(struct upmu_overview *o, size_t process, uint64_t address)
{
    struct upmu_trace_module m;
    uint64_t call = address - 1;
    uint32_t index;

    o->has_place = false;
    o->n_place = 0;
    o->place_module = (struct upmu_symbol){.offset = address, .problem = ""};
    if (address != 0 && module_at(o, process, call, &m)) {
        int rc = symbols_module(o->symbols, m.path, m.build_id, &index);
        int n = rc == 0 ? symbols_find(o->symbols, index, call - m.base, o->place, PLACE_FRAMES_MAX) : rc;
        if (n < 0)
            return n;
        o->n_place = (size_t)n;
        o->place_module.module = m.path;
        o->place_module.offset = address - m.base;
        o->place_module.problem = symbols_problem(o->symbols, index);
    }
    o->place_process = process;
    o->place_address = address;
    o->has_place = true;
    return 0;
}

int upmu_overview_symbol(struct upmu_overview *overview, size_t process, uint64_t address, size_t depth,
                         struct upmu_symbol *out)
{
    if (!overview || !out || process >= overview->pass.n_processes)
        return upmu_fail(UPMU_E_INVAL, "no overview, no place for the symbol, or no process %zu", process);
    if (!overview->has_place || overview->place_process != process || overview->place_address != address) {
        int rc = look_up(overview, process, address);
        if (rc != 0)
            return rc;
    }
    if (depth > 0 && depth >= overview->n_place)
        return UPMU_E_NAME;
    struct upmu_symbol s = overview->place_module;
    if (depth < overview->n_place) {
        const struct symbol_frame *f = &overview->place[depth];
        s.function = f->function;
        s.file = f->file;
        s.line = f->line;
        s.inlined = f->inlined;
    }
    if (!opts_give(out, out->size, sizeof s, &s, sizeof s))
        return upmu_fail(UPMU_E_INVAL, "struct upmu_symbol has at least %zu bytes, not %zu", sizeof s, out->size);
    return 0;
}

int upmu_overview_stack(const struct upmu_overview *overview, size_t process, uint32_t id, struct upmu_trace_stack *out)
{
    if (!overview)
        return upmu_fail(UPMU_E_INVAL, "no overview");
    return upmu_trace_stack(overview->trace, process, id, out);
}
