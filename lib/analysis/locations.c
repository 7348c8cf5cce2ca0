/* SPDX-License-Identifier: MIT */
/* Lookup of a recording's addresses: function, file and line. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/locations.h"
#include "analysis/public.h"
#include "base/error.h"
#include "base/opts.h"
#include "upmu/control.h"

/* The module at an address; after a remapping the latest one. */
bool location_module(const struct upmu_overview *o, size_t process, uint64_t address, struct upmu_trace_module *out)
{
    bool found = false;
    struct upmu_trace_module m = {.size = sizeof m};
    for (size_t i = 0; upmu_trace_module_at(o->trace, process, i, &m) == 0; i++) {
        if (address < m.start || address >= m.end)
            continue;
        *out = m;
        found = true;
    }
    return found;
}

/* Reads the JIT symbol maps of all processes; an unreadable map is empty. */
static int locations_read_jit_maps(const struct upmu_overview *o, struct lookup *l)
{
    struct upmu_control *control = NULL;
    struct upmu_control_status status = {.size = sizeof status};
    struct upmu_trace_process process = {.size = sizeof process};
    l->jit = calloc(o->pass.n_processes + 1, sizeof *l->jit);
    if (!l->jit)
        return overview_no_memory();
    l->n_jit = o->pass.n_processes;
    int rc = o->dir ? upmu_control_open(&control, o->dir) : UPMU_E_STATE;
    if (rc != 0)
        return rc == UPMU_E_NOMEM ? rc : 0;
    for (size_t i = 0; rc == 0 && i < l->n_jit; i++)
        if (upmu_control_status_read(control, i, &status) == 0 && upmu_trace_process_at(o->trace, i, &process) == 0 &&
            status.pid == process.pid)
            rc = jit_map_read(&l->jit[i], status.dir, process.pid, process.start_ns);
    upmu_control_close(control);
    return rc;
}

static int location_find_jit(const struct upmu_overview *o, uint64_t call, struct location *out)
{
    struct lookup *l = o->lookup;
    int rc = l->jit ? 0 : locations_read_jit_maps(o, l);
    const struct jit_map *map = rc == 0 && out->process < l->n_jit ? &l->jit[out->process] : NULL;
    const struct jit_name *name = map ? jit_map_find(map, call) : NULL;
    if (!name)
        return rc;
    out->frames[0] = (struct symbol_frame){.function = name->name};
    out->n_frames = 1;
    out->symbol.kind = UPMU_FRAME_JIT;
    out->symbol.module = map->path;
    return 0;
}

static int location_find_in_module(struct symbols *symbols, const struct upmu_trace_module *m, uint64_t call,
                                   struct location *out)
{
    struct symbol_code code;
    uint32_t index;
    int rc = symbols_module(symbols, m->path, m->build_id, &index);
    int n = rc == 0 ? symbols_find(symbols, index, call - m->base, out->frames, INLINED_FRAMES_MAX) : rc;
    rc = n < 0 ? n : symbols_code(symbols, index, call - m->base, &code);
    if (rc != 0)
        return rc;
    out->n_frames = (size_t)n;
    out->symbol.module = m->path;
    out->symbol.offset = call + 1 - m->base;
    out->symbol.problem = symbols_problem(symbols, index);
    out->symbol.kind = code.kind;
    if (n == 0 && code.stub) {
        out->frames[0] = (struct symbol_frame){.function = code.stub};
        out->n_frames = 1;
    }
    if (out->n_frames == 0 || !out->frames[out->n_frames - 1].function) {
        out->symbol.previous = code.before;
        out->symbol.previous_offset = code.from_before + 1; /* of the return address, as `offset` */
    }
    return 0;
}

int location_find(const struct upmu_overview *o, size_t process, uint64_t address, struct location *out)
{
    struct upmu_trace_module m;
    uint64_t call = address - 1;
    int rc = 0;

    out->valid = false;
    out->process = process;
    out->address = address;
    out->n_frames = 0;
    out->symbol = (struct upmu_symbol){.offset = address, .problem = ""};
    if (address != 0 && location_module(o, process, call, &m))
        rc = location_find_in_module(o->lookup->symbols, &m, call, out);
    else if (address != 0)
        rc = location_find_jit(o, call, out);
    out->valid = rc == 0;
    return rc;
}

/* Whether all functions at an address only pass on. */
static bool location_is_wrapper(const struct upmu_overview *o, uint32_t process, uint64_t address)
{
    struct lookup *l = o->lookup;
    uint32_t known = map_find(&l->wrappers, process, address);
    if (known != MAP_NONE)
        return known;
    bool wrapper = location_find(o, process, address, &l->own) == 0 && location_line(o, &l->own) == SIZE_MAX;
    (void)map_put(&l->wrappers, process, address, wrapper); /* without memory it is looked up again */
    return wrapper;
}

size_t location_line(const struct upmu_overview *o, const struct location *l)
{
    if (l->n_frames == 0)
        return symbols_is_wrapper(o->lookup->symbols, &(struct symbol_frame){0}, l->symbol.module) ? SIZE_MAX : 0;
    for (size_t i = 0; i < l->n_frames; i++)
        if (!symbols_is_wrapper(o->lookup->symbols, &l->frames[i], l->symbol.module))
            return i;
    return SIZE_MAX;
}

int upmu_overview_stack_find(const struct upmu_overview *overview, size_t process, uint32_t id,
                             struct upmu_trace_stack *out)
{
    if (!overview)
        return argument_null(__func__, "overview");
    uint32_t context;
    return upmu_trace_stack_find(overview->trace, process, omp_contexts_stack(&overview->omp, process, id, &context),
                                 out);
}

/* Whether the function at an address only passes on the call of the frame inside, and its caller's line is known. */
static bool location_passes_on(const struct upmu_overview *o, uint32_t process, uint64_t address, uint64_t caller)
{
    struct lookup *l = o->lookup;
    struct upmu_trace_module m;
    uint32_t index;
    return location_module(o, process, address - 1, &m) &&
           symbols_module(l->symbols, m.path, m.build_id, &index) == 0 &&
           symbols_passes_on(l->symbols, index, address - m.base) == 1 && !location_is_wrapper(o, process, caller) &&
           location_find(o, process, caller, &l->own) == 0 && l->own.n_frames > 0 && l->own.frames[0].line != 0;
}

uint64_t lookup_call(const struct upmu_overview *o, uint32_t process, uint64_t site, uint32_t stack)
{
    struct lookup *l = o->lookup;
    struct upmu_trace_stack found = {.size = sizeof found};
    uint32_t known = map_find(&l->calls, process, stack);
    if (stack == 0 || upmu_overview_stack_find(o, process, stack, &found) != 0 || found.n_frames == 0)
        return site;
    if (known != MAP_NONE)
        return found.frames[known];
    uint32_t i = 0;
    while (i < found.n_frames && location_is_wrapper(o, process, found.frames[i]))
        i++;
    i = i < found.n_frames ? i : 0;
    while (i + 1 < found.n_frames && location_passes_on(o, process, found.frames[i], found.frames[i + 1]))
        i++;
    (void)map_put(&l->calls, process, stack, i);
    return found.frames[i];
}

struct upmu_symbol location_symbol_at(const struct upmu_overview *o, const struct location *l, size_t depth)
{
    struct upmu_symbol s = l->symbol;
    s.address = l->address;
    if (depth >= l->n_frames) { /* of a module whose functions are all wrappers, one without a name is */
        s.wrapper = symbols_is_wrapper(o->lookup->symbols, &(struct symbol_frame){0}, s.module);
        return s;
    }
    const struct symbol_frame *f = &l->frames[depth];
    s.function = f->function;
    s.file = f->file;
    s.line = f->line;
    s.inlined = f->inlined;
    s.column = f->column;
    s.previous = f->function ? NULL : s.previous;
    s.wrapper = symbols_is_wrapper(o->lookup->symbols, f, s.module);
    return s;
}

int upmu_overview_symbol_at(struct upmu_overview *overview, size_t process, uint64_t address, size_t depth,
                            struct upmu_symbol *out)
{
    if (!overview || !out)
        return ARGUMENT_NULL(overview, out);
    if (process >= overview->pass.n_processes)
        return UPMU_E_END;
    struct location *l = &overview->lookup->last;
    if (!l->valid || l->process != process || l->address != address) {
        int rc = location_find(overview, process, address, l);
        if (rc != 0)
            return rc;
    }
    if (depth > 0 && depth >= l->n_frames)
        return UPMU_E_END;
    const struct upmu_symbol s = location_symbol_at(overview, l, depth);
    return OPTS_GIVE(out, s, UPMU_SYMBOL_SIZE_V1);
}

static int locations_no_tail_caller(uint64_t address)
{
    return upmu_fail(UPMU_E_NAME, "no tail call is known at address 0x%" PRIx64, address);
}

int upmu_overview_tail_caller(struct upmu_overview *overview, size_t process, uint64_t address, struct upmu_symbol *out)
{
    struct upmu_trace_module m;
    struct symbol_frame frame;
    uint32_t index;
    if (!overview || !out)
        return ARGUMENT_NULL(overview, out);
    if (process >= overview->pass.n_processes)
        return UPMU_E_END;
    if (address == 0 || !location_module(overview, process, address - 1, &m))
        return locations_no_tail_caller(address);
    int rc = symbols_module(overview->lookup->symbols, m.path, m.build_id, &index);
    rc = rc == 0 ? symbols_tail_caller(overview->lookup->symbols, index, address - m.base, &frame) : rc;
    if (rc <= 0)
        return rc < 0 ? rc : locations_no_tail_caller(address);
    const struct upmu_symbol s = {.function = frame.function,
                                  .file = frame.file,
                                  .line = frame.line,
                                  .module = m.path,
                                  .offset = address - m.base,
                                  .problem = symbols_problem(overview->lookup->symbols, index),
                                  .kind = UPMU_FRAME_TAIL_CALL,
                                  .address = address};
    return OPTS_GIVE(out, s, UPMU_SYMBOL_SIZE_V1);
}
