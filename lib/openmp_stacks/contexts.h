/* SPDX-License-Identifier: MIT */
/** @file OpenMP constructs that each thread executes, tracked over the events of a trace. */
#ifndef UPMU_OPENMP_STACKS_CONTEXTS_H
#define UPMU_OPENMP_STACKS_CONTEXTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/map.h"
#include "upmu/trace.h"

enum omp_context_kind { OMP_CONTEXT_REGION = 1, OMP_CONTEXT_TASK = 2 };

/** A construct that threads execute, nested in `parent`. Executions with equal construct, stack and parent share it. */
struct omp_context {
    uint32_t process, kind; /**< enum omp_context_kind */
    uint32_t parent;        /**< index; 0: none */
    uint32_t stack;         /**< of a region: call stack of the thread that began it; 0: unknown */
    uint64_t site;          /**< of the construct */
    uint64_t call;          /**< of a region, innermost address of `stack`; 0: unknown */
    uint64_t hash;          /**< of all of these */
};

struct omp_context_thread;
struct omp_context_region;

/** All zero is the state before the first event. Indices of contexts begin at 1. */
struct omp_contexts {
    struct omp_context *all;
    size_t n, cap;
    struct map by_hash;
    struct omp_stack {
        uint32_t process, id, stack, context;
    } * stacks; /**< call stacks within constructs */
    size_t n_stacks, cap_stacks;
    struct map by_id;
    struct omp_context_thread *threads;
    size_t n_threads, cap_threads;
    struct map by_thread;
    struct omp_context_region *regions;
    size_t n_regions, cap_regions;
    struct map by_process;
};

/**
 * Track the next event of the trace. `*out` is the event with the ids of its call stacks replaced by ids of stacks within
 * constructs: `e` itself, or `changed`. Such an id does not depend on the order of events.
 * @return 0; UPMU_E_NOMEM.
 */
int omp_contexts_event(struct omp_contexts *c, const struct upmu_trace *trace, const struct upmu_trace_event *e,
                       struct upmu_trace_event *changed, const struct upmu_trace_event **out);

/** Whether OpenMP was recorded in the process. */
bool omp_contexts_has(const struct omp_contexts *c, size_t process);

/** The stack id in the trace for an id of omp_contexts_event(). @param context out, index of its construct; 0: none or unknown. */
uint32_t omp_contexts_stack(const struct omp_contexts *c, size_t process, uint32_t id, uint32_t *context);

/** Index of the construct that the thread executes after the events so far; 0: none; UINT32_MAX without memory. */
uint32_t omp_contexts_of(struct omp_contexts *c, uint32_t process, pid_t tid);

/** Context `index`; NULL: none. */
static inline const struct omp_context *omp_contexts_at(const struct omp_contexts *c, uint32_t index)
{
    return index > 0 && index <= c->n ? &c->all[index - 1] : NULL;
}

void omp_contexts_free(struct omp_contexts *c);

#endif
