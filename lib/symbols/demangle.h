/* SPDX-License-Identifier: MIT */
/** @file C++ and Rust names as their authors wrote them. Room: analysis. Before it: the names of files; after it: symbols. */
#ifndef UPMU_ANALYSIS_DEMANGLE_H
#define UPMU_ANALYSIS_DEMANGLE_H

#include <stddef.h>

#include "base/map.h"

/** The C++ library is opened at the first mangled name and may be missing: names then stay as they are. */
struct demangler {
    void *library;
    char *(*demangle)(const char *, char *, size_t *, int *);
    int tried;
    struct map known; /**< address of the mangled name, to its place in `names` */
    char **names;
    size_t n_names, cap_names;
};

/** The readable form of `name`, or `name` itself. `name` must live as long as `d` and not move. */
const char *demangle(struct demangler *d, const char *name);
void demangler_free(struct demangler *d);

#endif
