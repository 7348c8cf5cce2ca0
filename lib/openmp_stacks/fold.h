/* SPDX-License-Identifier: MIT */
/** @file Call stacks of OpenMP programs as they were written: what is shown in place of their frames. */
#ifndef UPMU_OPENMP_STACKS_FOLD_H
#define UPMU_OPENMP_STACKS_FOLD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "openmp_stacks/contexts.h"

/** A function on a stack. All functions inlined at an address are frames of that address. */
struct omp_frame {
    const char *function, *module; /**< NULL if not known */
    uint64_t address;              /**< as in the stack */
    bool is_mark;                  /**< no function, but how the stack ends */
    bool is_cut;                   /**< with `is_mark`: callers are missing */
};

enum omp_step_kind {
    OMP_STEP_FRAME,          /**< frame `frame` */
    OMP_STEP_CONSTRUCT,      /**< construct `context`; 0: not known, called by frame `frame` or with that as its body */
    OMP_STEP_CREATOR,        /**< the function that created task `context` */
    OMP_STEP_TASK_CALLERS,   /**< not known: the callers of the function that created the task */
    OMP_STEP_REGION_CALLERS, /**< not known: the callers of the function that began the region */
    OMP_STEP_STACK,          /**< the rest is the call stack `stack` */
};

struct omp_step {
    enum omp_step_kind kind;
    bool is_body;     /**< OMP_STEP_CONSTRUCT: `frame` is its body, in place of which it is shown */
    uint32_t frame;   /**< index */
    uint32_t context; /**< index */
    uint32_t stack;   /**< id */
};

struct omp_steps {
    struct omp_step *all;
    size_t n, cap;
};

enum omp_fold_how {
    OMP_FOLD_RUNTIME = 1, /**< with functions of the runtime */
    OMP_FOLD_REST = 2,    /**< of a stack that others continue with: nothing is called last */
};

/**
 * Fold a call stack, innermost frame first.
 * @param context      what the thread executed; 0: nothing, or unknown
 * @param how          bits of enum omp_fold_how
 * @param out          the steps, innermost first; its array is reused, and freed by the caller
 * @return 0; UPMU_E_NOMEM.
 */
int omp_fold(const struct omp_contexts *c, uint32_t context, unsigned how, const struct omp_frame *frames, size_t n,
             struct omp_steps *out);

#endif
