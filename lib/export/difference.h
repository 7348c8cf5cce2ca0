/* SPDX-License-Identifier: MIT */
/** @file Differences between the call paths of two recordings. */
#ifndef UPMU_EXPORT_DIFFERENCE_H
#define UPMU_EXPORT_DIFFERENCE_H

#include <stdint.h>

#include "base/map.h"
#include "export/tree.h"

/** A call path by its names, in all threads of one name. */
struct difference_path {
    uint64_t before, after; /**< time with that of paths below */
};

struct difference {
    struct difference_path *paths;
    size_t n, cap;
    struct map by_names;
    uint32_t *of_node; /**< path of each node of the new tree */
    uint64_t gone;     /**< time of paths that the new recording does not have */
};

/** Compare two trees, `after` with its sums. @return 0; UPMU_E_NOMEM. */
int difference_make(struct difference *d, const struct tree *before, const struct tree *after, const uint64_t *sums);
void difference_free(struct difference *d);

#endif
