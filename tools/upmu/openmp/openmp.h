/* SPDX-License-Identifier: MIT */
/** @file OpenMP of a recording opened for a report. */
#ifndef UPMU_TOOL_OPENMP_H
#define UPMU_TOOL_OPENMP_H

#include <stddef.h>

#include "ui/output.h"
#include "upmu/analysis.h"
#include "upmu/openmp.h"

struct openmp_report {
    struct upmu_openmp *openmp;
    struct upmu_overview *overview; /**< for symbols */
    const char *dir;
    size_t top; /**< rows of each table */
};

/** A wait's reason, and the title of its column. */
struct openmp_reason {
    uint32_t construct;
    const char *title, *key;
};
extern const struct openmp_reason openmp_reasons[];
extern const size_t openmp_n_reasons;

/** The function of the program that has a construct in region `region` (SIZE_MAX: in none); to be freed. `process` is that of
 *  upmu_openmp_process_at(). */
char *openmp_host(const struct openmp_report *r, size_t process, uint64_t site, size_t region);
/** "foo, OMP critical file.c:9"; to be freed. */
char *openmp_construct_name(const struct openmp_report *r, const struct upmu_openmp_construct *c);
/** "foo, OMP parallel region file.c:9"; to be freed. */
char *openmp_region_name(const struct openmp_report *r, const struct upmu_openmp_region *region);
/** The source line of a site. @return false: it is not known. */
bool openmp_line(const struct openmp_report *r, size_t process, uint64_t site, struct upmu_symbol *out);

void openmp_write_text(struct output *out, const struct openmp_report *r);
void openmp_write_json(struct output *out, const struct openmp_report *r);

#endif
