/* SPDX-License-Identifier: MIT */
/** @file Functions of the OpenMP runtime behind the wrappers. */
#ifndef UPMU_OPENMP_RUNTIME_H
#define UPMU_OPENMP_RUNTIME_H

#include <stddef.h>
#include <stdint.h>

/** A function of the runtime. Static: one for each wrapper. */
struct omp_function {
    const char *name;
    void *real;       /**< atomic; NULL: not looked up, or not the same for all callers */
    uintptr_t module; /**< load address of the file of `real`, set before `real` */
    void *jump;       /**< atomic: `real` if OMPT records it, else NULL */
};

/** The function that the caller at `site` would call without the wrapper; NULL: there is none. Keeps errno. */
void *omp_runtime_find(struct omp_function *f, uintptr_t site);

/** omp_runtime_find(), looked up once if all callers get the same function. */
static inline void *omp_runtime_function(struct omp_function *f, uintptr_t site)
{
    void *real = __atomic_load_n(&f->real, __ATOMIC_ACQUIRE);
    return __builtin_expect(real != NULL, 1) ? real : omp_runtime_find(f, site);
}

/** Load address of the file that has code at `address`; 0: none. Not signal safe. */
uintptr_t omp_runtime_module(const void *address);

#endif
