/* SPDX-License-Identifier: MIT */
/**
 * @file
 * What the wrappers of libgomp's and omp_ functions have in common.
 *
 * LLVM's runtime has these functions, too, and reports by OMPT: then a wrapper is a jump, or leaves its call site for the callbacks.
 */
#ifndef UPMU_OPENMP_WRAP_H
#define UPMU_OPENMP_WRAP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "openmp/events.h"
#include "openmp/runtime.h"
#include "openmp/state.h"
#include "upmu/api.h"

enum omp_way {
    OMP_PASS,   /**< nothing is recorded */
    OMP_RECORD, /**< the wrapper records the call */
    OMP_LEAVE,  /**< OMPT records it, with the call site that a wrapper that does not jump leaves in omp_tls */
};

/** How a call of the runtime's function `real` is recorded. */
static inline enum omp_way omp_way_of(struct omp_function *f, const void *real)
{
    if (!omp_is_on())
        return OMP_PASS;
    uintptr_t ompt = __atomic_load_n(&omp_process.ompt_module, __ATOMIC_ACQUIRE);
    if (LIKELY(ompt == 0))
        return OMP_RECORD;
    bool one = __atomic_load_n(&f->real, __ATOMIC_ACQUIRE) == real;
    uintptr_t module = one ? __atomic_load_n(&f->module, __ATOMIC_RELAXED) : omp_runtime_module(real);
    if (module != ompt)
        return OMP_RECORD;
    if (one)
        __atomic_store_n(&f->jump, f->real, __ATOMIC_RELEASE);
    return OMP_LEAVE;
}

/** Call site of a construct by its outlined body, because gcc gives the call the line of the statement before it, and the body
 *  that of the construct. One more than the address, as for a return address. */
static inline uintptr_t omp_site_of_body(void (*function)(void *))
{
    uintptr_t address;
    memcpy(&address, &function, sizeof address);
    return address + 1;
}

/** In front of a wrapper's last call, and of that wrapper: the call is a jump. OMPT takes the return address for the call site, which
 *  then is that of the wrapper's caller. */
#ifdef __clang__
#define OMP_JUMP __attribute__((musttail)) return
#define OMP_JUMPS
#else
#define OMP_JUMP return
#ifdef __OPTIMIZE__
#define OMP_JUMPS __attribute__((optimize("optimize-sibling-calls"))) /* -O1 is without */
#else
#define OMP_JUMPS __attribute__((optimize("O2")))
#endif
#endif

/** Before a call that OMPT records: leave the call site for its callbacks. */
static inline void omp_site_leave(enum omp_way way, uintptr_t site)
{
    if (way == OMP_LEAVE)
        omp_tls.site = site;
}

/** After the call: clear that call site. */
static inline void omp_site_clear(enum omp_way way)
{
    if (way == OMP_LEAVE)
        omp_tls.site = 0;
}

/** In the wrapper of this name: define `real` as the function behind it, `address` as its address, and the call `site`. */
#define OMP_REAL(function)                                   \
    static struct omp_function behind = {.name = #function}; \
    OMP_REAL_BEHIND(function, behind)
/** The same for a wrapper whose struct omp_function is `behind`. */
#define OMP_REAL_BEHIND(function, behind)                        \
    const uintptr_t site = OMP_CALL_SITE();                      \
    void *const address = omp_runtime_function(&(behind), site); \
    __typeof__(&function) real = NULL;                           \
    memcpy(&real, &address, sizeof real)

/** The wrapper of this name is one jump to `target`, unless that is NULL. Otherwise the body that follows runs, with the same parameters
 *  and call site; it begins with OMP_REAL_BEHIND(name, name##_behind). */
#define OMP_JUMPING(function, result, PARAMETERS, ARGUMENTS, target)                  \
    UPMU_API result function PARAMETERS;                                              \
    static struct omp_function function##_behind = {.name = #function};               \
    static OMP_JUMPS __attribute__((noinline)) result function##_recorded PARAMETERS; \
    OMP_JUMPS result function PARAMETERS                                              \
    {                                                                                 \
        void *address = target;                                                       \
        __typeof__(&function) jump = NULL;                                            \
        memcpy(&jump, &address, sizeof jump);                                         \
        if (LIKELY(jump))                                                             \
            OMP_JUMP jump ARGUMENTS;                                                  \
        OMP_JUMP function##_recorded ARGUMENTS;                                       \
    }                                                                                 \
    static result function##_recorded PARAMETERS

/** A wrapper that is one jump where OMPT records the function. */
#define OMP_WRAPPER(function, result, PARAMETERS, ARGUMENTS) \
    OMP_JUMPING(function, result, PARAMETERS, ARGUMENTS, __atomic_load_n(&function##_behind.jump, __ATOMIC_ACQUIRE))

#endif
