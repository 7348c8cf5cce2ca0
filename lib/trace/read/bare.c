/* SPDX-License-Identifier: MIT */
/* A trace without its events. */
#include "trace/read/bare.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "trace/format/control.h"
#include "trace/read/reader.h"
#include "trace/read/remapped.h"

static int bare_no_memory(const char *dir)
{
    return packets_io_failed(dir, ENOMEM);
}

int trace_bare_open(struct upmu_trace **trace, const char *process)
{
    *trace = NULL;
    struct upmu_trace *t = calloc(1, sizeof *t);
    if (!t)
        return bare_no_memory(process);
    t->dir = strdup(process);
    t->processes = calloc(1, sizeof *t->processes);
    int rc = t->dir && t->processes ? 0 : bare_no_memory(process);
    if (rc == 0) {
        t->n_processes = 1;
        rc = recording_metadata(process, &t->processes[0].meta, NULL, NULL);
    }
    if (rc == 0)
        *trace = t;
    else
        upmu_trace_close(t);
    return rc;
}

/* @return 0, or the result of recording_metadata() */
static int process_pid(const char *process, pid_t *pid)
{
    struct control_header h;
    struct meta m;
    if (recording_control(process, &h)) {
        *pid = (pid_t)h.pid;
        return 0;
    }
    int rc = recording_metadata(process, &m, NULL, NULL);
    if (rc == 0) {
        *pid = m.pid;
        meta_free(&m);
    }
    return rc;
}

int trace_each_process(const char *dir, trace_process_fn each, void *arg)
{
    struct path_list dirs;
    pid_t pid = 0;
    int rc = recording_processes(dir, &dirs);
    for (size_t i = 0; rc >= 0 && i < dirs.n; i++) {
        rc = process_pid(dirs.paths[i], &pid);
        if (rc == 0)
            rc = each(dirs.paths[i], pid, arg);
    }
    path_list_free(&dirs);
    return rc;
}

int trace_bare_stack(struct upmu_trace *trace, size_t index, uint32_t id, const struct upmu_trace_stack *stack)
{
    const struct context_stack ours = {
        .id = id,
        .n_frames = stack->n_frames,
        .method = (uint8_t)stack->method,
        .truncated = stack->truncated != 0,
    };
    int rc = context_add_stack(&trace->processes[index].context, &ours, (const uint8_t *)stack->frames);
    return rc == 0 ? 0 : bare_no_memory(trace->dir);
}

int trace_bare_module(struct upmu_trace *trace, const struct upmu_trace_module *module)
{
    const struct context_module ours = {
        .base = module->base,
        .start = module->start,
        .end = module->end,
        .path = module->path,
        .build_id = module->build_id,
    };
    return context_add_module(&trace->processes[0].context, &ours) == 0 ? 0 : bare_no_memory(trace->dir);
}

uint64_t trace_address_beside(uint64_t address, uint64_t call)
{
    return address | (call & ~REMAPPED_ADDRESS);
}

uint64_t trace_address_at(const struct upmu_trace *trace, size_t index, uint64_t address, uint64_t tick)
{
    /* A return address may be the end of its module, data may be its begin. */
    return remapped_address(&trace->processes[index].context, address + 1, tick) - 1;
}
