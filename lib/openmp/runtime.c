/* SPDX-License-Identifier: MIT */
/*
 * Functions of the OpenMP runtime behind the wrappers.
 *
 * The next function of the name is what all callers get without the wrappers. A runtime that was loaded privately, as modules of
 * Python do, is not among the next ones, and each such module may have one of its own: it is found among the files that the
 * caller's file depends on, and kept by call site.
 */
#include "openmp/runtime.h"

#include <dlfcn.h>
#include <errno.h>
#include <link.h>
#include <stdbool.h>
#include <stddef.h>
#include <string.h>

#include "openmp/state.h"

enum { SITES = 1024 };

static struct runtime_site {
    uintptr_t key; /* atomic, written last: the call site and the function */
    void *real;
} sites[SITES];

uintptr_t omp_runtime_module(const void *address)
{
    Dl_info info;
    return address && dladdr(address, &info) ? (uintptr_t)info.dli_fbase : 0;
}

/* Two wrappers have no call site in common, but one of them may be reused: the function is part of the key. */
static struct runtime_site *site_slot(uintptr_t key)
{
    return &sites[(key * UINT64_C(0x9e3779b97f4a7c15) >> 32) % SITES];
}

static void *find_of_caller(const struct omp_function *f, uintptr_t site)
{
    Dl_info info;
    struct link_map *map = NULL;
    void *extra = NULL;
    if (!dladdr1((const void *)(site - 1), &info, &extra, RTLD_DL_LINKMAP) || !extra)
        return NULL;
    map = extra;
    void *file = dlopen(map->l_name, RTLD_LAZY | RTLD_NOLOAD), *real = file ? dlsym(file, f->name) : NULL;
    if (file)
        dlclose(file); /* it stays loaded */
    return real;
}

/* LLVM's runtime asks for its tool when it starts, and it would start within the call that is to be recorded: by then the wrapper
 * would have recorded it, too. */
static void runtime_start(const void *real)
{
    static uintptr_t started;
    uintptr_t module = omp_runtime_module(real);
    Dl_info info;
    if (!module || module == __atomic_load_n(&started, __ATOMIC_ACQUIRE) || !dladdr(real, &info))
        return;
    void *file = dlopen(info.dli_fname, RTLD_LAZY | RTLD_NOLOAD);
    void *number = file ? dlsym(file, "__kmpc_global_thread_num") : NULL; /* starts the runtime */
    int (*start)(void *source);
    memcpy(&start, &number, sizeof start);
    if (start && omp_runtime_module(number) == module)
        (void)start(NULL);
    if (file)
        dlclose(file);
    __atomic_store_n(&started, module, __ATOMIC_RELEASE);
}

void *omp_runtime_find(struct omp_function *f, uintptr_t site)
{
    int saved = errno;
    uintptr_t key = site ^ (uintptr_t)f, empty = 0;
    struct runtime_site *slot = site_slot(key);
    if (__atomic_load_n(&slot->key, __ATOMIC_ACQUIRE) == key)
        return slot->real;
    void *next = dlsym(RTLD_NEXT, f->name), *real = next ? next : find_of_caller(f, site);
    if (real && omp_is_on())
        runtime_start(real);
    if (next) {
        __atomic_store_n(&f->module, omp_runtime_module(real), __ATOMIC_RELAXED);
        __atomic_store_n(&f->real, real, __ATOMIC_RELEASE);
    } else if (real && !f->real &&
               __atomic_compare_exchange_n(&slot->key, &empty, 1, false, __ATOMIC_ACQ_REL, __ATOMIC_RELAXED)) {
        slot->real = real;
        __atomic_store_n(&slot->key, key, __ATOMIC_RELEASE);
    }
    errno = saved;
    return real;
}
