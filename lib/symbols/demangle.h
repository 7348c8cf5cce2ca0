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
    struct map known; /**< address of what has the name, to index in `names` */
    char **names;
    size_t n_names, cap_names;
};

/** The readable form of `name`, or `name` itself. `name` must outlive `d` and not move. */
const char *demangle(struct demangler *d, const char *name);
/** Keep an allocated name as long as `d`, as that of `of`: a mangled name, or an entry of debug information. @return it; NULL without
 *  memory, and it is freed. */
const char *demangler_keep(struct demangler *d, const void *of, char *name);
/** @return the name kept for `of`; NULL: none was. */
const char *demangler_find(const struct demangler *d, const void *of);
void demangler_free(struct demangler *d);

#endif
