/* SPDX-License-Identifier: MIT */
/** @file Call sites of constructs of the source. */
#ifndef UPMU_OPENMP_REGIONS_SITES_H
#define UPMU_OPENMP_REGIONS_SITES_H

#include "base/map.h"
#include "symbols/symbols.h"
#include "upmu/trace.h"

struct omp_site {
    uint32_t process, module;
    uint64_t site;             /**< of its first copy */
    struct symbol_frame place; /**< all zero: unknown */
};

/** All zero is empty. */
struct omp_sites {
    struct symbols *symbols;
    struct omp_site *all;
    size_t n, cap;
    struct map by_site;
};

/** The call site that is the same construct of the source as `site` and came first; `site` if there is none. */
uint64_t omp_site(struct omp_sites *s, const struct upmu_trace *trace, uint32_t process, uint64_t site);
void omp_sites_free(struct omp_sites *s);

#endif
