/* SPDX-License-Identifier: MIT */
/* Lookup of a recording's addresses: function, file and line. */
#include <stdlib.h>
#include <string.h>

#include "analysis/public.h"
#include "base/error.h"
#include "base/opts.h"
#include "upmu/control.h"

/* The module at an address; after a remapping the latest one. */
static bool locations_module(const struct upmu_overview *o, size_t process, uint64_t address,
                             struct upmu_trace_module *out)
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
static int locations_read_jit_maps(struct upmu_overview *o)
{
    struct upmu_control *control = NULL;
    struct upmu_control_status status = {.size = sizeof status};
    struct upmu_trace_process process = {.size = sizeof process};
    o->jit = calloc(o->pass.n_processes + 1, sizeof *o->jit);
    if (!o->jit)
        return overview_no_memory();
    int rc = upmu_control_open(&control, o->dir);
    if (rc != 0)
        return rc == UPMU_E_NOMEM ? rc : 0;
    for (size_t i = 0; rc == 0 && i < o->pass.n_processes; i++)
        if (upmu_control_status_read(control, i, &status) == 0 && upmu_trace_process_at(o->trace, i, &process) == 0 &&
            status.pid == process.pid)
            rc = jit_map_read(&o->jit[i], status.dir, process.pid, process.start_ns);
    upmu_control_close(control);
    return rc;
}

static int location_find_jit(struct upmu_overview *o, size_t process, uint64_t call)
{
    int rc = o->jit ? 0 : locations_read_jit_maps(o);
    const struct jit_name *name = rc == 0 ? jit_map_find(&o->jit[process], call) : NULL;
    if (!name)
        return rc;
    o->frames[0] = (struct symbol_frame){.function = name->name};
    o->n_frames = 1;
    o->location.kind = UPMU_FRAME_JIT;
    o->location.module = o->jit[process].path;
    return 0;
}

static int location_find_in_module(struct upmu_overview *o, const struct upmu_trace_module *m, uint64_t call)
{
    struct symbol_code code;
    uint32_t index;
    int rc = symbols_module(o->symbols, m->path, m->build_id, &index);
    int n = rc == 0 ? symbols_find(o->symbols, index, call - m->base, o->frames, INLINED_FRAMES_MAX) : rc;
    rc = n < 0 ? n : symbols_code(o->symbols, index, call - m->base, &code);
    if (rc != 0)
        return rc;
    o->n_frames = (size_t)n;
    o->location.module = m->path;
    o->location.offset = call + 1 - m->base;
    o->location.problem = symbols_problem(o->symbols, index);
    o->location.kind = code.kind;
    if (n == 0 && code.stub) {
        o->frames[0] = (struct symbol_frame){.function = code.stub};
        o->n_frames = 1;
    }
    if (o->n_frames == 0 || !o->frames[o->n_frames - 1].function) {
        o->location.previous = code.before;
        o->location.previous_offset = code.from_before + 1; /* of the return address, as `offset` */
    }
    return 0;
}

/* Call sites and frames are return addresses: look up the preceding byte, which belongs to the call. */
static int location_find(struct upmu_overview *o, size_t process, uint64_t address)
{
    struct upmu_trace_module m;
    uint64_t call = address - 1;
    int rc = 0;

    o->has_location = false;
    o->n_frames = 0;
    o->location = (struct upmu_symbol){.offset = address, .problem = ""};
    if (address != 0 && locations_module(o, process, call, &m))
        rc = location_find_in_module(o, &m, call);
    else if (address != 0)
        rc = location_find_jit(o, process, call);
    if (rc != 0)
        return rc;
    o->location_process = process;
    o->location_address = address;
    o->has_location = true;
    return 0;
}

int upmu_overview_symbol_at(struct upmu_overview *overview, size_t process, uint64_t address, size_t depth,
                            struct upmu_symbol *out)
{
    if (!overview || !out)
        return ARGUMENT_NULL(overview, out);
    if (process >= overview->pass.n_processes)
        return UPMU_E_END;
    if (!overview->has_location || overview->location_process != process || overview->location_address != address) {
        int rc = location_find(overview, process, address);
        if (rc != 0)
            return rc;
    }
    if (depth > 0 && depth >= overview->n_frames)
        return UPMU_E_END;
    struct upmu_symbol s = overview->location;
    if (depth < overview->n_frames) {
        const struct symbol_frame *f = &overview->frames[depth];
        s.function = f->function;
        s.file = f->file;
        s.line = f->line;
        s.inlined = f->inlined;
        s.column = f->column;
        s.previous = f->function ? NULL : s.previous;
    }
    return OPTS_GIVE(out, s, UPMU_SYMBOL_SIZE_V1);
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
    if (address == 0 || !locations_module(overview, process, address - 1, &m))
        return UPMU_E_NAME;
    int rc = symbols_module(overview->symbols, m.path, m.build_id, &index);
    rc = rc == 0 ? symbols_tail_caller(overview->symbols, index, address - m.base, &frame) : rc;
    if (rc <= 0)
        return rc < 0 ? rc : UPMU_E_NAME;
    const struct upmu_symbol s = {.function = frame.function,
                                  .file = frame.file,
                                  .line = frame.line,
                                  .module = m.path,
                                  .offset = address - m.base,
                                  .problem = symbols_problem(overview->symbols, index),
                                  .kind = UPMU_FRAME_CODE};
    return OPTS_GIVE(out, s, UPMU_SYMBOL_SIZE_V1);
}

int upmu_overview_stack_find(const struct upmu_overview *overview, size_t process, uint32_t id,
                             struct upmu_trace_stack *out)
{
    if (!overview)
        return argument_null(__func__, "overview");
    return upmu_trace_stack_find(overview->trace, process, id, out);
}
