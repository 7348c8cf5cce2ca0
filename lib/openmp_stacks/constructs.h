/* SPDX-License-Identifier: MIT */
/** @file Names of constructs, as the program was written. */
#ifndef UPMU_OPENMP_STACKS_CONSTRUCTS_H
#define UPMU_OPENMP_STACKS_CONSTRUCTS_H

#include "openmp_stacks/contexts.h"

enum { OMP_NAME_MAX = 480 };

/** Code at an address. */
struct omp_code {
    const char *function; /**< NULL if not known */
    const char *module;   /**< likewise */
    uint32_t line;        /**< 0 if not known */
};

/** The function at `depth` of those inlined at the return address `site`, 0 for the innermost one. @return false: there is none. */
typedef bool (*omp_code_find)(void *arg, uint32_t process, uint64_t site, size_t depth, struct omp_code *out);

/** The name of context `index`, "solve, OMP parallel region from line 9", with what is known of it. */
void omp_construct_name(const struct omp_contexts *c, uint32_t index, omp_code_find find, void *arg,
                        char text[OMP_NAME_MAX]);

/** The same of the construct of which a compiler has made `function`. `line`: where it begins; 0: not known. */
void omp_construct_name_of_body(const char *function, uint32_t line, char text[OMP_NAME_MAX]);

#endif
