/* SPDX-License-Identifier: MIT */
/** @file Demangling of C++ and Rust names. */
#ifndef UPMU_ANALYSIS_DEMANGLE_H
#define UPMU_ANALYSIS_DEMANGLE_H

#include <stddef.h>

#include "base/map.h"

/** The C++ library is opened at the first mangled name; without it names stay mangled. */
struct demangler {
    void *library;
    char *(*demangle)(const char *, char *, size_t *, int *);
    int tried;
    struct map known; /**< address of the mangled name to index in `names` */
    char **names;
    size_t n_names, cap_names;
};

/** The readable form of `name`, or `name` itself. `name` must outlive `d` and not move. */
const char *demangle(struct demangler *d, const char *name);
/** Keep an allocated name as long as `d`. @return it; NULL without memory, and it is freed. */
const char *demangler_keep(struct demangler *d, char *name);
void demangler_free(struct demangler *d);

#endif
