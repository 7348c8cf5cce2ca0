/* SPDX-License-Identifier: MIT */
/*
 * Demangling of C++ and Rust names.
 *
 * The C++ library is opened at run time, so libupmu_analysis does not depend on it. Rust comes first: legacy Rust
 * names are valid C++ names.
 */
#include "symbols/demangle.h"

#include <dlfcn.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "symbols/rust_names.h"

static void demangler_open(struct demangler *d)
{
    static const char *const libraries[] = {"libstdc++.so.6", "libc++abi.so.1"};
    d->tried = 1;
    for (size_t i = 0; i < sizeof libraries / sizeof *libraries && !d->library; i++)
        d->library = dlopen(libraries[i], RTLD_LAZY | RTLD_LOCAL);
    if (!d->library)
        return;
    void *function = dlsym(d->library, "__cxa_demangle");
    memcpy(&d->demangle, &function, sizeof d->demangle);
}

/* Without tags of the ABI, as in "name[abi:cxx11]()": no program writes them at a call. */
static void demangled_shorten(char *name)
{
    static const char tag[] = "[abi:";
    for (char *begin = name, *end; (begin = strstr(begin, tag)) != NULL && (end = strchr(begin, ']')) != NULL;)
        memmove(begin, end + 1, strlen(end + 1) + 1);
}

const char *demangle(struct demangler *d, const char *name)
{
    int status = 0;
    if (strncmp(name, "_Z", 2) != 0 && strncmp(name, "_R", 2) != 0)
        return name;
    const char *kept = demangler_find(d, name);
    if (kept)
        return kept;
    char *readable = rust_demangle(name);
    if (!readable && !d->tried)
        demangler_open(d);
    if (!readable && d->demangle && name[1] == 'Z')
        readable = d->demangle(name, NULL, NULL, &status);
    if (!readable)
        return name;
    demangled_shorten(readable);
    kept = demangler_keep(d, name, readable);
    return kept ? kept : name;
}

const char *demangler_find(const struct demangler *d, const void *of)
{
    uint32_t known = map_find(&d->known, (uintptr_t)of, 0);
    return known != MAP_NONE ? d->names[known] : NULL;
}

const char *demangler_keep(struct demangler *d, const void *of, char *name)
{
    char **names = array_reserve(d->names, d->n_names, &d->cap_names, sizeof *names);
    d->names = names ? names : d->names;
    if (!names || !map_put(&d->known, (uintptr_t)of, 0, (uint32_t)d->n_names)) {
        free(name);
        return NULL;
    }
    d->names[d->n_names++] = name;
    return name;
}

void demangler_free(struct demangler *d)
{
    for (size_t i = 0; i < d->n_names; i++)
        free(d->names[i]);
    free(d->names);
    map_free(&d->known);
    if (d->library)
        dlclose(d->library);
    *d = (struct demangler){0};
}
