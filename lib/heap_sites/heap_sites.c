/* SPDX-License-Identifier: MIT */
/* Heap of a recording: sampled blocks by process and call path. */
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/map.h"
#include "base/opts.h"
#include "upmu/heap.h"
#include "upmu/trace.h"

/* A block begins or ends to be live. */
struct heap_change {
    uint32_t path;
    bool is_free;
    uint64_t weight;
};

struct heap_process_row {
    struct upmu_heap_process public;
    uint64_t live;       /* bytes now */
    size_t peak_changes; /* changes until the peak, it included */
    bool outlived;       /* the process ended before the stretch */
};

struct heap_live {
    uint64_t weight, bytes;
    uint32_t path; /* MAP_NONE: it was freed */
};

struct upmu_heap {
    struct heap_process_row *processes;
    struct upmu_heap_path *paths;
    struct heap_change *changes;
    struct heap_live *blocks;
    size_t n_processes, cap_processes, n_paths, cap_paths, n_changes, cap_changes, n_blocks, cap_blocks;
    struct map by_process, by_stack, by_site; /* (process, stack) or, without a stack, (process, site) to a path */
    struct map by_address;                    /* (process, address) to a block */
    uint64_t from_ns, to_ns;                  /* the stretch, 0 and UINT64_MAX without one */
    bool begun;
};

static int heap_no_memory(void)
{
    return upmu_fail(UPMU_E_NOMEM, "out of memory while reading sampled allocations");
}

/* A zeroed new element, as array_reserve(). NULL without memory. */
static void *heap_grow(void *array, size_t *n, size_t *cap, size_t bytes)
{
    void *data;
    memcpy(&data, array, sizeof data);
    if (*n == *cap) {
        data = *n >= MAP_NONE ? NULL : array_reserve(data, *n, cap, bytes);
        if (!data)
            return NULL;
        memcpy(array, &data, sizeof data);
    }
    return memset((char *)data + (*n)++ * bytes, 0, bytes);
}

/* ------------------------------------------------------------------------------------------------------- events */

static struct heap_process_row *heap_process(struct upmu_heap *h, const struct upmu_trace_event *e)
{
    uint32_t found = map_find(&h->by_process, e->process, 0);
    if (found != MAP_NONE)
        return &h->processes[found];
    struct heap_process_row *p = heap_grow(&h->processes, &h->n_processes, &h->cap_processes, sizeof *p);
    if (!p || !map_put(&h->by_process, e->process, 0, (uint32_t)(h->n_processes - 1)))
        return NULL;
    p->public = (struct upmu_heap_process){
        .size = sizeof p->public, .process = e->process, .pid = e->pid, .period = e->heap.period};
    return p;
}

static uint32_t heap_path(struct upmu_heap *h, const struct upmu_trace_event *e)
{
    struct map *m = e->stack ? &h->by_stack : &h->by_site;
    uint64_t key = e->stack ? e->stack : e->site;
    uint32_t found = map_find(m, e->process, key);
    if (found != MAP_NONE)
        return found;
    struct upmu_heap_path *path = heap_grow(&h->paths, &h->n_paths, &h->cap_paths, sizeof *path);
    if (!path || !map_put(m, e->process, key, (uint32_t)(h->n_paths - 1)))
        return MAP_NONE;
    *path = (struct upmu_heap_path){.size = sizeof *path, .process = e->process, .site = e->site, .stack = e->stack};
    return (uint32_t)(h->n_paths - 1);
}

static uint64_t heap_blocks_of(uint64_t weight, uint64_t bytes)
{
    return bytes ? (weight + bytes / 2) / bytes : 1;
}

static bool heap_change(struct upmu_heap *h, uint32_t path, uint64_t weight, bool is_free)
{
    struct heap_change *c = heap_grow(&h->changes, &h->n_changes, &h->cap_changes, sizeof *c);
    if (c)
        *c = (struct heap_change){path, is_free, weight};
    return c != NULL;
}

static bool heap_end_block(struct upmu_heap *h, struct heap_process_row *p, uint32_t block)
{
    struct heap_live *b = &h->blocks[block];
    struct upmu_heap_path *path = &h->paths[b->path];
    uint64_t blocks = heap_blocks_of(b->weight, b->bytes);
    p->live -= b->weight;
    p->public.live_blocks -= blocks;
    path->live_bytes -= b->weight;
    path->live_blocks -= blocks;
    uint32_t of = b->path;
    b->path = MAP_NONE;
    return heap_change(h, of, b->weight, true);
}

static bool heap_free_event(struct upmu_heap *h, struct heap_process_row *p, const struct upmu_trace_event *e)
{
    uint32_t block = map_find(&h->by_address, e->process, e->object);
    if (block != MAP_NONE && h->blocks[block].path != MAP_NONE)
        return heap_end_block(h, p, block);
    p->public.strays++;
    return true;
}

/* A block at the address of a live one: the event of its end is missing. */
static struct heap_live *heap_block(struct upmu_heap *h, struct heap_process_row *p, const struct upmu_trace_event *e)
{
    uint32_t found = map_find(&h->by_address, e->process, e->object);
    if (found != MAP_NONE)
        return h->blocks[found].path == MAP_NONE || heap_end_block(h, p, found) ? &h->blocks[found] : NULL;
    struct heap_live *b = heap_grow(&h->blocks, &h->n_blocks, &h->cap_blocks, sizeof *b);
    return b && map_put(&h->by_address, e->process, e->object, (uint32_t)(h->n_blocks - 1)) ? b : NULL;
}

static bool heap_alloc_event(struct upmu_heap *h, struct heap_process_row *p, const struct upmu_trace_event *e)
{
    uint32_t at = heap_path(h, e);
    struct heap_live *b = at == MAP_NONE ? NULL : heap_block(h, p, e);
    if (!b || !heap_change(h, at, e->heap.weight, false))
        return false;
    *b = (struct heap_live){e->heap.weight, e->heap.bytes, at};
    struct upmu_heap_path *path = &h->paths[at];
    uint64_t blocks = heap_blocks_of(b->weight, b->bytes);
    path->samples++;
    path->allocated_bytes += b->weight;
    path->allocated_blocks += blocks;
    path->live_bytes += b->weight;
    path->live_blocks += blocks;
    p->public.samples++;
    p->public.allocated_bytes += b->weight;
    p->public.allocated_blocks += blocks;
    p->public.live_blocks += blocks;
    p->live += b->weight;
    if (p->live > p->public.peak_bytes) {
        p->public.peak_bytes = p->live;
        p->public.peak_ns = e->time_ns;
        p->peak_changes = h->n_changes;
    }
    return true;
}

/* The stretch begins: what was allocated before is live, and no more. */
static void heap_begin(struct upmu_heap *h)
{
    h->begun = true;
    for (size_t i = 0; i < h->n_processes; i++) {
        struct heap_process_row *p = &h->processes[i];
        p->public.samples = p->public.allocated_bytes = p->public.allocated_blocks = p->public.strays = 0;
        p->public.peak_bytes = p->live;
        p->public.peak_ns = h->from_ns;
        p->peak_changes = h->n_changes;
        p->outlived = true; /* until it has an event */
    }
    for (size_t i = 0; i < h->n_paths; i++)
        h->paths[i].samples = h->paths[i].allocated_bytes = h->paths[i].allocated_blocks = 0;
}

static bool heap_event(struct upmu_heap *h, const struct upmu_trace_event *e)
{
    bool allocates = e->kind == UPMU_TRACE_HEAP_ALLOC;
    if (!h->begun && e->time_ns >= h->from_ns)
        heap_begin(h);
    uint32_t known = map_find(&h->by_process, e->process, 0);
    if (known < h->n_processes)
        h->processes[known].outlived = false;
    if ((!allocates && e->kind != UPMU_TRACE_HEAP_FREE) || e->time_ns > h->to_ns)
        return true;
    struct heap_process_row *p = heap_process(h, e);
    return p && (allocates ? heap_alloc_event : heap_free_event)(h, p, e);
}

/* Of a stretch all events are read, since each shows that its process has not ended. */
static int heap_read(struct upmu_heap *h, const char *dir)
{
    static const int kinds[] = {UPMU_TRACE_HEAP_ALLOC, UPMU_TRACE_HEAP_FREE};
    const struct upmu_trace_filter_opts only = {.size = sizeof only, .kinds = kinds, .n_kinds = 2};
    struct upmu_trace *trace;
    const struct upmu_trace_event *e;
    int more, rc = upmu_trace_open(&trace, dir);
    if (rc != 0)
        return rc;
    rc = h->from_ns == 0 ? upmu_trace_filter(trace, &only) : 0;
    while (rc == 0 && (more = upmu_trace_next(trace, &e)) != 0) {
        if (more < 0 && more != UPMU_E_FORMAT)
            rc = more;
        if (more > 0 && !heap_event(h, e))
            rc = heap_no_memory();
    }
    if (!h->begun)
        heap_begin(h);
    upmu_trace_close(trace);
    return rc;
}

/* -------------------------------------------------------------------------------------------------------- result */

static int heap_compare_paths(const void *x, const void *y)
{
    const struct upmu_heap_path *a = x, *b = y;
    if (a->peak_bytes != b->peak_bytes)
        return a->peak_bytes > b->peak_bytes ? -1 : 1;
    if (a->allocated_bytes != b->allocated_bytes)
        return a->allocated_bytes > b->allocated_bytes ? -1 : 1;
    return a->site < b->site ? -1 : a->site > b->site;
}

static int heap_compare_processes(const void *x, const void *y)
{
    const struct upmu_heap_process *a = &((const struct heap_process_row *)x)->public;
    const struct upmu_heap_process *b = &((const struct heap_process_row *)y)->public;
    if (a->peak_bytes != b->peak_bytes)
        return a->peak_bytes > b->peak_bytes ? -1 : 1;
    return a->process < b->process ? -1 : a->process > b->process;
}

/* Leave out processes that ended before the stretch, and paths without a part in it. */
static void heap_drop(struct upmu_heap *h)
{
    size_t kept = 0;
    for (size_t i = 0; i < h->n_paths; i++) {
        const struct upmu_heap_path *p = &h->paths[i];
        bool has_part = p->samples != 0 || p->live_bytes != 0 || p->peak_bytes != 0;
        if (has_part && !h->processes[map_find(&h->by_process, p->process, 0)].outlived)
            h->paths[kept++] = *p;
    }
    h->n_paths = kept;
    kept = 0;
    for (size_t i = 0; i < h->n_processes; i++)
        if (!h->processes[i].outlived)
            h->processes[kept++] = h->processes[i];
    h->n_processes = kept;
}

/* What each path had live when its process was at its peak. */
static void heap_finish(struct upmu_heap *h)
{
    for (size_t i = 0; i < h->n_changes; i++) {
        const struct heap_change *c = &h->changes[i];
        struct upmu_heap_path *path = &h->paths[c->path];
        if (i < h->processes[map_find(&h->by_process, path->process, 0)].peak_changes)
            path->peak_bytes += c->is_free ? -c->weight : c->weight;
    }
    for (size_t i = 0; i < h->n_processes; i++)
        h->processes[i].public.live_bytes = h->processes[i].live;
    heap_drop(h);
    if (h->n_paths)
        qsort(h->paths, h->n_paths, sizeof *h->paths, heap_compare_paths);
    if (h->n_processes)
        qsort(h->processes, h->n_processes, sizeof *h->processes, heap_compare_processes);
}

int upmu_heap_open(struct upmu_heap **heap, const char *dir)
{
    if (heap && dir)
        return upmu_heap_open_between(heap, dir, 0, 0);
    if (heap)
        *heap = NULL;
    return ARGUMENT_NULL(heap, dir);
}

int upmu_heap_open_between(struct upmu_heap **heap, const char *dir, uint64_t from_ns, uint64_t to_ns)
{
    if (heap)
        *heap = NULL;
    if (!heap || !dir)
        return ARGUMENT_NULL(heap, dir);
    if (to_ns != 0 && to_ns < from_ns)
        return upmu_fail(UPMU_E_INVAL, "%s: to_ns is before from_ns", __func__);
    struct upmu_heap *h = calloc(1, sizeof *h);
    if (!h)
        return heap_no_memory();
    h->from_ns = from_ns;
    h->to_ns = to_ns ? to_ns : UINT64_MAX;
    h->begun = from_ns == 0;
    int rc = heap_read(h, dir);
    if (rc == 0 && h->n_processes == 0 && from_ns == 0 && to_ns == 0)
        rc = upmu_fail(UPMU_E_STATE,
                       "%s has no sampled allocations: record it with 'upmu record --heap'; if that was done, the "
                       "program has allocated too little: give a smaller number of bytes with --heap-period",
                       dir);
    heap_finish(h);
    if (rc == 0 && h->n_processes == 0)
        rc = upmu_fail(UPMU_E_STATE, "no process with sampled allocations runs in this stretch of %s", dir);
    if (rc == 0)
        *heap = h;
    else
        upmu_heap_close(h);
    return rc;
}

void upmu_heap_close(struct upmu_heap *h)
{
    if (!h)
        return;
    map_free(&h->by_process);
    map_free(&h->by_stack);
    map_free(&h->by_site);
    map_free(&h->by_address);
    free(h->processes);
    free(h->paths);
    free(h->changes);
    free(h->blocks);
    free(h);
}

int upmu_heap_process_at(const struct upmu_heap *heap, size_t i, struct upmu_heap_process *out)
{
    if (!heap || !out)
        return ARGUMENT_NULL(heap, out);
    if (i >= heap->n_processes)
        return UPMU_E_END;
    return OPTS_GIVE(out, heap->processes[i].public, UPMU_HEAP_PROCESS_SIZE_V1);
}

int upmu_heap_path_at(const struct upmu_heap *heap, size_t i, struct upmu_heap_path *out)
{
    if (!heap || !out)
        return ARGUMENT_NULL(heap, out);
    if (i >= heap->n_paths)
        return UPMU_E_END;
    return OPTS_GIVE(out, heap->paths[i], UPMU_HEAP_PATH_SIZE_V1);
}
