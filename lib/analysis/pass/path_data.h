/* SPDX-License-Identifier: MIT */
/** @file Critical paths: their segments, and the locks on them. */
#ifndef UPMU_ANALYSIS_PATH_DATA_H
#define UPMU_ANALYSIS_PATH_DATA_H

#include <stddef.h>
#include <stdint.h>

/** A segment of the path. */
struct path_step {
    uint64_t begin_ns, end_ns;
    uint32_t thread, from; /**< `from`: the thread that woke it, MAP_NONE if it was not woken */
    uint32_t object;       /**< what it had waited for, MAP_NONE if nothing */
    int kind;              /**< enum upmu_path_kind */
};

/** A lock's part of the path of its process. */
struct path_lock {
    uint32_t process, object;
    uint64_t held_ns;
    uint64_t wakes, wake_ns, unknown_ns;
    uint64_t gain_ns, gain_half_ns; /**< UPMU_NO_VALUE: not computed */
};

/** The path of a process. */
struct path {
    uint64_t begin_ns, end_ns, run_ns, wake_ns, unknown_ns, stopped_ns, handoffs;
    uint32_t last; /**< the node it ends with, MAP_NONE: the process has no thread */
    size_t first_step, n_segments, first_lock, n_locks;
};

struct paths {
    struct path *of; /**< by process */
    size_t n;
    struct path_step *steps; /**< path by path in the order of time */
    size_t n_segments, cap_steps;
    struct path_lock *locks; /**< path by path, the longest held first */
    size_t n_locks;
};

#endif
