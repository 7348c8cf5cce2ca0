/* SPDX-License-Identifier: MIT */
/*
 * Reading of a trace that is still being written.
 *
 * A source at its end reads its last packet again at the next call. What is left to do here is to find new threads and
 * processes.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/error.h"
#include "base/opts.h"
#include "base/process/host_clock.h"
#include "trace/read/bare.h"
#include "trace/read/reader.h"

static int follow_no_memory(const char *dir)
{
    return packets_io_failed(dir, ENOMEM);
}

static bool follow_is_known(const struct upmu_trace *t, const char *dir)
{
    for (size_t i = 0; i < t->n_processes; i++)
        if (strcmp(t->processes[i].dir, dir) == 0)
            return true;
    return false;
}

/* Reassign the pointers of sources after the array of processes has moved. */
static void follow_update_processes(struct upmu_trace *t)
{
    for (size_t i = 0; i < t->n_sources; i++) {
        struct process *p = &t->processes[t->sources[i].process];
        t->sources[i].meta = &p->meta;
        t->sources[i].context = &p->context;
    }
}

static int follow_add_process(struct upmu_trace *t, const char *dir)
{
    struct process *all = reallocarray(t->processes, t->n_processes + 1, sizeof *all);
    if (!all)
        return follow_no_memory(dir);
    t->processes = all;
    struct process *p = &all[t->n_processes];
    *p = (struct process){0};
    int rc = reader_open_process(p, dir);
    if (rc == 0) {
        path_list_free(&p->streams); /* they are found again as new ones */
        t->n_processes++;
    } else {
        reader_free_process(p);
    }
    follow_update_processes(t);
    /* A process that is still being set up is found by the next call. */
    return rc == UPMU_E_NOMEM ? rc : 0;
}

static int follow_add_processes(struct upmu_trace *t)
{
    struct path_list dirs;
    int rc = recording_processes(t->dir, &dirs);
    for (size_t i = 0; rc == 0 && i < dirs.n; i++)
        if (!follow_is_known(t, dirs.paths[i]))
            rc = follow_add_process(t, dirs.paths[i]);
    path_list_free(&dirs);
    return rc;
}

/* A source's path points into the list of its process, which was replaced. @return false if the stream is new. */
static bool follow_update_path(struct upmu_trace *t, uint32_t process, const char *path)
{
    for (size_t i = 0; i < t->n_sources; i++) {
        struct source *s = &t->sources[i];
        if (s->process == process && strcmp(s->path, path) == 0) {
            s->path = path;
            return true;
        }
    }
    return false;
}

static int follow_add_source(struct upmu_trace *t, uint32_t process, const char *path)
{
    struct source *all = reallocarray(t->sources, t->n_sources + 1, sizeof *all);
    if (!all)
        return follow_no_memory(path);
    t->sources = all;
    struct source **heap = reallocarray(t->heap, t->n_sources + 1, sizeof(struct source *));
    if (!heap)
        return follow_no_memory(path);
    t->heap = heap;
    struct process *p = &t->processes[process];
    int rc = source_init(&all[t->n_sources], &p->meta, &p->context, path, process, (uint32_t)t->n_sources);
    t->n_sources++;
    return rc;
}

static int follow_add_streams(struct upmu_trace *t, uint32_t process)
{
    struct process *p = &t->processes[process];
    struct path_list now;
    int rc = recording_streams(p->dir, &now);
    /* The data of a deleted process stays. */
    if (rc != 0)
        return rc == UPMU_E_NOMEM ? rc : 0;
    struct path_list before = p->streams;
    p->streams = now;
    for (size_t i = 0; rc == 0 && i < now.n; i++)
        if (!follow_update_path(t, process, now.paths[i]))
            rc = follow_add_source(t, process, now.paths[i]);
    /* A removed stream has no more events, and its path is not used again. */
    for (size_t i = 0; i < t->n_sources; i++) {
        struct source *s = &t->sources[i];
        bool gone = s->process == process;
        for (size_t k = 0; gone && k < now.n; k++)
            gone = s->path != now.paths[k];
        s->over = s->over || gone;
    }
    path_list_free(&before);
    return rc;
}

int upmu_trace_update(struct upmu_trace *trace)
{
    if (!trace)
        return argument_null(__func__, "trace");
    if (trace->n_heap > 0 || trace->given || trace->n_begun < trace->n_sources)
        return upmu_fail(UPMU_E_STATE,
                         "upmu_trace_update: events are left to read. Call upmu_trace_next() until it returns 0 first");
    int rc = follow_add_processes(trace);
    for (uint32_t i = 0; rc == 0 && i < trace->n_processes; i++) {
        __atomic_store_n(&trace->processes[i].clock_error_known, false, __ATOMIC_RELAXED);
        rc = follow_add_streams(trace, i);
    }
    for (size_t i = 0; i < trace->n_sources; i++)
        trace->sources[i].over = trace->sources[i].over || trace->sources[i].broken;
    trace->n_begun = 0;
    return rc;
}

uint64_t upmu_trace_missed_packets(const struct upmu_trace *trace)
{
    uint64_t n = 0;
    for (size_t i = 0; trace && i < trace->n_sources; i++)
        n += trace->sources[i].missed;
    return n;
}

int upmu_trace_now(const struct upmu_trace *trace, size_t index, uint64_t *time_ns)
{
    if (!trace || !time_ns)
        return ARGUMENT_NULL(trace, time_ns);
    if (index >= trace->n_processes)
        return UPMU_E_END;
    *time_ns = trace_time_of_raw(trace, index, host_clock_raw_ns());
    return 0;
}
